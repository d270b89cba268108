package javascript

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"
)

// bind puts source into a variable or takes it apart into a pattern. A nil
// source is something unknown.
func (f *flow) bind(target js.INode, source js.IExpr) {
	switch t := target.(type) {
	case *js.Var:
		v := f.variable(t)
		if source == nil {
			v.open = true
			return
		}
		v.sources = append(v.sources, source)
		f.named(v, source)
	case *js.GroupExpr:
		f.bind(t.X, source)
	case *js.BinaryExpr: // a target with a default, which its collector binds
		f.bind(t.X, source)
	case *js.BindingArray:
		for i := range t.List {
			f.bind(t.List[i].Binding, at(source, i))
		}
		f.bind(t.Rest, source)
	case *js.ArrayExpr:
		for i := range t.List {
			if t.List[i].Spread {
				f.bind(t.List[i].Value, source)
			} else {
				f.bind(t.List[i].Value, at(source, i))
			}
		}
	case *js.BindingObject:
		f.apart(t, source)
		for i := range t.List {
			f.bind(t.List[i].Value.Binding, of(source, t.List[i].Key))
		}
		if t.Rest != nil {
			f.bind(t.Rest, source)
		}
	case *js.ObjectExpr:
		f.apart(t, source)
		for i := range t.List {
			if t.List[i].Spread {
				f.bind(t.List[i].Value, source)
			} else {
				f.bind(t.List[i].Value, of(source, t.List[i].Name))
			}
		}
	}
}

// apart notes that a pattern takes source apart.
func (f *flow) apart(pattern js.INode, source js.IExpr) {
	if source != nil {
		f.patterns[pattern] = append(f.patterns[pattern], source)
	}
}

// named notes that v holds a function that stands in source.
func (f *flow) named(v *variable, source js.IExpr) {
	n := unwrap(source)
	switch n.(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		if f.functions[n] == nil {
			f.functions[n] = &function{node: n}
			f.fnOrder = append(f.fnOrder, f.functions[n])
		}
		f.functions[n].names = append(f.functions[n].names, v)
	}
}

// at is source[i].
func at(source js.IExpr, i int) js.IExpr {
	if source == nil {
		return nil
	}
	return &js.IndexExpr{X: source, Y: &js.LiteralExpr{TokenType: js.IntegerToken, Data: []byte(strconv.Itoa(i))}}
}

// of is source[key].
func of(source js.IExpr, key *js.PropertyName) js.IExpr {
	if source == nil || key == nil {
		return nil
	}
	if key.Computed != nil {
		return &js.IndexExpr{X: source, Y: key.Computed}
	}
	return &js.DotExpr{X: source, Y: js.LiteralExpr{TokenType: js.IdentifierToken, Data: []byte(literalName(key))}}
}
