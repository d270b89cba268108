package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

// sessionRoutes are the pages of saved logins. The state of a browser goes in only, as the
// values of secrets.
func (x *console) sessionRoutes(r chi.Router) {
	r.Get("/sessions", x.signedIn(sessionsPage))
	r.Post("/sessions", x.signedIn(createSession))
	r.Get("/new-session", x.signedIn(newSessionPage))
	r.Get("/sessions/{name}", x.signedIn(sessionPage))
	r.Post("/sessions/{name}", x.signedIn(changeSession))
	r.Post("/sessions/{name}/import", x.signedIn(importSession))
	r.Post("/sessions/{name}/clear", x.signedIn(clearSession))
	r.Post("/sessions/{name}/delete", x.signedIn(deleteSession))
	r.Post("/sessions/{name}/login", x.signedIn(loginSession))
	r.Get("/sessions/{name}/uses", x.signedIn(sessionUsesPage))
}

// sessionsData is what the list of the sessions shows.
type sessionsData struct {
	Sessions []*service.SessionInfo
	Page     listPage
}

func sessionsPage(q *request) error {
	offset := q.pageOffset()
	list, total, err := q.service.Sessions(q.Context(), q.principal, listRows, offset)
	if err != nil {
		return err
	}
	return q.render(http.StatusOK, "sessions", page{Title: "Sessions", Section: "sessions", Data: sessionsData{list, q.listPage(offset, len(list), total)}})
}

// sessionData is what the page of a session shows, and that of a new one, which has no Info.
type sessionData struct {
	Info  *service.SessionInfo
	Form  sessionForm
	Fault *formFault
	// ImportFault is that of the form for a state, and ImportHosts the hosts in it.
	ImportFault *formFault
	ImportHosts string
	// Done is what the form that led here has done. LeftOut is the number of hosts whose state
	// was left out of an import, and Warnings that of its warnings.
	Done              string
	LeftOut, Warnings int
}

func newSessionPage(q *request) error {
	if err := q.service.MaySaveSession(q.principal); err != nil {
		return err
	}
	return q.showNewSession(sessionForm{Mode: string(routine.SessionShared)}, nil)
}

func (q *request) showNewSession(form sessionForm, fault *formFault) error {
	return q.render(fault.Status(), "new_session", page{Title: "New session", Section: "sessions", Crumbs: []crumb{{"Sessions", q.to("sessions")}},
		Data: sessionData{Form: form, Fault: fault}})
}

func createSession(q *request) error {
	if err := q.service.MaySaveSession(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	form := readSessionForm(q.PostForm)
	name := strings.TrimSpace(form.Name)
	fault, err := q.saveSession(name, &form, service.PutCondition{New: true})
	if err != nil {
		return err
	}
	if fault != nil {
		return q.showNewSession(form, fault)
	}
	return q.toSession(name, url.Values{"done": {"saved"}})
}

// saveSession saves the settings of a posted form.
func (q *request) saveSession(name string, form *sessionForm, condition service.PutCondition) (*formFault, error) {
	text, fault := form.change(q.PostForm)
	if fault == nil {
		_, _, err := q.service.SaveSession(q.Context(), q.principal, routine.ViaConsole, name, text, condition)
		if err == nil {
			return nil, nil
		}
		if fault, err = q.refused(err, sessionFieldOf); err != nil {
			return nil, err
		}
	}
	return fault, q.hideParameters(form)
}

// hideParameters takes the parameters that were typed out of a form that comes back, if one may
// be secret: the text names a secret parameter, cannot be read, or its routine is not known.
func (q *request) hideParameters(form *sessionForm) error {
	if strings.TrimSpace(form.Parameters) == "" {
		return nil
	}
	r, err := q.readableRoutine(form.LoginRoutine)
	if err != nil {
		return err
	}
	var given map[string]json.RawMessage
	unread := json.Unmarshal([]byte(form.Parameters), &given) != nil
	form.Hidden = r == nil || slices.ContainsFunc(r.Parameters, func(p routine.Parameter) bool { return p.Secret && (unread || given[p.Name] != nil) })
	if form.Hidden {
		form.Parameters = ""
	}
	return nil
}

// readableRoutine returns the routine with an id; nil if there is none that the person may
// read. Only a failure is an error.
func (q *request) readableRoutine(id string) (*routine.Routine, error) {
	r, err := q.service.Routine(q.Context(), q.principal, id)
	switch routine.CodeOf(err) {
	case routine.CodeForbidden, routine.CodeNotFound:
		return nil, nil
	}
	return r, err
}

// toSession leads to the page of a session, which says what was done.
func (q *request) toSession(name string, done url.Values) error {
	return q.redirectTo(done, "sessions", name)
}

func sessionPage(q *request) error {
	info, err := q.service.Session(q.Context(), q.principal, q.pathParameter("name"))
	if err != nil {
		return err
	}
	query := q.URL.Query()
	number := func(name string) int {
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	return q.showSession(sessionData{Info: info, Form: formOfSession(info), Done: query.Get("done"), LeftOut: number("left_out"), Warnings: number("warnings")})
}

func (q *request) showSession(d sessionData) error {
	status := max(d.Fault.Status(), d.ImportFault.Status())
	return q.render(status, "session", page{Title: d.Info.Name, Section: "sessions", Crumbs: []crumb{{"Sessions", q.to("sessions")}}, Data: d})
}

func changeSession(q *request) error {
	if err := q.service.MaySaveSession(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	name, form := q.pathParameter("name"), readSessionForm(q.PostForm)
	fault, err := q.saveSession(name, &form, service.PutCondition{Versions: []int{form.Version}})
	if err != nil {
		return err
	}
	if fault == nil {
		return q.toSession(name, url.Values{"done": {"saved"}})
	}
	info, err := q.service.Session(q.Context(), q.principal, name)
	if err != nil {
		return err
	}
	return q.showSession(sessionData{Info: info, Form: form, Fault: fault})
}

// importSession reads a state that another program has exported. It is not shown again, also
// if it is refused: its cookies are a login.
func importSession(q *request) error {
	if err := q.service.MaySaveSession(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	name, hosts := q.pathParameter("name"), q.PostForm.Get("hosts")
	got, err := q.service.ImportSession(q.Context(), q.principal, routine.ViaConsole, name, []byte(q.PostForm.Get("state")), strings.Fields(hosts),
		service.PutCondition{})
	if err == nil {
		return q.toSession(name, url.Values{"done": {"imported"}, "left_out": {strconv.Itoa(len(got.LeftOut))}, "warnings": {strconv.Itoa(len(got.Warnings))}})
	}
	info, unread := q.service.Session(q.Context(), q.principal, name)
	if unread != nil {
		return err
	}
	fault, err := q.refused(err, func(pointer string) string {
		if strings.HasPrefix(pointer, "/hosts") {
			return "import-hosts"
		}
		return "state"
	})
	if err != nil {
		return err
	}
	return q.showSession(sessionData{Info: info, Form: formOfSession(info), ImportFault: fault, ImportHosts: hosts})
}

func clearSession(q *request) error {
	name := q.pathParameter("name")
	if err := q.service.ClearSession(q.Context(), q.principal, routine.ViaConsole, name, service.PutCondition{}); err != nil {
		return err
	}
	return q.toSession(name, url.Values{"done": {"cleared"}})
}

func deleteSession(q *request) error {
	if err := q.service.DeleteSession(q.Context(), q.principal, routine.ViaConsole, q.pathParameter("name")); err != nil {
		return err
	}
	return q.redirect("sessions")
}

// loginSession starts the login of a session and leads to its run.
func loginSession(q *request) error {
	e, err := q.service.LoginSession(q.Context(), q.principal, q.pathParameter("name"), service.Call{Via: routine.ViaConsole})
	if err != nil {
		return err
	}
	return q.redirect("executions", e.ID)
}

func sessionUsesPage(q *request) error {
	name, offset := q.pathParameter("name"), q.pageOffset()
	uses, total, err := q.service.SessionUses(q.Context(), q.principal, name, listRows, offset)
	if err != nil {
		return err
	}
	back := q.to("sessions", name)
	return q.render(http.StatusOK, "uses", page{Title: "Uses", Section: "sessions", Crumbs: []crumb{{"Sessions", q.to("sessions")}, {name, back}},
		Data: usesData{"session " + name, uses, q.listPage(offset, len(uses), total), back}})
}
