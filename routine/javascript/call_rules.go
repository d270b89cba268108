package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// call visits a call or a new and applies the rules for what is called.
func (c *checker) call(callee js.IExpr, args []js.Arg, isNew bool) int {
	start := c.visit(callee, asCallee)
	nameAt := c.nameAt
	places := make([]int, len(args))
	for i, a := range args {
		places[i] = first(c.visit(a.Value, 0), c.tokens.here())
	}
	if lit, ok := callee.(*js.LiteralExpr); ok && lit.TokenType == js.ImportToken {
		c.add(blocked(start, "import()", makesCode))
		return start
	}
	x := c.flow.eval(callee)
	if x.kinds&kConstructor != 0 && !(isNew && ofThis(callee)) && !(x.kinds&kMaker != 0 && !isPlain(callee)) {
		c.add(blocked(nameAt, "calling .constructor", makesCode))
	}
	if isNew {
		return start
	}
	if x.kinds&kTimer != 0 {
		c.timer(args, places, 0)
	}
	if object, name := c.flow.method(callee); name != "" {
		c.method(object, name, args, places)
	}
	if isRelList(callee) && len(args) > 0 {
		c.ahead(c.flow.eval(args[0].Value).texts, places[0])
	}
	return start
}

// tag applies the rules for a call by a template.
func (c *checker) tag(e js.IExpr) {
	x := c.flow.eval(e)
	switch {
	case x.kinds&kConstructor != 0 && !(x.kinds&kMaker != 0 && !isPlain(e)):
		c.add(blocked(c.nameAt, "calling .constructor", makesCode))
	case x.kinds&kTimer != 0:
		c.add(textTimer(c.nameAt))
	}
}

// ofThis tells new this.constructor(), with which a class makes its like.
func ofThis(callee js.IExpr) bool {
	dot, ok := unwrap(callee).(*js.DotExpr)
	if !ok {
		return false
	}
	this, ok := dot.X.(*js.LiteralExpr)
	return ok && this.TokenType == js.ThisToken
}

// isRelList tells link.relList.add.
func isRelList(callee js.IExpr) bool {
	dot, ok := unwrap(callee).(*js.DotExpr)
	if !ok || memberName(dot) != "add" {
		return false
	}
	list, ok := dot.X.(*js.DotExpr)
	return ok && memberName(list) == "relList"
}

// method is the object and the name of a method that is called.
func (f *flow) method(callee js.IExpr) (value, string) {
	x, names := f.target(callee)
	name, _ := only(names)
	return x, name
}

// timer checks what a timer is to call.
func (c *checker) timer(args []js.Arg, places []int, i int) {
	if i < len(args) && !args[i].Rest && c.flow.isText(args[i].Value) {
		c.add(textTimer(places[i]))
	}
}

func textTimer(at int) Problem {
	p := blocked(at, "a timer with a string", makesCode)
	p.Hint = "give it a function: setTimeout(() => { ... }, 100)"
	return p
}

// isText tells what is a string for sure, or is one that is known.
func (f *flow) isText(e js.IExpr) bool {
	for _, t := range f.eval(e).texts {
		if t.exact || t.pre != "" || t.suf != "" {
			return true
		}
	}
	switch n := unwrap(e).(type) {
	case *js.ArrayExpr: // which is made a string
		return true
	case *js.TemplateExpr:
		return n.Tag == nil
	case *js.BinaryExpr:
		return n.Op == js.AddToken
	case *js.CallExpr:
		if x, ok := n.X.(*js.Var); ok {
			name, ok := free(x)
			return ok && (name == "String" || name == "atob")
		}
		_, name := f.method(n.X)
		return name == "join" || name == "toString"
	}
	return false
}

// method applies the rules for x.name(args).
func (c *checker) method(x value, name string, args []js.Arg, places []int) {
	text := func(i int) []text {
		if i >= len(args) || args[i].Rest {
			return nil
		}
		return c.flow.eval(args[i].Value).texts
	}
	switch name {
	case "call", "bind", "apply":
		if x.kinds&kTimer != 0 && name != "apply" {
			c.timer(args, places, 1)
		}
	case "createElement":
		c.element(text(0), places, 0)
	case "createElementNS":
		c.element(text(1), places, 1)
	case "setAttribute":
		c.attribute(x, text(0), args, places, 1)
	case "setAttributeNS":
		c.attribute(x, text(1), args, places, 2)
	case "createAttribute":
		c.attribute(x, text(0), args, places, 1)
	case "insertAdjacentHTML":
		c.markup(args, places, 1)
	case "createContextualFragment", "setHTMLUnsafe":
		c.markup(args, places, 0)
	}
	if x.kinds&kReflect != 0 && len(args) > 1 {
		c.reflect(name, args, places)
	}
}

// reflect applies the rules for Reflect.name and Object.name.
func (c *checker) reflect(name string, args []js.Arg, places []int) {
	object := c.flow.eval(args[0].Value)
	names := c.flow.eval(args[1].Value).texts
	switch name {
	case "get", "getOwnPropertyDescriptor":
		c.member(object, names, places[1], asCallee)
	case "set", "defineProperty":
		c.member(object, names, places[1], asTarget)
	case "apply", "construct":
		if object.kinds&kConstructor != 0 {
			c.add(blocked(places[0], "calling .constructor", makesCode))
		}
	case "assign":
		for i, a := range args[1:] {
			from, ok := unwrap(a.Value).(*js.ObjectExpr)
			if !ok {
				continue
			}
			for j := range from.List {
				if p := &from.List[j]; p.Name != nil && p.Name.Computed == nil {
					c.set(object.kinds, literalName(p.Name), places[i+1])
					c.written(object, exactly(literalName(p.Name)), p.Value, places[i+1])
				}
			}
		}
	}
}

// element checks document.createElement(tag).
func (c *checker) element(tags []text, places []int, i int) {
	for _, t := range tags {
		if !t.exact {
			continue
		}
		switch tag := strings.ToLower(t.pre[strings.LastIndex(t.pre, ":")+1:]); tag {
		case "script":
			c.add(blocked(places[i], "making a script element", makesCode))
		case "iframe", "frame", "object", "embed", "fencedframe":
			c.add(blocked(places[i], "making an "+tag+" element", realm))
		}
	}
}
