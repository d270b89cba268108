package exporter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
	"rote/routine/importer/jsontree"
	"rote/routine/lesson/textform"
	ops "rote/routine/operation"
)

// script is a Playwright test in the making.
type script struct {
	*writer
	lines  []string
	used   map[string]bool // names of parameters
	target *textform.Target
	// answers are the variables that have what an operation has stored, by their keys.
	answers map[string]string
}

// playwright writes a test of Playwright in TypeScript. Parameters are environment variables.
func (w *writer) playwright() string {
	s := &script{writer: w, used: map[string]bool{}, answers: map[string]string{}}
	w.each(s.operation)
	var b strings.Builder
	b.WriteString("import { test } from '@playwright/test';\n\n")
	for _, name := range slices.Sorted(maps.Keys(s.used)) {
		p := w.parameter(name)
		var text string
		if err := json.Unmarshal(p.Default, &text); err != nil {
			text = string(p.Default)
		}
		if p.Secret {
			text = ""
		}
		fmt.Fprintf(&b, "const %s = process.env.%s ?? %s;\n", variable(name), variable(name), quoted(text))
	}
	if len(s.used) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "test(%s, async ({ page }) => {\n", quoted(w.definition.Name))
	for _, line := range s.lines {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("});\n")
	return b.String()
}

// quoted is a text as a string of JavaScript.
func quoted(text string) string {
	text = routine.JSONText(text)
	return "'" + strings.NewReplacer(`\\`, `\\`, `\"`, `"`, `'`, `\'`).Replace(text[1:len(text)-1]) + "'"
}

// address is a URL with parameters as an expression of JavaScript.
func (s *script) address(text string) string {
	path := strings.Index(text, "/")
	if strings.HasPrefix(text, "{{") && path > 0 {
		return "`" + s.filled(text[:path], "%s") + s.filled(text[path:], "encodeURIComponent(%s)") + "`"
	}
	if len(tokens(text)) == 0 || strings.HasPrefix(text, "{{") {
		return s.template(text)
	}
	return "`" + s.filled(text, "encodeURIComponent(%s)") + "`"
}

// template is a text with parameters as an expression of JavaScript.
func (s *script) template(text string) string {
	if len(tokens(text)) == 0 {
		return quoted(text)
	}
	return "`" + s.filled(text, "%s") + "`"
}

// filled is the inside of a template literal. How a value is inserted is said by as.
func (s *script) filled(text, as string) string {
	escape := func(plain string) string {
		inside := quoted(plain)
		return strings.NewReplacer(`\\`, `\\`, `\'`, `'`, "`", "\\`", "${", "\\${").Replace(inside[1 : len(inside)-1])
	}
	return fill(text, escape, func(name string) string {
		s.used[name] = true
		return "${" + fmt.Sprintf(as, variable(name)) + "}"
	})
}

func (s *script) line(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

var playwrightLines = map[string]func(*script, *operation){
	"navigate": func(s *script, o *operation) {
		s.leftOut(o, "url")
		s.line("await page.goto(%s);", s.address(o.URL))
	},
	"press": func(s *script, o *operation) {
		s.leftOut(o, "key")
		s.line("await page.keyboard.press(%s);", s.template(o.Key))
	},
	"sleep": func(s *script, o *operation) { s.line("await page.waitForTimeout(%d);", int(*o.Seconds*1000)) },
	"wait_for_url": func(s *script, o *operation) {
		s.leftOut(o, "url_regex", "timeout_ms")
		s.line("await page.waitForURL(new RegExp(%s)%s);", s.template(o.URLRegex), options(timeout(o)))
	},
	"click": (*script).click, "input_text": (*script).fill, "scroll": (*script).scroll, "js_evaluate": (*script).evaluate,
	"fetch": (*script).fetch, "return": (*script).result, "return_html": (*script).html,
}

func (s *script) operation(_ int, o *operation) {
	if o.Bridge != "" && o.Type == "js_evaluate" {
		s.target = o.Target // the next operation acts on it
		return
	}
	if o.Selector == ops.MarkSelector && s.target != nil {
		o.Target, o.Selector = s.target, ""
	}
	s.target = nil
	write := playwrightLines[o.Type]
	if write == nil {
		s.drop("operation", "a test has no step for %s", o.Type)
		return
	}
	all := []string{o.URL, o.Selector, o.URLRegex, o.Key}
	if o.Text != nil {
		all = append(all, *o.Text)
	}
	if o.Endpoint != nil {
		all = append(all, o.requestTexts()...)
	}
	if s.onlyParameters(all...) {
		write(s, o)
	}
}

// options are the options of a call; those that are empty are left out.
func options(all ...string) string {
	all = slices.DeleteFunc(all, func(o string) bool { return o == "" })
	if len(all) == 0 {
		return ""
	}
	return ", { " + strings.Join(all, ", ") + " }"
}

func timeout(o *operation) string {
	if o.Timeout == 0 {
		return ""
	}
	return "timeout: " + strconv.Itoa(o.Timeout)
}

// locator is the element of an operation; false if a test cannot name it.
func (s *script) locator(o *operation) (string, bool) {
	if o.Selector != "" {
		return "page.locator(" + s.template(o.Selector) + ")", true
	}
	t := o.Target
	if t == nil {
		s.drop("no_selector", "the operation names no element")
		return "", false
	}
	exact := ", { exact: true }"
	plain := textform.Target{Role: t.Role, Name: t.Name, Text: t.Text, Label: t.Label, XPath: t.XPath}
	switch {
	case *t != plain:
	case t.Role != "":
		return fmt.Sprintf("page.getByRole(%s, { name: %s, exact: true })", quoted(t.Role), s.template(t.Name)), true
	case t.Label != "":
		return "page.getByLabel(" + s.template(t.Label) + exact + ")", true
	case t.Text != "":
		return "page.getByText(" + s.template(t.Text) + exact + ")", true
	case t.XPath != "":
		return "page.locator(" + s.template("xpath="+t.XPath) + ")", true
	}
	s.drop("no_selector", "a test cannot name the element as the routine does")
	return "", false
}

func (s *script) click(o *operation) {
	s.leftOut(o, "selector", "button", "click_count", "timeout_ms", "ensure_visible", "x-hover", "x-alternatives", "x-target", "x-dialog")
	l, ok := s.locator(o)
	if !ok {
		return
	}
	for _, css := range o.Hover {
		s.line("await page.locator(%s).hover();", s.template(css))
	}
	if o.Dialog == "accept" {
		s.line("page.once('dialog', (dialog) => dialog.accept());")
	}
	button, count := "", ""
	if o.Button != "" && o.Button != "left" {
		button = "button: " + quoted(o.Button)
	}
	if o.Clicks > 1 {
		count = "clickCount: " + strconv.Itoa(o.Clicks)
	}
	s.line("await %s.click(%s);", l, strings.TrimPrefix(options(button, count, timeout(o)), ", "))
}

func (s *script) fill(o *operation) {
	s.leftOut(o, "selector", "text", "clear", "timeout_ms", "x-alternatives", "x-target", "x-files")
	l, ok := s.locator(o)
	switch {
	case !ok:
	case o.Files != "" || o.Text == nil:
		s.drop("upload", "the files are not in the routine: add setInputFiles")
	case o.Clear:
		s.line("await %s.fill(%s%s);", l, s.template(*o.Text), options(timeout(o)))
	default:
		s.line("await %s.pressSequentially(%s%s);", l, s.template(*o.Text), options(timeout(o)))
	}
}

func (s *script) scroll(o *operation) {
	s.leftOut(o, "selector", "x", "y", "delta_x", "delta_y", "timeout_ms", "x-alternatives", "x-target")
	number := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	dx, dy := number(o.DeltaX), number(o.DeltaY)
	if o.Selector == "" && o.Target == nil {
		if o.X != nil || o.Y != nil {
			s.line("await page.evaluate('window.scrollTo(%d, %d)');", number(o.X), number(o.Y))
		} else {
			s.line("await page.mouse.wheel(%d, %d);", dx, dy)
		}
		return
	}
	l, ok := s.locator(o)
	switch {
	case !ok:
	case dx == 0 && dy == 0:
		s.line("await %s.waitFor(%s);", l, strings.TrimPrefix(options(timeout(o)), ", "))
	default:
		s.line("await %s.evaluate((e) => e.scrollBy(%d, %d));", l, dx, dy)
	}
}

func (s *script) evaluate(o *operation) {
	s.leftOut(o, "js", "session_storage_key", "timeout_seconds")
	if len(tokens(o.Script)) > 0 {
		s.drop("placeholder", "the script has placeholders, which a test would not fill in as rote does")
		return
	}
	s.line("%sawait page.evaluate(%s);", s.stored(o), quoted(o.Script))
}

// stored begins a line whose value later operations use.
func (s *script) stored(o *operation) string {
	if o.StorageKey == "" {
		return ""
	}
	variable := "answer" + strconv.Itoa(len(s.lines)+1)
	s.answers[o.StorageKey] = variable
	return "const " + variable + " = "
}

func (s *script) fetch(o *operation) {
	s.leftOut(o, "endpoint", "session_storage_key")
	var parts []string
	if o.Endpoint.Method != "" && o.Endpoint.Method != "GET" {
		parts = append(parts, "method: "+quoted(o.Endpoint.Method))
	}
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(o.Endpoint.Headers)) {
		headers = append(headers, quoted(name)+": "+s.template(o.Endpoint.Headers[name]))
	}
	if len(headers) > 0 {
		parts = append(parts, "headers: { "+strings.Join(headers, ", ")+" }")
	}
	if _, isForm := o.body(); isForm {
		parts = append(parts, "form: "+s.value(o.Body))
	} else if o.Body.Kind != jsontree.Null {
		parts = append(parts, "data: "+s.value(o.Body))
	}
	s.line("%sawait (await page.request.fetch(%s%s)).text();", s.stored(o), s.address(o.Endpoint.URL), options(parts...))
}

// value is a JSON value as an expression of JavaScript.
func (s *script) value(v *jsontree.Value) string {
	var parts []string
	switch v.Kind {
	case jsontree.String:
		return s.template(v.Text)
	case jsontree.Array:
		for _, item := range v.Items {
			parts = append(parts, s.value(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsontree.Object:
		for _, f := range v.Fields {
			parts = append(parts, quoted(f.Name)+": "+s.value(f.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return v.JSON()
}

func (s *script) result(o *operation) {
	answer, known := s.answers[o.StorageKey]
	if !known {
		s.drop("result", "the operation that makes the result is not in the test")
		return
	}
	s.change("result", "the test prints the result")
	s.line("console.log(%s);", answer)
}

func (s *script) html(o *operation) {
	s.leftOut(o, "scope", "selector", "timeout_ms", "x-alternatives", "x-target")
	s.change("result", "the test prints the result")
	if o.Scope != "element" {
		s.line("console.log(await page.content());")
		return
	}
	if l, ok := s.locator(o); ok {
		s.line("console.log(await %s.evaluate((e) => e.outerHTML));", l)
	}
}
