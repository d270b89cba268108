package playwright

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
	"rote/routine/lesson/textform"
	"rote/routine/selector"
)

// element is how a script finds an element: by a selector, or by what a person sees.
type element struct {
	css    string
	target *textform.Target
	// others are further ways, of which the most lasting is chosen.
	others  []string
	targets []textform.Target
	// broken says why the element cannot be found.
	broken string
}

// locator returns the element for the draft.
func (e element) locator() draft.Locator {
	if e.broken != "" {
		return draft.Locator{}
	}
	if e.target != nil {
		return draft.Choose(nil, []textform.Target{*e.target})
	}
	return draft.Choose(append([]string{e.css}, e.others...), e.targets)
}

// asTarget returns the element as a target.
func (e element) asTarget() textform.Target {
	if e.target != nil {
		return *e.target
	}
	return textform.Target{CSS: e.css}
}

// simple reports whether a selector is one that others can follow in the same tree.
func simple(css string) bool {
	return css != "" && !strings.Contains(css, ",") && !customElement.MatchString(css)
}

var customElement = regexp.MustCompile(`(?:^|[\s>+~])[a-z]+-[\w-]+(?:$|[\s>+~:.#\[])`)

// within returns the element that is in another one.
func (e element) within(parent element) element {
	if e.broken == "" {
		e.broken = parent.broken
	}
	if parent.css == "" && parent.target == nil {
		return e
	}
	if e.target == nil && parent.target == nil && simple(parent.css) && !strings.Contains(e.css, ",") {
		e.css = parent.css + " " + strings.TrimPrefix(e.css, ":scope ")
		return e
	}
	around := parent.asTarget()
	t := e.asTarget()
	switch {
	case t.Within == nil:
		t.Within = &around
	case t.Within.Within == nil: // the outermost part is in it
		inner := *t.Within
		inner.Within = &around
		t.Within = &inner
	default:
		return element{broken: "the element is in others that are too deep"}
	}
	return element{target: &t, broken: e.broken}
}

// finders are the methods that find elements by one text, and the attribute that has it; empty for
// those of texts that a person sees.
var finders = map[string]string{"getByText": "", "getByLabel": "", "getByPlaceholder": "placeholder", "getByAltText": "alt", "getByTitle": "title",
	"getByTestId": "data-testid"}

// find returns the element that a method finds in another one; false if it finds none.
func (r *reader) find(parent element, m chain.Member) (element, bool) {
	attribute, known := finders[m.Name]
	switch {
	case m.Name == "getByRole":
		return r.byRole(m).within(parent), true
	case known:
		return r.byText(m, attribute).within(parent), true
	case m.Name == "$x":
		s, ok := r.literal(argument(m, 0))
		return byXPath(s, ok).within(parent), true
	case slices.Contains([]string{"locator", "$", "$$", "querySelector", "querySelectorAll", "frameLocator"}, m.Name):
		if inner := argument(m, 0); inner != nil && inner.Kind == chain.Calls {
			if o := r.located(inner); o.kind == located {
				return o.element.within(parent), true
			}
		}
		s, ok := r.literal(argument(m, 0))
		if !ok {
			return element{broken: "the selector is computed"}, true
		}
		e := r.selector(s).within(parent)
		return r.filter(e, m), true
	}
	return element{}, false
}

// located is the element that a value is.
func (r *reader) located(v *chain.Value) object {
	o, members := r.begins(v.Calls)
	for _, m := range members {
		next, ok := r.refine(o, m)
		if !ok {
			return object{}
		}
		o = next
	}
	return o
}

// named compares a target with a text or pattern of the script.
func (r *reader) named(v *chain.Value, exact bool) (text, match string, ok bool) {
	if v != nil && v.Kind == chain.Calls {
		if o := r.vars[v.Calls.Base]; o.kind == constant && o.value.Kind == chain.Pattern {
			v = &o.value
		}
	}
	if v != nil && v.Kind == chain.Pattern {
		flags := strings.Map(func(c rune) rune {
			if strings.ContainsRune("imsu", c) {
				return c
			}
			return -1
		}, v.Flags)
		return "/" + v.Text + "/" + flags, textform.Regex, v.Text != "" && !strings.Contains(v.Text, "{{")
	}
	text, ok = r.literal(v)
	if exact {
		return text, textform.Exact, ok
	}
	return text, textform.Contains, ok
}

// computed is an element whose text the script computes.
var computed = element{broken: "the text of the element is computed"}

func (r *reader) byText(m chain.Member, attribute string) element {
	text, match, ok := r.named(argument(m, 0), option(m, "exact").Is("true"))
	switch {
	case !ok:
		return computed
	case attribute == "data-testid" && match != textform.Regex:
		return element{css: draft.Attribute(attribute, text)}
	case attribute != "" && match == textform.Regex:
		return element{target: &textform.Target{CSS: "[" + attribute + "]", Attribute: attribute, AttributeRegex: text}}
	case attribute != "" && match == textform.Exact:
		return element{css: draft.Attribute(attribute, text)}
	case attribute != "":
		return element{css: "[" + attribute + "*=" + draft.Quote(text) + " i]"}
	case m.Name == "getByLabel":
		return element{target: &textform.Target{Label: text, Match: match}}
	}
	return element{target: &textform.Target{Text: text, Match: match}}
}

var roleName = regexp.MustCompile(`^[A-Za-z]+$`)

// roleOf returns the role that a script names; false if it names none.
func roleOf(v *chain.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	role := v.Text
	if v.Kind == chain.Calls { // an enumeration of Java or C#
		role = v.Calls.Last().Name
	}
	role = strings.ToLower(role)
	return role, roleName.MatchString(role)
}

func (r *reader) byRole(m chain.Member) element {
	role, ok := roleOf(argument(m, 0))
	if !ok {
		return computed
	}
	t := textform.Target{Role: role}
	if name := option(m, "name"); name != nil || option(m, "nameRegex") != nil {
		if name == nil {
			name = option(m, "nameRegex")
		}
		var ok bool
		if t.Name, t.Match, ok = r.named(name, option(m, "exact").Is("true")); !ok {
			return computed
		}
	}
	for _, state := range []string{"checked", "disabled", "expanded", "pressed", "selected"} {
		if v := option(m, state); v != nil {
			css := "[aria-" + state + "=true]"
			if state == "checked" || state == "disabled" {
				css = ":is(:" + state + ",[aria-" + state + "=true])"
			}
			if v.Is("false") {
				css = ":not(" + css + ")"
			}
			t.CSS += css
		}
	}
	if n, ok := r.integer(option(m, "level")); ok && option(m, "level") != nil && n >= 1 && n <= 6 {
		digit := string(rune('0' + n))
		t.CSS += ":is(h" + digit + ",[aria-level=\"" + digit + "\"])"
	}
	if t.Name == "" {
		t = textform.Target{CSS: ":is(" + textform.RoleSelector(role) + ")" + t.CSS}
	}
	return element{target: &t}
}

// byXPath is the element of an expression.
func byXPath(xpath string, literal bool) element {
	if !literal {
		return computed
	}
	if css, ok := draft.XPathCSS(xpath); ok {
		return element{css: css}
	}
	return element{target: &textform.Target{XPath: xpath}}
}

// refine returns what a member of a page or element is: another element, or the same.
func (r *reader) refine(o object, m chain.Member) (object, bool) {
	if o.kind != page && o.kind != located {
		return object{}, false
	}
	e := o.element
	switch m.Name {
	case "frame", "mainFrame", "contentFrame", "childFrames", "frames", "frameLocator", "parentFrame", "pages", "context", "asElement", "elementHandle":
		if o.kind == located && m.Name != "contentFrame" && m.Name != "frameLocator" {
			return o, m.Name != "context"
		}
		return object{kind: page}, m.Name != "context" && m.Name != "pages"
	case "":
		if m.Index {
			return o, true
		}
	case "setTimeout", "setEnsureElementIsInTheViewport", "setWaitForEnabled", "setWaitForStableBoundingBox", "setVisibility", "describe":
		return o, o.kind == located
	case "on": // what is done before the element is acted on
		if o.kind == located {
			r.during(m)
		}
		return o, o.kind == located
	case "first":
		return r.nth(e, 0), o.kind == located
	case "last":
		return r.nth(e, -1), o.kind == located
	case "nth":
		n, ok := r.integer(argument(m, 0))
		if !ok {
			e.broken = "the number of the element is computed"
		}
		return r.nth(e, n), o.kind == located
	case "filter":
		return object{kind: located, element: r.filter(e, m)}, o.kind == located
	case "and", "or":
		return object{kind: located, element: r.join(e, m)}, o.kind == located
	}
	found, ok := r.find(e, m)
	return object{kind: located, element: found}, ok
}

func (r *reader) nth(e element, n int) object {
	if e.target == nil && n == 0 {
		return object{kind: located, element: e} // operations take the first that a selector matches
	}
	t := e.asTarget()
	if t.Nth != nil {
		e.broken = "the element is one of one"
	}
	t.Nth = &n
	return object{kind: located, element: element{target: &t, broken: e.broken}}
}

// join returns the elements that are found in two ways, or in one of two.
func (r *reader) join(e element, m chain.Member) element {
	v := argument(m, 0)
	if v == nil || v.Kind != chain.Calls {
		return computed
	}
	o := r.located(v)
	t, other := e.asTarget(), o.element.asTarget()
	switch {
	case o.kind != located || o.element.broken != "" || t.Nth != nil || t.Or != nil:
		return element{broken: "the element is found in ways that rote does not join"}
	case m.Name == "or":
		t.Or = &other
	case o.element.target == nil && (e.target == nil || t.CSS == ""):
		t.CSS += ":is(" + other.CSS + ")"
	default:
		return element{broken: "the element is found in ways that rote does not join"}
	}
	return element{target: &t, broken: e.broken}
}

// race returns the element for which a script has several ways.
func (r *reader) race(m chain.Member) element {
	var all element
	list := argument(m, 0)
	if list == nil {
		return computed
	}
	for i := range list.Parts {
		if list.Parts[i].Kind != chain.Calls {
			continue
		}
		all.alternative(r.located(&list.Parts[i]).element)
	}
	return all
}

// alternative adds another way to find the element.
func (e *element) alternative(other element) {
	switch {
	case other.broken != "":
	case other.target != nil:
		e.targets = append(e.targets, *other.target)
	case other.css != "":
		e.others = append(e.others, other.css)
	}
}

// usable returns why an element cannot be found; empty if it can.
func usable(e element) string {
	if e.broken != "" {
		return e.broken
	}
	if e.target == nil {
		return ""
	}
	text, err := json.Marshal(e.target)
	if err != nil || len(text) > 4000 {
		return "the element is described by too much"
	}
	for t := e.target; t != nil; t = t.Within {
		for _, one := range []*textform.Target{t, t.Has, t.HasNot, t.Or} {
			if one != nil && one.CSS != "" && selector.Check(one.CSS) != nil {
				return "rote has no selector " + draft.Shown(one.CSS)
			}
		}
	}
	return ""
}
