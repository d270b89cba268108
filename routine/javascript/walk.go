package javascript

import "github.com/tdewolff/parse/v2/js"

// Each calls f for the children of n in the order of the text. js.Walk visits
// bodies before heads, so positions could not be tracked.
func Each(n js.INode, f func(js.INode)) {
	switch n := n.(type) {
	case *js.BlockStmt:
		eachStmt(n.List, f)
	case *js.ExprStmt:
		visitAll(f, n.Value)
	case *js.IfStmt:
		visitAll(f, n.Cond, n.Body, n.Else)
	case *js.DoWhileStmt:
		visitAll(f, n.Body, n.Cond)
	case *js.WhileStmt:
		visitAll(f, n.Cond, n.Body)
	case *js.ForStmt:
		visitAll(f, n.Init, n.Cond, n.Post)
		block(f, n.Body)
	case *js.ForInStmt:
		visitAll(f, n.Init, n.Value)
		block(f, n.Body)
	case *js.ForOfStmt:
		visitAll(f, n.Init, n.Value)
		block(f, n.Body)
	case *js.SwitchStmt:
		visitAll(f, n.Init)
		for i := range n.List {
			visitAll(f, n.List[i].Cond)
			eachStmt(n.List[i].List, f)
		}
	case *js.ReturnStmt:
		visitAll(f, n.Value)
	case *js.WithStmt:
		visitAll(f, n.Cond, n.Body)
	case *js.LabelledStmt:
		visitAll(f, n.Value)
	case *js.ThrowStmt:
		visitAll(f, n.Value)
	case *js.TryStmt:
		block(f, n.Body)
		visitAll(f, n.Binding)
		block(f, n.Catch)
		block(f, n.Finally)
	case *js.VarDecl:
		eachElement(n.List, f)
	case *js.ExportStmt:
		visitAll(f, n.Decl)
	case js.IBinding:
		eachBinding(n, f)
	case js.IExpr:
		eachExpr(n, f)
	}
}

func eachBinding(n js.IBinding, f func(js.INode)) {
	switch n := n.(type) {
	case *js.BindingArray:
		eachElement(n.List, f)
		visitAll(f, n.Rest)
	case *js.BindingObject:
		for i := range n.List {
			if n.List[i].Key != nil {
				f(n.List[i].Key)
			}
			eachElement([]js.BindingElement{n.List[i].Value}, f)
		}
		if n.Rest != nil {
			f(n.Rest)
		}
	}
}

func eachExpr(n js.IExpr, f func(js.INode)) {
	switch n := n.(type) {
	case *js.ArrayExpr:
		for i := range n.List {
			visitAll(f, n.List[i].Value)
		}
	case *js.ObjectExpr:
		for i := range n.List {
			p := &n.List[i]
			if p.Name != nil {
				f(p.Name)
			}
			visitAll(f, p.Value, p.Init)
		}
	case *js.TemplateExpr:
		visitAll(f, n.Tag)
		for i := range n.List {
			visitAll(f, n.List[i].Expr)
		}
	case *js.GroupExpr:
		visitAll(f, n.X)
	case *js.IndexExpr:
		visitAll(f, n.X, n.Y)
	case *js.DotExpr:
		visitAll(f, n.X, n.Y)
	case *js.NewExpr:
		visitAll(f, n.X)
		if n.Args != nil {
			eachArg(n.Args.List, f)
		}
	case *js.CallExpr:
		visitAll(f, n.X)
		eachArg(n.Args.List, f)
	case *js.UnaryExpr:
		visitAll(f, n.X)
	case *js.BinaryExpr:
		visitAll(f, n.X, n.Y)
	case *js.CondExpr:
		visitAll(f, n.Cond, n.X, n.Y)
	case *js.YieldExpr:
		visitAll(f, n.X)
	case *js.CommaExpr:
		for _, x := range n.List {
			visitAll(f, x)
		}
	default:
		eachFunction(n, f)
	}
}

func eachFunction(n js.IExpr, f func(js.INode)) {
	switch n := n.(type) {
	case *js.ArrowFunc:
		eachParam(n.Params, f)
		eachStmt(n.Body.List, f)
	case *js.FuncDecl:
		if n.Name != nil {
			f(n.Name)
		}
		eachParam(n.Params, f)
		eachStmt(n.Body.List, f)
	case *js.MethodDecl:
		f(&n.Name)
		eachParam(n.Params, f)
		eachStmt(n.Body.List, f)
	case *js.ClassDecl:
		if n.Name != nil {
			f(n.Name)
		}
		visitAll(f, n.Extends)
		for i := range n.List {
			e := &n.List[i]
			switch {
			case e.StaticBlock != nil:
				f(e.StaticBlock)
			case e.Method != nil:
				f(e.Method)
			default:
				f(&e.Name)
				visitAll(f, e.Init)
			}
		}
	}
}

// visitAll calls f for the nodes that are not nil.
func visitAll(f func(js.INode), nodes ...js.INode) {
	for _, n := range nodes {
		if n != nil {
			f(n)
		}
	}
}

func block(f func(js.INode), b *js.BlockStmt) {
	if b != nil {
		f(b)
	}
}

func eachStmt(list []js.IStmt, f func(js.INode)) {
	for _, s := range list {
		visitAll(f, s)
	}
}

func eachArg(list []js.Arg, f func(js.INode)) {
	for i := range list {
		visitAll(f, list[i].Value)
	}
}

func eachElement(list []js.BindingElement, f func(js.INode)) {
	for i := range list {
		visitAll(f, list[i].Binding, list[i].Default)
	}
}

func eachParam(p js.Params, f func(js.INode)) {
	eachElement(p.List, f)
	visitAll(f, p.Rest)
}
