package javascript

import (
	"github.com/tdewolff/parse/v2/js"
)

// collector walks a script once and records the values that are assigned to
// each variable.
type collector struct {
	*flow
	fn   *Function // the innermost function
	self *Function // the innermost function with its own this
}

// collect notes what a node assigns, calls and declares, and goes on with its children.
func (c *collector) collect(n js.INode) {
	switch n := n.(type) {
	case *js.Var:
		c.variable(n).uses++
		return
	case *js.LiteralExpr:
		if n.TokenType == js.ThisToken {
			c.this[n] = c.self
		}
		return
	case *js.PropertyName:
		visitAll(c.collect, n.Computed)
		return
	case *js.ClassElementName:
		visitAll(c.collect, n.Computed)
		return
	case *js.VarDecl:
		for i := range n.List {
			c.element(&n.List[i])
		}
		return
	case *js.ForInStmt:
		c.into(n.Init, nil)
	case *js.ForOfStmt:
		c.into(n.Init, element(n.Value))
	case *js.TryStmt:
		c.bind(n.Binding, nil)
		block(c.collect, n.Body)
		c.target(n.Binding)
		block(c.collect, n.Catch)
		block(c.collect, n.Finally)
		return
	case *js.ReturnStmt:
		if c.fn != nil && n.Value != nil {
			c.fn.Returns = append(c.fn.Returns, n.Value)
		}
	case *js.CallExpr:
		c.call(n.X, n.Args.List, false)
	case *js.NewExpr:
		if n.Args != nil {
			c.call(n.X, n.Args.List, true)
		}
	case *js.BinaryExpr:
		if source, ok := Assigned(n); ok {
			c.bind(n.X, source)
			c.target(n.X)
			c.collect(n.Y)
			return
		}
	case *js.ArrowFunc, *js.FuncDecl, *js.MethodDecl, *js.ClassDecl:
		c.function(n.(js.IExpr))
		return
	}
	Each(n, c.collect)
}

// Assigned returns the value that an assignment stores in its left side.
func Assigned(n *js.BinaryExpr) (js.IExpr, bool) {
	switch n.Op {
	case js.EqToken, js.AndEqToken, js.OrEqToken, js.NullishEqToken:
		return n.Y, true
	case js.AddEqToken:
		return &js.BinaryExpr{Op: js.AddToken, X: n.X, Y: n.Y}, true
	case js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.SubEqToken, js.LtLtEqToken, js.GtGtEqToken,
		js.GtGtGtEqToken, js.BitAndEqToken, js.BitXorEqToken, js.BitOrEqToken:
		return AnyNumber, true
	}
	return nil, false
}

// element collects a declaration or a parameter.
func (c *collector) element(e *js.BindingElement) {
	if e.Default != nil {
		c.bind(e.Binding, e.Default)
	}
	if e.Binding != nil {
		c.target(e.Binding)
	}
	visitAll(c.collect, e.Default)
}

// into binds the variable of a for-in or for-of loop.
func (c *collector) into(init js.IExpr, source js.IExpr) {
	decl, ok := init.(*js.VarDecl)
	if !ok {
		c.bind(init, source)
		return
	}
	for i := range decl.List {
		c.bind(decl.List[i].Binding, source)
	}
}

// target collects what a pattern reads: computed keys, default values, and
// objects whose members are assigned. Its variables are assigned, not read.
func (c *collector) target(n js.INode) {
	switch n := n.(type) {
	case nil, *js.Var:
	case *js.GroupExpr:
		c.target(n.X)
	case *js.BindingArray:
		for i := range n.List {
			c.element(&n.List[i])
		}
		c.target(n.Rest)
	case *js.BindingObject:
		for i := range n.List {
			if n.List[i].Key != nil {
				c.collect(n.List[i].Key)
			}
			c.element(&n.List[i].Value)
		}
	case *js.ArrayExpr:
		for i := range n.List {
			c.target(n.List[i].Value)
		}
	case *js.ObjectExpr:
		for i := range n.List {
			p := &n.List[i]
			if p.Name != nil {
				c.collect(p.Name)
			}
			if p.Init != nil {
				c.bind(p.Value, p.Init)
			}
			c.target(p.Value)
			visitAll(c.collect, p.Init)
		}
	case *js.BinaryExpr: // with a default
		c.bind(n.X, n.Y)
		c.target(n.X)
		c.collect(n.Y)
	default:
		c.collect(n)
	}
}

func (c *collector) call(callee js.IExpr, args []js.Arg, isNew bool) {
	c.calls = append(c.calls, &call{callee: callee, args: args, isNew: isNew})
	switch x := Unwrap(callee).(type) {
	case *js.Var:
		c.variable(x).calls++
	case *js.FuncDecl, *js.ArrowFunc:
		c.info(x).direct = true
	case *js.DotExpr:
		if iterates[MemberName(x)] == 0 || len(args) == 0 {
			return
		}
		switch f := Unwrap(args[0].Value).(type) {
		case *js.Var:
			c.variable(f).calls++
		case *js.FuncDecl, *js.ArrowFunc:
			c.info(f).direct = true
		}
	}
}

func (c *collector) info(n js.INode) *Function {
	if c.functions[n] == nil {
		c.functions[n] = &Function{node: n}
		c.fnOrder = append(c.fnOrder, c.functions[n])
	}
	return c.functions[n]
}

func (c *collector) function(n js.IExpr) {
	before := *c
	fn := c.info(n)
	c.fn = fn
	switch n := n.(type) {
	case *js.ArrowFunc:
		fn.Params = n.Params
		fn.strict = before.fn.isStrict() || useStrict(n.Body.List)
	case *js.FuncDecl:
		fn.Params, fn.Opaque = n.Params, n.Generator
		fn.strict = before.fn.isStrict() || useStrict(n.Body.List)
		c.self = fn
		if n.Name != nil {
			c.bind(n.Name, n)
		}
	case *js.MethodDecl:
		fn.Params, fn.Opaque, fn.method, fn.strict = n.Params, true, true, true
		c.self = fn
		visitAll(before.collect, n.Name.Computed)
	case *js.ClassDecl:
		fn.method, fn.strict, fn.Opaque = true, true, true
		if n.Name != nil {
			c.bind(n.Name, n)
		}
		visitAll(before.collect, n.Extends)
		c.self = fn // the this of fields and static blocks
		for i := range n.List {
			c.classElement(&n.List[i])
		}
		c.fn, c.self = before.fn, before.self
		return
	}
	for i := range fn.Params.List {
		p := &fn.Params.List[i]
		c.parameter(p.Binding, fn)
		c.element(p)
	}
	c.parameter(fn.Params.Rest, fn)
	eachFunctionBody(n, c.collect)
	c.fn, c.self = before.fn, before.self
}

func (c *collector) classElement(e *js.ClassElement) {
	switch {
	case e.StaticBlock != nil:
		c.collect(e.StaticBlock)
	case e.Method != nil:
		c.collect(e.Method)
	default:
		visitAll(c.collect, e.Name.Computed, e.Init)
	}
}

// parameter marks the variables of a parameter as parameters of fn.
func (c *collector) parameter(n js.INode, fn *Function) {
	switch n := n.(type) {
	case *js.Var:
		c.variable(n).ParameterOf = fn
	case *js.BindingArray:
		for i := range n.List {
			c.parameter(n.List[i].Binding, fn)
		}
		c.parameter(n.Rest, fn)
	case *js.BindingObject:
		for i := range n.List {
			c.parameter(n.List[i].Value.Binding, fn)
		}
		if n.Rest != nil {
			c.parameter(n.Rest, fn)
		}
	}
}

func (fn *Function) isStrict() bool { return fn != nil && fn.strict }

func useStrict(body []js.IStmt) bool {
	for _, s := range body {
		if _, ok := s.(*js.DirectivePrologueStmt); ok {
			return true
		}
	}
	return false
}

func eachFunctionBody(n js.IExpr, f func(js.INode)) {
	switch n := n.(type) {
	case *js.ArrowFunc:
		eachStmt(n.Body.List, f)
	case *js.FuncDecl:
		eachStmt(n.Body.List, f)
	case *js.MethodDecl:
		eachStmt(n.Body.List, f)
	}
}
