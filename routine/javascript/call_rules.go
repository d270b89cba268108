package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// visitCall visits a call or a new expression and checks what is called.
func (c *checker) visitCall(callee js.IExpr, args []js.Arg, isNew bool) int {
	start := c.visit(callee, asCallee)
	nameAt := c.nameAt
	places := make([]int, len(args))
	for i, a := range args {
		places[i] = first(c.visit(a.Value, 0), c.tokens.nextOffset())
	}
	if lit, ok := callee.(*js.LiteralExpr); ok && lit.TokenType == js.ImportToken {
		c.add(blocked(start, "import()", makesCode))
		return start
	}
	x := c.flow.eval(callee)
	if x.kinds&kConstructor != 0 && !(isNew && isThisConstructor(callee)) && !(x.kinds&kMaker != 0 && !isPlain(callee)) {
		c.add(blocked(nameAt, "calling .constructor", makesCode))
	}
	if isNew {
		return start
	}
	if x.kinds&kTimer != 0 {
		c.checkTimer(args, places, 0)
	}
	if object, name := c.flow.method(callee); name != "" {
		c.checkMethodCall(object, name, args, places)
	}
	if isRelList(callee) && len(args) > 0 {
		c.checkRelValue(c.flow.eval(args[0].Value).texts, places[0])
	}
	return start
}

// visitTaggedTemplate checks the function that a tagged template calls.
func (c *checker) visitTaggedTemplate(e js.IExpr) {
	x := c.flow.eval(e)
	switch {
	case x.kinds&kConstructor != 0 && !(x.kinds&kMaker != 0 && !isPlain(e)):
		c.add(blocked(c.nameAt, "calling .constructor", makesCode))
	case x.kinds&kTimer != 0:
		c.add(textTimer(c.nameAt))
	}
}

// isThisConstructor reports whether callee is this.constructor, with which a
// class creates another object of its type.
func isThisConstructor(callee js.IExpr) bool {
	dot, ok := Unwrap(callee).(*js.DotExpr)
	if !ok {
		return false
	}
	this, ok := dot.X.(*js.LiteralExpr)
	return ok && this.TokenType == js.ThisToken
}

// isRelList reports whether callee is link.relList.add.
func isRelList(callee js.IExpr) bool {
	dot, ok := Unwrap(callee).(*js.DotExpr)
	if !ok || MemberName(dot) != "add" {
		return false
	}
	list, ok := dot.X.(*js.DotExpr)
	return ok && MemberName(list) == "relList"
}

// method returns the object and the name of a method that is called.
func (f *flow) method(callee js.IExpr) (value, string) {
	x, names := f.target(callee)
	name, _ := singleText(names)
	return x, name
}

// checkTimer checks the function argument of a timer.
func (c *checker) checkTimer(args []js.Arg, places []int, i int) {
	if i < len(args) && !args[i].Rest && c.flow.isText(args[i].Value) {
		c.add(textTimer(places[i]))
	}
}

func textTimer(at int) Problem {
	p := blocked(at, "a timer with a string", makesCode)
	p.Hint = "give it a function: setTimeout(() => { ... }, 100)"
	return p
}

// isText reports whether e is certainly a string, or may be a known one.
func (f *flow) isText(e js.IExpr) bool {
	for _, t := range f.eval(e).texts {
		if t.exact || t.prefix != "" || t.suffix != "" {
			return true
		}
	}
	switch n := Unwrap(e).(type) {
	case *js.ArrayExpr: // converted to a string
		return true
	case *js.TemplateExpr:
		return n.Tag == nil
	case *js.BinaryExpr:
		return n.Op == js.AddToken
	case *js.CallExpr:
		if x, ok := n.X.(*js.Var); ok {
			name, ok := Free(x)
			return ok && (name == "String" || name == "atob")
		}
		_, name := f.method(n.X)
		return name == "join" || name == "toString"
	}
	return false
}

// checkMethodCall checks a call x.name(args).
func (c *checker) checkMethodCall(x value, name string, args []js.Arg, places []int) {
	text := func(i int) []text {
		if i >= len(args) || args[i].Rest {
			return nil
		}
		return c.flow.eval(args[i].Value).texts
	}
	switch name {
	case "call", "bind", "apply":
		if x.kinds&kTimer != 0 && name != "apply" {
			c.checkTimer(args, places, 1)
		}
	case "createElement":
		c.checkElementName(text(0), places, 0)
	case "createElementNS":
		c.checkElementName(text(1), places, 1)
	case "setAttribute":
		c.checkAttribute(x, text(0), args, places, 1)
	case "setAttributeNS":
		c.checkAttribute(x, text(1), args, places, 2)
	case "createAttribute":
		c.checkAttribute(x, text(0), args, places, 1)
	case "insertAdjacentHTML":
		c.checkMarkupArgument(args, places, 1)
	case "createContextualFragment", "setHTMLUnsafe":
		c.checkMarkupArgument(args, places, 0)
	}
	if x.kinds&kReflect != 0 && len(args) > 1 {
		c.checkReflectCall(name, args, places)
	}
}

// checkReflectCall checks a call of a function of Reflect or Object.
func (c *checker) checkReflectCall(name string, args []js.Arg, places []int) {
	object := c.flow.eval(args[0].Value)
	names := c.flow.eval(args[1].Value).texts
	switch name {
	case "get", "getOwnPropertyDescriptor":
		c.checkMember(object, names, places[1], asCallee)
	case "set", "defineProperty":
		c.checkMember(object, names, places[1], asTarget)
	case "apply", "construct":
		if object.kinds&kConstructor != 0 {
			c.add(blocked(places[0], "calling .constructor", makesCode))
		}
	case "assign":
		for i, a := range args[1:] {
			from, ok := Unwrap(a.Value).(*js.ObjectExpr)
			if !ok {
				continue
			}
			for j := range from.List {
				if p := &from.List[j]; p.Name != nil && p.Name.Computed == nil {
					c.checkSet(object.kinds, LiteralName(p.Name), places[i+1])
					c.checkAssignment(object, exactly(LiteralName(p.Name)), p.Value, places[i+1])
				}
			}
		}
	}
}

// checkElementName checks a call document.createElement(tag).
func (c *checker) checkElementName(tags []text, places []int, i int) {
	for _, t := range tags {
		if !t.exact {
			continue
		}
		switch tag := strings.ToLower(t.prefix[strings.LastIndex(t.prefix, ":")+1:]); tag {
		case "script":
			c.add(blocked(places[i], "making a script element", makesCode))
		case "iframe", "frame", "object", "embed", "fencedframe":
			c.add(blocked(places[i], "making an "+tag+" element", realm))
		}
	}
}
