package console

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

// editorRoutes adds the pages on which definitions are written.
func (x *console) editorRoutes(r chi.Router) {
	r.Get("/routines/new", x.signedIn(newRoutinePage))
	r.Post("/routines", x.signedIn(createRoutine))
	r.Get("/routines/{id}/edit", x.signedIn(editPage))
	r.Post("/routines/{id}", x.signedIn(saveRoutine))
	r.Post("/resume", x.signedIn(resumeEditor))
	r.Post("/check", x.signedIn(checkDefinition))
	r.Post("/run", x.signedIn(runUnsaved))
}

// newRoutineText is the text with which a new routine begins.
const newRoutineText = `{
  "name": "page_title",
  "description": "Returns the heading of a page.",
  "parameters": [
    {"name": "address", "type": "url", "description": "Address of the page", "examples": ["https://example.com/"]}
  ],
  "operations": [
    {"type": "navigate", "url": "{{address}}"},
    {"type": "return_html", "scope": "element", "selector": "h1"}
  ]
}
`

// editorView is what the editor shows.
type editorView struct {
	// ID is that of the routine; empty: it is a new one.
	ID, Name string
	Text     string
	// Version is the one that the text replaces; 0: none.
	Version int
	// Key is different in each form, so that one form creates one routine, and starts one run.
	Key string
	// At is a JSON pointer to the place where the cursor begins; empty: the beginning.
	At string
	// Changed reports whether the text differs from the stored definition.
	Changed bool
	Notices []string
	// Error says why the text was not saved or, with Run, not run, and Problems lists its errors.
	Error    string
	Run      bool
	Problems []routine.Problem
	Conflict *conflict
}

// conflict says that somebody else saved a version while a text was edited.
type conflict struct {
	*routine.Version
	// Before is the version that the text was made from.
	Before int
}

// Next returns the number of the version that saving makes.
func (v *editorView) Next() int { return v.Version + 1 }

// path returns the address of the editor with the text's version.
func (v *editorView) path(x *console) string {
	if v.ID == "" {
		return x.to("routines", "new")
	}
	return x.to("routines", v.ID, "edit") + "?version=" + strconv.Itoa(v.Version)
}

// DraftKey names the routine under which the browser keeps an unsaved text.
func (v *editorView) DraftKey() string {
	if v.ID == "" {
		return "new"
	}
	return v.ID
}

// showEditor renders the editor.
func (q *request) showEditor(status int, v *editorView) error {
	p := page{Title: "New routine", Section: "routines", Crumbs: []crumb{{"Routines", q.to("routines")}}, Modules: []string{"editor.js"}, Data: v}
	if v.ID != "" {
		p.Title = "Edit"
		p.Crumbs = append(p.Crumbs, crumb{routine.Truncate(routine.PlainText(v.Name), 80), q.to("routines", v.ID)})
	}
	if v.Key == "" {
		v.Key = rand.Text()
	}
	return q.render(status, "editor", p)
}

// newRoutinePage shows the editor with a template, or with a copy of a routine.
func newRoutinePage(q *request) error {
	v := &editorView{Text: newRoutineText}
	if from := q.URL.Query().Get("from"); from != "" {
		r, err := q.service.Routine(q.Context(), q.principal, from)
		if err != nil {
			return err
		}
		name := r.Name
		r.Name += "_copy"
		v.Text, v.Changed = definitionText(&r.Definition), true
		v.Notices = append(v.Notices, "This is a copy of "+routine.PlainText(name)+". It is not saved yet.")
		if r.Redacted {
			v.Notices = append(v.Notices, "Values of its secret parameters are left out.")
		}
	}
	return q.showEditor(http.StatusOK, v)
}

// editPage shows the editor with the newest version of a routine.
func editPage(q *request) error {
	r, err := q.service.Routine(q.Context(), q.principal, q.pathParameter("id"))
	if err != nil {
		return err
	}
	v := &editorView{ID: r.ID, Name: r.Name, Version: r.Version}
	query := q.URL.Query()
	if number := atoi(query.Get("at")); number > 0 && number <= len(r.Operations) {
		v.At = "/operations/" + strconv.Itoa(number-1)
		if selector := query.Get("selector"); selector != "" {
			v.Notices, v.Changed = v.useSelector(r, number, selector)
		}
	}
	v.Text = definitionText(&r.Definition)
	return q.showEditor(http.StatusOK, v)
}

// useSelector replaces the selector of an operation. It returns notices about the change, and
// reports whether the definition was changed.
func (v *editorView) useSelector(r *routine.Routine, number int, selector string) ([]string, bool) {
	old := r.Operations[number-1]
	raw, err := withMember(old.Raw(), "selector", routine.RawJSON(selector))
	if err != nil {
		return []string{fmt.Sprintf("Operation %d has no selector, so nothing was changed.", number)}, false
	}
	r.Operations = slices.Clone(r.Operations) // the service may share them with runs
	r.Operations[number-1] = routine.NewOperation(old.Type(), raw)
	v.At += "/selector"
	return []string{fmt.Sprintf("The selector of operation %d is now %s. This is not saved yet.", number, routine.PlainText(routine.JSONText(selector)))}, true
}

// errNoMember means that an object does not have the member that was to be replaced.
var errNoMember = errors.New("there is no such member")

// withMember returns the text of a JSON object with another value for a member that it has.
// The rest of the text stays as it is.
func withMember(object []byte, name string, value []byte) ([]byte, error) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read a name: %w", err)
		}
		var old json.RawMessage
		if err := d.Decode(&old); err != nil {
			return nil, fmt.Errorf("read a value: %w", err)
		}
		if key == name {
			end := int(d.InputOffset())
			text := append([]byte(nil), object[:end-len(old)]...)
			return append(append(text, value...), object[end:]...), nil
		}
	}
	return nil, errNoMember
}

// readEditor reads the posted form of the editor.
func (q *request) readEditor() (*editorView, error) {
	if err := q.readForm(); err != nil {
		return nil, err
	}
	return &editorView{Text: strings.ReplaceAll(q.PostForm.Get(definitionField), "\r\n", "\n"), Changed: true,
		Version: atoi(q.PostForm.Get("version")), Key: q.PostForm.Get("key")}, nil
}

// createRoutine answers the editor of a new routine.
func createRoutine(q *request) error {
	v, err := q.readEditor()
	if err != nil {
		return err
	}
	r, _, err := q.service.CreateRoutine(q.Context(), q.principal, []byte(v.Text), formIdempotency(v.Key, v.Text))
	if err != nil {
		return q.refuseText(v, err)
	}
	return q.savedTo(r)
}

// saveRoutine answers the editor of a stored routine.
func saveRoutine(q *request) error {
	v, err := q.readEditor()
	if err != nil {
		return err
	}
	v.ID = q.pathParameter("id")
	r, _, err := q.service.ReplaceRoutine(q.Context(), q.principal, v.ID, []byte(v.Text), q.expectedVersion())
	if err != nil {
		if stored, unread := q.service.Routine(q.Context(), q.principal, v.ID); unread == nil {
			v.Name = stored.Name
		}
		return q.refuseText(v, err)
	}
	return q.savedTo(r)
}

// savedTo leads to the routine that was saved, or to its run if the person wants one and the
// routine needs no values.
func (q *request) savedTo(r *routine.Routine) error {
	query := url.Values{"done": {"saved"}}
	if q.PostForm.Get("then") != "run" || r.Withheld {
		return q.redirectTo(query, "routines", r.ID)
	}
	for i := range r.Parameters {
		if r.Parameters[i].Needed() {
			http.Redirect(q.w, q.Request, q.to("routines", r.ID)+"?"+query.Encode()+"#run", http.StatusSeeOther)
			return nil
		}
	}
	e, err := q.service.Start(q.Context(), q.principal, r.ID, service.Call{Via: routine.ViaConsole})
	if err != nil {
		return err
	}
	return q.redirect("executions", e.ID)
}

// refuseText shows the editor with the posted text, and why it was not saved.
func (q *request) refuseText(v *editorView, err error) error {
	e := routine.AsError(err)
	v.Error, v.Problems = e.Headline(), e.Problems
	if len(v.Problems) > 0 {
		v.At = v.Problems[0].Pointer
	}
	status := q.refusedForm(err)
	if e.Code == routine.CodePreconditionFailed {
		q.addConflict(v)
	}
	return q.showEditor(status, v)
}

// addConflict says who saved the version that the text does not have. The text stays, and
// saving it again replaces that version.
func (q *request) addConflict(v *editorView) {
	versions, _, err := q.service.Versions(q.Context(), q.principal, v.ID, 1, 0)
	if err != nil || len(versions) == 0 {
		return // the error says that the routine was changed
	}
	v.Error, v.Conflict, v.Version = "", &conflict{versions[0], v.Version}, versions[0].Number
}

// resumeEditor shows the editor again with a text that was posted when the sign-in had ended.
// The form names the page on which the text was written.
func resumeEditor(q *request) error {
	v, err := q.readEditor()
	if err != nil {
		return err
	}
	v.Notices = append(v.Notices, "Your text is not saved yet.")
	if u, err := url.Parse(q.localPath(q.PostForm.Get("next"))); err == nil {
		rest, found := strings.CutPrefix(u.Path, q.to("routines")+"/")
		id, _, _ := strings.Cut(rest, "/")
		if found && id != "new" {
			r, err := q.service.Routine(q.Context(), q.principal, id)
			if err != nil {
				return err
			}
			v.ID, v.Name = r.ID, r.Name
			if v.Version = atoi(u.Query().Get("version")); v.Version == 0 {
				v.Version = r.Version
			} else if v.Version != r.Version {
				q.addConflict(v)
			}
		}
	}
	return q.showEditor(http.StatusOK, v)
}

// checkedProblem is a problem as the editor marks it.
type checkedProblem struct {
	routine.Problem
	// Severity is error or warning.
	Severity string `json:"severity"`
}

// checkDefinition answers the editor with the problems of a text, as JSON.
func checkDefinition(q *request) error {
	text, err := io.ReadAll(q.Body)
	if err != nil {
		return routine.Errorf(routine.CodeTooLarge, "the text cannot be read: %w", err)
	}
	_, warnings, err := q.service.Validate(q.Context(), q.principal, text)
	problems := []checkedProblem{}
	if err != nil {
		e := routine.AsError(err)
		if e.Code != routine.CodeInvalid {
			return err
		}
		for _, p := range e.Problems {
			problems = append(problems, checkedProblem{p, "error"})
		}
		if len(e.Problems) == 0 {
			problems = append(problems, checkedProblem{routine.Problem{Message: e.Message, Line: 1, Column: 1}, "error"})
		}
	}
	for _, p := range warnings {
		problems = append(problems, checkedProblem{p, "warning"})
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = q.w.Write(routine.RawJSON(map[string]any{"problems": problems})) // only the connection can fail here
	return nil
}
