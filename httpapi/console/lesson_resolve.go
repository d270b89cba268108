package console

import (
	"encoding/json"
	"fmt"
	"net/http"

	"rote/routine"
	"rote/routine/lesson"
)

// resolveView is the page that asks for the values with which an imported routine is tried in a lesson.
type resolveView struct {
	Name, Text string
	// Session is the name of a saved session; empty: none.
	Session string
	Form    *runForm
}

// resolveRoutine tries the operations of a routine that is not stored in a new lesson. It first asks for the
// values of its parameters.
func resolveRoutine(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	v := resolveView{Text: q.PostForm.Get("definition"), Session: q.PostForm.Get("session")}
	d, _, err := q.service.Validate(q.Context(), q.principal, json.RawMessage(v.Text))
	if err != nil {
		return err
	}
	v.Name = d.Name
	if v.Form, err = newRunForm(d.Parameters); err != nil {
		return err
	}
	if q.PostForm.Get("values") == "" {
		return q.showResolve(http.StatusOK, v)
	}
	resolved, err := q.resolve(v)
	if err != nil {
		v.Form.refuse(err)
		return q.showResolve(q.refusedLesson(err), v)
	}
	shown := &lessonView{Info: resolved.Info, Steps: resolved.Steps, Failure: resolved.Failure, Candidates: resolved.Candidates}
	shown.noteStart(resolved.SessionWarning, resolved.Ended)
	for _, r := range resolved.Replaced {
		shown.Notices = append(shown.Notices,
			fmt.Sprintf("Operation %d finds its element by %s, of grade %s, and no longer by its text.", r.Operation, r.Selector, r.Grade))
	}
	shown.noteProgress(&resolved.Tried)
	return q.showLesson(http.StatusCreated, shown)
}

// resolve tries the operations with the values of the posted form.
func (q *request) resolve(v resolveView) (*lesson.Resolved, error) {
	parameters, err := v.Form.read(q)
	if err != nil {
		return nil, err
	}
	r := lesson.ResolveRequest{Definition: json.RawMessage(v.Text), Session: v.Session}
	if json.Unmarshal(parameters, &r.Values) != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the parameters are no JSON object")
	}
	return q.lessons.Resolve(q.Context(), q.principal, r)
}

func (q *request) showResolve(status int, v resolveView) error {
	return q.render(status, "resolve", page{Title: "Try on the live site", Section: "lessons",
		Crumbs: []crumb{{"Teach", q.to("lessons")}}, Data: v})
}
