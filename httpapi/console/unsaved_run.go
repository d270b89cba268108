package console

import (
	"net/http"
	"net/url"

	"rote/routine"
	"rote/routine/service"
)

// unsavedView is the page that asks for the values of a definition that is run without being
// saved.
type unsavedView struct {
	Name, Text string
	// Next is the address of the editor of the text.
	Next string
	Form *runForm
}

// runUnsaved runs the text of the editor without saving it. If the definition has parameters,
// it first asks for their values.
func runUnsaved(q *request) error {
	v, err := q.readEditor()
	if err != nil {
		return err
	}
	v.ID, v.Run = q.PostForm.Get("id"), true
	d, _, err := q.service.ParseUnsaved(q.Context(), q.principal, []byte(v.Text))
	if err != nil {
		return q.refuseUnsaved(v, err)
	}
	f, err := newRunForm(d.Parameters)
	if err != nil {
		return err
	}
	u := unsavedView{Name: d.Name, Text: v.Text, Next: v.path(q.console), Form: f}
	if next := q.PostForm.Get("next"); next != "" {
		u.Next = q.localPath(next)
	}
	if len(d.Parameters) > 0 && q.PostForm.Get("values") == "" {
		return q.showUnsaved(http.StatusOK, u)
	}
	e, err := q.start("", service.Call{Definition: d}, v.Text, f)
	if err != nil {
		f.refuse(err)
		return q.showUnsaved(q.refusedForm(err), u)
	}
	return q.redirectTo(url.Values{"back": {u.Next}}, "executions", e.ID)
}

// refuseUnsaved shows the editor with the posted text, and why it was not run.
func (q *request) refuseUnsaved(v *editorView, err error) error {
	if v.ID != "" {
		stored, unread := q.service.Routine(q.Context(), q.principal, v.ID)
		if unread != nil {
			return unread
		}
		v.Name = stored.Name
	}
	return q.refuseText(v, err)
}

func (q *request) showUnsaved(status int, u unsavedView) error {
	return q.render(status, "unsaved", page{Title: "Run without saving", Section: "routines",
		Crumbs: []crumb{{"Routines", q.to("routines")}, {routine.Truncate(routine.PlainText(u.Name), 80), u.Next}}, Data: u})
}
