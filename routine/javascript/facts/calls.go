package facts

import (
	"github.com/tdewolff/parse/v2/js"

	"rote/routine/javascript"
)

// checkCall checks a call that is not a new expression.
func (p *prover) checkCall(n *js.CallExpr) {
	args := n.Args.List
	switch callee := javascript.Unwrap(n.X).(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		return
	case *js.Var:
		p.callVar(callee, args)
	case *js.DotExpr:
		if _, private := callee.Y.(*js.Var); private {
			p.unknownCall(callee)
			return
		}
		p.callMember(callee.X, javascript.MemberName(callee), args)
	case *js.IndexExpr:
		names, ok := p.possibleStrings(callee.Y)
		for _, name := range names {
			p.callMember(callee.X, name, args)
		}
		if !ok {
			p.unknownCall(callee)
		}
	default:
		p.unknownCall(n.X)
	}
}

// unknownCall handles a call of an unknown value.
func (p *prover) unknownCall(js.IExpr) {
	p.setNotReading()
	p.calledUnknown = true
}

// namedCall handles a call by a name that is not known to only read.
func (p *prover) namedCall(name string, args []js.Arg) {
	p.setNotReading()
	p.draws = p.draws || drawingMethods[name]
	if storingMethods[name] {
		p.setUnknown()
	}
	for _, a := range args {
		if a.Rest || !p.is(inert, a.Value) && !p.is(callable, a.Value) && !p.is(own, a.Value) {
			p.calledUnknown = true // it may call what it is given
		}
	}
}

func (p *prover) callVar(v *js.Var, args []js.Arg) {
	name, ok := javascript.Free(v)
	switch {
	case !ok:
		if !p.is(callable, v) {
			p.unknownCall(v)
		}
	case timers[name]:
		// What follows the time is handed to the function, which is in sight.
		if len(args) == 0 || args[0].Rest || !p.is(callable, args[0].Value) {
			p.namedCall(name, args)
		}
	case !readingFunctions[name]:
		p.namedCall(name, args)
	}
}

// callMember checks object.name(args).
func (p *prover) callMember(object js.IExpr, name string, args []js.Arg) {
	arg := func(i int) js.IExpr { return argument(&js.Args{List: args}, i) }
	if space, ok := javascript.Free(javascript.Unwrap(object)); ok && namespaces[space] != nil {
		p.callNamespace(space, name, args)
		return
	}
	p.commands = p.commands || commandNames[name] && !p.isOwnReceiver(object)
	switch {
	case readingMethods[name]:
	case callbackMethods[name] > 0:
		for i := range min(len(args), callbackMethods[name]) {
			if a := arg(i); a == nil || !p.is(callable, a) && !p.is(inert, a) {
				p.setNotReading()
				p.calledUnknown = true
			}
		}
	case name == "replace" || name == "replaceAll":
		if a := arg(1); !p.is(textual, object) || a == nil || !p.is(inert, a) && !p.is(callable, a) {
			p.namedCall(name, args)
		}
	case name == "evaluate": // of a document, by XPath: the third argument resolves prefixes
		if a := arg(2); len(args) > 2 && (a == nil || !p.is(inert, a)) {
			p.namedCall(name, args)
		}
	case markingMethods[name]:
		if !p.isMark(args) {
			p.namedCall(name, args)
		}
	case collectionMethods[name]:
		if !p.is(collected, object) {
			p.namedCall(name, args)
		}
	case name == "bind":
		if !p.is(callable, object) {
			p.unknownCall(object)
		}
	case name == "call" || name == "apply":
		p.checkBorrowed(object, name, args)
	default:
		p.namedCall(name, args)
	}
}

// isMark reports whether the arguments are the name of the mark attribute and a value that is
// not called.
func (p *prover) isMark(args []js.Arg) bool {
	if len(args) == 0 || len(args) > 2 || args[0].Rest || len(args) == 2 && (args[1].Rest || !p.is(inert, args[1].Value)) {
		return false
	}
	names, ok := p.possibleStrings(args[0].Value)
	return ok && len(names) == 1 && names[0] == markAttribute
}

// isOwnReceiver reports whether the object of a method call is a value of the script, a text or
// web storage, so that the method is a native one.
func (p *prover) isOwnReceiver(object js.IExpr) bool {
	if call, ok := javascript.Unwrap(object).(*js.CallExpr); ok {
		if dot, ok := javascript.Unwrap(call.X).(*js.DotExpr); ok {
			switch javascript.MemberName(dot) {
			case "reverse", "sort": // they return the list itself
				return p.isOwnReceiver(dot.X)
			}
		}
	}
	return p.is(own, object) || p.is(textual, object) || p.is(collected, object) || isFree(object, "localStorage") || isFree(object, "sessionStorage")
}

// checkBorrowed checks Array.prototype.map.call(list, f) and similar calls.
func (p *prover) checkBorrowed(function js.IExpr, how string, args []js.Arg) {
	dot, ok := javascript.Unwrap(function).(*js.DotExpr)
	if ok && how == "call" && len(args) > 0 && !args[0].Rest {
		lender := javascript.Unwrap(dot.X)
		if proto, ok := lender.(*js.DotExpr); ok && javascript.MemberName(proto) == "prototype" {
			lender = javascript.Unwrap(proto.X)
		}
		_, literal := lender.(*js.ArrayExpr)
		name := javascript.MemberName(dot)
		if (literal || isFree(lender, "Array") || isFree(lender, "Object") || isFree(lender, "String")) && (readingMethods[name] || callbackMethods[name] > 0) {
			p.callMember(args[0].Value, name, args[1:])
			return
		}
	}
	if !p.is(callable, function) {
		p.unknownCall(function)
	}
}

// callNamespace checks Object.keys(x), JSON.parse(x) and similar calls.
func (p *prover) callNamespace(space, name string, args []js.Arg) {
	arg := func(i int) js.IExpr { return argument(&js.Args{List: args}, i) }
	known := namespaces[space][name]
	switch space + "." + name {
	case "Object.values", "Object.entries":
		if arg(0) == nil || !p.is(own, arg(0)) {
			p.readUnknown = true
		}
	case "Object.fromEntries":
		known = arg(0) != nil && p.is(pairs, arg(0))
	case "Object.assign":
		known = arg(0) != nil && p.is(own, arg(0))
	case "JSON.parse":
		if known = len(args) < 2; !known {
			p.setUnknown() // what its reviver returns comes under any name
		}
	case "JSON.stringify", "Array.from":
		a := arg(1)
		known = len(args) < 2 || a != nil && (p.is(callable, a) || p.is(inert, a))
	}
	if !known {
		p.namedCall(name, args)
	}
}

// checkNew checks a new expression.
func (p *prover) checkNew(n *js.NewExpr) {
	name, ok := javascript.Free(javascript.Unwrap(n.X))
	switch {
	case ok && name == "Promise":
		if a := argument(n.Args, 0); a == nil || !p.is(callable, a) {
			p.setNotReading()
			p.calledUnknown = true
		}
	case ok && pureConstructors[name]:
	case ok:
		var args []js.Arg
		if n.Args != nil {
			args = n.Args.List
		}
		p.namedCall(name, args)
	default:
		p.unknownCall(n.X)
	}
}
