package javascript

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// flow is the data flow of a script: the values that its variables may hold. It
// ignores the order of execution: a variable may hold every value that is ever
// assigned to it. Properties of objects are not tracked, except those of
// literals. For example:
//
//	const get = (o, name) => o[name]; get(window, 'ev' + 'al')('x')
//
// The call binds window to o and 'eval' to name, so that the value of o[name],
// which get returns, is the window's eval.
type flow struct {
	vars      map[*js.Var]*Variable
	order     []*Variable
	functions map[js.INode]*Function
	fnOrder   []*Function
	calls     []*call
	// patterns maps destructuring patterns to their sources.
	patterns map[js.INode][]js.IExpr
	// this maps each "this" to the function that it belongs to, or nil for the
	// script.
	this map[js.INode]*Function
	// stepsLeft is the remaining work. Below 0 the script is too complex.
	stepsLeft int
	slots     map[js.IExpr]*Variable
	// incomplete is true if maxRounds was reached before all values were known.
	incomplete bool
	done       map[js.IExpr]value // set when the variables are final
}

// Variable is what is known about a variable.
type Variable struct {
	// Sources are the expressions that are assigned to it.
	Sources []js.IExpr
	// MayBeUnknown is true if it may also hold an unknown value.
	MayBeUnknown bool
	// ParameterOf is the function of which it is a parameter.
	ParameterOf *Function
	// uses counts how often it is read, calls how often it is called.
	uses, calls int
	value       value
}

// Function is what is known about a function of the script.
type Function struct {
	Params  js.Params
	Returns []js.IExpr // the values of its return statements
	// Opaque is true if a call does not yield one of Returns, as of a generator.
	Opaque bool

	node   js.INode
	names  []*Variable // the variables that hold it
	direct bool        // called immediately
	plain  bool        // called without an object, so its this is the window
	strict bool
	method bool
	value  value
}

// call is a call or a new expression that may assign values to parameters.
type call struct {
	callee js.IExpr
	args   []js.Arg
	isNew  bool
	bound  map[*Function]bool
}

const (
	maxSteps  = 2_000_000
	maxRounds = 8
)

func newFlow(tree *js.AST) *flow {
	f := &flow{
		vars:      map[*js.Var]*Variable{},
		functions: map[js.INode]*Function{},
		patterns:  map[js.INode][]js.IExpr{},
		this:      map[js.INode]*Function{},
		slots:     map[js.IExpr]*Variable{},
		stepsLeft: maxSteps,
	}
	c := collector{flow: f}
	for _, s := range tree.List {
		c.collect(s)
	}
	f.solve()
	return f
}

// solve repeats the updates until no variable gets new values. In the example of
// flow the first round binds the arguments of get, and the second one finds the
// value that get returns. A string that grows in a loop, as in "s += 'x'", would
// never end, so that after maxRounds it counts as any text.
func (f *flow) solve() {
	for round := 0; ; round++ {
		changed, known := false, len(f.order)
		for _, c := range f.calls {
			changed = f.resolve(c) || changed
		}
		for _, fn := range f.fnOrder {
			if !fn.Opaque {
				changed = f.update(&fn.value, fn.Returns, len(fn.Returns) == 0, round) || changed
			}
		}
		for _, v := range f.order {
			open := v.MayBeUnknown || v.ParameterOf == nil && len(v.Sources) == 0 || v.ParameterOf != nil && !v.ParameterOf.Closed()
			changed = f.update(&v.value, v.Sources, open, round) || changed
		}
		changed = changed || len(f.order) > known
		if !changed || round > 2*maxRounds || f.stepsLeft < 0 {
			f.incomplete = changed
			break
		}
	}
	f.done = map[js.IExpr]value{}
}

// update adds the current values of the sources to v.
func (f *flow) update(v *value, sources []js.IExpr, open bool, round int) bool {
	now := *v
	for _, src := range sources {
		now = now.join(f.eval(src))
	}
	if open {
		now = now.join(value{texts: unknown})
	}
	if round >= maxRounds && !slices.Equal(now.texts, v.texts) {
		// A string or number that grows in a loop. It may be any text, so that
		// further texts add nothing.
		now.texts = union(v.texts, unknown)
	}
	if now.same(*v) {
		return false
	}
	*v = now
	return true
}

func (f *flow) variable(v *js.Var) *Variable {
	v = Declared(v)
	if f.vars[v] == nil {
		f.vars[v] = &Variable{}
		f.order = append(f.order, f.vars[v])
	}
	return f.vars[v]
}

// Closed reports whether all calls of the function are known.
func (fn *Function) Closed() bool {
	for _, v := range fn.names {
		if v.uses != v.calls || v.MayBeUnknown || v.ParameterOf != nil {
			return false
		}
	}
	return !fn.method && (fn.direct || len(fn.names) > 0)
}

// resolve binds the arguments of c to the parameters of the functions that it
// calls.
func (f *flow) resolve(c *call) (changed bool) {
	args, plain := c.args, !c.isNew && isPlain(c.callee)
	callees := f.eval(c.callee).objs
	if dot, ok := Unwrap(c.callee).(*js.DotExpr); ok && !c.isNew && len(args) > 0 {
		switch name := MemberName(dot); {
		case name == "call":
			callees, args = f.eval(dot.X).objs, args[1:]
			plain = f.eval(c.args[0].Value).kinds&kGlobal != 0
		case iterates[name] > 0:
			callees = f.eval(args[0].Value).objs
			args = append(make([]js.Arg, iterates[name]-1), js.Arg{Value: element(dot.X)})
		}
	}
	for _, o := range callees {
		fn := f.functions[o]
		if class, ok := o.(*js.ClassDecl); ok {
			fn = f.functions[constructorOf(class)]
		}
		if fn == nil || c.bound[fn] {
			continue
		}
		if c.bound == nil {
			c.bound = map[*Function]bool{}
		}
		c.bound[fn], changed = true, true
		fn.plain = fn.plain || plain
		f.bindArgs(fn.Params, args)
	}
	return changed
}

func (f *flow) bindArgs(params js.Params, args []js.Arg) {
	if i := slices.IndexFunc(args, func(a js.Arg) bool { return a.Rest }); i >= 0 {
		for _, p := range params.List[min(i, len(params.List)):] {
			f.bind(p.Binding, nil)
		}
		args = args[:i]
	}
	for i, a := range args {
		if i < len(params.List) {
			f.bind(params.List[i].Binding, a.Value)
		}
	}
	if params.Rest == nil {
		return
	}
	rest := &js.ArrayExpr{}
	for _, a := range args[min(len(params.List), len(args)):] {
		rest.List = append(rest.List, js.Element{Value: a.Value})
	}
	f.bind(params.Rest, rest)
}

// iterates says which parameter of the callback receives the elements, counted
// from 1.
var iterates = map[string]int{
	"map": 1, "forEach": 1, "find": 1, "findLast": 1, "findIndex": 1, "filter": 1, "some": 1, "every": 1, "flatMap": 1,
	"reduce": 2, "reduceRight": 2,
}

// isPlain reports whether a call has the form f() instead of o.f().
func isPlain(callee js.IExpr) bool {
	switch Unwrap(callee).(type) {
	case *js.DotExpr, *js.IndexExpr:
		return false
	}
	return true
}

func constructorOf(class *js.ClassDecl) js.INode {
	for i := range class.List {
		if m := class.List[i].Method; m != nil && !m.Static && string(m.Name.Literal.Data) == "constructor" {
			return m
		}
	}
	return nil
}
