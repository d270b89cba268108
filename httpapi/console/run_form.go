package console

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"rote/httpapi"
	"rote/routine"
	"rote/routine/service"
)

// runForm is the form with which a routine is run.
type runForm struct {
	Controls []*control
	// JSON, if not empty, is used in place of the fields.
	JSON         string
	JSONProblems []string
	// Timeout is in seconds; empty: the default.
	Timeout, TimeoutProblem string
	// Key is different in each form, so that one form starts one run.
	Key string
	// Multipart reports whether a field is for files.
	Multipart bool
	// Error says why the run was not started, and Faults lists what is wrong with the form.
	Error  string
	Faults []runFormFault
	// Notices say what was filled in, and what could not be.
	Notices []string
}

// runFormFault is a problem of the form, with the field that has it; without an id there is none.
type runFormFault struct{ ID, Text string }

func newRunForm(parameters []routine.Parameter) (*runForm, error) {
	controls, err := newControls(parameters)
	if err != nil {
		return nil, err
	}
	f := &runForm{Controls: controls, Key: rand.Text()}
	for _, c := range controls {
		f.Multipart = f.Multipart || c.Kind == "file"
	}
	return f, nil
}

// read takes the posted form over, and returns the JSON of the parameters.
func (f *runForm) read(q *request) (json.RawMessage, error) {
	f.JSON, f.Timeout = q.PostForm.Get("json"), strings.TrimSpace(q.PostForm.Get("timeout"))
	if key := q.PostForm.Get("key"); key != "" {
		f.Key = key
	}
	var object []string
	for _, c := range f.Controls {
		text := q.PostForm.Get(c.FieldName())
		value := c.encode(text)
		if c.Kind == "file" && q.MultipartForm != nil {
			var err error
			if value, err = encodeFiles(q.MultipartForm.File[c.FieldName()]); err != nil {
				return nil, routine.Internal("read the files of the form", err)
			}
		}
		c.fill(text)
		if value != nil {
			object = append(object, routine.JSONText(c.Name)+":"+string(value))
		}
	}
	if strings.TrimSpace(f.JSON) != "" {
		return json.RawMessage(f.JSON), nil
	}
	return json.RawMessage("{" + strings.Join(object, ",") + "}"), nil
}

// timeout returns the timeout of the form; 0: the default.
func (f *runForm) timeout() (time.Duration, error) {
	if f.Timeout == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(f.Timeout, 64)
	if err != nil || !routine.ValidRunTimeout(seconds) {
		f.TimeoutProblem = "The timeout is a number of seconds from " + strconv.Itoa(int(routine.MinRunTimeout.Seconds())) + " to " +
			strconv.Itoa(int(routine.MaxRunTimeout.Seconds()))
		return 0, routine.Errorf(routine.CodeInvalid, "%s", f.TimeoutProblem)
	}
	return routine.Seconds(seconds), nil
}

// refuse shows why the run was not started, next to the fields that are wrong.
func (f *runForm) refuse(err error) {
	e := routine.AsError(err)
	f.Error = e.Headline()
	if f.TimeoutProblem != "" {
		f.Faults = append(f.Faults, runFormFault{"timeout", f.TimeoutProblem})
	}
	for _, p := range e.Problems {
		text := p.Message
		if p.Hint != "" {
			text += "; " + p.Hint
		}
		id := ""
		if f.JSON != "" {
			id = "json"
			if p.Line > 0 {
				text = strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + " " + text
			}
			f.JSONProblems = append(f.JSONProblems, text)
		} else if c := f.control(p.Pointer); c != nil {
			id = c.ID
			c.Problems = append(c.Problems, text)
		}
		f.Faults = append(f.Faults, runFormFault{id, text})
	}
}

// control returns the field of the parameter to which a problem's pointer leads, or nil.
func (f *runForm) control(pointer string) *control {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	for _, c := range f.Controls {
		if c.Name == routine.UnescapePointer(name) {
			return c
		}
	}
	return nil
}

// fillFrom fills in the values of an earlier run. Values that the run masked, and files, are
// left empty, and a notice says so.
func (f *runForm) fillFrom(e *routine.Execution) {
	var values map[string]json.RawMessage
	if json.Unmarshal(e.Parameters, &values) != nil || values == nil {
		f.Notices = append(f.Notices, "The values of run "+shortID(e.ID)+" are not kept.")
		return
	}
	var missing []string
	object := map[string]json.RawMessage{}
	empty := false
	for _, c := range f.Controls {
		raw := values[c.Name]
		switch {
		case len(raw) == 0 || string(raw) == "null":
		case c.Kind == "password" || c.Kind == "file" || bytes.Contains(raw, []byte(routine.Masked)):
			missing = append(missing, c.Name)
		default:
			object[c.Name] = raw
			empty = empty || string(raw) == `""`
			c.fill(valueText(raw))
		}
	}
	if empty { // a field that is empty would mean that there is no value
		f.JSON = routine.JSONText(object)
	}
	f.Notices = append(f.Notices, "The values of run "+shortID(e.ID)+" are filled in.")
	if len(missing) > 0 {
		f.Notices = append(f.Notices, "Secret values and files are not kept. Give them again: "+strings.Join(missing, ", ")+".")
	}
}

// startRun answers the form of a routine: it starts a run, and leads to it.
func startRun(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	id := q.pathParameter("id")
	r, err := q.service.Routine(q.Context(), q.principal, id)
	if err != nil {
		return err
	}
	f, err := newRunForm(r.Parameters)
	if err != nil {
		return err
	}
	e, err := q.start(id, service.Call{}, id, f)
	if err == nil {
		return q.redirect("executions", e.ID)
	}
	f.refuse(err)
	return q.showRoutine(q.refusedForm(err), r, f)
}

// start starts the run of a call with the values of the form. The same values for the same
// subject, which is what the call runs, from the same form start one run; other values, after a
// step back in the browser, start another one.
func (q *request) start(id string, call service.Call, subject string, f *runForm) (*routine.Execution, error) {
	parameters, err := f.read(q)
	if err != nil {
		return nil, err
	}
	if call.Timeout, err = f.timeout(); err != nil {
		return nil, err
	}
	call.Parameters, call.Via = parameters, routine.ViaConsole
	call.Idempotency = formIdempotency(f.Key, subject+"\n"+f.Timeout+"\n"+string(parameters))
	return q.service.Start(q.Context(), q.principal, id, call)
}

// formIdempotency returns the idempotency of a form with a content.
func formIdempotency(key, content string) service.Idempotency {
	sum := sha256.Sum256([]byte(key + "\n" + content))
	return service.Idempotency{Key: "console-" + hex.EncodeToString(sum[:16]), Body: []byte(content)}
}

// refusedForm records why a form was refused, and returns the status of its page.
func (q *request) refusedForm(err error) int {
	httpapi.RecordProblem(q.Context(), err)
	return q.admission.Refuse(q.w.Header(), err)
}
