package definition

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/operation"
	"rote/routine/pattern"
	"rote/routine/placeholder"
	"rote/routine/selector"
)

// maxEffort bounds the work on one definition, in units of about half a
// microsecond: the bytes of its scripts, and for each expression and placeholder
// what a byte of script costs that many times.
// maxEffort bounds the work on one definition. Its unit is the time to check one byte
// of a script, about half a microsecond; the other constants are the costs of one
// placeholder, expression, script, parameter and choice in that unit.
const (
	maxEffort         = javascript.MaxBytes
	placeholderEffort = 8
	patternEffort     = 30
	scriptEffort      = 20
	parameterEffort   = 16
	choiceEffort      = 4
)

// spend adds n to the work spent on the definition and reports whether that is within
// the limit. When the limit is first exceeded it records a problem; nothing more is
// checked.
func (c *checker) spend(n int, pointer func() string) bool {
	before := c.effort
	c.effort += n
	if before <= maxEffort && c.effort > maxEffort {
		c.add(routine.Problem{Pointer: pointer(), Code: "too_complex",
			Message: "the scripts, expressions and placeholders up to here are more than can be checked: split the routine"})
	}
	return c.effort <= maxEffort
}

// template checks one text with placeholders: the placeholders against the declared
// parameters, and the author's text around them against the rules of its place, such
// as those of a selector or a URL.
func (c *checker) template(i int, s operation.Site) {
	at := ""
	pointer := func() string { // most need none
		if at == "" {
			at = operationPointer(i) + s.Pointer
		}
		return at
	}
	effort := placeholderEffort * strings.Count(s.Text, "{{")
	switch s.Place {
	case placeholder.Script:
		effort += scriptEffort + min(len(s.Text), javascript.MaxBytes)
	case placeholder.Selector:
		effort += len(s.Text) / 3
	case placeholder.Regexp:
		effort += patternEffort + 2*min(len(s.Text), pattern.MaxLength)
	}
	if effort > 0 && !c.spend(effort, pointer) {
		c.guessing = true
		return
	}
	var t *placeholder.Template
	var faults []placeholder.Fault
	if strings.Contains(s.Text, "{{") {
		t, faults = placeholder.Parse(s.Text, s.Place)
		c.placeholders(pointer(), s, t.Tokens(), faults)
		c.secretPlaces(pointer(), i, s, t)
	}
	for _, f := range literalProblems(s, t, faults) {
		f.Pointer = pointer()
		c.put(&c.problems, f)
	}
	c.textWarnings(pointer, s, t, faults)
	switch {
	case s.Pointer == "/url":
		c.relativeURL(pointer, s.Text)
	case s.Place == placeholder.Filename && t == nil && operation.FileName(s.Text) != s.Text:
		c.warn(routine.Problem{Pointer: pointer(), Code: "filename", Message: fmt.Sprintf("a file name has neither path nor control characters: it becomes %q",
			operation.FileName(s.Text))})
	}
}

// literalProblems returns the problems of the author's text that exist whatever the
// values are. t is nil if the text has no placeholder.
func literalProblems(s operation.Site, t *placeholder.Template, faults []placeholder.Fault) []finding {
	switch s.Place {
	case placeholder.Selector:
		if fault := selector.Check(sampleIn(s.Text, t, faults, identSample)); fault != nil {
			return []finding{{within: fault.Offset + 1, Problem: routine.Problem{Code: "selector", Message: fault.Message, Hint: fault.Hint}}}
		}
	case placeholder.Regexp:
		if err := compileSample(s.Text, t); err != nil && len(faults) == 0 {
			return []finding{{Problem: pattern.Problem("", err)}}
		}
	case placeholder.Script:
		var problems []finding
		for _, p := range javascript.Check(sampleIn(s.Text, t, faults, scriptSample)) {
			problems = append(problems, finding{within: p.Offset + 1, script: s.Text, Problem: routine.Problem{Code: p.Code, Message: p.Message, Hint: p.Hint}})
		}
		return problems
	case placeholder.Header:
		if i := strings.IndexAny(s.Text, "\r\n\x00"); i >= 0 {
			return []finding{{within: i + 1, Problem: routine.Problem{Code: "header_value", Message: "a header's value cannot hold line breaks: remove them"}}}
		}
	case placeholder.Filename:
		if t == nil && operation.FileName(s.Text) == "" {
			return []finding{{Problem: routine.Problem{Code: "filename", Message: "is no file name: give one, as in \"report.pdf\""}}}
		}
	}
	return nil
}

// placeholders checks the tokens of a text. It reports syntax errors and undeclared
// names in the order of the text.
func (c *checker) placeholders(pointer string, s operation.Site, tokens []placeholder.Token, faults []placeholder.Fault) {
	script := ""
	if s.Place == placeholder.Script {
		script = s.Text
	}
	within := func(offset int) int {
		if s.Key {
			return -offset - 1
		}
		return offset + 1
	}
	for _, f := range faults {
		if c.problems.full() {
			c.problems.count++
			continue
		}
		c.put(&c.problems, finding{within: within(f.Offset), script: script,
			Problem: routine.Problem{Pointer: pointer, Code: f.Code, Message: f.Message, Hint: f.Hint}})
	}
	for _, tok := range tokens {
		if tok.Source != placeholder.Parameter {
			continue
		}
		c.used[tok.Name] = true
		if c.holdsFiles(tok.Name) && !c.problems.full() {
			c.put(&c.problems, finding{within: within(tok.Offset), script: script, Problem: routine.Problem{Pointer: pointer, Code: "type",
				Message: fmt.Sprintf("%s holds files, which are no text", routine.Truncate(tok.Raw, 60)),
				Hint:    fmt.Sprintf(`hand them in with input_text and "x-files": %q`, routine.Truncate(tok.Name, 60))}})
			continue
		}
		if c.declared[tok.Name] || !c.namesKnown {
			continue
		}
		if c.problems.full() {
			c.problems.count++
			continue
		}
		c.put(&c.problems, finding{within: within(tok.Offset), script: script, Problem: routine.Problem{Pointer: pointer, Code: "undeclared_parameter",
			Message: routine.Truncate(tok.Raw, 60) + " names no parameter of this routine", Hint: c.undeclaredHint(tok.Name)}})
	}
}

// undeclaredHint suggests the declared name that was probably meant by an undeclared
// one, and records it as used.
func (c *checker) undeclaredHint(name string) string {
	if near := routine.Nearest(name, parameterNames(c.definition.Parameters)); near != "" {
		c.used[near] = true
		return fmt.Sprintf("did you mean {{%s}}?", near)
	}
	if len(name) > 60 {
		return "declare it in parameters"
	}
	return fmt.Sprintf(`declare it in parameters: {"name": %q, "description": "…"}`, name)
}

// useText records the parameters that a text names as used.
func (c *checker) useText(text string) {
	if n := strings.Count(text, "{{"); n > 0 && c.effort+placeholderEffort*n <= maxEffort {
		c.effort += placeholderEffort * n
		t, _ := placeholder.Parse(text, placeholder.Text)
		for _, tok := range t.Tokens() {
			c.used[tok.Name] = true
		}
	}
}

// relativeURL reports a navigation that always fails: its URL is neither http nor
// https, or it is relative, although no page is open to which it could be relative.
func (c *checker) relativeURL(pointer func() string, text string) {
	head, _, open := strings.Cut(text, "{{")
	lower := strings.ToLower(head)
	for _, scheme := range []string{"http://", "https://"} {
		if strings.HasPrefix(lower, scheme) || open && strings.HasPrefix(scheme, lower) {
			return
		}
	}
	if scheme := operation.ForeignScheme(head); scheme != "" && !open {
		c.add(routine.Problem{Pointer: pointer(), Code: "url", Message: scheme + ": cannot be opened: give an absolute http or https URL"})
		return
	}
	p := routine.Problem{Pointer: pointer(), Code: "url", Message: "is no absolute http or https URL: the run will fail here"}
	if u, err := url.Parse("https://" + text); err == nil && strings.Contains(u.Hostname(), ".") && u.User == nil {
		p.Hint = fmt.Sprintf("did you mean %q?", "https://"+routine.Truncate(text, 60))
	}
	c.warn(p)
}

// sampleIn replaces each token of a text, faulty ones included, by a harmless sample
// of the same length. A rule can then be checked before the values are known, and byte
// offsets stay valid. Filling never changes a text's structure, so what holds for the
// sample holds for every run. With identSample, "#row-{{n}} a" becomes "#row-xxxxx a".
func sampleIn(text string, t *placeholder.Template, faults []placeholder.Fault, sample func(before, after byte, n int) string) string {
	if t == nil {
		return text
	}
	out := []byte(text)
	for _, tok := range tokenSpans(text, t, faults) {
		start, end := tok[0], tok[1]
		if start >= 2 && text[start-2:start] == `""` && strings.HasPrefix(text[end:], `""`) {
			start, end = start-1, end+1 // the inner pair of doubled quotes is eaten
		}
		if left := text[:start]; (len(left)-len(strings.TrimRight(left, `\`)))%2 == 1 {
			start-- // it would escape the sample
		}
		var before, after byte
		if start > 0 {
			before = out[start-1]
		}
		if end < len(out) {
			after = out[end]
		}
		copy(out[start:end], sample(before, after, end-start))
	}
	return string(out)
}

// tokenSpans returns the start and end offsets of the tokens of a text, in order.
func tokenSpans(text string, t *placeholder.Template, faults []placeholder.Fault) [][2]int {
	var spans [][2]int
	for _, tok := range t.Tokens() {
		spans = append(spans, [2]int{tok.Offset, tok.Offset + len(tok.Raw)})
	}
	for _, f := range faults {
		if n := strings.Index(text[f.Offset:], "}}"); n > 0 {
			spans = append(spans, [2]int{f.Offset, f.Offset + n + 2})
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	return spans
}

// identSample returns a sample that is valid inside a CSS or HTML name.
func identSample(_, _ byte, n int) string { return strings.Repeat("x", n) }

// scriptSample returns a number, because a value can be wherever a number can, or a
// name where the grammar requires a name: after a dot or adjacent to letters.
func scriptSample(before, after byte, n int) string {
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80 }
	digit := before >= '0' && before <= '9'
	switch {
	case !digit && (before == '.' || before == '#' || letter(after)):
		return strings.Repeat("x", n)
	case after == '.':
		return strings.Repeat("1", n-1) + "." // 1..length, for 1.length would be a broken number
	}
	return strings.Repeat("1", n)
}

// compileSample compiles an expression with plain text in place of its tokens, because
// values are escaped when they are filled in.
func compileSample(text string, t *placeholder.Template) error {
	if t != nil {
		filled, err := t.FillText(func(placeholder.Token) (any, bool) { return "x", true })
		if err != nil {
			return err
		}
		text = filled
	}
	_, err := pattern.Compile(text)
	return err
}
