// Package playwright reads scripts of Playwright and Puppeteer, as their code generators write
// them: JavaScript, TypeScript, Python, Java and C#.
package playwright

import (
	"regexp"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// The names of the kinds of recordings.
const (
	Kind      = "playwright"
	Puppeteer = "puppeteer"
)

var (
	puppeteer  = regexp.MustCompile(`(?:require\(\s*|from\s+|import\s+)['"]puppeteer`)
	playwright = regexp.MustCompile(`@playwright/test|(?:require\(\s*|from\s+)['"]playwright|playwright\.(?:sync|async)_api|` +
		`com\.microsoft\.playwright|Microsoft\.Playwright|async_playwright|\bPage page\b|\b[Pp]age\.(?:goto|navigate|GotoAsync)\(`)
	notJSON = regexp.MustCompile(`^[\s\x{FEFF}]*[^\s\x{FEFF}{\[]`)
)

// beginning is the part of a script that says what it is.
func beginning(source string) string { return source[:min(len(source), 64<<10)] }

// Matches returns the kind of a script; empty if it drives no browser.
func Matches(source string) string {
	source = beginning(source)
	switch {
	case !notJSON.MatchString(source):
		return ""
	case puppeteer.MatchString(source):
		return Puppeteer
	case playwright.MatchString(source):
		return Kind
	}
	return ""
}

var (
	isCSharp = regexp.MustCompile(`(?m)^\s*using\s+(?:var\s|static\s|[A-Z][\w.]*;)|\bawait\s+[Pp]age\.[A-Z]\w*Async\(|\bIPage\b`)
	isJava   = regexp.MustCompile(`(?m)^\s*import\s+(?:static\s+)?[\w.*]+;|\bpublic class\b|\bPage page\b|\bnew Page\.`)
	isPython = regexp.MustCompile(`(?m)^\s*(?:from\s+[\w.]+\s+import\b|import\s+[\w.]+\s*$|(?:async\s+)?def\s|with\s.*:\s*$)|\bpage\.[a-z]+_[a-z_]+\(`)
)

// languageOf returns the language of a script.
func languageOf(source string) chain.Language {
	source = beginning(source)
	switch {
	case isCSharp.MatchString(source):
		return chain.CSharp
	case isJava.MatchString(source):
		return chain.Java
	case isPython.MatchString(source):
		return chain.Python
	}
	return chain.JavaScript
}

// Tests returns the names of the tests of a script.
func Tests(source string) []string {
	r := &reader{language: languageOf(source), vars: map[string]object{}}
	r.tests(chain.Parse(source, r.language), 0)
	return r.names
}

// Read makes a draft of one test of a script. test is its name; it may be empty if there is only one.
func Read(source, test string) (*draft.Draft, error) {
	language := languageOf(source)
	root := chain.Parse(source, language)
	if line := root.TooLong(); line > 0 {
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the script has more than %d tokens", line, chain.MaxTokens)
	}
	r := &reader{d: &draft.Draft{}, language: language, vars: map[string]object{}, functions: map[string]*function{}, classes: map[string]*class{}}
	r.tests(root, 0)
	r.rounds = 0
	r.declare(root, 0)
	if err := r.selectTest(test); err != nil {
		return nil, err
	}
	r.d.Title = strings.ReplaceAll(strings.TrimPrefix(r.test, "test_"), "_", " ")
	r.block(root)
	r.uncalled(root)
	for _, b := range r.after {
		r.block(b)
	}
	switch {
	case r.tooMany > 0:
		return nil, routine.Errorf(routine.CodeInvalid, "line %d: the script has more than %d steps", r.tooMany, draft.MaxSteps)
	case len(r.d.Items) == 0:
		return nil, routine.Errorf(routine.CodeInvalid, "line 1: no statement of the script does something in a page")
	}
	r.result()
	return r.d, nil
}

// maxTests is how many tests a script may have.
const maxTests = 50

// tests collects the names of the tests in a block.
func (r *reader) tests(b *chain.Block, depth int) {
	if depth > maxNested {
		return
	}
	for _, s := range b.Statements() {
		loop, inner := loopOf(&s)
		switch name, body := r.testOf(&s); {
		case body != nil && len(r.names) <= maxTests:
			if r.rounds == 0 || !slices.Contains(r.names, name) {
				r.names = append(r.names, name)
			}
		case loop != nil:
			r.repeat(loop, r.roundsOf(loop, inner), func() { r.tests(inner, depth+1) })
		case s.Keyword == "" && len(s.Vars) == 1 && depth == 0 && s.Value.Kind != chain.Calls && s.Value.Kind != chain.Function:
			r.vars[s.Vars[0]] = object{kind: constant, value: s.Value}
		case s.Keyword == "class" || s.Keyword == "{":
			r.tests(s.Body, depth+1)
		case s.Keyword == "" && isSuite(s.Value):
			if f := lastFunction(s.Value.Calls.Last()); f != nil {
				r.tests(f, depth+1)
			}
		}
	}
}

// isSuite reports whether a value is a call of describe.
func isSuite(v chain.Value) bool {
	if v.Kind != chain.Calls {
		return false
	}
	if v.Calls.Base == "describe" {
		return true
	}
	return v.Calls.Base == "test" && len(v.Calls.Members) > 0 && v.Calls.Members[0].Name == "describe"
}

// lastFunction returns the block of the function that is the last argument of a call; nil if there is none.
func lastFunction(m chain.Member) *chain.Block {
	for _, a := range slices.Backward(m.Args) {
		if a.Kind == chain.Function {
			return a.Body
		}
	}
	return nil
}

// testMark matches the annotations of tests: of JUnit and TestNG, NUnit, xUnit and MSTest.
var testMark = regexp.MustCompile(`\b(?:Parameterized|Repeated|Data|Retry|Skippable|Playwright)?(?:Test|TestMethod|TestCase|TestCaseSource|Fact|Theory)\b`)

// testOf returns the name and the body of the test that a statement declares; nil if it declares none.
func (r *reader) testOf(s *chain.Statement) (string, *chain.Block) {
	if s.Keyword == "function" {
		if r.language == chain.Python && strings.HasPrefix(s.Name, "test") || r.language != chain.JavaScript && testMark.MatchString(s.Marks) {
			return s.Name, s.Body
		}
		return "", nil
	}
	if s.Keyword != "" || s.Value.Kind != chain.Calls || s.Value.Calls.Base != "test" && s.Value.Calls.Base != "it" {
		return "", nil
	}
	m := s.Value.Calls.Last()
	if len(s.Value.Calls.Members) > 2 || m.Name != "" && m.Name != "only" && m.Name != "skip" && m.Name != "fixme" && m.Name != "slow" {
		return "", nil
	}
	if len(m.Args) < 2 {
		return "", nil
	}
	return r.nameOf(&m.Args[0]), lastFunction(m)
}

// testParams returns the parameters of the function of a test.
func testParams(s *chain.Statement) []param {
	if s.Keyword == "function" {
		return paramsOf(s.Params)
	}
	args := s.Value.Calls.Last().Args
	return paramsOf(args[len(args)-1].Params)
}

// nameOf is the name of a test, which may have the variables of a loop in it.
func (r *reader) nameOf(v *chain.Value) string {
	switch {
	case v.Kind == chain.Template || v.Kind == chain.Sum:
		name := ""
		for i := range v.Parts {
			name += r.nameOf(&v.Parts[i])
		}
		return name
	case v.Kind != chain.Calls:
		return v.Text
	case len(v.Calls.Members) == 0 && r.vars[v.Calls.Base].kind == constant:
		return r.vars[v.Calls.Base].value.Text
	}
	if part := r.part(v.Calls); part != nil {
		return part.Text
	}
	return v.Text
}

// selectTest selects the test.
func (r *reader) selectTest(name string) error {
	if len(r.names) > maxTests {
		return routine.Errorf(routine.CodeInvalid, "line 1: the script has more than %d tests", maxTests)
	}
	if len(r.names) == 0 || name == "" && len(r.names) == 1 {
		r.test = strings.Join(r.names, "")
		return nil
	}
	if slices.Contains(r.names, name) {
		r.test = name
		return nil
	}
	var quoted []string
	for _, n := range r.names {
		quoted = append(quoted, routine.Quote(draft.Shown(n)))
	}
	if name != "" {
		return routine.Errorf(routine.CodeInvalid, "there is no test %s: there are %s", routine.Quote(draft.Shown(name)), strings.Join(quoted, ", "))
	}
	return routine.Errorf(routine.CodeInvalid, "name one of the tests: %s", strings.Join(quoted, ", "))
}
