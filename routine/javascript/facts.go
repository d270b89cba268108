package javascript

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Facts is what the text of a script proves about it. Each fact errs towards
// the side that has the script watched: a script of which nothing is known
// reads not, writes, and may reach for any name. The zero value says that.
type Facts struct {
	// Reads: it reads the document, storage and the page's data, computes and
	// waits, and does nothing else. Whatever it calls is known by its name to do
	// no more, whatever object of the browser's it is called on. (A page that
	// has put a function of its own under such a name is its own master.)
	Reads bool

	still bool            // it does not draw
	names map[string]bool // of members and globals that it can reach for
	named bool            // it can reach for no others
}

// Draws tells whether the script may change the document in a way that makes
// the browser load something or that leads elsewhere: markup, styles, URLs of
// elements, links and forms.
func (f Facts) Draws() bool { return !f.still }

// MayName tells whether the script can reach for a member or a global of that
// name and call what it finds.
func (f Facts) MayName(name string) bool { return !f.named || f.names[name] }

// Prove gives the facts about a script. It never panics, whatever the text; a
// script that Check refuses has none.
func Prove(script string) (facts Facts) {
	defer func() {
		if recover() != nil {
			facts = Facts{} // as Check would refuse it
		}
	}()
	if len(script) > MaxBytes || len(check(script)) > 0 {
		return Facts{}
	}
	toks, problem := scan(script)
	if problem != nil {
		return Facts{}
	}
	tree, err := js.Parse(parse.NewInputBytes(toks.text), js.Options{})
	if err != nil {
		return Facts{}
	}
	f := newFlow(tree)
	if f.unfinished {
		return Facts{}
	}
	p := &prover{
		flow: f, reads: true, names: map[string]bool{}, stored: map[string][]js.IExpr{},
		executor: map[*function]bool{}, folded: map[*js.Var]js.IExpr{}, answers: map[question]bool{},
	}
	for _, s := range tree.List {
		p.prepare(s)
	}
	for _, s := range tree.List {
		p.visit(s)
	}
	if toks.disposes { // it calls what it has found under a symbol
		p.unknownCall(nil)
	}
	if p.steps < 0 {
		return Facts{}
	}
	for _, name := range []string{"attributes", "getAttributeNode", "getAttributeNodeNS", "createAttribute", "createAttributeNS", "getNamedItem", "evaluate", "selectNodes"} {
		p.draws = p.draws || p.valued && p.names[name] // the value of an attribute node
	}
	anything := p.found && p.blind
	return Facts{Reads: p.reads, still: !p.draws && !anything, names: p.names, named: !anything}
}

// Expression is the script without what may stand around its one expression:
// semicolons and comments. It keeps its line and column. A script without an
// expression is returned unchanged.
func Expression(script string) string {
	toks, problem := scan(script)
	if problem != nil {
		return script
	}
	list := toks.list
	for len(list) > 0 && list[0].tt == js.SemicolonToken {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].tt == js.SemicolonToken {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return script
	}
	start := list[0].start
	blank := func(r rune) rune {
		if strings.ContainsRune("\n\r\u2028\u2029", r) {
			return r
		}
		return ' '
	}
	return strings.Map(blank, script[:start]) + script[start:list[len(list)-1].end]
}

// prover walks a script and looks for what contradicts its facts.
type prover struct {
	*flow
	reads, draws bool
	names        map[string]bool
	// found: a value may have been reached under a name that is not in the
	// text (a computed member, a list of all values). blind: a value of which
	// nothing is known is called, or handed to something that may call it.
	// Both together mean that anything may be called.
	found, blind bool
	// valued: a property "value" is set, of a control as it seems.
	valued bool
	// stored are the values that the script puts under each name.
	stored map[string][]js.IExpr
	// executor are the functions that only a new Promise calls, folded the
	// accumulators of reduce with what they begin as.
	executor map[*function]bool
	folded   map[*js.Var]js.IExpr
	// answers are those to questions so far; assumed are those of them that
	// are not settled yet, and refuted counts the ones that turned out to be no.
	answers map[question]bool
	assumed []question
	refuted int
}

// acts notes that the script does more than read.
func (p *prover) acts() { p.reads = false }

// anything notes that the script does something of which nothing is known.
func (p *prover) anything() { p.reads, p.draws, p.found, p.blind = false, true, true, true }

// prepare notes what the questions of the walk need to know of the whole text:
// what is stored under each name, and what calls which function.
func (p *prover) prepare(n js.INode) {
	switch n := n.(type) {
	case *js.ObjectExpr:
		for i := range n.List {
			q := &n.List[i]
			if q.Name != nil && q.Name.Computed == nil {
				p.stored[literalName(q.Name)] = append(p.stored[literalName(q.Name)], q.Value)
			}
		}
	case *js.MethodDecl:
		if n.Name.Private == nil && n.Name.Computed == nil {
			p.stored[literalName(&n.Name.PropertyName)] = append(p.stored[literalName(&n.Name.PropertyName)], n)
		}
	case *js.ClassDecl:
		for i := range n.List {
			if e := &n.List[i]; e.Method == nil && e.StaticBlock == nil && e.Name.Private == nil && e.Name.Computed == nil {
				p.stored[literalName(&e.Name.PropertyName)] = append(p.stored[literalName(&e.Name.PropertyName)], e.Init)
			}
		}
	case *js.BinaryExpr:
		if source, ok := assigned(n); ok {
			if dot, ok := unwrap(n.X).(*js.DotExpr); ok {
				p.stored[memberName(dot)] = append(p.stored[memberName(dot)], source)
			}
		}
	case *js.NewExpr:
		if fn := p.unnamed(argument(n.Args, 0)); fn != nil && isFree(n.X, "Promise") {
			p.executor[fn] = true
		}
	case *js.CallExpr:
		p.prepareReduce(n)
	}
	each(n, p.prepare)
}

func (p *prover) prepareReduce(n *js.CallExpr) {
	dot, ok := unwrap(n.X).(*js.DotExpr)
	if !ok || iterates[memberName(dot)] != 2 || len(n.Args.List) != 2 {
		return
	}
	fn := p.unnamed(argument(&n.Args, 0))
	if fn == nil || len(fn.params.List) == 0 {
		return
	}
	if acc, ok := fn.params.List[0].Binding.(*js.Var); ok && fn.params.List[0].Default == nil {
		p.folded[follow(acc)] = n.Args.List[1].Value
	}
}

// unnamed is a function that stands where it is and has no name by which
// anything else could call it.
func (p *prover) unnamed(e js.IExpr) *function {
	switch n := unwrap(e).(type) {
	case *js.ArrowFunc:
		return p.functions[n]
	case *js.FuncDecl:
		if n.Name == nil {
			return p.functions[n]
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
	got, ok := free(unwrap(e))
	return ok && got == name
}
