// Package facts proves from the text of a script what the script cannot do: send
// requests, navigate, change what the browser loads, or use certain names. The
// guard of the browser does not watch for what is proved, which saves most of the
// time that a short script takes.
//
// # Threat model
//
// The attacker writes the script: every byte of it may be chosen to be proved
// harmless and to send data out nevertheless. The attacker may also know the page,
// or own it.
//
// What is proved, each on its own:
//
//   - Reads: the script only calls functions that read, compute, wait or scroll,
//     or that write web storage or the attribute data-rote-mark. It never calls a value of unknown origin, stores
//     none under a name that the language calls by itself (toString, then), and
//     assigns to nothing but its own variables and objects.
//   - not Draws: the script makes no change to the document that could make the
//     browser load something or navigate.
//   - not MayName(x): the script cannot access a member or a global named x and call
//     it.
//
// What is assumed about the page: nothing about its data. Each property may hold
// any object of the page or function of the browser, and each getter may run code of
// the page. A page may also have replaced the functions of the browser by its own.
// Page code that runs has the rights of the page, also when a script causes it to
// run: the guard would not stop it either.
//
// What is assumed about the browser: the tables in names.go are right, for every
// interface that has a member with the name. A new interface of the browser that
// has, for example, a method named "at" with side effects makes them wrong. What is
// assumed about earlier scripts of the run: none has left functions in the page. The
// browser does not rely on Reads when one may have.
//
// What happens if a proof is wrong: the guard does not see the script's actions, or
// takes them for the page's. The script can then send data to those hosts, and
// navigate to those addresses, that the egress rules allow to the page, because all
// requests still pass the proxy of the run. If nothing is proved although it
// could be, the script is watched and only takes longer.
//
// What is never proved: that a script ends, or needs little time or memory; that it
// leaves web storage, the scroll position and arrays of the page as they are; that
// page code does not act on what the script does.
//
// The rule for every change: what is not known counts as harmful. Each entry of a
// table and each case of the prover needs a test of an abuse that looks similar (the
// list abuses in the tests).
package facts

import (
	"github.com/tdewolff/parse/v2/js"

	"rote/routine/javascript"
)

// Facts is what is proved about a script by its text. The zero value means that
// nothing is proved: the script may write, and may use any name. Facts are only
// set if they are certain, because the guard of the browser relies on them.
type Facts struct {
	// Reads is true if the script only reads the document, storage and the page's
	// data, computes, waits and marks elements with the attribute data-rote-mark. Everything that it calls is known by name to do no
	// more, on whatever object. (A page can replace these functions by its own,
	// which then runs with the page's rights.)
	Reads bool
	// NativeOnly is true if, besides, the script calls no function that an application is
	// likely to have made: a method with a name such as push, next or search, which natives
	// have as well, is only called on values of the script's own. The guard does not need
	// that, because code of the page has the rights of the page. It tells whether the script
	// makes the page do something.
	NativeOnly bool

	still bool            // it does not change what the browser loads
	names map[string]bool // members and globals that it can access
	named bool            // it can access no others
}

// Draws reports whether the script may change the document so that the browser
// loads something or navigates: markup, styles, URLs of elements, links and
// forms.
func (f Facts) Draws() bool { return !f.still }

// MayName reports whether the script can access a member or a global with this
// name and call it.
func (f Facts) MayName(name string) bool { return !f.named || f.names[name] }

// Prove returns the facts about a script. It never panics, whatever the text
// is. A script that Check rejects has no facts.
func Prove(script string) (facts Facts) {
	defer func() {
		if recover() != nil {
			facts = Facts{} // as for scripts that javascript.Check rejects
		}
	}()
	program := javascript.Analyze(script)
	if program == nil {
		return Facts{}
	}
	p := &prover{
		Program: program, reads: true, names: map[string]bool{}, storedValues: map[string][]js.IExpr{},
		executors: map[*javascript.Function]bool{}, accumulators: map[*js.Var]js.IExpr{}, answers: map[question]bool{},
	}
	for _, s := range program.Statements {
		p.prepare(s)
	}
	for _, s := range program.Statements {
		p.visit(s)
	}
	if program.Disposes { // it calls a method with a symbol as its name
		p.unknownCall(nil)
	}
	if p.StepsLeft < 0 {
		return Facts{}
	}
	for _, name := range []string{"attributes", "getAttributeNode", "getAttributeNodeNS", "createAttribute", "createAttributeNS",
		"getNamedItem", "evaluate", "selectNodes"} {
		p.draws = p.draws || p.setsValue && p.names[name] // the value of an attribute node
	}
	callsAnything := p.readUnknown && p.calledUnknown
	return Facts{Reads: p.reads, NativeOnly: p.reads && !p.commands, still: !p.draws && !callsAnything, names: p.names, named: !callsAnything}
}

// prover walks a script and looks for code that contradicts its facts.
type prover struct {
	*javascript.Program
	reads, draws bool
	commands     bool // it may call a method of the page that is named like a command
	names        map[string]bool
	// readUnknown is true if a value may have been read by a name that is not in the
	// text (a computed member, a list of all values). calledUnknown is true if an
	// unknown value is called or passed to a function that may call it. If both are
	// true, anything may be called.
	readUnknown, calledUnknown bool
	// setsValue is true if a property "value" is set, probably of a form control.
	setsValue bool
	// storedValues are the values that the script stores under each name.
	storedValues map[string][]js.IExpr
	// executors are the functions that only new Promise calls. accumulators maps the
	// accumulator of each reduce to its initial value.
	executors    map[*javascript.Function]bool
	accumulators map[*js.Var]js.IExpr
	// answers are the results of questions so far. assumed are those of them that
	// are not final yet. refuted counts the questions that turned out to be false.
	answers map[question]bool
	assumed []question
	refuted int
}

// setNotReading records that the script does more than read.
func (p *prover) setNotReading() { p.reads = false }

// setUnknown records that nothing is known about what the script does.
func (p *prover) setUnknown() {
	p.reads, p.draws, p.readUnknown, p.calledUnknown = false, true, true, true
}

// prepare records what the walk needs to know about the whole text: what is
// stored under each name, and what calls which function.
func (p *prover) prepare(n js.INode) {
	switch n := n.(type) {
	case *js.ObjectExpr:
		for i := range n.List {
			q := &n.List[i]
			if q.Name != nil && q.Name.Computed == nil {
				p.storedValues[javascript.LiteralName(q.Name)] = append(p.storedValues[javascript.LiteralName(q.Name)], q.Value)
			}
		}
	case *js.MethodDecl:
		if n.Name.Private == nil && n.Name.Computed == nil {
			p.storedValues[javascript.LiteralName(&n.Name.PropertyName)] = append(p.storedValues[javascript.LiteralName(&n.Name.PropertyName)], n)
		}
	case *js.ClassDecl:
		for i := range n.List {
			if e := &n.List[i]; e.Method == nil && e.StaticBlock == nil && e.Name.Private == nil && e.Name.Computed == nil {
				p.storedValues[javascript.LiteralName(&e.Name.PropertyName)] = append(p.storedValues[javascript.LiteralName(&e.Name.PropertyName)], e.Init)
			}
		}
	case *js.BinaryExpr:
		if source, ok := javascript.Assigned(n); ok {
			if dot, ok := javascript.Unwrap(n.X).(*js.DotExpr); ok {
				p.storedValues[javascript.MemberName(dot)] = append(p.storedValues[javascript.MemberName(dot)], source)
			}
		}
	case *js.NewExpr:
		if fn := p.anonymousFunction(argument(n.Args, 0)); fn != nil && isFree(n.X, "Promise") {
			p.executors[fn] = true
		}
	case *js.CallExpr:
		p.prepareReduce(n)
	}
	javascript.Each(n, p.prepare)
}

func (p *prover) prepareReduce(n *js.CallExpr) {
	dot, ok := javascript.Unwrap(n.X).(*js.DotExpr)
	if !ok || javascript.MemberName(dot) != "reduce" && javascript.MemberName(dot) != "reduceRight" || len(n.Args.List) != 2 {
		return
	}
	fn := p.anonymousFunction(argument(&n.Args, 0))
	if fn == nil || len(fn.Params.List) == 0 {
		return
	}
	if acc, ok := fn.Params.List[0].Binding.(*js.Var); ok && fn.Params.List[0].Default == nil {
		p.accumulators[javascript.Declared(acc)] = n.Args.List[1].Value
	}
}

// anonymousFunction returns the function literal e, if it has no name by which
// other code could call it.
func (p *prover) anonymousFunction(e js.IExpr) *javascript.Function {
	switch n := javascript.Unwrap(e).(type) {
	case *js.ArrowFunc:
		return p.Function(n)
	case *js.FuncDecl:
		if n.Name == nil {
			return p.Function(n)
		}
	}
	return nil
}

func argument(args *js.Args, i int) js.IExpr {
	if args == nil || i >= len(args.List) || args.List[i].Rest {
		return nil
	}
	return args.List[i].Value
}

func isFree(e js.IExpr, name string) bool {
	got, ok := javascript.Free(javascript.Unwrap(e))
	return ok && got == name
}
