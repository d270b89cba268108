package javascript

import "github.com/tdewolff/parse/v2/js"

// each calls f for the parts of n in the order of the text. (js.Walk visits
// bodies before heads, so places could not be followed along.)
func each(n js.INode, f func(js.INode)) {
	switch n := n.(type) {
	case *js.BlockStmt:
		eachStmt(n.List, f)
	case *js.ExprStmt:
		give(f, n.Value)
	case *js.IfStmt:
		give(f, n.Cond, n.Body, n.Else)
	case *js.DoWhileStmt:
		give(f, n.Body, n.Cond)
	case *js.WhileStmt:
		give(f, n.Cond, n.Body)
	case *js.ForStmt:
		give(f, n.Init, n.Cond, n.Post)
		block(f, n.Body)
	case *js.ForInStmt:
		give(f, n.Init, n.Value)
		block(f, n.Body)
	case *js.ForOfStmt:
		give(f, n.Init, n.Value)
		block(f, n.Body)
	case *js.SwitchStmt:
		give(f, n.Init)
		for i := range n.List {
			give(f, n.List[i].Cond)
			eachStmt(n.List[i].List, f)
		}
	case *js.ReturnStmt:
		give(f, n.Value)
	case *js.WithStmt:
		give(f, n.Cond, n.Body)
	case *js.LabelledStmt:
		give(f, n.Value)
	case *js.ThrowStmt:
		give(f, n.Value)
	case *js.TryStmt:
		block(f, n.Body)
		give(f, n.Binding)
		block(f, n.Catch)
		block(f, n.Finally)
	case *js.VarDecl:
		eachElement(n.List, f)
	case *js.ExportStmt:
		give(f, n.Decl)
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
		give(f, n.Rest)
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
			give(f, n.List[i].Value)
		}
	case *js.ObjectExpr:
		for i := range n.List {
			p := &n.List[i]
			if p.Name != nil {
				f(p.Name)
			}
			give(f, p.Value, p.Init)
		}
	case *js.TemplateExpr:
		give(f, n.Tag)
		for i := range n.List {
			give(f, n.List[i].Expr)
		}
	case *js.GroupExpr:
		give(f, n.X)
	case *js.IndexExpr:
		give(f, n.X, n.Y)
	case *js.DotExpr:
		give(f, n.X, n.Y)
	case *js.NewExpr:
		give(f, n.X)
		if n.Args != nil {
			eachArg(n.Args.List, f)
		}
	case *js.CallExpr:
		give(f, n.X)
		eachArg(n.Args.List, f)
	case *js.UnaryExpr:
		give(f, n.X)
	case *js.BinaryExpr:
		give(f, n.X, n.Y)
	case *js.CondExpr:
		give(f, n.Cond, n.X, n.Y)
	case *js.YieldExpr:
		give(f, n.X)
	case *js.CommaExpr:
		for _, x := range n.List {
			give(f, x)
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
		give(f, n.Extends)
		for i := range n.List {
			e := &n.List[i]
			switch {
			case e.StaticBlock != nil:
				f(e.StaticBlock)
			case e.Method != nil:
				f(e.Method)
			default:
				f(&e.Name)
				give(f, e.Init)
			}
		}
	}
}

// give calls f for the nodes that are there.
func give(f func(js.INode), nodes ...js.INode) {
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
		give(f, s)
	}
}

func eachArg(list []js.Arg, f func(js.INode)) {
	for i := range list {
		give(f, list[i].Value)
	}
}

func eachElement(list []js.BindingElement, f func(js.INode)) {
	for i := range list {
		give(f, list[i].Binding, list[i].Default)
	}
}

func eachParam(p js.Params, f func(js.INode)) {
	eachElement(p.List, f)
	give(f, p.Rest)
}
