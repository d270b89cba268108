package javascript

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"
)

// eval returns what is known of the value of an expression, and remembers it. After
// stepsLeft steps nothing more is found out.
func (f *flow) eval(e js.IExpr) value {
	e = Unwrap(e)
	if v, ok := f.done[e]; ok {
		return v
	}
	if f.stepsLeft--; f.stepsLeft < 0 {
		return value{texts: unknown}
	}
	v := f.evalExpr(e)
	if f.done != nil {
		if v.texts == nil {
			v.texts = unknown
		}
		f.done[e] = v
	}
	return v
}

// evalExpr returns what is known of the value of an expression: which global object,
// function or text it may be. Callers use eval, which remembers the answer.
func (f *flow) evalExpr(e js.IExpr) value {
	switch n := e.(type) {
	case *js.Var:
		if name, ok := Free(n); ok {
			if k := globals[name]; k != 0 {
				return value{kinds: k, texts: never}
			}
			return value{texts: unknown}
		}
		return f.variable(n).value
	case *js.LiteralExpr:
		return f.evalLiteral(n)
	case *js.TemplateExpr:
		return value{texts: f.template(n)}
	case *js.BinaryExpr:
		return f.evalBinary(n)
	case *js.CondExpr:
		return f.eval(n.X).join(f.eval(n.Y))
	case *js.UnaryExpr:
		switch n.Op {
		case js.AwaitToken:
			return f.eval(n.X)
		case js.TypeofToken, js.NotToken, js.VoidToken, js.DeleteToken:
			return value{texts: unknown}
		}
		return value{texts: never}
	case *js.DotExpr:
		return f.member(f.eval(n.X), exactly(MemberName(n)))
	case *js.IndexExpr:
		return f.member(f.eval(n.X), f.eval(n.Y).texts)
	case *js.CallExpr:
		return f.evalCall(n)
	case *js.NewExpr:
		if f.eval(n.X).kinds&kImage != 0 {
			return value{kinds: kLoader, texts: unknown}
		}
	case *js.ArrowFunc, *js.FuncDecl, *js.ClassDecl:
		return value{kinds: kFunction, texts: never, objs: []js.INode{e}}
	case *js.ArrayExpr:
		return value{texts: f.arrayText(n), objs: []js.INode{e}}
	case *js.ObjectExpr:
		v := value{texts: never, objs: []js.INode{e}}
		for _, p := range n.List {
			if p.Spread { // a copy of the window still has its functions
				v.kinds |= f.eval(p.Value).kinds
			}
		}
		return v
	}
	return value{texts: unknown}
}

func (f *flow) evalLiteral(n *js.LiteralExpr) value {
	switch {
	case n.TokenType == js.ThisToken:
		fn := f.this[n]
		if fn == nil || fn.plain && !fn.strict {
			return value{kinds: kGlobal, texts: never}
		}
	case n.TokenType == js.StringToken && !IsRegExp(n):
		return value{texts: exactly(Unescape(n.Data[1 : len(n.Data)-1]))}
	case js.IsNumeric(n.TokenType):
		if i, err := strconv.ParseInt(string(n.Data), 0, 64); err == nil {
			return value{texts: exactly(strconv.FormatInt(i, 10))}
		}
		return value{texts: never}
	}
	return value{texts: unknown}
}

func (f *flow) evalBinary(n *js.BinaryExpr) value {
	switch n.Op {
	case js.AddToken, js.AddEqToken:
		return value{texts: concat(f.eval(n.X).texts, f.eval(n.Y).texts)}
	case js.OrToken, js.NullishToken, js.OrEqToken, js.NullishEqToken, js.AndEqToken:
		return f.eval(n.X).join(f.eval(n.Y))
	case js.AndToken, js.EqToken:
		return f.eval(n.Y)
	case js.SubToken, js.MulToken, js.ModToken, js.ExpToken, js.BitAndToken, js.BitOrToken, js.BitXorToken,
		js.LtLtToken, js.GtGtToken, js.GtGtGtToken:
		return value{texts: never}
	}
	return value{texts: unknown}
}
