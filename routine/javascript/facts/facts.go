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
	// data, computes and waits. Everything that it calls is known by name to do no
	// more, on whatever object. (A page can replace these functions by its own,
	// which then runs with the page's rights.)
	Reads bool

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
		Program: program, reads: true, names: map[string]bool{}, stored: map[string][]js.IExpr{},
		executor: map[*javascript.Function]bool{}, folded: map[*js.Var]js.IExpr{}, answers: map[question]bool{},
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
		p.draws = p.draws || p.valued && p.names[name] // the value of an attribute node
	}
	anything := p.found && p.blind
	return Facts{Reads: p.reads, still: !p.draws && !anything, names: p.names, named: !anything}
}

// prover walks a script and looks for code that contradicts its facts.
type prover struct {
	*javascript.Program
	reads, draws bool
	names        map[string]bool
	// found is true if a value may have been read by a name that is not in the text
	// (a computed member, a list of all values). blind is true if an unknown value
	// is called or passed to a function that may call it. If both are true,
	// anything may be called.
	found, blind bool
	// valued is true if a property "value" is set, probably of a form control.
	valued bool
	// stored are the values that the script stores under each name.
	stored map[string][]js.IExpr
	// executor are the functions that only new Promise calls. folded maps the
	// accumulators of reduce to their initial values.
	executor map[*javascript.Function]bool
	folded   map[*js.Var]js.IExpr
	// answers are the results of questions so far. assumed are those of them that
	// are not final yet. refuted counts the questions that turned out to be false.
	answers map[question]bool
	assumed []question
	refuted int
}

// setNotReading records that the script does more than read.
func (p *prover) setNotReading() { p.reads = false }

// setUnknown records that nothing is known about what the script does.
func (p *prover) setUnknown() { p.reads, p.draws, p.found, p.blind = false, true, true, true }

// prepare records what the walk needs to know about the whole text: what is
// stored under each name, and what calls which function.
func (p *prover) prepare(n js.INode) {
	switch n := n.(type) {
	case *js.ObjectExpr:
		for i := range n.List {
			q := &n.List[i]
			if q.Name != nil && q.Name.Computed == nil {
				p.stored[javascript.LiteralName(q.Name)] = append(p.stored[javascript.LiteralName(q.Name)], q.Value)
			}
		}
	case *js.MethodDecl:
		if n.Name.Private == nil && n.Name.Computed == nil {
			p.stored[javascript.LiteralName(&n.Name.PropertyName)] = append(p.stored[javascript.LiteralName(&n.Name.PropertyName)], n)
		}
	case *js.ClassDecl:
		for i := range n.List {
			if e := &n.List[i]; e.Method == nil && e.StaticBlock == nil && e.Name.Private == nil && e.Name.Computed == nil {
				p.stored[javascript.LiteralName(&e.Name.PropertyName)] = append(p.stored[javascript.LiteralName(&e.Name.PropertyName)], e.Init)
			}
		}
	case *js.BinaryExpr:
		if source, ok := javascript.Assigned(n); ok {
			if dot, ok := javascript.Unwrap(n.X).(*js.DotExpr); ok {
				p.stored[javascript.MemberName(dot)] = append(p.stored[javascript.MemberName(dot)], source)
			}
		}
	case *js.NewExpr:
		if fn := p.anonymousFunction(argument(n.Args, 0)); fn != nil && isFree(n.X, "Promise") {
			p.executor[fn] = true
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
		p.folded[javascript.Declared(acc)] = n.Args.List[1].Value
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
