package console

import (
	"net/url"
	"strconv"

	"rote/routine"
)

// lifecycleChange is a button that changes the lifecycle of a routine, with the button that
// undoes it.
type lifecycleChange struct {
	// Done says what the button did.
	Done string
	// Undo is the name of the opposite change, and UndoText its button; empty: there is none.
	Undo, UndoText string
	change         func(q *request, id string, expected []int) (*routine.Routine, error)
}

// lifecycle are the changes by the last part of their path.
var lifecycle = map[string]lifecycleChange{
	"archive": {"The routine is archived: it is neither run nor published.", "activate", "Make it active again",
		func(q *request, id string, expected []int) (*routine.Routine, error) {
			return q.service.ArchiveRoutine(q.Context(), q.principal, id, expected)
		}},
	"activate": {"The routine is active.", "draft", "Make it a draft", setStatus(routine.StatusActive)},
	"draft":    {"The routine is a draft: it can be run but is not published.", "activate", "Make it active again", setStatus(routine.StatusDraft)},
	"publish":  {"The routine is published: agents see it as a tool.", "unpublish", "Unpublish it", setPublished(true)},
	"unpublish": {"The routine is no longer published: agents do not see it as a tool.", "publish", "Publish it again",
		setPublished(false)},
}

func setStatus(status routine.Status) func(*request, string, []int) (*routine.Routine, error) {
	return func(q *request, id string, expected []int) (*routine.Routine, error) {
		patch := routine.RawJSON(map[string]routine.Status{"routine_status": status})
		r, _, err := q.service.PatchRoutine(q.Context(), q.principal, id, patch, expected)
		return r, err
	}
}

func setPublished(on bool) func(*request, string, []int) (*routine.Routine, error) {
	return func(q *request, id string, expected []int) (*routine.Routine, error) {
		return q.service.PublishRoutine(q.Context(), q.principal, id, on, expected)
	}
}

// changeLifecycle answers a button of the routine's page. The page has the version that the
// person saw: a routine that was changed since stays as it is.
func (q *request) changeLifecycle(name string, c lifecycleChange) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id := q.pathParameter("id")
	if _, err := c.change(q, id, q.expectedVersion()); err != nil {
		return err
	}
	return q.redirectTo(url.Values{"done": {name}}, "routines", id)
}

// expectedVersion returns the version that a posted form was made from; nil if it has none.
func (q *request) expectedVersion() []int {
	version, err := strconv.Atoi(q.PostForm.Get("version"))
	if err != nil {
		return nil
	}
	return []int{version}
}

// doneNotice says what the form that led to the page has done.
type doneNotice struct {
	Text string
	// Undo is the name of the change that undoes it; empty: there is none.
	Undo, UndoText string
	// Fields are those of the form that undoes it.
	Fields map[string]string
}

// noticeOf returns the notice that the query of a routine's page asks for, or nil.
func (q *request) noticeOf(r *routine.Routine) *doneNotice {
	query := q.URL.Query()
	done := query.Get("done")
	n := &doneNotice{Fields: map[string]string{"version": strconv.Itoa(r.Version)}}
	switch change, known := lifecycle[done]; {
	case known:
		n.Text, n.Undo, n.UndoText = change.Done, change.Undo, change.UndoText
	case done == "saved":
		n.Text = "Version " + strconv.Itoa(r.Version) + " is saved."
	case done == "restored" && atoi(query.Get("to")) > 0:
		n.Text = "Version " + query.Get("to") + " is restored, as version " + strconv.Itoa(r.Version) + "."
		n.Undo, n.UndoText = "restore", "Undo"
		n.Fields["to"] = strconv.Itoa(r.Version - 1)
	default:
		return nil
	}
	return n
}

// restoreVersion answers the button that saves an earlier version as the newest one.
func restoreVersion(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id, number := q.pathParameter("id"), atoi(q.PostForm.Get("to"))
	expected := q.expectedVersion()
	r, _, err := q.service.RestoreRoutine(q.Context(), q.principal, id, number, expected)
	if err != nil {
		return err
	}
	if len(expected) > 0 && r.Version == expected[0] { // it has the same definition
		return q.redirect("routines", id)
	}
	return q.redirectTo(url.Values{"done": {"restored"}, "to": {strconv.Itoa(number)}}, "routines", id)
}
