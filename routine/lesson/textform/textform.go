// Package textform makes operations that find their element by the texts that a person sees,
// in place of a selector.
package textform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"text/template"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/operation"
)

// Target names an element by what a person sees, for when no lasting selector matches
// it. Exactly one of Role, Text, Label and XPath is set, or only CSS.
type Target struct {
	// Role and Name are the role and the accessible name of the element; Near is a text in
	// its row, item or part of the page, if several elements have both.
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
	Near string `json:"near,omitempty"`
	// Text is the whole text of the element.
	Text string `json:"text,omitempty"`
	// Label is the label of a form field.
	Label string `json:"label,omitempty"`
	// XPath is an expression that finds the element in the page itself.
	XPath string `json:"xpath,omitempty"`
	// CSS is a selector that the element matches, too.
	CSS string `json:"css,omitempty"`
	// Match is how Name, Text or Label is compared: [Exact], [Contains] or [Regex].
	Match string `json:"match,omitempty"`
	// Within finds the element around it, and Or other elements that will do.
	Within *Target `json:"within,omitempty"`
	Or     *Target `json:"or,omitempty"`
	// HasText is a part of the text of the element, HasRegex a pattern of it, and Has finds an
	// element in it. Elements with what HasNotText, HasNotRegex or HasNot say are left out.
	HasText     string  `json:"has_text,omitempty"`
	HasRegex    string  `json:"has_regex,omitempty"`
	Has         *Target `json:"has,omitempty"`
	HasNotText  string  `json:"has_not_text,omitempty"`
	HasNotRegex string  `json:"has_not_regex,omitempty"`
	HasNot      *Target `json:"has_not,omitempty"`
	// Attribute is the attribute that AttributeRegex is a pattern of.
	Attribute      string `json:"attribute,omitempty"`
	AttributeRegex string `json:"attribute_regex,omitempty"`
	// Nth selects one of the elements: from 0, or from the last one, which is -1.
	Nth *int `json:"nth,omitempty"`
}

// How texts are compared. A pattern is written as in JavaScript, as /next/i.
const (
	Exact    = ""
	Contains = "contains" // whatever the case of letters
	Regex    = "regex"
)

// textFormScript finds the one visible element that a TextTarget names, in the page, its open
// shadow roots and its frames of the same origin, and marks it. It waits for it. up is the parent
// of an element.
var textFormScript = template.Must(template.New("").Parse(`(async()=>{
{{.Functions}}
{{- if .Near}}
const up=e=>e.parentElement||e.getRootNode().host,has=(p,e)=>e&&(e===p||has(p,up(e)));
{{- end}}
for(const e of all("[data-rote-mark]"))e.removeAttribute("data-rote-mark");
for(const end=Date.now()+{{.Wait}};;await new Promise(r=>setTimeout(r,50))){
let f={{.Find}}.filter(v);
{{- if .Near}}
f=f.filter(e=>{
let a=e;
while(a&&!t(a.textContent).includes(t({{.Near}})))a=up(a);
return a&&!f.some(o=>o!==e&&has(a,o));
});
{{- end}}
if(f.length===1)return f[0].setAttribute("data-rote-mark",1);
if(Date.now()>end){{if .Optional}}return{{else}}throw Error(f.length+" visible elements are "+{{.What}}+": one is wanted"){{end}};
}
})()`))

// Operations returns the two operations that do what action, a click or an input_text, says to
// the element that target names: a script that marks the element, and action with the mark
// as its selector. Both have the same x-bridge, so that they are shown, saved and undone as
// one. Placeholders in the target are filled like those of a script. If action is optional,
// the script waits for the element as long as an optional action does, and marks nothing
// if it does not come.
func Operations(target Target, action json.RawMessage, bridge string) ([]json.RawMessage, error) {
	var wait waitForText
	if err := json.Unmarshal(action, &wait); err != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the operation is no JSON object: %w", err)
	}
	script, err := target.script(wait)
	if err != nil {
		return nil, err
	}
	if wait.Optional && wait.Timeout == 0 { // the script has waited already
		if action, err = jsonobject.Set(action, "timeout_ms", routine.RawJSON(optionalMarkTimeout)); err != nil {
			return nil, err
		}
	}
	find := routine.RawJSON(struct {
		Type    string `json:"type"`
		Timeout int    `json:"timeout_seconds"`
		Bridge  string `json:"x-bridge"`
		Target  Target `json:"x-target"`
		Script  string `json:"js"`
	}{"js_evaluate", 10, bridge, target, script})
	act, err := jsonobject.Set(action, "selector", routine.RawJSON(operation.MarkSelector))
	if err == nil {
		act, err = jsonobject.Set(act, "x-bridge", routine.RawJSON(bridge))
	}
	if err != nil {
		return nil, routine.Errorf(routine.CodeInvalid, "the operation is no JSON object: %w", err)
	}
	return []json.RawMessage{find, act}, nil
}

// waitForText are the fields of an action that say how long the script of its text form waits
// for the element.
type waitForText struct {
	Optional bool `json:"x-optional"`
	Timeout  int  `json:"timeout_ms"` // in milliseconds
}

// How long scripts of text forms wait, in milliseconds. optionalMarkTimeout is the
// timeout_ms of an optional action whose element the script has waited for.
const (
	textFormWait         = 9000
	optionalTextFormWait = 2000
	optionalMarkTimeout  = 1000
)

// script returns the code that finds and marks the element.
func (t Target) script(w waitForText) (string, error) {
	if err := t.Check(); err != nil {
		return "", err
	}
	parts := map[string]any{"Near": "", "Functions": t.functions(), "Find": t.find(""), "What": scriptText(t.describe()),
		"Wait": textFormWait, "Optional": w.Optional}
	if w.Optional {
		parts["Wait"] = min(cmp.Or(w.Timeout, optionalTextFormWait), textFormWait)
	}
	if t.Near != "" {
		parts["Near"] = scriptText(t.Near)
	}
	var b bytes.Buffer
	if err := textFormScript.Execute(&b, parts); err != nil {
		return "", err
	}
	return b.String(), nil
}
