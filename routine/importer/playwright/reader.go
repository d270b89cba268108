package playwright

import (
	"strings"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// kindOf says what a variable of a script is.
type kindOf int

const (
	nothing   kindOf = iota
	page             // also a frame, as rote searches all frames
	located          // an element
	constant         // a value of the script
	kept             // a value of the page, which a script of the routine has stored
	opening          // what waits for a window
	saving           // what waits for a download
	waiting          // what waits for something else
	apiClient        // what sends requests
	made             // an object of a class of the script
	unseen           // what another file gives
	using            // the function with which a fixture gives its value
)

// object is what a variable of a script has.
type object struct {
	kind    kindOf
	element element
	value   chain.Value
	key     string
	// instance is the object that is made; nil for one of a class with tests.
	instance *instance
}

// reader turns the statements of a script into operations.
type reader struct {
	d        *draft.Draft
	language chain.Language
	names    []string // of all tests
	test     string   // the one that is read
	testRead bool     // whether it has been met
	after    []*chain.Block
	vars     map[string]object
	base     string   // URL of relative ones
	pages    []string // the URLs that were opened
	moved    bool     // whether something could have led to another page since
	focus    draft.Locator
	// lost says why the statements of a block are not read; empty if they are.
	lost    string
	depth   int
	tooMany int
	// popup is set while a click is awaited that opens a window, and dialog while an operation
	// is that opens a dialog, which is accepted.
	popup, dialog bool
	opened        string   // the variable of the window that is open; empty: none
	held          []string // the keys that the script holds down
	key           string   // of the last value of the page that the script keeps
	statement     *chain.Statement

	functions map[string]*function
	classes   map[string]*class
	this      *instance // of the method that is read
	returned  object    // what the function has given
	inside    int       // how many functions are being read
	callsRead int
	printing  bool     // whether the value of the present call is shown
	unknown   []string // the values of the present statement that the script does not say
	ended     bool     // whether the function that is being read has given its value
	rounds    int      // how many rounds of loops have been read
}

// maxNested is how deep blocks may be in one another.
const maxNested = 40

func (r *reader) block(b *chain.Block) {
	if b == nil || r.depth > maxNested {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	for _, s := range b.Statements() {
		if r.ended {
			return
		}
		if len(r.d.Items) >= draft.MaxSteps {
			r.tooMany = s.Line
			return
		}
		r.one(&s)
	}
}

// lose reads a block only for the account.
func (r *reader) lose(b *chain.Block, why string) {
	before := r.lost
	if before == "" {
		r.lost = why
	}
	r.block(b)
	r.lost = before
}

// one reads one statement.
func (r *reader) one(s *chain.Statement) {
	r.statement = s
	defer r.tellUnknown()
	if name, body := r.testOf(s); body != nil {
		if name == r.test && !r.testRead {
			r.testRead = true
			r.provide(testParams(s), 0)
			r.block(body)
		}
		return
	}
	if loop, body := loopOf(s); loop != nil {
		if rounds := r.roundsOf(loop, body); rounds != nil {
			r.repeat(loop, rounds, func() { r.block(body) })
			return
		}
	}
	switch s.Keyword {
	case "":
		r.valueStatement(s)
		r.ended = r.ended || s.Returns && r.lost == "" && r.inside > 0
	case "class":
		if r.classes[s.Name] == nil {
			r.block(s.Body)
		}
	case "{", "try", "finally":
		r.block(s.Body)
	case "with":
		r.with(s)
	case "function":
		f := r.functions[s.Name]
		switch {
		case f == nil && r.lost != "":
			r.block(s.Body)
		case f == nil: // in another one
			r.functions[s.Name] = &function{name: s.Name, params: paramsOf(s.Params), body: s.Body}
		case beforeMark.MatchString(s.Marks) || beforeName.MatchString(s.Name):
			r.setUp(f)
		case afterMark.MatchString(s.Marks) || afterName.MatchString(s.Name):
			f.called = true
			r.after = append(r.after, s.Body)
		}
	case "if":
		if s.Names(func(word string) bool { return word == "__name__" }) {
			r.block(s.Body)
			return
		}
		if !r.guarded(s) && !r.entered(s) {
			r.conditional(s)
		}
	default:
		if s.Keyword != "else" || !r.entered(s) {
			r.conditional(s)
		}
	}
}

// setUp reads a function that is called before each test.
func (r *reader) setUp(f *function) {
	f.called = true
	r.bind(r.vars, f, nil, nil)
	r.block(f.body)
}

// touches reports whether a word is a variable with a page or an element.
func (r *reader) touches(word string) bool {
	k := r.vars[word].kind
	return word == "page" || word == "Page" && r.language == chain.CSharp || k == page || k == located || k == made || k == unseen
}

// step begins the account of a statement.
func (r *reader) step(line, column int, text string) {
	r.d.Step(line, column, strings.TrimSpace(strings.TrimPrefix(text, "await ")))
	if r.lost != "" {
		r.d.Drop("not_understood", "%s", r.lost)
	}
}

// begin begins the account of a call. It reports whether the call is to be carried.
func (r *reader) begin(m chain.Member) bool {
	lost := r.lost
	if noOps[m.Name] {
		r.lost = ""
	}
	r.step(r.statement.Line, r.statement.Column, r.statement.ShownTo(m))
	r.lost = lost
	return lost == ""
}

func (r *reader) valueStatement(s *chain.Statement) {
	v := s.Value
	if v.Kind == chain.Object && v.Calls != nil && r.classes[v.Calls.Base] != nil {
		v.Kind = chain.Calls // new LoginPage(page)
	}
	if v.Kind == chain.Calls && v.Calls.Last().Name == "extend" {
		return // its fixtures are read where a test names them
	}
	switch v.Kind {
	case chain.Function:
		switch {
		case v.Flags == chain.Called:
			r.block(v.Body)
		case len(s.Vars) > 0:
			r.functions[s.Vars[0]] = functionOf(s.Vars[0], &v)
		}
	case chain.Calls:
		before := len(r.d.Items)
		result, understood := r.calls(v.Calls)
		r.assign(s, result)
		if s.Returns {
			r.returned = result
		}
		switch {
		case len(r.d.Items) > before:
		case !understood:
			r.notUnderstood(s)
		case s.Names(r.touches): // it only names an element or a page
			r.step(s.Line, s.Column, s.Shown())
		}
	case chain.Unknown, chain.Object, chain.List:
		r.notUnderstood(s)
		if len(s.Vars) > 0 && r.vars[s.Vars[0]].kind == unseen {
			return
		}
		fallthrough
	default:
		r.assign(s, object{kind: constant, value: v})
	}
}

// assign keeps what a variable gets.
func (r *reader) assign(s *chain.Statement, o object) {
	for i, name := range s.Vars {
		switch {
		case strings.HasPrefix(name, chain.This) && r.lost == "":
			if r.this != nil && o.kind != nothing {
				r.this.fields[strings.TrimPrefix(name, chain.This)] = o
			} else if o.kind != nothing {
				r.vars[strings.TrimPrefix(name, chain.This)] = o
			}
		case name == "page" || name == "Page" || r.lost != "":
		case i > 0:
			delete(r.vars, name)
		case o.kind == nothing:
			delete(r.vars, name)
		default:
			if len(r.vars) < 2000 {
				r.vars[name] = o
			}
		}
	}
}

// calls reads a chain of calls. It returns what the chain gives, and whether it is understood.
func (r *reader) calls(c *chain.Chain) (object, bool) {
	m := c.Last()
	if r.pauses(c) {
		return object{}, true
	}
	switch c.Base {
	case "test", "it", "describe", "beforeEach", "before", "beforeAll", "afterEach", "afterAll", "after":
		return object{}, r.runner(c)
	case "Promise", "Task":
		for _, a := range m.Args {
			for _, part := range append(a.Parts, a) {
				if part.Kind == chain.Calls && part.Calls.Base != "" {
					r.calls(part.Calls)
				}
			}
		}
		return object{}, true
	case "expect", "Expect", "assertThat", "Assertions", "Assert", "ClassicAssert", "assertEquals", "assertTrue", "assertFalse", "assertNotEquals":
		return object{}, r.expect(asExpect(c, r.known))
	case "puppeteer":
		if len(c.Members) > 1 && c.Members[1].Name == "race" {
			return r.follow(object{kind: located, element: r.race(c.Members[1])}, c.Members[2:])
		}
	case "console", "print", "System", "Console":
		r.print(m)
		return object{}, true
	}
	if o, ok := r.recorded(c); ok {
		return o, true
	}
	before := r.callsRead
	o, members := r.begins(c)
	switch {
	case o.kind == unseen:
		return o, false
	case o.kind == using && len(c.Last().Args) > 0:
		r.returned, r.ended = r.value(&c.Last().Args[0]), true
		return object{}, true
	}
	if len(members) == 0 && (o.kind == made || r.callsRead > before) {
		return o, true
	}
	if o.kind == nothing || o.kind == constant || o.kind == made {
		return r.foreign(c)
	}
	if len(members) == 0 || members[0].Name == "value" {
		return r.window(o), true
	}
	r.turnTo(c.Base, o)
	return r.follow(o, members)
}

// variable is what a name stands for.
func (r *reader) variable(name string) object {
	if o, known := r.vars[name]; known {
		return o
	}
	if r.this != nil && r.this.fields[name].kind != nothing {
		return r.this.fields[name]
	}
	switch name {
	case "page", "Page":
		return object{kind: page}
	case "request":
		return object{kind: apiClient}
	}
	return object{}
}

// foreign reads a call of something that is neither page nor element.
func (r *reader) foreign(c *chain.Chain) (object, bool) {
	for i := range c.Last().Args { // main, which something else calls
		if v := &c.Last().Args[i]; v.Kind == chain.Calls && r.functions[v.Calls.Base] != nil && len(v.Calls.Members) > 0 {
			return r.calls(v.Calls)
		}
	}
	for _, m := range c.Members {
		switch m.Name {
		case "newPage", "newContext", "launch", "launchPersistentContext":
			for i := range m.Args {
				if base := m.Args[i].Get("baseURL"); base != nil {
					r.base, _ = r.text(base)
				} else if base := m.Args[i].Get("baseUrl"); base != nil {
					r.base, _ = r.text(base)
				}
			}
			if m.Name == "newPage" {
				return object{kind: page}, true
			}
		case "push", "add":
			if len(m.Args) == 1 && m.Args[0].Kind == chain.Calls {
				return r.calls(m.Args[0].Calls)
			}
		case "waitForEvent":
			if len(m.Args) > 0 && m.Args[0].Text == "page" {
				r.popup = true
				return object{kind: opening}, true
			}
		case "addCookies", "storageState", "route", "setExtraHTTPHeaders", "grantPermissions", "addInitScript", "setOffline", "setGeolocation":
			if c.Base == "context" {
				return object{}, r.setting(m)
			}
		}
	}
	if env, ok := environment(c); ok {
		return object{kind: constant, value: chain.Value{Kind: chain.Calls, Calls: c, Text: env}}, true
	}
	return object{}, false
}

// runner reads a call of the runner of tests.
func (r *reader) runner(c *chain.Chain) bool {
	m := c.Last()
	name := m.Name
	if c.Base != "test" && c.Base != "it" {
		name = c.Base
	}
	switch name {
	case "step", "describe", "only", "skip", "serial", "parallel", "beforeEach", "beforeAll", "before":
		r.block(lastFunction(m))
	case "afterEach", "afterAll", "after":
		if b := lastFunction(m); b != nil && r.lost == "" {
			r.after = append(r.after, b)
		}
	case "use":
		for i := range m.Args {
			if base := m.Args[i].Get("baseURL"); base != nil {
				r.base, _ = r.text(base)
			}
		}
	}
	return true
}
