package facts

import (
	"github.com/tdewolff/parse/v2/js"

	"rote/routine/javascript"
)

// visit records what the code of n does.
func (p *prover) visit(n js.INode) {
	switch n := n.(type) {
	case *js.Var:
		p.readGlobal(n)
		return
	case *js.DotExpr:
		p.visit(n.X)
		if _, private := n.Y.(*js.Var); !private {
			p.addName(javascript.MemberName(n))
		}
		return
	case *js.IndexExpr:
		p.readComputed(n.X, n.Y)
	case *js.CallExpr:
		p.checkCall(n)
	case *js.NewExpr:
		p.checkNew(n)
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
		p.storeLoopVariable(n.Init)
	case *js.ForOfStmt:
		p.storeLoopVariable(n.Init)
	case *js.ObjectExpr:
		p.storeProperties(n)
	case *js.BindingObject:
		for i := range n.List {
			p.readKey(n.List[i].Key, n.List[i].Value.Binding)
		}
	case *js.ClassDecl:
		p.storeClass(n)
	case *js.WithStmt, *js.ImportMetaExpr, *js.ImportStmt, *js.ExportStmt:
		p.setUnknown()
	}
	javascript.Each(n, p.visit)
}

// addName records that the script accesses a member or a global with this name.
func (p *prover) addName(name string) {
	p.names[name] = true
	switch name {
	case "constructor", "__proto__", "prototype", "caller", "callee":
		// They lead from a value to others that have no name in the text.
		p.readUnknown = true
	}
}

func (p *prover) readGlobal(v *js.Var) {
	name, ok := javascript.Free(v)
	if !ok {
		return
	}
	p.addName(name)
	switch name {
	case "Reflect", "Proxy":
		p.setNotReading()
		p.readUnknown = true
	}
}

// readComputed checks x[y].
func (p *prover) readComputed(x, y js.IExpr) {
	names, ok := p.possibleKeys(y)
	for _, name := range names {
		p.addName(name)
	}
	if !ok && !p.is(own, x) {
		p.readUnknown = true
	}
}

// readKey checks the key of a destructuring pattern, as in const { key: binding } = x.
func (p *prover) readKey(key *js.PropertyName, binding js.INode) {
	switch {
	case key == nil:
		if v, ok := binding.(*js.Var); ok {
			p.addName(string(javascript.Declared(v).Data))
		}
	case key.Computed == nil:
		p.addName(javascript.LiteralName(key))
	default:
		names, ok := p.possibleKeys(key.Computed)
		for _, name := range names {
			p.addName(name)
		}
		p.readUnknown = p.readUnknown || !ok
	}
}

func (p *prover) storeLoopVariable(init js.IExpr) {
	if _, ok := init.(*js.VarDecl); !ok {
		p.store(init, nil)
	}
}

func (p *prover) storeProperties(n *js.ObjectExpr) {
	for i := range n.List {
		q := &n.List[i]
		if m, ok := q.Value.(*js.MethodDecl); ok {
			p.storeMethod(m)
			continue
		}
		if q.Name != nil {
			p.storeProperty(q.Name, q.Value)
		}
	}
}

// possibleKeys returns the names that the computed key y can be, or false if they
// are not known. A number is no name: for y = 1 it returns nil and true.
func (p *prover) possibleKeys(y js.IExpr) ([]string, bool) {
	if p.is(numeric, y) {
		return nil, true
	}
	return p.possibleStrings(y)
}

// storeMethod checks a method of an own object or class. If it has the name of a
// browser method, calls by that name would be taken for calls of the browser's.
func (p *prover) storeMethod(m *js.MethodDecl) {
	if m.Name.Private == nil {
		p.storeProperty(&m.Name.PropertyName, m)
	}
}

func (p *prover) storeClass(n *js.ClassDecl) {
	if n.Extends != nil {
		p.unknownCall(n.Extends) // super() calls it
	}
	for i := range n.List {
		switch e := &n.List[i]; {
		case e.StaticBlock != nil:
		case e.Method != nil:
			p.storeMethod(e.Method)
		case e.Name.Private == nil && e.Init != nil:
			p.storeProperty(&e.Name.PropertyName, e.Init)
		}
	}
}

// storeProperty checks a property of an object literal or class.
func (p *prover) storeProperty(name *js.PropertyName, value js.IExpr) {
	if name.Computed == nil {
		p.storeUnder([]string{javascript.LiteralName(name)}, true, value)
		return
	}
	names, ok := p.possibleKeys(name.Computed)
	p.storeUnder(names, ok, value)
}

// storeUnder checks a value that an object gets under one of these names, or under
// any name if they are not known. Under a name that the language calls by itself
// (toJSON, then), or that is taken for the browser's, it must not be callable.
func (p *prover) storeUnder(names []string, known bool, value js.IExpr) {
	switch {
	case value == nil || p.is(inert, value):
		return
	case !known:
		p.setUnknown()
	}
	for _, name := range names {
		if implicitNames[name] || isMethod(name) {
			p.setNotReading()
			p.calledUnknown = true
		}
	}
}

// store checks an assignment, or the target of a loop or a pattern. A nil value is
// an unknown one.
func (p *prover) store(target js.INode, value js.IExpr) {
	if value == nil {
		value = anything
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
		names, known := p.possibleKeys(t.Y)
		p.storeMember(t.X, names, known, addedValue(t, value))
	case *js.ArrayExpr:
		for i := range t.List {
			if t.List[i].Value != nil {
				p.store(t.List[i].Value, nil)
			}
		}
	case *js.ObjectExpr:
		for i := range t.List {
			p.readKey(t.List[i].Name, t.List[i].Value)
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
		p.setUnknown() // it changes the values of parameters
	}
	p.storeUnder(names, known, value)
	for _, name := range names {
		if _, ok := propertyTypes[name]; ok && !p.is(inert, value) {
			p.setUnknown() // propertyTypes is no longer true for the name
		}
	}
	if p.is(own, object) {
		return
	}
	p.setNotReading()
	p.draws = p.draws || !known
	for _, name := range names {
		p.draws = p.draws || !harmlessProperties[name]
		p.setsValue = p.setsValue || name == "value"
	}
}

// addedValue returns the value that o gets new by "o[k] = o[k] || value": if the left
// side of || is the target itself, only the right side is new.
func addedValue(target *js.IndexExpr, value js.IExpr) js.IExpr {
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

// anything represents an unknown value.
var anything js.IExpr = &js.LiteralExpr{TokenType: js.ThisToken}

func isStringRaw(tag js.IExpr) bool {
	dot, ok := javascript.Unwrap(tag).(*js.DotExpr)
	return ok && javascript.MemberName(dot) == "raw" && isFree(dot.X, "String")
}
