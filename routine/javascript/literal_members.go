package javascript

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"
)

// isPending reports whether nothing is known about x yet, but will be.
func (f *flow) isPending(x value) bool { return x.texts == nil && f.done == nil }

// member returns the value of x[name].
func (f *flow) member(x value, names []text) value {
	v := value{}
	if f.isPending(x) {
		return v
	}
	for _, t := range names {
		k := memberKinds(x.kinds, t)
		v.kinds |= k
		v = f.property(v, x, t, k != 0)
	}
	return v
}

// memberKinds returns the kinds of a member of an object of these kinds.
func memberKinds(kinds kind, name text) kind {
	if !name.exact { // of the window an unknown name is refused, an index is a frame
		return kinds & kGlobal
	}
	_, err := strconv.Atoi(name.prefix)
	switch n := name.prefix; {
	case n == "defaultView", err == nil && kinds&kGlobal != 0:
		return kGlobal
	case n == "contentDocument", n == "ownerDocument":
		return kDocument
	case n == "__proto__":
		return kinds & kFunction
	case n == "constructor" && kinds&(kFunction|kConstructor) != 0:
		return kConstructor | kMaker
	case n == "constructor":
		return kConstructor
	case n == "location" && kinds&kDocument != 0:
		return kLocation
	case kinds&kGlobal != 0:
		return globals[n]
	}
	return 0
}

// property adds the values that the literals in x hold under a name to v. sure
// means that x also has a member of that name that is not a string.
func (f *flow) property(v, x value, name text, sure bool) value {
	// members of other objects are unknown
	known := len(x.objs) > 0 && !x.open()
	found := false
	for _, o := range x.objs {
		for _, e := range f.elements(o, name) {
			found = true
			v = v.join(f.elementValue(e))
		}
	}
	switch {
	case sure:
		v.texts = union(v.texts, never)
	case !known || !found:
		v.texts = union(v.texts, unknown)
	}
	return v
}

// elementValue returns the value of an element of a literal. It is stored like
// that of a variable, because literals may refer to themselves.
func (f *flow) elementValue(e js.IExpr) value {
	s := f.slots[e]
	if s == nil {
		s = &Variable{Sources: []js.IExpr{e}}
		f.slots[e] = s
		f.order = append(f.order, s)
		if f.done != nil {
			s.value = f.eval(e)
		}
	}
	return s.value
}

// arrayText returns an array as a property key: that of ["fetch"] is fetch.
// With several elements it contains a comma.
func (f *flow) arrayText(n *js.ArrayExpr) []text {
	switch {
	case len(n.List) == 1 && n.List[0].Value != nil && !n.List[0].Spread:
		return f.eval(n.List[0].Value).texts
	case len(n.List) == 1:
		return unknown
	}
	return never
}

func (f *flow) elements(o js.INode, name text) (out []js.IExpr) {
	switch o := o.(type) {
	case *js.ArrayExpr:
		i, err := strconv.Atoi(name.prefix)
		for k, e := range o.List {
			f.stepsLeft--
			if e.Value != nil && !e.Spread && (!name.exact || err == nil && i == k) {
				out = append(out, e.Value)
			}
		}
	case *js.ObjectExpr:
		for i := range o.List {
			f.stepsLeft--
			p := &o.List[i]
			if p.Name != nil && p.Name.Computed == nil && name.may(LiteralName(p.Name)) {
				out = append(out, p.Value)
			}
		}
	}
	return out
}

// LiteralName returns a property name that is not computed.
func LiteralName(n *js.PropertyName) string {
	d := n.Literal.Data
	if n.Literal.TokenType == js.StringToken && len(d) >= 2 {
		d = d[1 : len(d)-1]
	}
	return Unescape(d)
}
