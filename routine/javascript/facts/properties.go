package facts

import (
	"github.com/tdewolff/parse/v2/js"

	"rote/routine/javascript"
)

// property is a fact that can be proved about the value of an expression.
type property uint8

const (
	// inert: calling it is an error, whatever the script has stored.
	inert property = iota
	// textual: a string, null or undefined.
	textual
	// numeric: a number.
	numeric
	// callable: a function of the script, a resolver of its promises, or a pure
	// function of the language.
	callable
	// own: an object or array that the script has created and that gives no access
	// to the page's objects.
	own
	// collected: a Map, Set or URLSearchParams of the script.
	collected
	// pairs: a list of names and inert values, as for Object.fromEntries.
	pairs
)

// question is about an expression, or about all values stored under a name.
type question struct {
	what property
	of   js.INode
	name string
}

// is reports whether e certainly has the property.
func (p *prover) is(what property, e js.IExpr) bool {
	e = javascript.Unwrap(e)
	return p.ask(question{what: what, of: e}, func() bool { return p.prove(what, e) })
}

// ask returns the answer to a question, from the cache or by calling prove, which
// may ask further questions, also the same one again.
//
// Variables can depend on each other in a circle. A question that is being proved
// therefore counts as true, and the proof fails only on evidence against it:
//
//	let a = 'x', b = a; a = b
//
//	is a textual?            assumed true, then proved from its sources 'x' and b:
//	  is 'x' textual?        true
//	  is b textual?          assumed true, then proved from its source a:
//	    is a textual?        true, as assumed
//	no assumption was refuted, so all three answers are final: true
//
// If one of the answers is false, true answers may rest on the assumption that it
// was true. They are discarded, and the outermost question is proved again:
//
//	let b = window.f, s = b + ''; b = s
//
//	is s textual?            assumed true, then proved from b + '':
//	  is b textual?          assumed true, then proved from window.f and s:
//	    is window.f textual? false, so b is not textual
//	  is '' textual?         true, so b + '' is textual
//	again, with b known not to be textual: the same, and nothing new is false,
//	so s is textual
//
// False answers are final at once: they were found although everything else was
// assumed to be true. Each round adds one, so that the loop ends.
func (p *prover) ask(q question, prove func() bool) bool {
	if known, ok := p.answers[q]; ok {
		return known
	}
	outermost := len(p.assumed) == 0
	for {
		refuted := p.refuted
		p.answers[q] = true
		p.assumed = append(p.assumed, q)
		if p.StepsLeft--; p.StepsLeft < 0 || !prove() {
			p.answers[q] = false
			p.refuted++
		}
		if !outermost {
			return p.answers[q]
		}
		holds := p.answers[q]
		if p.refuted == refuted {
			p.assumed = p.assumed[:0] // all answers are final
			return holds
		}
		for _, a := range p.assumed {
			if p.answers[a] {
				delete(p.answers, a)
			}
		}
		p.assumed = p.assumed[:0]
		if !holds {
			return false
		}
	}
}

// prove reports whether every value that the expression can have is known to have the
// property. For a kind of expression that it does not know the answer is false.
func (p *prover) prove(what property, e js.IExpr) bool {
	switch n := e.(type) {
	case *js.Var:
		return p.isVar(what, n)
	case *js.CondExpr:
		return p.is(what, n.X) && p.is(what, n.Y)
	case *js.BinaryExpr:
		switch n.Op {
		case js.OrToken, js.NullishToken, js.AndToken:
			return p.is(what, n.X) && p.is(what, n.Y)
		case js.EqToken:
			return p.is(what, n.Y)
		}
		return p.isResult(what, n)
	case *js.UnaryExpr:
		if n.Op == js.AwaitToken { // the value of a promise is neither own nor callable as far as is known
			return what != own && what != callable && p.is(what, n.X)
		}
		return what == inert || what == numeric && (n.Op == js.PosToken || n.Op == js.NegToken || n.Op == js.BitNotToken) ||
			what == numeric && n.Op != js.TypeofToken && n.Op != js.VoidToken && n.Op != js.NotToken && n.Op != js.DeleteToken ||
			what == textual && n.Op == js.TypeofToken
	case *js.LiteralExpr:
		return p.isLiteral(what, n)
	case *js.TemplateExpr:
		return n.Tag == nil && (what == inert || what == textual)
	case *js.ArrayExpr, *js.ObjectExpr:
		return what == inert || what == own
	case *js.FuncDecl, *js.ArrowFunc, *js.MethodDecl:
		return what == callable
	case *js.NewExpr:
		name, ok := javascript.Free(javascript.Unwrap(n.X))
		if !ok || !pureConstructors[name] {
			return false
		}
		return what == inert || what == own && name != "Promise" || what == collected && collections[name]
	case *js.DotExpr:
		return p.isMember(what, javascript.MemberName(n))
	case *js.CallExpr:
		return p.isCall(what, n)
	}
	return false
}

func (p *prover) isVar(what property, n *js.Var) bool {
	if name, ok := javascript.Free(n); ok {
		switch {
		case name == "undefined":
			return what == inert || what == textual
		case name == "NaN" || name == "Infinity":
			return what == inert || what == numeric
		}
		return what == callable && pureFunctions[name]
	}
	v := p.Variable(n)
	if init, ok := p.accumulators[javascript.Declared(n)]; ok && what == own {
		fn := v.ParameterOf
		if !p.is(own, init) || len(fn.Returns) == 0 {
			return false
		}
		return p.all(own, v.Sources) && p.all(own, fn.Returns)
	}
	if what == callable && p.isResolver(n, v) {
		return true
	}
	if !v.Known() || len(v.Sources) == 0 {
		return false
	}
	return p.all(what, v.Sources)
}

func (p *prover) all(what property, list []js.IExpr) bool {
	for _, e := range list {
		if !p.is(what, e) {
			return false
		}
	}
	return true
}

// isResolver reports whether n is a parameter of new Promise((resolve, reject)
// => ...) to which nothing else is assigned.
func (p *prover) isResolver(n *js.Var, v *javascript.Variable) bool {
	if v.ParameterOf == nil || v.MayBeUnknown || len(v.Sources) > 0 || !p.executors[v.ParameterOf] {
		return false
	}
	for i := range v.ParameterOf.Params.List {
		if b, ok := v.ParameterOf.Params.List[i].Binding.(*js.Var); ok && javascript.Declared(b) == javascript.Declared(n) {
			return true
		}
	}
	return false
}

func (p *prover) isLiteral(what property, n *js.LiteralExpr) bool {
	switch {
	case n.TokenType == js.ThisToken, n.TokenType == js.SuperToken:
		return false
	case js.IsNumeric(n.TokenType):
		return what == inert || what == numeric
	case javascript.IsRegExp(n):
		return what == inert
	case n.TokenType == js.StringToken, n.TokenType == js.NullToken:
		return what == inert || what == textual
	case n.TokenType == js.TrueToken, n.TokenType == js.FalseToken:
		return what == inert
	}
	return false
}

// isResult handles the operators whose result is always a primitive value.
func (p *prover) isResult(what property, n *js.BinaryExpr) bool {
	switch n.Op {
	case js.AddToken, js.AddEqToken:
		switch what {
		case inert:
			return true
		case textual:
			return p.is(textual, n.X) && !isNull(n.X) || p.is(textual, n.Y) && !isNull(n.Y)
		case numeric:
			return p.is(numeric, n.X) && p.is(numeric, n.Y)
		}
	case js.SubToken, js.MulToken, js.DivToken, js.ModToken, js.ExpToken, js.BitAndToken, js.BitOrToken, js.BitXorToken,
		js.LtLtToken, js.GtGtToken, js.GtGtGtToken:
		return what == inert || what == numeric
	case js.EqEqToken, js.EqEqEqToken, js.NotEqToken, js.NotEqEqToken, js.LtToken, js.LtEqToken, js.GtToken, js.GtEqToken,
		js.InstanceofToken, js.InToken:
		return what == inert
	}
	return false
}

// isNull reports whether e is textual but no string when added.
func isNull(e js.IExpr) bool {
	lit, ok := javascript.Unwrap(e).(*js.LiteralExpr)
	return !ok && !isTemplate(e) || ok && lit.TokenType != js.StringToken
}

func isTemplate(e js.IExpr) bool {
	_, ok := javascript.Unwrap(e).(*js.TemplateExpr)
	return ok
}

// isMember handles x.name for any x. The browser's properties with that name
// must have one type, and the script must not have stored other values under
// the name.
func (p *prover) isMember(what property, name string) bool {
	gives, ok := propertyTypes[name]
	return ok && gives.has(what) && p.ask(question{what: what, name: name}, func() bool { return p.all(what, p.storedValues[name]) })
}

// isCall handles calls of the functions and methods in the tables.
func (p *prover) isCall(what property, n *js.CallExpr) bool {
	switch callee := javascript.Unwrap(n.X).(type) {
	case *js.Var:
		name, ok := javascript.Free(callee)
		return ok && functionResults[name].has(what)
	case *js.DotExpr:
		name := javascript.MemberName(callee)
		if space, ok := javascript.Free(javascript.Unwrap(callee.X)); ok && namespaces[space] != nil {
			return namespaceResults[space+"."+name].has(what) || space == "Math" && (what == inert || what == numeric)
		}
		if what == callable {
			return name == "bind" && p.is(callable, callee.X)
		}
		if what == pairs {
			return name == "map" && p.mapsToPairs(argument(&n.Args, 0))
		}
		return methodResults[name].has(what) ||
			(name == "replace" || name == "replaceAll") && (what == inert || what == textual) && p.is(textual, callee.X)
	}
	return false
}

// mapsToPairs reports whether e is a callback that only returns [name, inert
// value].
func (p *prover) mapsToPairs(e js.IExpr) bool {
	fn := p.anonymousFunction(e)
	if fn == nil || len(fn.Returns) == 0 || fn.Opaque {
		return false
	}
	for _, r := range fn.Returns {
		switch n := javascript.Unwrap(r).(type) {
		case *js.ArrayExpr:
			if len(n.List) != 2 || n.List[1].Value == nil || n.List[0].Spread || n.List[1].Spread || !p.is(inert, n.List[1].Value) {
				return false
			}
		case *js.CallExpr:
			dot, ok := javascript.Unwrap(n.X).(*js.DotExpr)
			if !ok || javascript.MemberName(dot) != "split" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// maxPossibleStrings limits how many strings one key may be.
const maxPossibleStrings = 8

// possibleStrings returns all strings that e can be, or false if they are not
// known: "ab" and "ac" for 'a' + (x ? 'b' : 'c'). It knows nothing of values that
// can change: members, arrays and objects.
func (p *prover) possibleStrings(e js.IExpr) ([]string, bool) {
	if p.StepsLeft--; p.StepsLeft < 0 {
		return nil, false
	}
	switch n := javascript.Unwrap(e).(type) {
	case *js.LiteralExpr:
		if n.TokenType == js.StringToken && !javascript.IsRegExp(n) {
			return []string{javascript.Unescape(n.Data[1 : len(n.Data)-1])}, true
		}
	case *js.TemplateExpr:
		if n.Tag == nil && len(n.List) == 0 {
			return []string{javascript.Unescape(n.Tail[1 : len(n.Tail)-1])}, true
		}
	case *js.BinaryExpr:
		if n.Op != js.AddToken {
			return nil, false
		}
		x, okX := p.possibleStrings(n.X)
		y, okY := p.possibleStrings(n.Y)
		if !okX || !okY || len(x)*len(y) > maxPossibleStrings {
			return nil, false
		}
		var out []string
		for _, a := range x {
			for _, b := range y {
				out = append(out, a+b)
			}
		}
		return out, true
	case *js.CondExpr:
		x, okX := p.possibleStrings(n.X)
		y, okY := p.possibleStrings(n.Y)
		return append(x, y...), okX && okY && len(x)+len(y) <= maxPossibleStrings
	case *js.Var:
		v := p.Variable(n)
		if _, ok := javascript.Free(n); ok || !v.Known() || len(v.Sources) != 1 {
			return nil, false
		}
		return p.possibleStrings(v.Sources[0])
	}
	return nil, false
}
