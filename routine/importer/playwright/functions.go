package playwright

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// function is a function of the script, which is read where it is called.
type function struct {
	name   string
	params []param
	body   *chain.Block
	result *chain.Value // of a function without a block
	called bool
	active bool // it is being read: it must not call itself
	// fixture reports whether the runner of tests calls it for those that name it.
	fixture bool
}

// param is a parameter of a function.
type param struct {
	name  string
	page  bool     // it gets the page
	value string   // the text that it has without a value
	parts []string // the members of an object that it takes apart
	kept  bool     // a constructor of TypeScript keeps it in the object
}

// class is a class of the script, such as a page object.
type class struct {
	name    string
	methods map[string]*function
	fields  []chain.Statement // that have a value
}

// instance is an object of a class.
type instance struct {
	class  *class
	fields map[string]object
}

// How many calls of functions are read, and how many of them in one another.
const (
	maxCalls  = 300
	maxInside = 12
)

var (
	beforeMark = regexp.MustCompile(`Before|SetUp|Setup|Initialize|autouse\s*=\s*True`)
	afterMark  = regexp.MustCompile(`After|TearDown|Teardown|Cleanup`)
	beforeName = regexp.MustCompile(`^(?:setUp|asyncSetUp|setup_method|setup|InitializeAsync)$`)
	afterName  = regexp.MustCompile(`^(?:tearDown|asyncTearDown|teardown_method|teardown|DisposeAsync)$`)
	mainName   = regexp.MustCompile(`^(?:run|main|Main)$`)
)

// declare collects the functions and classes of a block.
func (r *reader) declare(b *chain.Block, depth int) {
	if depth > maxNested {
		return
	}
	for _, s := range b.Statements() {
		_, test := r.testOf(&s)
		switch {
		case test != nil || len(r.functions)+len(r.classes) > 1000:
		case s.Keyword == "function":
			r.functions[s.Name] = &function{name: s.Name, params: paramsOf(s.Params), body: s.Body, fixture: strings.Contains(s.Marks, "fixture")}
		case s.Keyword == "class" && r.isSuite(s.Body):
			r.declare(s.Body, depth+1)
		case s.Keyword == "class":
			r.classes[s.Name] = classOf(&s)
		case s.Keyword == "{":
			r.declare(s.Body, depth+1)
		case s.Keyword == "" && s.Value.Kind == chain.Function && len(s.Vars) == 1 && s.Value.Flags != chain.Called:
			r.functions[s.Vars[0]] = functionOf(s.Vars[0], &s.Value)
		case s.Keyword == "" && len(s.Vars) == 1 && s.Value.Kind == chain.Calls && s.Value.Calls.Last().Name == "extend":
			r.fixtures(&s.Value)
		case s.Keyword == "" && isSuite(s.Value):
			if f := lastFunction(s.Value.Calls.Last()); f != nil {
				r.declare(f, depth+1)
			}
		}
	}
}

func functionOf(name string, v *chain.Value) *function {
	return &function{name: name, params: paramsOf(v.Params), body: v.Body, result: v.Result}
}

// isSuite reports whether a class has tests or the main function: it is no page object.
func (r *reader) isSuite(b *chain.Block) bool {
	return slices.ContainsFunc(b.Statements(), func(s chain.Statement) bool {
		_, body := r.testOf(&s)
		return body != nil || s.Keyword == "function" && mainName.MatchString(s.Name) || s.Keyword == "class" && r.isSuite(s.Body)
	})
}

func classOf(s *chain.Statement) *class {
	c := &class{name: s.Name, methods: map[string]*function{}}
	for _, member := range s.Body.Statements() {
		switch {
		case member.Keyword == "function":
			name := member.NormalName()
			if member.Name == s.Name || member.Name == "__init__" {
				name = "constructor"
			}
			c.methods[name] = &function{name: name, params: paramsOf(member.Params), body: member.Body}
		case member.Keyword == "" && len(member.Vars) == 1 && member.Value.Kind == chain.Function:
			c.methods[member.Vars[0]] = functionOf(member.Vars[0], &member.Value)
		case member.Keyword == "" && len(member.Vars) == 1:
			c.fields = append(c.fields, member)
		}
	}
	return c
}

var (
	paramDefault = regexp.MustCompile(`=\s*["']([^"']*)["']\s*$`)
	paramTail    = regexp.MustCompile(`\s*(?:[:=].*)?$`)
	paramPage    = regexp.MustCompile(`(?i)\bI?page\b`)
	paramKept    = regexp.MustCompile(`\b(?:readonly|private|public|protected)\b`)
	paramWord    = regexp.MustCompile(`\w+$`)
)

// paramsOf reads the parameters of a function.
func paramsOf(source string) []param {
	var all []param
	depth, start := 0, 0
	add := func(text string) {
		text = strings.TrimSpace(text)
		p := param{page: paramPage.MatchString(text), kept: paramKept.MatchString(text)}
		if m := paramDefault.FindStringSubmatch(text); m != nil {
			p.value = m[1]
		}
		if inner, ok := strings.CutPrefix(text, "{"); ok {
			inner, _, _ = strings.Cut(inner, "}")
			for part := range strings.SplitSeq(inner, ",") {
				p.parts = append(p.parts, paramWord.FindString(paramTail.ReplaceAllString(strings.TrimSpace(part), "")))
			}
		} else {
			p.name = paramWord.FindString(paramTail.ReplaceAllString(text, ""))
		}
		if text != "" && p.name != "self" && len(all) < 50 {
			all = append(all, p)
		}
	}
	for i, c := range source {
		switch {
		case strings.ContainsRune("([{<", c):
			depth++
		case strings.ContainsRune(")]}>", c):
			depth--
		case c == ',' && depth <= 0:
			add(source[start:i])
			start = i + 1
		}
	}
	add(source[start:])
	return all
}

// begins returns what a chain begins with, and the members that follow: of a variable, of a member of
// an object, or of what a function of the script gives.
func (r *reader) begins(c *chain.Chain) (object, []chain.Member) {
	o, members := r.variable(c.Base), c.Members
	switch {
	case c.Base == "this" || c.Base == "self":
		o = object{kind: made, instance: r.this}
	case o.kind == nothing && len(members) > 0 && members[0].Called && members[0].Name == "":
		if f := r.functions[c.Base]; f != nil {
			o, members = r.call(f, members[0].Args, r.this), members[1:]
		} else if k := r.classes[c.Base]; k != nil {
			o, members = r.construct(k, members[0].Args), members[1:]
		}
	}
	for o.kind == made && len(members) > 0 {
		next, ok := r.memberOf(o.instance, members[0])
		if !ok {
			break
		}
		o, members = next, members[1:]
	}
	return o, members
}

// known reports whether a chain begins with a page, or with something of the script.
func (r *reader) known(c *chain.Chain) bool {
	return r.variable(c.Base).kind != nothing || c.Base == "this" || c.Base == "self" || r.functions[c.Base] != nil || r.classes[c.Base] != nil
}

// memberOf returns a member of an object: a field, or what a method gives.
func (r *reader) memberOf(of *instance, m chain.Member) (object, bool) {
	switch {
	case of != nil && !m.Called && of.fields[m.Name].kind != nothing:
		return of.fields[m.Name], true
	case of != nil && of.class.methods[m.Name] != nil:
		return r.call(of.class.methods[m.Name], m.Args, of), true
	case of == nil && m.Called && r.functions[m.Name] != nil:
		return r.call(r.functions[m.Name], m.Args, nil), true
	case !m.Called && strings.TrimLeft(m.Name, "_") == "page":
		return object{kind: page}, true
	case of == nil && !m.Called:
		o := r.vars[m.Name]
		return o, o.kind != nothing
	}
	return object{}, false
}

// construct makes an object of a class.
func (r *reader) construct(c *class, args []chain.Value) object {
	of := &instance{class: c, fields: map[string]object{}}
	f := c.methods["constructor"]
	if f == nil {
		f = &function{name: c.name}
		c.methods["constructor"] = f
	}
	r.call(f, args, of)
	return object{kind: made, instance: of}
}

// call reads a function in the place of its call, and returns what it gives.
func (r *reader) call(f *function, args []chain.Value, of *instance) object {
	if r.lost != "" {
		return object{}
	}
	if f.called = true; f.active || r.inside >= maxInside || r.callsRead >= maxCalls {
		return object{}
	}
	vars := maps.Clone(r.vars)
	r.bind(vars, f, args, of)
	outer, this, statement := r.vars, r.this, r.statement
	r.vars, r.this, r.returned = vars, of, object{}
	r.inside, r.callsRead, f.active = r.inside+1, r.callsRead+1, true
	if of != nil && f.name == "constructor" {
		for i := range of.class.fields {
			r.one(&of.class.fields[i])
		}
	}
	r.block(f.body)
	if f.result != nil && f.result.Kind == chain.Calls {
		r.returned, _ = r.calls(f.result.Calls)
	}
	if of != nil && f.name == "constructor" && r.language != chain.JavaScript {
		for name, o := range r.vars { // members without this
			if _, known := outer[name]; !known && of.fields[name].kind == nothing {
				of.fields[name] = o
			}
		}
	}
	given := r.returned
	r.vars, r.this, r.statement, r.returned = outer, this, statement, object{}
	r.inside, f.active, r.ended = r.inside-1, false, false
	return given
}

// bind gives the parameters of a function their values.
func (r *reader) bind(vars map[string]object, f *function, args []chain.Value, of *instance) {
	for i, p := range f.params {
		v := argument(chain.Member{Args: args}, i)
		for k := range args { // by name
			if named := args[k].Get(p.name); named != nil && args[k].Kind == chain.Object && r.language != chain.JavaScript {
				v = named
			}
		}
		for _, part := range p.parts {
			delete(vars, part)
			if inner := v.Get(part); inner != nil {
				vars[part] = r.value(inner)
			} else if part == "page" {
				vars[part] = object{kind: page}
			}
		}
		o := object{}
		switch {
		case v != nil:
			o = r.value(v)
		case p.value != "":
			o = object{kind: constant, value: chain.Value{Kind: chain.Text, Text: p.value}}
		}
		switch {
		case o.kind != nothing:
		case p.page:
			o.kind = page
		case f.fixture && i == 1 && r.language == chain.JavaScript:
			o.kind = using
		case f.fixture:
			o = r.vars[p.name]
		}
		if delete(vars, p.name); o.kind != nothing && p.name != "" {
			vars[p.name] = o
		}
		if of != nil && (p.kept || f.result == nil && f.body == nil) {
			of.fields[p.name] = o
		}
	}
}

// value is what a function gets of its caller.
func (r *reader) value(v *chain.Value) object {
	switch {
	case v.Kind == chain.Object && v.Calls != nil && r.classes[v.Calls.Base] != nil:
		o, _ := r.begins(v.Calls)
		return o
	case v.Kind == chain.Calls:
		if _, env := environment(v.Calls); env {
			break
		}
		if o := r.located(v); o.kind != nothing {
			return o
		}
	case v.Kind != chain.Template && v.Kind != chain.Sum:
		return object{kind: constant, value: *v}
	}
	if len(r.d.Items) == 0 {
		return object{kind: constant, value: *v}
	}
	if text, literal := r.text(v); literal || !strings.Contains(text, "sessionStorage") {
		return object{kind: constant, value: chain.Value{Kind: chain.Text, Text: text}}
	}
	return object{}
}

// uncalled reads the functions of a script without tests that nothing calls: another program does.
func (r *reader) uncalled(b *chain.Block) {
	if len(r.names) > 0 {
		return
	}
	for _, s := range b.Statements() {
		name := s.Name
		if s.Keyword == "" && len(s.Vars) == 1 {
			name = s.Vars[0]
		}
		switch f := r.functions[name]; {
		case f != nil && !f.called:
			r.statement = &s
			r.call(f, nil, nil)
		case s.Keyword == "class" && r.classes[s.Name] == nil:
			r.uncalled(s.Body)
		case s.Keyword == "class" && !r.classes[s.Name].used():
			r.lose(s.Body, "it is in the class "+draft.Shown(s.Name)+", which the script does not use")
		}
	}
}

// used reports whether there is an object of a class.
func (c *class) used() bool {
	f := c.methods["constructor"]
	return f != nil && f.called
}
