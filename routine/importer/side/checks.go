package side

import (
	"strconv"
	"strings"

	"rote/routine/importer/draft"
)

// property is what a command checks or stores of an element: the JavaScript of it, of the element e.
var properties = map[string]string{
	"Text": `t(e.innerText)`, "Value": `e.type==="checkbox"||e.type==="radio"?(e.checked?"on":"off"):e.value`, "SelectedValue": `e.value`,
	"SelectedLabel": `t(e.selectedOptions[0]?.label)`,
}

// states are what a command checks of an element without a value.
var states = map[string]string{
	"Checked": "e.checked", "Editable": "!e.disabled&&!e.readOnly", "ElementEditable": "!e.disabled&&!e.readOnly", "ElementVisible": "visible(e)",
	"ElementPresent": "true",
}

// check turns assert…, verify… and waitFor… into a script that waits until it holds.
func (r *reader) check(c command) {
	name := c.name
	soft := strings.HasPrefix(name, "verify")
	wait := 0.0
	if strings.HasPrefix(name, "waitFor") {
		wait, _ = strconv.ParseFloat(strings.TrimSpace(c.value), 64)
	}
	for _, prefix := range []string{"assert", "verify", "waitFor"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if soft {
		r.d.Change("soft_became_hard", "the run fails if it does not hold")
	}
	positive := strings.Replace(name, "Not", "", 1)
	negated := positive != name
	state, isState := states[positive]
	property, isProperty := properties[positive]
	switch {
	case name == "":
		r.checkVariable(c)
	case name == "Title":
		r.d.Assert(draft.Locator{}, draft.Check{Found: "t(document.title)", Holds: equals(c.target), Expected: "the title " + c.target})
	case !negated && wait >= 0 && strings.HasPrefix(c.name, "waitFor") && (name == "ElementPresent" || name == "ElementVisible"):
		r.d.WaitVisible(r.locate(c), wait)
	case isState && negated:
		r.d.Assert(r.locate(c), draft.Check{Found: "list.filter(e=>" + state + ").length", Holds: "found===0", Expected: "none with " + positive, Wait: wait})
	case isState:
		r.d.Assert(r.locate(c), draft.Check{Found: "list.filter(e=>" + state + ").length", Holds: "found>0", Expected: "one with " + positive, Wait: wait})
	case isProperty:
		holds := equals(strings.ReplaceAll(c.value, `\n`, "\n")) // as the IDE writes a new line
		if negated {
			holds = "list.length>0&&!(" + holds + ")"
		}
		r.d.Assert(r.locate(c), draft.Check{Found: "list.map(e=>" + property + ")[0]", Holds: holds, Expected: name + " " + c.value, Wait: wait})
		if name == "Text" {
			r.d.TextChecked(r.locate(c))
		}
	default:
		r.d.Drop("plugin", "%s is no command of Selenium IDE itself", draft.Shown(c.name))
	}
}

// equals is the JavaScript condition that the found text is equal to another, which may be the value of a variable.
func equals(want string) string { return "t(found)===t(" + expression(want) + ")" }

// expression is a text as JavaScript. Variables that scripts have stored are read.
func expression(text string) string {
	before, rest, found := strings.Cut(text, "{{sessionStorage:")
	if !found {
		if strings.HasPrefix(text, "{{") {
			return `"` + text + `"` // a parameter
		}
		return draft.Literal(text)
	}
	name, after, _ := strings.Cut(rest, "}}")
	return draft.Literal(before) + "+JSON.parse(sessionStorage.getItem(" + draft.Literal(name) + "))+" + expression(after)
}

// checkVariable checks the value of a variable.
func (r *reader) checkVariable(c command) {
	value := expression("{{sessionStorage:" + c.target + "}}")
	if constant, known := r.constants[c.target]; known {
		value = expression(constant)
	}
	r.d.Assert(draft.Locator{}, draft.Check{Found: value, Holds: equals(c.value), Expected: c.target + " " + c.value})
}

// store keeps a value of the page in a variable.
func (r *reader) store(c command) {
	key := r.keep(c.value)
	if key == "" {
		r.d.Drop("variable", "the command names no variable")
		return
	}
	switch name := strings.TrimPrefix(c.name, "store"); name {
	case "Text", "Value":
		r.d.Do(r.locate(c), "return "+properties[name]+";", key)
	case "Attribute":
		at := strings.LastIndexByte(c.target, '@')
		attribute := c.target[at+1:]
		c.target = strings.TrimRight(c.target[:max(at, 0)], "/")
		c.at = nothing
		r.d.Do(r.locate(c), "return e.getAttribute("+draft.Literal(attribute)+");", key)
	case "Title":
		r.d.Script("(()=>document.title)()", key)
	case "ElementCount", "XpathCount":
		r.count(c, key)
	case "Json":
		if value, err := jsonText(c.target); err {
			r.d.Drop("json", "the text is no JSON")
		} else {
			r.d.Script("(()=>("+value+"))()", key)
		}
	default:
		r.d.Drop("plugin", "%s is no command of Selenium IDE itself", draft.Shown(c.name))
	}
}

// count keeps how many elements there are.
func (r *reader) count(c command, key string) {
	c.at = nothing
	r.d.Read(r.locate(c), "list.length", key)
}
