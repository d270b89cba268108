package javascript

import (
	"fmt"

	"github.com/tdewolff/parse/v2/js"
)

const hintForm = "wrap the code: (() => { ... })() or (function() { ... })(), and return the result"

// checkIIFE checks that the script is one immediately invoked function
// expression in one of the two supported forms. starts are the offsets of the
// statements.
func (c *checker) checkIIFE(list []js.IStmt, starts []int) {
	var real []js.IStmt
	var at []int
	for i, s := range list {
		switch s.(type) {
		case *js.Comment, *js.EmptyStmt:
			continue
		}
		real, at = append(real, s), append(at, starts[i])
	}
	p := Problem{Offset: c.tokens.list[0].start, Code: CodeNotIIFE, Hint: hintForm}
	switch {
	case len(real) == 0:
		p.Message = "the script does nothing"
	case len(real) > 1:
		p.Offset = c.tokens.secondStatement(at[1])
		if _, ok := real[0].(*js.DirectivePrologueStmt); ok && len(real) == 2 {
			p.Offset, p.Hint = c.tokens.list[0].start, "put \"use strict\" into the function, as its first line"
		}
		p.Message = fmt.Sprintf("the script has %d statements; it must be one function expression that is called at once", len(real))
	default:
		stmt, ok := real[0].(*js.ExprStmt)
		if !ok {
			p.Message = "the script is a statement; it must be one function expression that is called at once"
			break
		}
		p.Message, p.Hint = iifeProblem(stmt.Value)
	}
	if p.Message != "" {
		c.found = append(c.found, p)
	}
}

// iifeProblem returns what is wrong with the only expression of a script, if
// anything.
func iifeProblem(e js.IExpr) (message, hint string) {
	if call, ok := e.(*js.CallExpr); ok {
		if group, ok := call.X.(*js.GroupExpr); ok && isFunction(group.X) {
			switch fn, _ := group.X.(*js.FuncDecl); {
			case call.Optional:
				return "the function must be called with (), not with ?.()", hintForm
			case fn != nil && fn.Generator:
				return "the function is a generator, which only makes an iterator when it is called",
					"leave out the *, or call the generator inside: (() => { function* g() { ... } return [...g()] })()"
			}
			return "", ""
		}
	}
	switch n := e.(type) {
	case *js.GroupExpr:
		if call, ok := n.X.(*js.CallExpr); ok && isFunction(call.X) {
			return "the call stands inside the outer parentheses", "put it behind them: (function() { ... })() instead of (function() { ... }())"
		}
		if isFunction(n.X) {
			return "the function is never called", "add () at the end: (() => { ... })()"
		}
	case *js.ArrowFunc:
		return "the function is never called", "put it in parentheses and call it: (() => { ... })()"
	case *js.UnaryExpr:
		if n.Op == js.AwaitToken {
			return "await cannot stand outside a function", "leave it out, the result is awaited anyway: (async () => { ... })()"
		}
		if call, ok := n.X.(*js.CallExpr); ok && isFunction(Unwrap(call.X)) {
			return fmt.Sprintf("the function is called behind %s, not in parentheses", n.Op), hintForm
		}
	case *js.CallExpr:
		if dot, ok := n.X.(*js.DotExpr); ok {
			if message, _ := iifeProblem(dot.X); message == "" {
				return fmt.Sprintf("the call is followed by .%s()", MemberName(dot)), "move it into the function, as in (async () => { const r = await f(); return r.x })()"
			}
			if isFunction(Unwrap(dot.X)) {
				return fmt.Sprintf("the function is called with .%s()", MemberName(dot)), "call it with (): (() => { ... })()"
			}
		}
	}
	return "the script is an expression; it must be one function expression that is called at once", hintForm
}

func isFunction(e js.IExpr) bool {
	switch e.(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		return true
	}
	return false
}

// secondStatement returns the offset of the second statement, whose first leaf
// is at leaf.
func (t *tokens) secondStatement(leaf int) int {
	depth := 0
	for i, tok := range t.list {
		switch tok.tt {
		case js.OpenBraceToken, js.OpenParenToken, js.OpenBracketToken, js.TemplateStartToken:
			depth++
		case js.CloseBraceToken, js.CloseParenToken, js.CloseBracketToken, js.TemplateEndToken:
			depth--
		case js.SemicolonToken:
			if depth == 0 && i > 0 && i+1 < len(t.list) && (leaf < 0 || tok.start < leaf) {
				return t.list[i+1].start
			}
		}
		if tok.start != leaf {
			continue
		}
		for i > 0 && (js.IsReservedWord(t.list[i-1].tt) || js.IsOperator(t.list[i-1].tt) || t.list[i-1].tt == js.OpenParenToken) {
			i--
		}
		return t.list[i].start
	}
	return max(leaf, 0)
}
