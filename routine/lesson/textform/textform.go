// Package textform makes operations that find their element by the texts that a person sees,
// in place of a selector.
package textform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/operation"
)

// Target names an element by what a person sees, for when no lasting selector matches
// it. Exactly one of Role, Text, Label and XPath is set.
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
}

// textFormScript finds the one visible element that a TextTarget names, in the page, its open
// shadow roots and its frames of the same origin, and marks it. It waits for it. t is a text
// on one line, up the parent of an element, all the elements that match a selector, and name
// the accessible name of an element.
var textFormScript = template.Must(template.New("").Parse(`(async()=>{
const t=s=>String(s??"").replace(/\s+/g," ").trim(),
all=(s,r=document)=>[...r.querySelectorAll(s),...[...r.querySelectorAll("*")].flatMap(e=>[e.shadowRoot,e.contentDocument].flatMap(i=>i?all(s,i):[]))];
{{- if .Name}}
const x=l=>[...l||[]].map(e=>e.textContent.replace(e.querySelector("select")?.textContent,"")).join(" "),
name=e=>t([e.ariaLabel,x(e.ariaLabelledByElements),{{.Name}},e.title].find(t));
{{- end}}
{{- if .Near}}
const up=e=>e.parentElement||e.getRootNode().host,has=(p,e)=>e&&(e===p||has(p,up(e)));
{{- end}}
for(const e of all("[data-rote-mark]"))e.removeAttribute("data-rote-mark");
for(const end=Date.now()+{{.Wait}};;await new Promise(r=>setTimeout(r,50))){
let f={{.Find}}.filter(e=>e.checkVisibility({visibilityProperty:true,opacityProperty:true}));
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

// Where elements have their names, as JavaScript: fields in labels, other elements in their
// contents.
const (
	fieldNames   = "x(e.labels),e.placeholder"
	contentNames = `e.textContent,e.localName==="input"?e.value:"",e.alt,e.querySelector("img")?.alt`
)

// roleSelectors are the elements that have a role without an attribute that says so.
var roleSelectors = map[string]string{
	"button":     "button,summary,input[type=submit],input[type=button],input[type=reset],input[type=image]",
	"link":       "a",
	"checkbox":   "input[type=checkbox]",
	"radio":      "input[type=radio]",
	"combobox":   "select",
	"slider":     "input[type=range]",
	"spinbutton": "input[type=number]",
	"searchbox":  "input[type=search]",
	"file":       "input[type=file]",
	"textbox":    "textarea,[contenteditable],input:not([type=checkbox],[type=radio],[type=submit],[type=button])",
}

// fieldRoles are the roles of form fields.
var fieldRoles = []string{"checkbox", "radio", "combobox", "slider", "spinbutton", "searchbox", "file", "textbox"}

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

// Check returns nil if the target can be used. CodeInvalid.
func (t Target) Check() error {
	set := 0
	for _, s := range []string{t.Role, t.Text, t.Label, t.XPath} {
		if s != "" {
			set++
		}
	}
	if set != 1 || t.Role != "" && t.Name == "" || t.Role == "" && t.Name != "" {
		return routine.Errorf(routine.CodeInvalid, "the target of a text form has one of: role with name, text, label, xpath")
	}
	if strings.ContainsAny(t.Role, " \"'[]{}") {
		return routine.Errorf(routine.CodeInvalid, "%s is no role", routine.Quote(t.Role))
	}
	return nil
}

// script returns the code that finds and marks the element.
func (t Target) script(w waitForText) (string, error) {
	if err := t.Check(); err != nil {
		return "", err
	}
	parts := map[string]any{"Near": "", "Name": "", "What": scriptText(t.describe()), "Wait": textFormWait, "Optional": w.Optional}
	if w.Optional {
		parts["Wait"] = min(cmp.Or(w.Timeout, optionalTextFormWait), textFormWait)
	}
	if t.Near != "" {
		parts["Near"] = scriptText(t.Near)
	}
	switch {
	case t.Role != "":
		implicit, known := roleSelectors[t.Role]
		if !known {
			implicit = t.Role
		}
		parts["Name"] = contentNames
		if slices.Contains(fieldRoles, t.Role) {
			parts["Name"] = fieldNames
		}
		parts["Find"] = fmt.Sprintf("all(%s).filter(e=>%s)", scriptText("[role="+t.Role+"],:is("+implicit+"):not([role])"), sameText("name(e)", t.Name))
	case t.Label != "":
		parts["Name"] = fieldNames
		parts["Find"] = fmt.Sprintf("all(%s).filter(e=>%s)", scriptText("input:not([type=hidden]),textarea,select,[contenteditable]"), sameText("name(e)", t.Label))
	case t.Text != "":
		same := "t(e.textContent)===t(" + scriptText(t.Text) + ")"
		parts["Find"] = fmt.Sprintf("all(\"body *\").filter(e=>%s&&![...e.children].some(e=>%s))", same, same)
	default:
		parts["Find"] = fmt.Sprintf("(x=>[...Array(x.snapshotLength).keys()].map(i=>x.snapshotItem(i)))(document.evaluate(%s,document,null,7,null))",
			scriptText(t.XPath))
	}
	var b bytes.Buffer
	if err := textFormScript.Execute(&b, parts); err != nil {
		return "", err
	}
	return b.String(), nil
}

// describe names the element for an error message.
func (t Target) describe() string {
	switch {
	case t.Near != "":
		return fmt.Sprintf("%s '%s' near '%s'", t.Role, t.Name, t.Near)
	case t.Role != "":
		return fmt.Sprintf("%s '%s'", t.Role, t.Name)
	case t.Text != "":
		return fmt.Sprintf("the text '%s'", t.Text)
	case t.Label != "":
		return fmt.Sprintf("a field '%s'", t.Label)
	}
	return "found by XPath"
}

// sameText is the JavaScript that compares a text with a name, which ends in "…" if it was
// shortened.
func sameText(expression, name string) string {
	if beginning, shortened := strings.CutSuffix(name, "…"); shortened {
		return expression + ".startsWith(t(" + scriptText(beginning) + "))"
	}
	return expression + "===t(" + scriptText(name) + ")"
}

// scriptText is a JavaScript string. A placeholder in it is filled with escaped text.
func scriptText(text string) string { return routine.JSONText(text) }
