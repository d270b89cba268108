package playwright

import (
	"regexp"
	"slices"
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
	"rote/routine/lesson/textform"
)

// matcher matches the name of an assertion: toHaveText, or hasText of Java.
var matcher = regexp.MustCompile(`^(?:to(be|have|contains?|match|equal|strictequal)|(is|has|contains))?(.*)$`)

// expect reads an assertion.
func (r *reader) expect(c *chain.Chain) bool {
	if len(c.Members) < 2 || len(c.Members[0].Args) == 0 {
		return false
	}
	v := &c.Members[0].Args[0]
	if v.Kind == chain.Function { // which is called until it holds
		if c.Last().Name == "toPass" {
			r.block(v.Body)
			return true
		}
		v = result(v)
	}
	if v.Kind != chain.Calls {
		return false
	}
	v = asWhole(v)
	if !r.known(v.Calls) {
		return false
	}
	m := c.Last()
	r.turnTo(v.Calls.Base, r.variable(v.Calls.Base))
	if !r.begin(m) {
		return true
	}
	if want := argument(m, 0); want != nil && want.Kind == chain.Calls && len(want.Calls.Members) > 0 && r.vars[want.Calls.Base].kind == kept {
		r.d.Drop("not_understood", "what is expected is computed of a value of the page")
		return true
	}
	name, negated := strings.CutPrefix(strings.ToLower(m.Name), "not")
	parts := matcher.FindStringSubmatch(name)
	a := assertion{m: m, verb: parts[1] + parts[2], what: parts[3], negated: negated}
	for _, other := range c.Members[1 : len(c.Members)-1] {
		a.negated = a.negated != (other.Name == "not")
	}
	if c.Members[0].Name == "soft" {
		r.d.Change("soft_became_hard", "the run fails if it does not hold")
	}
	r.check(a, v)
	return true
}

// asWhole returns a value without the calls that only remove white space around it, such as trim, and
// the length of a list of Python as JavaScript writes it.
func asWhole(v *chain.Value) *chain.Value {
	c := *v.Calls
	switch last := c.Last(); {
	case len(c.Members) > 0 && last.Called && len(last.Args) == 0 && (last.Name == "trim" || last.Name == "strip" || last.Name == "toString"):
		c.Members = c.Members[:len(c.Members)-1]
	case c.Base == "len" && len(c.Members) == 1 && len(last.Args) == 1 && last.Args[0].Kind == chain.Calls:
		c = *last.Args[0].Calls
		c.Members = append(slices.Clone(c.Members), chain.Member{Name: "length"})
	default:
		return v
	}
	return &chain.Value{Kind: chain.Calls, Calls: &c, Text: v.Text, Line: v.Line, Column: v.Column}
}

// result is the value that a function returns which does nothing else.
func result(v *chain.Value) *chain.Value {
	if v.Result != nil {
		return v.Result
	}
	if v.Body != nil {
		if all := v.Body.Statements(); len(all) == 1 && all[0].Keyword == "" {
			return &all[0].Value
		}
	}
	return &chain.Value{}
}

// assertion is what a script expects.
type assertion struct {
	m          chain.Member
	verb, what string
	negated    bool
}

// check adds what waits until an assertion holds, of an element or page v.
func (r *reader) check(a assertion, v *chain.Value) {
	switch {
	case strings.Contains(a.what, "snapshot") || strings.Contains(a.what, "screenshot"):
		r.d.Drop("snapshot", "a picture or outline of the page is not compared")
	case a.what == "url":
		r.checkURL(a)
	case a.what == "title":
		r.d.Assert(draft.Locator{}, draft.Check{Found: "t(document.title)", Holds: a.holds(r.compare(argument(a.m, 0), false)),
			Expected: a.words("the title", r.said(argument(a.m, 0))),
			Wait:     r.wait(a)})
	default:
		r.checkValue(a, v)
	}
}

func (r *reader) wait(a assertion) float64 { return r.milliseconds(option(a.m, "timeout")) }

// holds is the condition of an assertion.
func (a assertion) holds(condition string) string {
	if a.negated {
		return "!(" + condition + ")"
	}
	return condition
}

func (r *reader) checkURL(a assertion) {
	pattern, ok := r.urlPattern(argument(a.m, 0))
	switch {
	case ok && a.negated:
		r.d.Assert(draft.Locator{}, draft.Check{Found: "location.href", Holds: "!RegExp(" + draft.Literal(pattern) + ").test(found)", Expected: "another URL",
			Wait: r.wait(a)})
	case ok:
		o := draft.Operation{Type: "wait_for_url", URLRegex: pattern}
		o.WaitFor(r.wait(a))
		r.d.Add(o)
	default:
		r.d.Drop("wait", "the URL that is expected is computed")
	}
}

// states are what an element is, as JavaScript of e.
var states = map[string]string{"checked": "e.checked", "enabled": "!e.disabled", "disabled": "e.disabled", "editable": "!e.disabled&&!e.readOnly",
	"empty": "!t(e.textContent)&&!e.value", "focused": "e===e.getRootNode().activeElement", "attached": "true", "inviewport": "visible(e)"}

// values are what an element has, as JavaScript of e.
var values = map[string]string{"text": "t(e.textContent)", "value": "e.value", "values": "[...e.selectedOptions].map(o=>o.value)", "class": "e.className",
	"id": "e.id", "css": "getComputedStyle(e).getPropertyValue(",
	"accessiblename": "e.ariaLabel||t(e.textContent)", "jsproperty": "e[", "attribute": "e.getAttribute("}

// checkValue checks an element, or a value that a statement takes of one.
func (r *reader) checkValue(a assertion, v *chain.Value) {
	read := v.Calls.Last()
	if code := pageValues[read.Name]; code != "" && len(v.Calls.Members) == 1 {
		r.checkRead(a, draft.Locator{}, code)
		return
	}
	if o := r.vars[v.Calls.Base]; o.kind == kept && (len(v.Calls.Members) == 0 || read.Name == "length") {
		code := "JSON.parse(sessionStorage.getItem(" + draft.Literal(o.key) + "))"
		if read.Name == "length" {
			code += ".length"
		}
		r.checkRead(a, draft.Locator{}, code)
		return
	}
	code, isRead := reads[read.Name]
	if isRead {
		inner := *v.Calls
		inner.Members = inner.Members[:len(inner.Members)-1]
		v = &chain.Value{Kind: chain.Calls, Calls: &inner}
	}
	o := r.located(v)
	if o.kind == page && isRead && len(read.Args) > 0 {
		if css, ok := r.literal(&read.Args[0]); ok {
			o = object{kind: located, element: r.selector(css)}
			read.Args = read.Args[1:]
		}
	}
	if o.kind != located {
		r.d.Drop("not_understood", "what is expected is not said of an element or page")
		return
	}
	if why := usable(o.element); why != "" {
		r.d.Drop("no_selector", "%s", why)
		return
	}
	l := o.element.locator()
	if isRead {
		if strings.HasSuffix(code, "(") {
			name, _ := r.text(argument(read, 0))
			code += draft.Literal(name) + ")"
		}
		r.checkRead(a, l, code)
		if strings.HasSuffix(read.Name, "Text") || read.Name == "textContent" {
			r.d.TextChecked(l)
		}
		return
	}
	r.checkElement(a, l)
}

// orders are the comparisons of numbers, as JavaScript.
var orders = map[string]string{"greaterthan": ">", "greaterthanorequal": ">=", "lessthan": "<", "lessthanorequal": "<="}

// checkRead checks a value that a statement takes of the page or of an element.
func (r *reader) checkRead(a assertion, l draft.Locator, code string) {
	if strings.HasPrefix(strings.TrimPrefix(code, "!"), "e.") {
		code = "list.map(e=>" + code + ")[0]"
	}
	want := argument(a.m, 0)
	switch contains := strings.HasPrefix(a.verb, "contain"); {
	case a.verb == "be" && (a.what == "truthy" || a.what == "visible"):
		r.d.Assert(l, draft.Check{Found: code, Holds: a.holds("found"), Expected: "a value"})
	case a.verb == "be" && a.what == "falsy":
		r.d.Assert(l, draft.Check{Found: code, Holds: a.holds("!found"), Expected: "no value"})
	case want != nil && orders[a.what] != "":
		r.d.Assert(l, draft.Check{Found: code, Holds: a.holds("Number(found)" + orders[a.what] + "Number(" + r.expected(want) + ")"),
			Expected: a.words(orders[a.what], r.said(want))})
	case want != nil && a.what == "length":
		r.d.Assert(l, draft.Check{Found: "(" + code + ").length", Holds: a.holds(r.compare(want, false)), Expected: a.words("length", r.said(want))})
	case want != nil && (a.what == "" || a.what == "to"):
		r.d.Assert(l, draft.Check{Found: code, Holds: a.holds(r.compare(want, contains)), Expected: a.words("", r.said(want))})
	default:
		r.d.Drop("not_understood", "rote has no such comparison")
	}
}

func (r *reader) checkElement(a assertion, l draft.Locator) {
	wait := r.wait(a)
	if v := option(a.m, a.what); v.Is("false") && (a.what == "checked" || a.what == "visible" || a.what == "enabled" || a.what == "attached") {
		a.negated = !a.negated
	}
	state, isState := states[a.what]
	value, isValue := values[a.what]
	switch {
	case a.what == "visible" && !a.negated, a.what == "hidden" && a.negated, a.what == "inviewport" && !a.negated:
		r.d.WaitVisible(l, wait)
	case a.what == "visible" || a.what == "hidden":
		r.d.Assert(l, draft.Check{Found: "list.filter(visible).length", Holds: "found===0", Expected: "no such element that can be seen", Wait: wait})
	case a.what == "count" || a.what == "length":
		r.d.Assert(l, draft.Check{Found: "list.length", Holds: a.holds(r.compare(argument(a.m, 0), false)),
			Expected: a.words("", r.said(argument(a.m, 0))) + " elements", Wait: wait})
	case a.what == "attached" && a.negated:
		r.d.Assert(l, draft.Check{Found: "list.length", Holds: "found===0", Expected: "no such element", Wait: wait})
	case a.what == "role":
		r.checkRole(a, l)
	case isState:
		r.d.Assert(l, draft.Check{Found: "list.map(e=>!!(" + state + "))[0]", Holds: "list.length>0&&" + a.holds("found"), Expected: a.words(a.what, ""), Wait: wait})
	case isValue:
		r.checkProperty(a, l, value)
	default:
		r.d.Drop("not_understood", "rote has no such comparison")
	}
}

// checkRole checks the role of an element.
func (r *reader) checkRole(a assertion, l draft.Locator) {
	v := argument(a.m, 0)
	role, ok := roleOf(v)
	if !ok {
		r.d.Drop("not_understood", "the role that is expected is computed")
		return
	}
	r.d.Assert(l, draft.Check{Found: "list.map(e=>e.matches(" + draft.Literal(textform.RoleSelector(role)) + "))[0]", Holds: "list.length>0&&" + a.holds("found"),
		Expected: a.words("role", role), Wait: r.wait(a)})
}

// checkProperty checks the text, the value or an attribute of an element.
func (r *reader) checkProperty(a assertion, l draft.Locator, code string) {
	want, what := argument(a.m, 0), a.what
	if strings.HasSuffix(code, "(") || strings.HasSuffix(code, "[") {
		name, _ := r.text(want)
		code += draft.Literal(name) + map[byte]string{'(': ")", '[': "]"}[code[len(code)-1]]
		what += " " + draft.Shown(name)
		want = argument(a.m, 1)
	}
	contains := strings.HasPrefix(a.verb, "contain")
	check := draft.Check{Found: "list.map(e=>" + code + ")[0]", Expected: a.words(what, r.said(want)), Wait: r.wait(a)}
	switch {
	case want == nil || want.Kind == chain.Object:
		check.Holds = "list.length>0&&" + a.holds("found!=null")
	case want.Kind == chain.List:
		check.Found = "list.map(e=>" + code + ")"
		conditions := []string{"found.length===" + digits(len(want.Parts))}
		for i := range want.Parts {
			conditions = append(conditions, strings.ReplaceAll(r.compare(&want.Parts[i], contains), "found", "found["+digits(i)+"]"))
		}
		check.Holds = a.holds(strings.Join(conditions, "&&"))
	default:
		check.Holds = "list.length>0&&" + a.holds(r.compare(want, contains))
	}
	r.d.Assert(l, check)
	if a.what == "text" && !a.negated && want != nil && want.Kind != chain.List {
		r.d.TextChecked(l)
	}
}
