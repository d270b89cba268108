package facts

import (
	"github.com/tdewolff/parse/v2/js"

	"rote/routine/javascript"
)

// visit looks at everything that n does.
func (p *prover) visit(n js.INode) {
	switch n := n.(type) {
	case *js.Var:
		p.global(n)
		return
	case *js.DotExpr:
		p.visit(n.X)
		if _, private := n.Y.(*js.Var); !private {
			p.name(javascript.MemberName(n))
		}
		return
	case *js.IndexExpr:
		p.computed(n.X, n.Y)
	case *js.CallExpr:
		p.call(n)
	case *js.NewExpr:
		p.construct(n)
	case *js.TemplateExpr:
		if n.Tag != nil && !isStringRaw(n.Tag) {
			p.unknownCall(n.Tag)
		}
	case *js.BinaryExpr:
		if source, ok := javascript.Assigned(n); ok {
			p.store(n.X, source)
		}
	case *js.UnaryExpr:
		switch n.Op {
		case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken:
			p.store(n.X, javascript.AnyNumber)
		case js.DeleteToken:
			p.store(n.X, javascript.AnyNumber)
		}
	case *js.ForInStmt:
		p.loop(n.Init)
	case *js.ForOfStmt:
		p.loop(n.Init)
	case *js.ObjectExpr:
		p.object(n)
	case *js.BindingObject:
		for i := range n.List {
			p.key(n.List[i].Key, n.List[i].Value.Binding)
		}
	case *js.ClassDecl:
		p.class(n)
	case *js.WithStmt, *js.ImportMetaExpr, *js.ImportStmt, *js.ExportStmt:
		p.setUnknown()
	}
	javascript.Each(n, p.visit)
}

// name notes a member or a global that is reached for.
func (p *prover) name(name string) {
	p.names[name] = true
	switch name {
	case "constructor", "__proto__", "prototype", "caller", "callee":
		// A way from a value to others that no name in the text shows.
		p.found = true
	}
}

func (p *prover) global(v *js.Var) {
	name, ok := javascript.Free(v)
	if !ok {
		return
	}
	p.name(name)
	switch name {
	case "Reflect", "Proxy":
		p.setNotReading()
		p.found = true
	}
}

// computed looks at x[y].
func (p *prover) computed(x, y js.IExpr) {
	names, ok := p.keys(y)
	for _, name := range names {
		p.name(name)
	}
	if !ok && !p.is(own, x) {
		p.found = true
	}
}

// key is a name by which an object is taken apart.
func (p *prover) key(key *js.PropertyName, binding js.INode) {
	switch {
	case key == nil:
		if v, ok := binding.(*js.Var); ok {
			p.name(string(javascript.Declared(v).Data))
		}
	case key.Computed == nil:
		p.name(javascript.LiteralName(key))
	default:
		names, ok := p.keys(key.Computed)
		for _, name := range names {
			p.name(name)
		}
		p.found = p.found || !ok
	}
}

func (p *prover) loop(init js.IExpr) {
	if _, ok := init.(*js.VarDecl); !ok {
		p.store(init, nil)
	}
}

func (p *prover) object(n *js.ObjectExpr) {
	for i := range n.List {
		q := &n.List[i]
		if m, ok := q.Value.(*js.MethodDecl); ok {
			p.method(m)
			continue
		}
		if q.Name != nil {
			p.put(q.Name, q.Value)
		}
	}
}

// keys are the names that a computed key can be, none where it is a number;
// false when that is not known.
func (p *prover) keys(y js.IExpr) ([]string, bool) {
	if p.is(numeric, y) {
		return nil, true
	}
	return p.possibleStrings(y)
}

// method is a function under a name of an own object or class: under a name
// that the walk takes to be the browser's it would be called as such.
func (p *prover) method(m *js.MethodDecl) {
	if m.Name.Private == nil {
		p.put(&m.Name.PropertyName, m)
	}
}

func (p *prover) class(n *js.ClassDecl) {
	if n.Extends != nil {
		p.unknownCall(n.Extends) // super() calls it
	}
	for i := range n.List {
		switch e := &n.List[i]; {
		case e.StaticBlock != nil:
		case e.Method != nil:
			p.method(e.Method)
		case e.Name.Private == nil && e.Init != nil:
			p.put(&e.Name.PropertyName, e.Init)
		}
	}
}

// put looks at a value that comes under a name of an own object.
func (p *prover) put(name *js.PropertyName, value js.IExpr) {
	if name.Computed == nil {
		p.putUnder([]string{javascript.LiteralName(name)}, true, value)
		return
	}
	names, ok := p.keys(name.Computed)
	p.putUnder(names, ok, value)
}

// putUnder looks at a value that comes under one of these names of an own
// object, under any when they are not known. What the language itself calls
// (toJSON, then), or what is found under a name that is taken for the
// browser's, must not be something that can be called.
func (p *prover) putUnder(names []string, known bool, value js.IExpr) {
	switch {
	case value == nil || p.is(inert, value):
		return
	case !known:
		p.setUnknown()
	}
	for _, name := range names {
		if implicitNames[name] || isMethod(name) {
			p.setNotReading()
			p.blind = true
		}
	}
}

// store looks at an assignment, or at a place that a loop or a pattern fills;
// a nil value is something unknown.
func (p *prover) store(target js.INode, value js.IExpr) {
	if value == nil {
		value = anyThing
	}
	switch t := target.(type) {
	case *js.GroupExpr:
		p.store(t.X, value)
	case *js.Var:
		if _, ok := javascript.Free(t); ok { // a global of the page
			p.setNotReading()
			p.draws = true
		}
	case *js.DotExpr:
		if _, private := t.Y.(*js.Var); private {
			return
		}
		p.storeMember(t.X, []string{javascript.MemberName(t)}, true, value)
	case *js.IndexExpr:
		names, known := p.keys(t.Y)
		p.storeMember(t.X, names, known, added(t, value))
	case *js.ArrayExpr:
		for i := range t.List {
			if t.List[i].Value != nil {
				p.store(t.List[i].Value, nil)
			}
		}
	case *js.ObjectExpr:
		for i := range t.List {
			p.key(t.List[i].Name, t.List[i].Value)
			p.store(t.List[i].Value, nil)
		}
	case *js.BinaryExpr: // with a default
		p.store(t.X, nil)
	default:
		p.setUnknown()
	}
}

func (p *prover) storeMember(object js.IExpr, names []string, known bool, value js.IExpr) {
	if isFree(object, "arguments") {
		p.setUnknown() // it changes parameters behind their backs
	}
	p.putUnder(names, known, value)
	for _, name := range names {
		if _, ok := properties[name]; ok && !p.is(inert, value) {
			p.setUnknown() // what is known of the name no longer holds
		}
	}
	if p.is(own, object) {
		return
	}
	p.setNotReading()
	p.draws = p.draws || !known
	for _, name := range names {
		p.draws = p.draws || !harmlessProperties[name]
		p.valued = p.valued || name == "value"
	}
}

// added is what "o[k] = o[k] || value" puts into o: the value, or what is there
// already under the same name.
func added(target *js.IndexExpr, value js.IExpr) js.IExpr {
	either, ok := javascript.Unwrap(value).(*js.BinaryExpr)
	if !ok || either.Op != js.OrToken && either.Op != js.NullishToken {
		return value
	}
	read, ok := javascript.Unwrap(either.X).(*js.IndexExpr)
	if ok && sameVar(target.X, read.X) && sameVar(target.Y, read.Y) {
		return either.Y
	}
	return value
}

// sameVar reports whether both expressions are the same variable.
func sameVar(x, y js.IExpr) bool {
	a, okA := javascript.Unwrap(x).(*js.Var)
	b, okB := javascript.Unwrap(y).(*js.Var)
	return okA && okB && javascript.Declared(a) == javascript.Declared(b)
}

// anyThing represents an unknown value.
var anyThing js.IExpr = &js.LiteralExpr{TokenType: js.ThisToken}

func isStringRaw(tag js.IExpr) bool {
	dot, ok := javascript.Unwrap(tag).(*js.DotExpr)
	return ok && javascript.MemberName(dot) == "raw" && isFree(dot.X, "String")
}
