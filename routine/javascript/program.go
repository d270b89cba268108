package javascript

import (
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Program is a script without problems: its syntax tree and the values that its
// variables may hold. Package facts proves from it what the script cannot do.
type Program struct {
	Statements []js.IStmt
	// Disposes is true if the script declares variables with using, so that the
	// language calls a method of their values.
	Disposes bool
	// StepsLeft is the part of the work allowed for one script that the data flow
	// has not used.
	StepsLeft int

	flow *flow
}

// Analyze returns the program of a script. It returns nil if Check finds
// problems in the script, or if not all values of its variables are known. It
// never panics, whatever the text is.
func Analyze(script string) (program *Program) {
	defer func() {
		if recover() != nil {
			program = nil // as for scripts that Check rejects
		}
	}()
	if len(script) > MaxBytes || len(check(script)) > 0 {
		return nil
	}
	toks, problem := scan(script)
	if problem != nil {
		return nil
	}
	tree, err := js.Parse(parse.NewInputBytes(toks.text), js.Options{})
	if err != nil {
		return nil
	}
	f := newFlow(tree)
	if f.incomplete {
		return nil
	}
	return &Program{Statements: tree.List, Disposes: toks.disposes, StepsLeft: f.stepsLeft, flow: f}
}

// Variable returns what is known about a variable.
func (p *Program) Variable(v *js.Var) *Variable { return p.flow.variable(v) }

// Function returns what is known about the function that n declares, or nil.
func (p *Program) Function(n js.INode) *Function { return p.flow.functions[n] }

// Known reports whether v can hold no other values than those of its sources.
func (v *Variable) Known() bool {
	return !v.MayBeUnknown && (v.ParameterOf == nil || v.ParameterOf.Closed()) && len(v.value.objs) < maxObjs
}

// IsRegExp reports whether the string literal n takes the place of a regular
// expression: the parser is given one, because it could read a slash in another
// way than scan.
func IsRegExp(n *js.LiteralExpr) bool {
	return n.TokenType == js.StringToken && len(n.Data) > 2 && n.Data[1] == pattern
}
