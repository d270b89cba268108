package playwright

import (
	"regexp"
	"strconv"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// outerHTML matches the function that gives the HTML of an element.
var outerHTML = regexp.MustCompile(`^\(?(\w+)\)?\s*=>\s*(\w+)\.outerHTML$`)

// print reads what a script takes of the page to show it: that is a result.
func (r *reader) print(m chain.Member) {
	if r.lost != "" {
		return
	}
	for i := range m.Args {
		v := &m.Args[i]
		if v.Kind != chain.Calls || len(v.Calls.Members) == 0 || !r.known(v.Calls) {
			continue
		}
		last := v.Calls.Last()
		inner := *v.Calls
		inner.Members = inner.Members[:len(inner.Members)-1]
		f := argument(last, 0)
		switch {
		case last.Name == "content" && last.Called && r.variable(v.Calls.Base).kind == page:
			if r.begin(last) {
				r.d.Add(draft.Operation{Type: "return_html"})
				r.key = ""
			}
		case last.Name == "evaluate" && f != nil && f.Kind == chain.Function && outerHTML.MatchString(f.Text):
			o := r.located(&chain.Value{Kind: chain.Calls, Calls: &inner})
			if o.kind != located || !r.begin(last) {
				continue
			}
			if why := usable(o.element); why != "" {
				r.d.Drop("no_selector", "%s", why)
				continue
			}
			r.d.Act(o.element.locator(), draft.Operation{Type: "return_html", Scope: "element"})
			r.key = ""
		default:
			r.printing = true
			r.calls(v.Calls)
			r.printing = false
		}
	}
}

// scrolls matches the code that scrolls the window to a place, or an element by a distance.
var scrolls = regexp.MustCompile(`^(?:window|\((\w+)\) => (\w+))\.scroll(To|By)\((-?\d{1,6}), (-?\d{1,6})\)$`)

// scrollBy adds the operation that code stands for which scrolls; false if it does something else.
func (r *reader) scrollBy(l *draft.Locator, code string) bool {
	m := scrolls.FindStringSubmatch(code)
	if m == nil || (m[3] == "By") != (l != nil) || m[1] != m[2] {
		return false
	}
	x, _ := strconv.Atoi(m[4])
	y, _ := strconv.Atoi(m[5])
	if l == nil {
		r.d.Add(draft.Operation{Type: "scroll", X: &x, Y: &y})
		return true
	}
	o := draft.Operation{Type: "scroll", DeltaY: &y}
	if x != 0 {
		o.DeltaX = &x
	}
	r.d.Act(*l, o)
	return true
}
