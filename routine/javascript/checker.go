package javascript

import (
	"github.com/tdewolff/parse/v2/js"
)

// checker walks a script in the order of its text and finds blocked code.
type checker struct {
	tokens *tokens
	flow   *flow
	found  []Problem
	// nameAt is the offset of the name or member that was visited last.
	nameAt int
	// inBlock are the functions with a blocked name that are declared in a block.
	inBlock map[*js.FuncDecl]string
}

// use is how an expression is used.
type use uint8

const (
	asCallee use = 1 << iota
	asTarget     // it is assigned to
	asInert      // only its type, identity or name is used
)

func (c *checker) add(p Problem) { c.found = append(c.found, p) }

// statements visits the script and returns the offset of each statement's first
// leaf, or -1.
func (c *checker) statements(list []js.IStmt) []int {
	var starts []int
	for _, s := range list {
		starts = append(starts, c.visit(s, 0))
	}
	return starts
}

// visit returns the offset of the first leaf in n, or -1.
func (c *checker) visit(n js.INode, u use) int {
	switch n := n.(type) {
	case *js.Var:
		at := c.tokens.takeToken(n.Data)
		c.nameAt = at
		c.checkVariable(n, at, u)
		return at
	case *js.LiteralExpr:
		return c.tokens.takeToken(n.Data)
	case js.LiteralExpr:
		return c.tokens.takeToken(n.Data)
	case *js.GroupExpr:
		return c.visit(n.X, u)
	case *js.DotExpr:
		return c.dot(n, u)
	case *js.IndexExpr:
		return c.index(n, u)
	case *js.CallExpr:
		return c.visitCall(n.X, n.Args.List, false)
	case *js.NewExpr:
		if n.Args == nil {
			return c.visitCall(n.X, nil, true)
		}
		return c.visitCall(n.X, n.Args.List, true)
	case *js.BinaryExpr:
		return c.binary(n)
	case *js.UnaryExpr:
		switch n.Op {
		case js.TypeofToken:
			u = asInert
		case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken:
			u = asTarget
		default:
			u = 0
		}
		return c.visit(n.X, u)
	case *js.TemplateExpr:
		return c.template(n)
	case *js.ArrayExpr:
		return c.parts(n, u&asTarget)
	case *js.ObjectExpr:
		return c.object(n, u)
	case *js.BindingObject:
		return c.pattern(n)
	case *js.PropertyName:
		return c.key(n)
	case *js.ClassElementName:
		if n.Private != nil {
			return c.tokens.takeToken(n.Private.Data)
		}
		return c.key(&n.PropertyName)
	}
	return c.statement(n)
}

func (c *checker) statement(n js.INode) int {
	switch n := n.(type) {
	case *js.ForInStmt:
		c.loopTarget(n.Init)
		c.visit(n.Value, 0)
		return c.visit(n.Body, 0)
	case *js.ForOfStmt:
		c.loopTarget(n.Init)
		c.visit(n.Value, 0)
		return c.visit(n.Body, 0)
	case *js.WithStmt:
		c.add(Problem{
			Offset:  c.tokens.takeToken([]byte("with")),
			Code:    CodeBlocked,
			Message: "with is blocked in js_evaluate: it hides what a name stands for",
			Hint:    "write the object before each name",
		})
	case *js.FuncDecl:
		at := c.parts(n, 0)
		if name, ok := c.inBlock[n]; ok {
			p := blocked(at, name, blockedGlobals[name])
			p.Hint = "give the function another name"
			c.add(p)
		}
		return at
	case *js.BlockStmt:
		c.findBlockedFunctions(n.List)
	case *js.SwitchStmt:
		for i := range n.List {
			c.findBlockedFunctions(n.List[i].List)
		}
	case *js.LabelledStmt:
		at := c.tokens.takeToken(n.Label)
		c.visit(n.Value, 0)
		return at
	case *js.BranchStmt:
		if n.Label != nil {
			return c.tokens.takeToken(n.Label)
		}
	case *js.DirectivePrologueStmt:
		return c.tokens.takeToken(n.Value)
	case *js.ImportMetaExpr:
		at := c.tokens.takeToken([]byte("import"))
		c.add(Problem{Offset: at, Code: CodeSyntax, Message: "import.meta is only for modules"})
		return at
	}
	return c.parts(n, 0)
}

func (c *checker) parts(n js.INode, u use) int {
	start := -1
	Each(n, func(part js.INode) { start = first(start, c.visit(part, u)) })
	return start
}

func first(a, b int) int {
	if a >= 0 {
		return a
	}
	return b
}

func (c *checker) loopTarget(init js.IExpr) {
	if _, ok := init.(*js.VarDecl); ok {
		c.visit(init, 0)
		return
	}
	c.visit(init, asTarget)
}

// findBlockedFunctions finds functions with a blocked name in a block. Outside
// of the block the name is the window's in strict code and for async functions,
// which the parser does not distinguish.
func (c *checker) findBlockedFunctions(list []js.IStmt) {
	for _, s := range list {
		fn, ok := s.(*js.FuncDecl)
		if !ok || fn.Name == nil {
			continue
		}
		name := Unescape(Declared(fn.Name).Data)
		if blockedGlobals[name] != 0 {
			c.inBlock[fn] = name
		}
	}
}

func (c *checker) dot(n *js.DotExpr, u use) int {
	name := MemberName(n)
	inner := use(0)
	if name == "name" { // f.constructor.name, fetch.name
		inner = asInert
	}
	start := c.visit(n.X, inner)
	if v, ok := n.Y.(*js.Var); ok {
		return first(start, c.tokens.takeToken(v.Data))
	}
	at := c.visit(n.Y, 0)
	c.checkMember(c.flow.eval(n.X), exactly(name), at, u)
	c.nameAt = at
	return first(start, at)
}

func (c *checker) index(n *js.IndexExpr, u use) int {
	start := c.visit(n.X, 0)
	at := c.visit(n.Y, 0)
	at = first(at, c.tokens.nextOffset())
	c.checkMember(c.flow.eval(n.X), c.flow.eval(n.Y).texts, at, u)
	c.nameAt = at
	return first(start, at)
}

func (c *checker) binary(n *js.BinaryExpr) int {
	switch n.Op {
	case js.EqEqToken, js.EqEqEqToken, js.NotEqToken, js.NotEqEqToken:
		start := c.visit(n.X, asInert)
		return first(start, c.visit(n.Y, asInert))
	case js.InstanceofToken:
		start := c.visit(n.X, 0)
		return first(start, c.visit(n.Y, asInert))
	}
	if _, ok := Assigned(n); !ok {
		start := c.visit(n.X, 0)
		return first(start, c.visit(n.Y, 0))
	}
	start := c.visit(n.X, asTarget)
	switch Unwrap(n.X).(type) {
	case *js.Var, *js.DotExpr, *js.IndexExpr, *js.ArrayExpr, *js.ObjectExpr, *js.CallExpr:
	default:
		c.add(Problem{Offset: max(start, 0), Code: CodeSyntax, Message: "this cannot be assigned to"})
	}
	at := c.visit(n.Y, 0)
	if x, names := c.flow.target(n.X); names != nil {
		c.checkAssignment(x, names, n.Y, first(at, c.tokens.nextOffset()))
	}
	return first(start, at)
}

// target returns the object and the member names of an assignment's left side.
func (f *flow) target(e js.IExpr) (value, []text) {
	switch n := Unwrap(e).(type) {
	case *js.DotExpr:
		return f.eval(n.X), exactly(MemberName(n))
	case *js.IndexExpr:
		return f.eval(n.X), f.eval(n.Y).texts
	}
	return value{}, nil
}

func (c *checker) template(n *js.TemplateExpr) int {
	start := -1
	if n.Tag != nil {
		start = c.visit(n.Tag, asCallee)
		c.visitTaggedTemplate(n.Tag)
	}
	for _, p := range n.List {
		start = first(start, c.tokens.takeToken(p.Value))
		c.visit(p.Expr, 0)
	}
	return first(start, c.tokens.takeToken(n.Tail))
}

func (c *checker) key(n *js.PropertyName) int {
	if n.Computed != nil {
		return c.visit(n.Computed, 0)
	}
	return c.tokens.takeToken(n.Literal.Data)
}
