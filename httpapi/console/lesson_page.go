package console

import (
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/lesson/candidate"
)

// lessonView is what the page of a lesson shows.
type lessonView struct {
	lesson.Info
	Notices []string
	// Error says why the last form was refused; empty: it was not.
	Error string
	// Steps are what the operations of the last form did.
	Steps []lesson.Step
	// Failure and Candidates are those of a routine that is mended.
	Failure    *lesson.Failure
	Candidates []candidate.Candidate
	Form       operationForm
	Save       saveForm
	// Saved is what a save has answered; nil: the last form was another one.
	Saved *lesson.Saved

	// What is on the page. Each is missing if its problem says why.
	Seen            *lesson.Snapshot
	SeenProblem     string
	Picture         template.URL
	PictureHeight   int
	PictureProblem  string
	Requests        *lesson.RequestList
	RequestsProblem string
}

// maxShownLines is how many elements of the page are listed.
const maxShownLines = 80

// PictureWidth is the width in which the picture is shown, so that the place of a click is known
// without a script.
func (v *lessonView) PictureWidth() int { return 560 }

// Elements are the lines of the page that have a selector.
func (v *lessonView) Elements() []routine.SeenLine {
	if v.Seen == nil {
		return nil
	}
	lines := slices.DeleteFunc(slices.Clone(v.Seen.Lines), func(l routine.SeenLine) bool { return l.Selector == "" })
	return lines[:min(len(lines), maxShownLines)]
}

// NextRemaining is the first operation of the routine that was not done yet; nil: all were.
func (v *lessonView) NextRemaining() *lesson.Operation {
	if len(v.Remaining) == 0 {
		return nil
	}
	return &v.Remaining[0]
}

// CanMend reports whether the lesson mends a routine.
func (v *lessonView) CanMend() bool { return v.Routine != "" }

// CandidateJSON returns the operations of a candidate for the form.
func (v *lessonView) CandidateJSON(c candidate.Candidate) string {
	return operationsText(append(slices.Clone(c.Needs), c.Operation))
}

// lessonPage shows a lesson, with the operation that the query proposes in its form: on an
// element, of a request, or that extracts the data of a list.
func lessonPage(q *request) error {
	info, err := q.lessons.Get(q.principal, q.pathParameter("lesson_id"))
	if err != nil {
		return err
	}
	v := &lessonView{Info: info}
	query := q.URL.Query()
	v.Form = operationForm{Do: query.Get("do"), Selector: query.Get("selector"), Grade: query.Get("grade")}
	if v.Form.Selector != "" && v.Form.Do == "" {
		v.Form.Do = operationFor(query.Get("kind"))
	}
	if query.Has("at.x") {
		err = q.proposeElement(v, query)
	} else if number := atoi(query.Get("request")); number > 0 {
		err = q.proposeRequest(v, number)
	} else if selector := query.Get("extract"); selector != "" {
		err = q.proposeExtraction(v, selector)
	}
	status := http.StatusOK
	if err != nil {
		status, v.Error = q.refusedLesson(err), routine.AsError(err).Headline()
	}
	return q.showLesson(status, v)
}

// proposeElement puts an operation on the element at a point of the picture into the form. The
// point is where a person has clicked, in pixels of the picture as it is shown.
func (q *request) proposeElement(v *lessonView, query url.Values) error {
	x, y, height := atoi(query.Get("at.x")), atoi(query.Get("at.y")), atoi(query.Get("height"))
	if x <= 0 && y <= 0 || height <= 0 {
		return routine.Errorf(routine.CodeInvalid, "click on the picture with a mouse, or choose an element of the list")
	}
	d, err := q.lessons.ElementAt(q.Context(), q.principal, v.ID, float64(x)/float64(v.PictureWidth()), float64(y)/float64(height))
	if err != nil {
		return err
	}
	v.Form = operationForm{Do: "click", Selector: d.Selector, Grade: d.Grade, Alternatives: d.Alternatives}
	if f := d.Field; f != nil && f.Type != "radio" && f.Type != "checkbox" {
		v.Form.Do = "input_text"
	}
	v.Notices = append(v.Notices, "There is the "+strings.TrimSpace(d.Target.Role+" "+d.Target.Name)+". An operation on it is in the form, and not done yet.")
	return nil
}

// proposeRequest puts the operations of a request of the page into the form.
func (q *request) proposeRequest(v *lessonView, number int) error {
	one, err := q.lessons.Request(q.Context(), q.principal, v.ID, number)
	if err != nil {
		return err
	}
	v.Form.JSON = operationsText(one.Operations)
	v.Notices = append(v.Notices, "Request "+strconv.Itoa(number)+" is in the form below as operations. They are not done yet.")
	v.Notices = append(append(v.Notices, one.Notes...), one.Warnings...)
	if one.NotTried != "" {
		v.Notices = append(v.Notices, "Not tried in a fresh browser: "+one.NotTried)
	}
	return nil
}

// proposeExtraction puts operations that return the data of a list into the form.
func (q *request) proposeExtraction(v *lessonView, selector string) error {
	seen, err := q.lessons.Snapshot(q.Context(), q.principal, v.ID, lesson.SnapshotRequest{Extract: selector})
	if err != nil || seen.Extraction == nil {
		return err
	}
	v.Form.JSON = operationsText(seen.Extraction.Operations)
	v.Notices = append(v.Notices, "Operations that return the "+strconv.Itoa(seen.Extraction.Count)+" rows are in the form below. They are not done yet.")
	return nil
}

// operationsText returns operations as people write them, an operation a line.
func operationsText(operations []json.RawMessage) string {
	text := "["
	for i, o := range operations {
		if i > 0 {
			text += ","
		}
		text += "\n  " + string(o)
	}
	return text + "\n]"
}

// showLesson looks at the page of a lesson, and shows both.
func (q *request) showLesson(status int, v *lessonView) error {
	if v.State == lesson.Open {
		q.lookAt(v)
	} else {
		v.SeenProblem = "The page of the lesson is closed. Undo keeps the operations and does them again on a new page."
	}
	if v.Save.Prove == "" {
		v.Save.Prove = lesson.ProveAll
		acts := func(o lesson.Operation) bool { return len(o.Acting) > 0 }
		if (v.CanMend() || v.Imported != "") && slices.ContainsFunc(v.Operations, acts) {
			v.Save.Prove = lesson.ProveCheckLast // which does not act on the site for a second time
		}
	}
	if v.Save.Name == "" {
		v.Save.Name = v.Imported
	}
	p := page{Title: "Lesson " + shortID(v.ID), Section: "lessons", Crumbs: []crumb{{"Teach", q.to("lessons")}}, Data: v}
	return q.render(status, "lesson", p)
}

// lookAt adds a snapshot of the live page to the view. If there is none, the rest of the console page is still usable.
func (q *request) lookAt(v *lessonView) {
	var err error
	if v.Seen, err = q.lessons.Snapshot(q.Context(), q.principal, v.ID, lesson.SnapshotRequest{MaxBytes: routine.MaxLook}); err != nil {
		v.SeenProblem = routine.AsError(err).Message
	}
	if shot, err := q.lessons.Screenshot(q.Context(), q.principal, v.ID); err != nil {
		v.PictureProblem = routine.AsError(err).Message
	} else if kind := mediaTypeOf(shot.ContentType); slices.Contains(imageTypes, kind) {
		v.PictureHeight = v.PictureWidth() * shot.Height / max(shot.Width, 1)
		v.Picture = template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(shot.Data)) //nolint:gosec // the type is one of imageTypes
	}
	if v.Requests, err = q.lessons.Requests(q.Context(), q.principal, v.ID, lesson.RequestsQuery{}); err != nil {
		v.RequestsProblem = routine.AsError(err).Message
	}
}
