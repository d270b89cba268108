package javascript

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"
)

// bind adds source to the possible values of a variable, or of the variables of
// a pattern. A nil source is an unknown value.
func (f *flow) bind(target js.INode, source js.IExpr) {
	switch t := target.(type) {
	case *js.Var:
		v := f.variable(t)
		if source == nil {
			v.MayBeUnknown = true
			return
		}
		v.Sources = append(v.Sources, source)
		f.addFunctionName(v, source)
	case *js.GroupExpr:
		f.bind(t.X, source)
	case *js.BinaryExpr: // a target with a default, which the collector binds
		f.bind(t.X, source)
	case *js.BindingArray:
		for i := range t.List {
			f.bind(t.List[i].Binding, elementAt(source, i))
		}
		f.bind(t.Rest, source)
	case *js.ArrayExpr:
		for i := range t.List {
			if t.List[i].Spread {
				f.bind(t.List[i].Value, source)
			} else {
				f.bind(t.List[i].Value, elementAt(source, i))
			}
		}
	case *js.BindingObject:
		f.addPatternSource(t, source)
		for i := range t.List {
			f.bind(t.List[i].Value.Binding, propertyOf(source, t.List[i].Key))
		}
		if t.Rest != nil {
			f.bind(t.Rest, source)
		}
	case *js.ObjectExpr:
		f.addPatternSource(t, source)
		for i := range t.List {
			if t.List[i].Spread {
				f.bind(t.List[i].Value, source)
			} else {
				f.bind(t.List[i].Value, propertyOf(source, t.List[i].Name))
			}
		}
	}
}

// addPatternSource records that a pattern destructures source.
func (f *flow) addPatternSource(pattern js.INode, source js.IExpr) {
	if source != nil {
		f.patterns[pattern] = append(f.patterns[pattern], source)
	}
}

// addFunctionName records that v holds the function in source.
func (f *flow) addFunctionName(v *Variable, source js.IExpr) {
	n := Unwrap(source)
	switch n.(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		if f.functions[n] == nil {
			f.functions[n] = &Function{node: n}
			f.fnOrder = append(f.fnOrder, f.functions[n])
		}
		f.functions[n].names = append(f.functions[n].names, v)
	}
}

// elementAt returns the expression source[i].
func elementAt(source js.IExpr, i int) js.IExpr {
	if source == nil {
		return nil
	}
	return &js.IndexExpr{X: source, Y: &js.LiteralExpr{TokenType: js.IntegerToken, Data: []byte(strconv.Itoa(i))}}
}

// propertyOf returns the expression source[key].
func propertyOf(source js.IExpr, key *js.PropertyName) js.IExpr {
	if source == nil || key == nil {
		return nil
	}
	if key.Computed != nil {
		return &js.IndexExpr{X: source, Y: key.Computed}
	}
	return &js.DotExpr{X: source, Y: js.LiteralExpr{TokenType: js.IdentifierToken, Data: []byte(LiteralName(key))}}
}
