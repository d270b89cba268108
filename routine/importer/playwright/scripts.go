package playwright

import (
	"regexp"
	"strings"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// reads are what a script takes of an element e, or of the list of them: the JavaScript of it.
var reads = map[string]string{"textContent": "e.textContent", "innerText": "e.innerText", "innerHTML": "e.innerHTML", "inputValue": "e.value",
	"getAttribute": "e.getAttribute(", "allTextContents": "list.map(e=>e.textContent)", "allInnerTexts": "list.map(e=>e.innerText)",
	"count": "list.length", "isVisible": "list.some(visible)", "isHidden": "!list.some(visible)", "isChecked": "e.checked", "isEnabled": "!e.disabled",
	"isDisabled": "e.disabled", "isEditable": "!e.disabled&&!e.readOnly"}

// read keeps a value of an element under the name of the variable that gets it.
func (r *reader) read(l draft.Locator, code string, m chain.Member) object {
	key := r.newKey()
	if strings.HasSuffix(code, "(") {
		name, literal := r.text(argument(m, 0))
		if !literal {
			r.d.Drop("not_understood", "the name of the attribute is computed")
			return object{}
		}
		code += draft.Literal(name) + ")"
	}
	if strings.HasPrefix(code, "list") || strings.HasPrefix(code, "!list") {
		r.d.Read(l, code, key)
	} else {
		r.d.Do(l, "return "+code+";", key)
	}
	r.key = key
	return object{kind: kept, key: key}
}

var plainName = regexp.MustCompile(`^[A-Za-z_]\w{0,60}$`)

// newKey is the key under which the value of the present statement is kept.
func (r *reader) newKey() string {
	if len(r.statement.Vars) > 0 && plainName.MatchString(r.statement.Vars[0]) {
		return r.statement.Vars[0]
	}
	return "value"
}

// evaluateOn calls a function of the script with an element, or with all of them.
func (r *reader) evaluateOn(l draft.Locator, m chain.Member) {
	call, ok := r.script(m)
	if !ok {
		return
	}
	if len(r.statement.Vars) == 0 && r.scrollBy(&l, call.function) {
		return
	}
	all := m.Name == "evaluateAll" || m.Name == "$$eval" || m.Name == "evalOnSelectorAll"
	key := ""
	if len(r.statement.Vars) > 0 || r.printing {
		key = r.newKey()
	}
	r.d.ForeignOn(l, all, call.function, call.arguments, key)
	r.kept(key)
}

// calledFunction matches a function that is called where it is written, as a script of a routine is.
var calledFunction = regexp.MustCompile(`(?s)^\((?:async\s+)?(?:function\b|\([^()]*\)\s*=>).*\)\(\)$`)

// evaluate runs a function of the script in the page.
func (r *reader) evaluate(m chain.Member) object {
	if v := argument(m, 1); len(m.Args) == 2 && v.Kind == chain.Calls {
		if o := r.located(v); o.kind == located && usable(o.element) == "" { // the function gets an element
			m.Args = m.Args[:1]
			r.evaluateOn(o.element.locator(), m)
			if r.d.Item().What == draft.Dropped || len(r.statement.Vars) == 0 {
				return object{}
			}
			return object{kind: kept, key: r.key}
		}
	}
	call, ok := r.script(m)
	if !ok {
		return object{}
	}
	if r.scrollBy(nil, call.function) {
		return object{}
	}
	key := ""
	if len(r.statement.Vars) > 0 || r.printing {
		key = r.newKey()
	}
	if text := call.function; !call.called && calledFunction.MatchString(text) {
		r.d.Foreign(text, key)
		r.kept(key)
		return object{kind: kept, key: key}
	}
	code := "(" + call.function + "\n)"
	if call.called {
		code += "(" + strings.Join(call.arguments, ",") + ")"
	}
	r.d.Foreign("(async()=>await "+code+")()", key)
	r.kept(key)
	if key == "" {
		return object{}
	}
	return object{kind: kept, key: key}
}

// kept notes that the page has given a value.
func (r *reader) kept(key string) {
	r.moved = true
	if key != "" && r.d.Item().What != draft.Dropped {
		r.key = key
	}
}

// scriptCall is a function of the script and what it is called with.
type scriptCall struct {
	function  string
	called    bool // it is a function, and not an expression
	arguments []string
}

var functionText = regexp.MustCompile(`^\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|\w+\s*=>)`)

// script returns the function that a call runs in the page. It drops the step if that is none that the script has.
func (r *reader) script(m chain.Member) (scriptCall, bool) {
	v := argument(m, 0)
	if v == nil || v.Kind != chain.Function && v.Kind != chain.Text || v.Kind == chain.Function && r.language != chain.JavaScript {
		r.d.Drop("script_blocked", "the function is not written where it is called")
		return scriptCall{}, false
	}
	call := scriptCall{function: strings.TrimRight(strings.TrimSpace(v.Text), ";"), called: v.Kind == chain.Function || functionText.MatchString(v.Text)}
	if v.Kind == chain.Function {
		call.function = chain.WithoutTypes(call.function)
	}
	for i := range m.Args[1:] {
		code, ok := r.javascript(&m.Args[1+i])
		if !ok {
			r.d.Drop("script_blocked", "what the function is called with is computed")
			return scriptCall{}, false
		}
		call.arguments = append(call.arguments, code)
	}
	return call, true
}

// javascript returns a literal of the script as JavaScript.
func (r *reader) javascript(v *chain.Value) (string, bool) {
	switch v.Kind {
	case chain.Number:
		return v.Text, true
	case chain.List:
		var parts []string
		for i := range v.Parts {
			part, ok := r.javascript(&v.Parts[i])
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]", true
	case chain.Object:
		var parts []string
		for i := range v.Fields {
			part, ok := r.javascript(&v.Fields[i].Value)
			if !ok {
				return "", false
			}
			parts = append(parts, draft.Literal(v.Fields[i].Name)+":"+part)
		}
		return "{" + strings.Join(parts, ", ") + " }", true
	case chain.Calls:
		if v.Is("true") || v.Is("false") || v.Is("null") {
			return strings.ToLower(v.Calls.Base), true
		}
	case chain.Text, chain.Template, chain.Sum, chain.Choice:
	default:
		return "", false
	}
	return r.expected(v), true
}

// expected returns a text of the script as JavaScript, with placeholders for what it does not say.
func (r *reader) expected(v *chain.Value) string {
	s, literal := r.text(v)
	switch name, stored := strings.CutPrefix(s, "{{sessionStorage:"); {
	case literal:
		return draft.Literal(s)
	case stored && strings.Count(s, "{{") == 1 && strings.HasSuffix(s, "}}"):
		return "String(JSON.parse(sessionStorage.getItem(" + draft.Literal(strings.TrimSuffix(name, "}}")) + ")))"
	}
	return routine.JSONText(s)
}
