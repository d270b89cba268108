package exporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/lesson/textform"
	ops "rote/routine/operation"
)

// step is a step of Chrome's Recorder.
type step struct {
	Type       string     `json:"type"`
	URL        string     `json:"url,omitempty"`
	Target     string     `json:"target,omitempty"`
	Selectors  [][]string `json:"selectors,omitempty"`
	Value      *string    `json:"value,omitempty"`
	Key        string     `json:"key,omitempty"`
	Button     string     `json:"button,omitempty"`
	OffsetX    *int       `json:"offsetX,omitempty"`
	OffsetY    *int       `json:"offsetY,omitempty"`
	X          *int       `json:"x,omitempty"`
	Y          *int       `json:"y,omitempty"`
	Timeout    int        `json:"timeout,omitempty"`
	Expression string     `json:"expression,omitempty"`
	Events     []event    `json:"assertedEvents,omitempty"`
}

type event struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// recording is the file of Chrome's Recorder. It has no parameters: those of the routine are in a
// field that Chrome passes over.
type recording struct {
	Title      string              `json:"title"`
	Parameters []routine.Parameter `json:"x-parameters,omitempty"`
	Steps      []step              `json:"steps"`
}

// recorder writes a recording of Chrome's Recorder. Parameters keep their placeholders.
func (w *writer) recorder() string {
	r := recording{Title: w.definition.Name, Steps: []step{}}
	for _, p := range w.definition.Parameters {
		if p.Secret {
			p.Default, p.Observed, p.Examples = nil, nil, nil
		}
		r.Parameters = append(r.Parameters, p)
	}
	var target *textform.Target
	w.each(func(i int, o *operation) {
		if o.Bridge != "" && o.Type == "js_evaluate" {
			target = o.Target // the next operation acts on it
			return
		}
		if o.Selector == ops.MarkSelector && target != nil {
			o.Target, o.Selector = target, ""
		}
		target = nil
		if !w.onlyParameters(o.URL, o.Selector, o.URLRegex, o.Script, o.Key) || o.Text != nil && !w.onlyParameters(*o.Text) {
			return
		}
		write := recorderSteps[o.Type]
		if write == nil {
			w.drop("operation", "a recording has no step for %s", o.Type)
			return
		}
		write(w, &r, o)
		if last := len(r.Steps) - 1; w.account.Item().What != draft.Dropped && last >= 0 && strings.Contains(string(routine.RawJSON(r.Steps[last])), "{{") {
			w.change("parameter", "the placeholder of the parameter stays in the text: replace it before the recording is played; rote import knows it")
		}
	})
	return indented(r)
}

func indented(v any) string {
	var b bytes.Buffer
	_ = json.Indent(&b, routine.RawJSON(v), "", "  ") // it has just been made
	return b.String() + "\n"
}

var recorderSteps = map[string]func(*writer, *recording, *operation){
	"navigate": func(w *writer, r *recording, o *operation) {
		w.leftOut(o, "url")
		r.Steps = append(r.Steps, step{Type: "navigate", URL: o.URL})
	},
	"click": (*writer).recorderClick, "input_text": (*writer).recorderChange, "press": (*writer).recorderKeys,
	"wait_for_url": (*writer).recorderURL, "scroll": (*writer).recorderScroll, "js_evaluate": (*writer).recorderScript,
	"sleep": func(w *writer, r *recording, o *operation) {
		w.change("sleep", "an expression waits %s", seconds(*o.Seconds))
		r.Steps = append(r.Steps, step{Type: "waitForExpression", Timeout: int(*o.Seconds*1000) + 1000,
			Expression: fmt.Sprintf("new Promise((r) => setTimeout(() => r(true), %d))", int(*o.Seconds*1000))})
	},
}

// selectors are the ways to find the element of an operation.
func selectors(o *operation) [][]string {
	var all [][]string
	if t := o.Target; t != nil {
		switch {
		case t.Role != "" && t.Name != "":
			all = append(all, []string{fmt.Sprintf(`aria/%s[role="%s"]`, t.Name, t.Role)})
		case t.Label != "":
			all = append(all, []string{"aria/" + t.Label})
		case t.Text != "":
			all = append(all, []string{"text/" + t.Text})
		case t.XPath != "":
			all = append(all, []string{"xpath/" + t.XPath})
		}
	}
	if o.Selector == "" {
		return all
	}
	css := [][]string{{o.Selector}}
	for _, a := range o.Alternatives {
		css = append(css, []string{a})
	}
	return append(css, all...)
}

// element returns a step on the element of an operation; false if a recording cannot name it.
func (w *writer) element(kind string, o *operation) (step, bool) {
	s := step{Type: kind, Target: "main", Selectors: selectors(o), Timeout: o.Timeout}
	if len(s.Selectors) == 0 {
		w.drop("no_selector", "a recording cannot name the element")
		return s, false
	}
	return s, true
}

var recorderButtons = map[string]string{"right": "secondary", "middle": "auxiliary"}

func (w *writer) recorderClick(r *recording, o *operation) {
	w.leftOut(o, "selector", "button", "click_count", "timeout_ms", "ensure_visible", "x-hover", "x-alternatives", "x-target")
	s, ok := w.element("click", o)
	if !ok {
		return
	}
	for _, css := range o.Hover {
		r.Steps = append(r.Steps, step{Type: "hover", Target: "main", Selectors: [][]string{{css}}})
	}
	switch {
	case o.Clicks == 2:
		s.Type = "doubleClick"
	case o.Clicks > 2:
		w.change("click_count", "a recording has one or two clicks, not %d", o.Clicks)
	}
	one := 1
	s.Button, s.OffsetX, s.OffsetY = recorderButtons[o.Button], &one, &one
	r.Steps = append(r.Steps, s)
}

func (w *writer) recorderChange(r *recording, o *operation) {
	w.leftOut(o, "selector", "text", "clear", "timeout_ms", "x-alternatives", "x-target", "x-files")
	s, ok := w.element("change", o)
	switch {
	case !ok:
		return
	case o.Files != "" || o.Text == nil:
		w.drop("upload", "a recording has no files to hand in")
		return
	case !o.Clear:
		w.change("append", "a recording replaces the text of the field, it does not add to it")
	}
	s.Value = o.Text
	r.Steps = append(r.Steps, s)
}

func (w *writer) recorderKeys(r *recording, o *operation) {
	w.leftOut(o, "key")
	parts := strings.Split(o.Key, "+")
	if strings.HasSuffix(o.Key, "++") || o.Key == "+" {
		parts = append(parts[:max(len(parts)-2, 0)], "+")
	}
	for i, key := range parts {
		if key == "Space" {
			parts[i] = " "
		}
		r.Steps = append(r.Steps, step{Type: "keyDown", Target: "main", Key: parts[i]})
	}
	for i := range parts {
		r.Steps = append(r.Steps, step{Type: "keyUp", Target: "main", Key: parts[len(parts)-1-i]})
	}
}

var escaped = regexp.MustCompile(`\\([^A-Za-z0-9])`)

// recorderURL lets the step before assert the URL, if the pattern is that of one URL.
func (w *writer) recorderURL(r *recording, o *operation) {
	w.leftOut(o, "url_regex")
	plain := strings.TrimSuffix(strings.TrimPrefix(o.URLRegex, "^"), "($|[?#])")
	address := escaped.ReplaceAllString(plain, "$1")
	last := len(r.Steps) - 1
	if regex, ok := draft.URLRegex(address); ok && regex == o.URLRegex && last >= 0 && r.Steps[last].Type != "navigate" && r.Steps[last].Events == nil {
		r.Steps[last].Events = []event{{"navigation", address}}
		return
	}
	w.change("wait_by_script", "an expression waits for the URL")
	if !strings.Contains(o.URLRegex, "{{") {
		r.Steps = append(r.Steps, step{Type: "waitForExpression", Timeout: o.Timeout,
			Expression: "new RegExp(" + draft.Literal(o.URLRegex) + ").test(location.href)"})
		return
	}
	w.drop("placeholder", "an expression cannot have the parameter of the pattern")
}

func (w *writer) recorderScroll(r *recording, o *operation) {
	w.leftOut(o, "selector", "x", "y", "delta_x", "delta_y", "timeout_ms", "x-alternatives", "x-target")
	if o.Selector == "" && o.Target == nil {
		if o.DeltaX != nil || o.DeltaY != nil {
			w.drop("scroll", "a recording scrolls the window to a place, not by a length")
			return
		}
		r.Steps = append(r.Steps, step{Type: "scroll", Target: "main", X: o.X, Y: o.Y})
		return
	}
	kind := "scroll"
	if o.DeltaX == nil && o.DeltaY != nil && *o.DeltaY == 0 {
		kind = "waitForElement"
	}
	s, ok := w.element(kind, o)
	if !ok {
		return
	}
	if kind == "scroll" {
		zero := 0
		s.X, s.Y = o.DeltaX, o.DeltaY
		if s.Y == nil {
			s.Y = &zero
		}
	}
	r.Steps = append(r.Steps, s)
}

// waiting matches the scripts that the importer makes of an expression.
var waiting = regexp.MustCompile(`^\(async\(\)=>\{\nfor\(const end=Date\.now\(\)\+(\d+);;[^\n]*\nif\(await\(((?s:.*))\n\)\)return;\n`)

func (w *writer) recorderScript(r *recording, o *operation) {
	m := waiting.FindStringSubmatch(o.Script)
	if m == nil || o.StorageKey != "" {
		w.drop("script", "a recording has no scripts: what it does or returns is not in it")
		return
	}
	var timeout int
	_, _ = fmt.Sscan(m[1], &timeout) // it has digits only
	r.Steps = append(r.Steps, step{Type: "waitForExpression", Expression: m[2], Timeout: timeout})
}
