package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

// secretRoutes are the pages of secrets. Values go in only: no page has one, also not the form
// that comes back with an error. The form of a new secret is beside /secrets, because any word
// can be the name of a secret.
func (x *console) secretRoutes(r chi.Router) {
	r.Get("/secrets", x.signedIn(secretsPage))
	r.Post("/secrets", x.signedIn(createSecret))
	r.Get("/new-secret", x.signedIn(newSecretPage))
	r.Get("/secrets/{name}", x.signedIn(secretPage))
	r.Post("/secrets/{name}", x.signedIn(changeSecret))
	r.Post("/secrets/{name}/delete", x.signedIn(deleteSecret))
	r.Post("/secrets/{name}/code", x.signedIn(giveCode))
	r.Get("/secrets/{name}/uses", x.signedIn(secretUsesPage))
}

// secretsData is what the list of the secrets shows.
type secretsData struct {
	Secrets []*service.SecretInfo
	Page    listPage
}

func secretsPage(q *request) error {
	offset := q.pageOffset()
	list, total, err := q.service.Secrets(q.Context(), q.principal, listRows, offset)
	if err != nil {
		return err
	}
	return q.render(http.StatusOK, "secrets", page{Title: "Secrets", Section: "secrets", Data: secretsData{list, q.listPage(offset, len(list), total)}})
}

// secretData is what the page of a secret shows, and that of a new one, which has no Info.
type secretData struct {
	Info      *service.SecretInfo
	Form      secretForm
	Fault     *formFault
	CodeFault *formFault
	// Done is what the form that led here has done.
	Done string
}

func newSecretPage(q *request) error {
	if err := q.service.MaySaveSecret(q.principal); err != nil {
		return err
	}
	return q.showNewSecret(secretForm{FieldRule: string(routine.FieldPassword), Requests: false, Names: []string{"username", "password", "", ""}}, nil)
}

func (q *request) showNewSecret(form secretForm, fault *formFault) error {
	return q.render(fault.Status(), "new_secret", page{Title: "New secret", Section: "secrets", Crumbs: []crumb{{"Secrets", q.to("secrets")}},
		Data: secretData{Form: form, Fault: fault}})
}

func createSecret(q *request) error {
	if err := q.service.MaySaveSecret(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	form := readSecretForm(q.PostForm)
	fault, err := q.saveSecret(strings.TrimSpace(form.Name), &form, service.PutCondition{New: true})
	if err != nil {
		return err
	}
	if fault != nil {
		return q.showNewSecret(form, fault)
	}
	return q.toSecret(strings.TrimSpace(form.Name), !form.Shared, "saved")
}

// saveSecret saves the values and rules of a posted form.
func (q *request) saveSecret(name string, form *secretForm, condition service.PutCondition) (*formFault, error) {
	text, fault := form.change(q.PostForm)
	if fault != nil {
		return fault, nil
	}
	_, _, err := q.service.SaveSecret(q.Context(), q.principal, routine.ViaConsole, name, text, condition)
	if err != nil {
		fault, err = q.refused(err, secretFieldOf)
	}
	return fault, err
}

// toSecret leads to the page of a secret, which says what was done.
func (q *request) toSecret(name string, project bool, done string) error {
	return q.redirectTo(url.Values{"project": {strconv.FormatBool(project)}, "done": {done}}, "secrets", name)
}

// ofProject returns which of two secrets with one name a query or form means: that of the
// project, that of the organization, or, if it does not say, nil: the one that runs use.
func ofProject(values url.Values) *bool {
	if project, err := strconv.ParseBool(values.Get("project")); err == nil {
		return &project
	}
	return nil
}

func secretPage(q *request) error {
	info, err := q.service.Secret(q.Context(), q.principal, q.pathParameter("name"), ofProject(q.URL.Query()))
	if err != nil {
		return err
	}
	return q.showSecret(secretData{Info: info, Form: formOfSecret(info), Done: q.URL.Query().Get("done")})
}

func (q *request) showSecret(d secretData) error {
	status := max(d.Fault.Status(), d.CodeFault.Status())
	return q.render(status, "secret", page{Title: d.Info.Name, Section: "secrets", Crumbs: []crumb{{"Secrets", q.to("secrets")}}, Data: d})
}

func changeSecret(q *request) error {
	if err := q.service.MaySaveSecret(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	name, form := q.pathParameter("name"), readSecretForm(q.PostForm)
	fault, err := q.saveSecret(name, &form, service.PutCondition{Versions: []int{form.Version}})
	if err != nil {
		return err
	}
	if fault == nil {
		return q.toSecret(name, !form.Shared, "saved")
	}
	info, err := q.service.Secret(q.Context(), q.principal, name, ofProject(q.PostForm))
	if err != nil {
		return err
	}
	return q.showSecret(secretData{Info: info, Form: form, Fault: fault})
}

func deleteSecret(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	project := ofProject(q.PostForm)
	err := q.service.DeleteSecret(q.Context(), q.principal, routine.ViaConsole, q.pathParameter("name"), project == nil || *project)
	if err != nil {
		return err
	}
	return q.redirect("secrets")
}

// giveCode keeps a one-time code for a run that waits for it. The code is not shown again.
func giveCode(q *request) error {
	if err := q.service.MayGiveCode(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	name := q.pathParameter("name")
	text, err := routine.EncodeJSON(map[string]string{"code": q.PostForm.Get("code")})
	if err != nil {
		return routine.Internal("encode code", err)
	}
	given := q.service.GiveCode(q.Context(), q.principal, routine.ViaConsole, name, text)
	info, err := q.service.Secret(q.Context(), q.principal, name, nil)
	if given == nil && err == nil {
		return q.toSecret(name, info.Project, "code")
	}
	if given == nil || routine.CodeOf(given) == routine.CodeNotFound {
		return errOr(given, err)
	}
	fault, given := q.refused(given, func(string) string { return "code" })
	if given != nil || err != nil {
		return errOr(given, err)
	}
	return q.showSecret(secretData{Info: info, Form: formOfSecret(info), CodeFault: fault})
}

// errOr returns the first of two errors that is not nil.
func errOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// usesData is what the page of the uses of a secret or session shows.
type usesData struct {
	Of   string
	Uses []service.SecretUseInfo
	Page listPage
	Back string
}

func secretUsesPage(q *request) error {
	name, offset := q.pathParameter("name"), q.pageOffset()
	project := ofProject(q.URL.Query())
	uses, total, err := q.service.SecretUses(q.Context(), q.principal, name, project, listRows, offset)
	if err != nil {
		return err
	}
	back := q.to("secrets", name)
	if project != nil {
		back += "?project=" + strconv.FormatBool(*project)
	}
	return q.render(http.StatusOK, "uses", page{Title: "Uses", Section: "secrets", Crumbs: []crumb{{"Secrets", q.to("secrets")}, {name, back}},
		Data: usesData{"secret " + name, uses, q.listPage(offset, len(uses), total), back}})
}
