package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/lesson"
)

// operationForm is the form of an operation that is to be tried.
type operationForm struct {
	// Do is one of operationChoices. It is of no use if JSON is not empty.
	Do string
	// Selector is that of the element, and Grade estimates how long it lasts.
	Selector, Grade string
	// Alternatives are other selectors of the element.
	Alternatives []string
	// Text is typed, pressed, opened or waited for. Name, if not empty, is that of a parameter
	// of which Text is the value.
	Text, Name string
	// JSON is an operation or a list of them.
	JSON string
	// At is the number of the operation that is replaced; 0: the operation is added.
	At int
	// Once reports whether the operation is not kept.
	Once bool
}

// operationChoice is an entry of the form of an operation.
type operationChoice struct{ Do, Words string }

var operationChoices = []operationChoice{{"click", "click"}, {"input_text", "type a text"}, {"press", "press a key"}, {"navigate", "open an address"},
	{"wait_for_url", "wait for an address (regular expression)"}, {"return_html", "return its HTML"}}

// Choices are what the form offers.
func (f operationForm) Choices() []operationChoice { return operationChoices }

// typedKinds are the kinds of lines of a page into which text is typed.
var typedKinds = []string{"textbox", "searchbox", "combobox", "spinbutton", "text", "search", "email", "tel", "url", "number", "password", "date",
	"select", "textarea"}

// operationFor returns the usual operation on an element of a kind of line.
func operationFor(kind string) string {
	if slices.Contains(typedKinds, kind) {
		return "input_text"
	}
	return "click"
}

// readOperation takes over the posted form.
func (q *request) readOperation() operationForm {
	get := q.PostForm.Get
	return operationForm{Do: get("do"), Selector: strings.TrimSpace(get("selector")), Text: get("text"), Name: strings.TrimSpace(get("name")),
		JSON: get("json"), At: atoi(get("at")), Once: get("once") != ""}
}

// request returns what the form asks for. CodeInvalid.
func (f operationForm) request() (lesson.TryRequest, error) {
	t := lesson.TryRequest{At: f.At}
	if f.Once {
		t.Keep = new(false)
	}
	if text := strings.TrimSpace(f.JSON); text != "" {
		var err error
		if strings.HasPrefix(text, "[") {
			err = json.Unmarshal([]byte(text), &t.Operations)
		} else {
			var one json.RawMessage
			err = json.Unmarshal([]byte(text), &one)
			t.Operations = []json.RawMessage{one}
		}
		if err != nil {
			return t, routine.Errorf(routine.CodeInvalid, "the operation is no JSON: %v", err)
		}
		return t, nil
	}
	text := f.Text
	if f.Name != "" {
		text = "{{" + f.Name + "}}"
		t.Values = map[string]json.RawMessage{f.Name: routine.RawJSON(f.Text)}
	}
	operation := formOperation{Type: f.Do}
	switch f.Do {
	case "click":
		operation.Selector = f.Selector
	case "input_text":
		operation.Selector, operation.Text, operation.Clear = f.Selector, &text, true
	case "press":
		operation.Key = text
	case "navigate":
		operation.URL = text
	case "wait_for_url":
		operation.Pattern = text
	case "return_html":
		operation.Scope, operation.Selector = "element", f.Selector
	default:
		return t, routine.Errorf(routine.CodeInvalid, "choose what to do")
	}
	t.Operations = []json.RawMessage{routine.RawJSON(operation)}
	return t, nil
}

// formOperation is an operation that the form can write.
type formOperation struct {
	Type     string  `json:"type"`
	Scope    string  `json:"scope,omitempty"`
	Selector string  `json:"selector,omitempty"`
	Text     *string `json:"text,omitempty"`
	Clear    bool    `json:"clear,omitempty"`
	Key      string  `json:"key,omitempty"`
	URL      string  `json:"url,omitempty"`
	Pattern  string  `json:"url_regex,omitempty"`
}

// tryOperations does the operation of the form on the page, and shows what it did.
func tryOperations(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id, form := q.pathParameter("lesson_id"), q.readOperation()
	t, err := form.request()
	var tried *lesson.Tried
	if err == nil {
		tried, err = q.lessons.Try(q.Context(), q.principal, id, t)
	}
	if err != nil {
		return q.refuseLessonForm(id, err, func(v *lessonView) { v.Form = form })
	}
	v := &lessonView{Info: tried.Info, Steps: tried.Steps, Failure: tried.Failure, Candidates: tried.Candidates}
	status := http.StatusOK
	if !tried.OK {
		status, v.Form = http.StatusUnprocessableEntity, form
	}
	v.noteProgress(tried)
	return q.showLesson(status, v)
}

// noteProgress says how far the operations of a mended or imported routine have come.
func (v *lessonView) noteProgress(t *lesson.Tried) {
	for _, notice := range []string{t.PageLost, t.Stopped} {
		if notice != "" {
			v.Notices = append(v.Notices, notice)
		}
	}
	if t.Next != "" && len(t.Remaining) == 0 {
		v.Notices = append(v.Notices, "All operations of the routine were done. Save it below.")
	}
}

// refuseLessonForm shows the lesson again with why its form was refused.
func (q *request) refuseLessonForm(id string, err error, edit func(*lessonView)) error {
	info, gone := q.lessons.Get(q.principal, id)
	if gone != nil {
		return gone
	}
	v := &lessonView{Info: info, Error: routine.AsError(err).Headline()}
	for _, p := range routine.AsError(err).Problems {
		v.Error += "; " + p.Message
	}
	edit(v)
	return q.showLesson(q.refusedLesson(err), v)
}

// undoOperations keeps the first operations, and does them again on a new page.
func undoOperations(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id := q.pathParameter("lesson_id")
	undone, err := q.lessons.Undo(q.Context(), q.principal, id, lesson.UndoRequest{To: atoi(q.PostForm.Get("to"))})
	if err != nil {
		return q.refuseLessonForm(id, err, func(*lessonView) {})
	}
	v := &lessonView{Info: undone.Info, Steps: undone.Replayed}
	if len(undone.DoneAgain) > 0 {
		v.Notices = append(v.Notices, "These requests, which may change something on the site, were made again: "+strings.Join(undone.DoneAgain, ", ")+".")
	}
	return q.showLesson(http.StatusOK, v)
}

// saveForm is the form with which a routine is made of a lesson.
type saveForm struct {
	Name, Description string
	Prove             lesson.Prove
	// Parameters is a JSON list of declarations; empty: those of the values that were given.
	Parameters string
}

// saveLesson makes a routine of the lesson, or says what it would be.
func saveLesson(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	get := q.PostForm.Get
	id, form := q.pathParameter("lesson_id"), saveForm{Name: strings.TrimSpace(get("name")), Description: get("description"),
		Prove: lesson.Prove(get("prove")), Parameters: get("parameters")}
	s := lesson.SaveRequest{Name: form.Name, Description: form.Description, Prove: form.Prove, DryRun: get("dry") != "", Via: routine.ViaConsole}
	var saved *lesson.Saved
	var err error
	if text := strings.TrimSpace(form.Parameters); text != "" && json.Unmarshal([]byte(text), &s.Parameters) != nil {
		err = routine.Errorf(routine.CodeInvalid, "the parameters are no JSON list of declarations")
	}
	if err == nil {
		saved, err = q.lessons.Save(q.Context(), q.principal, id, s)
	}
	if err != nil {
		return q.refuseLessonForm(id, err, func(v *lessonView) { v.Save, v.Saved = form, saved })
	}
	info, err := q.lessons.Get(q.principal, id)
	if err != nil {
		return err
	}
	return q.showLesson(http.StatusOK, &lessonView{Info: info, Save: form, Saved: saved})
}
