package javascript

import (
	"fmt"

	"github.com/tdewolff/parse/v2/js"
)

// checkVariable checks the use of a variable.
func (c *checker) checkVariable(v *js.Var, at int, u use) {
	name, ok := Free(v)
	if !ok || u&asInert != 0 {
		return
	}
	if f := blockedGlobals[name]; f != 0 {
		shown, _ := memberOf(kGlobal, name)
		c.add(blocked(at, shown, f))
	}
	if u&asTarget != 0 {
		c.checkSet(kGlobal, name, at)
	}
}

// checkSet checks the assignment of a member of an object of these kinds.
func (c *checker) checkSet(kinds kind, name string, at int) {
	switch {
	case kinds&kLocation != 0:
		c.add(blocked(at, "setting location."+name, leaves))
	case kinds&(kGlobal|kDocument) != 0 && name == "location":
		c.add(blocked(at, "setting location", leaves))
	case kinds&(kGlobal|kDocument) != 0 && eventHandlerName.MatchString(name):
		c.add(blocked(at, "setting "+name, hook))
	}
}

// checkMember checks x[name] for all possible names.
func (c *checker) checkMember(x value, names []text, at int, u use) {
	if u&asInert != 0 {
		return
	}
	for _, t := range names {
		if t.exact {
			c.checkMemberName(x.kinds, t.prefix, at, u)
			continue
		}
		kinds := x.kinds & (kGlobal | kDocument | kNavigator)
		if u != 0 { // of a location only reading is harmless
			kinds = x.kinds
		}
		if x.open() || len(x.objs) > 0 {
			// may or may not be the window, as in a helper that is called with both
			continue
		}
		if mayBeBlocked(kinds, t) || u&asTarget != 0 && kinds&kLocation != 0 {
			c.add(Problem{
				Offset:  at,
				Code:    CodeBlocked,
				Message: fmt.Sprintf("a computed member of %s is blocked in js_evaluate: it could be anything that is blocked", owner(kinds)),
				Hint:    "write the name out, as in window.dataLayer or window[\"my-data\"]",
			})
			return
		}
	}
}

func owner(kinds kind) string {
	for kind, name := range map[kind]string{
		kGlobal: "window", kDocument: "document", kNavigator: "navigator",
		kLocation: "location", kHistory: "history", kNavigation: "navigation",
	} {
		if kinds&-kinds == kind { // the lowest, so that the answer is always the same
			return name
		}
	}
	return "this object"
}

func (c *checker) checkMemberName(kinds kind, name string, at int, u use) {
	if shown, f := memberOf(kinds, name); f != 0 {
		c.add(blocked(at, shown, f))
	}
	switch name {
	case "constructor":
		if kinds&kConstructor != 0 {
			c.add(blocked(at, ".constructor.constructor", makesCode))
		} else if kinds&kFunction != 0 {
			c.add(blocked(at, "the constructor of a function", makesCode))
		}
	case "call", "apply", "bind":
		if kinds&kConstructor != 0 {
			c.add(blocked(at, "calling .constructor", makesCode))
		}
	}
	if u&asTarget != 0 {
		c.checkSet(kinds, name, at)
	}
}
