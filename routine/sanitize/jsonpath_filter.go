package sanitize

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ohler55/ojg/jp"
)

// pathCondition is an expression in a filter.
type pathCondition struct {
	op          string // empty: a constant or a path
	left, right *pathCondition
	constant    any
	path        *jsonPath
	regexp      *regexp.Regexp // of the operator =~, where the pattern is a constant
}

// noValue is the value of a path that selects nothing. In a filter it is written
// "Nothing".
type noValue struct{}

// container is an object or array as a value in a filter. It equals only itself.
type container jsonNodeID

// unaryOperators have one operand; all others have two.
var unaryOperators = map[string]bool{"!": true, "(": true, "length": true, "count": true}

const (
	// maxFilterValues bounds the values of one operand of a filter.
	maxFilterValues = 100_000
	// maxFilterText bounds a text that a filter concatenates, in bytes.
	maxFilterText = 1 << 20
)

var (
	errFilterValues = fmt.Errorf("a filter compares more than %d values", maxFilterValues)
	errFilterText   = fmt.Errorf("a filter makes a text of more than %d bytes", maxFilterText)
)

// compileFilters compiles the filters of a path and of the paths inside them.
func (x *jsonPath) compileFilters(expr jp.Expr) error {
	for _, part := range expr {
		if f, ok := part.(*jp.Filter); ok {
			c, err := compileFilter(f)
			if err != nil {
				return err
			}
			x.filters[f] = c
		}
	}
	return nil
}

// compileFilter converts a filter that the library has parsed. The library's tree
// treats every operator as one with two operands, so its shape is wrong for unary
// ones. Flattened, it yields each operator before its operands, which readCondition
// reads again. The library reads !@.a && @.b as ! && @.a @.b, see negation.
func compileFilter(f *jp.Filter) (*pathCondition, error) {
	form, err := inspectFilter(f)
	if err != nil {
		return nil, err
	}
	var parts []any
	var flatten func(any)
	flatten = func(v any) {
		if form, ok := v.(*jp.Form); ok {
			parts = append(parts, pathOperator(form.Op))
			flatten(form.Left)
			flatten(form.Right)
			return
		}
		parts = append(parts, v)
	}
	flatten(form)
	c, _, err := readCondition(parts)
	return c, err
}

// pathOperator is an operator in a flattened filter.
type pathOperator string

// inspectFilter returns the library's tree of a filter. The library panics for a
// filter that is a value without an operator, which is therefore wrapped in one.
func inspectFilter(f *jp.Filter) (form *jp.Form, err error) {
	defer func() {
		if recover() != nil {
			inner := strings.TrimSuffix(strings.TrimPrefix(f.String(), "[?"), "]")
			var both *jp.Filter
			if both, err = jp.NewFilter("[?(" + inner + ") && true]"); err == nil {
				form = both.Inspect()
			}
		}
	}()
	return f.Inspect(), nil
}

// readCondition reads an operator with its operands, or a value. It also returns the
// parts that follow.
func readCondition(parts []any) (*pathCondition, []any, error) {
	if len(parts) == 0 {
		return nil, nil, errors.New("a filter is not complete")
	}
	first, rest := parts[0], parts[1:]
	c := &pathCondition{}
	switch v := first.(type) {
	case pathOperator:
		c.op = string(v)
		var err error
		if c.left, rest, err = readCondition(rest); err == nil && !unaryOperators[c.op] {
			c.right, rest, err = readCondition(rest)
		}
		if c.op == "!" && err == nil {
			c = negation(c.left)
		}
		return c, rest, err
	case jp.Expr:
		c.path = &jsonPath{expr: v, filters: map[*jp.Filter]*pathCondition{}}
		return c, rest, c.path.compileFilters(v)
	case *regexp.Regexp:
		c.regexp = v
	case nil, bool, int64, float64, string, []any:
		c.constant = v
	default:
		if v != jp.Nothing {
			return nil, nil, fmt.Errorf("a filter has a value of an unknown kind, %T", v)
		}
		c.constant = noValue{}
	}
	return c, rest, nil
}

// negation returns the condition for ! before c. The library parses !a && b as !(a &&
// b), although ! applies to a only: negation moves it there. Written brackets are an
// operator of their own.
func negation(c *pathCondition) *pathCondition {
	if c.op == "&&" || c.op == "||" {
		c.left = negation(c.left)
		return c
	}
	return &pathCondition{op: "!", left: c}
}

// fromRoot reports whether a path in a filter begins at the root of the document, and
// not at the value that the filter tests.
func (x *jsonPath) fromRoot() bool {
	for _, part := range x.expr {
		switch part.(type) {
		case jp.Root:
			return true
		case jp.At, jp.Child, jp.Nth, jp.Wildcard, jp.Descent, jp.Union, jp.Slice, *jp.Filter:
			return false
		}
	}
	return false
}

// meets reports whether a node meets a condition. A path alone is met if it selects
// anything, even null or false.
func (s *pathSearch) meets(x *jsonPath, c *pathCondition, n jsonNodeID) bool {
	s.step(1)
	switch c.op {
	case "&&":
		return s.meets(x, c.left, n) && s.meets(x, c.right, n)
	case "||":
		return s.meets(x, c.left, n) || s.meets(x, c.right, n)
	case "!":
		return !s.meets(x, c.left, n)
	case "(":
		return s.meets(x, c.left, n)
	}
	if c.path != nil {
		return len(s.collect(c.path, c.path.expr, n)) > 0
	}
	return slices.Contains(s.values(x, c, n), any(true))
}

// values returns the values of an operand: those that its path selects, or one noValue
// if it selects none.
func (s *pathSearch) values(x *jsonPath, c *pathCondition, n jsonNodeID) []any {
	s.step(1)
	switch {
	case c.path != nil:
		return s.pathValues(c, n)
	case c.op == "":
		return []any{c.constant}
	case c.op == "(":
		return s.values(x, c.left, n)
	case c.op == "&&" || c.op == "||" || c.op == "!":
		return []any{s.meets(x, c, n)}
	case c.op == "count":
		if c.left.path == nil {
			return []any{noValue{}}
		}
		return []any{int64(len(s.collect(c.left.path, c.left.path.expr, n)))}
	case c.op == "length":
		return s.lengths(x, c.left, n)
	}
	right := s.values(x, c.right, n)
	if strings.Contains("+-*/", c.op) {
		return s.arithmetic(c.op, s.values(x, c.left, n), right)
	}
	for _, l := range s.values(x, c.left, n) {
		for _, r := range right {
			if s.step(1); s.compares(c, l, r) {
				return []any{true}
			}
		}
	}
	return []any{false}
}

// pathValues returns the values that a path in a filter selects.
func (s *pathSearch) pathValues(c *pathCondition, n jsonNodeID) []any {
	if !c.path.fromRoot() {
		return s.scalars(s.collect(c.path, c.path.expr, n))
	}
	all, known := s.absolute[c]
	if !known {
		all = s.scalars(s.collect(c.path, c.path.expr, rootNode))
		s.absolute[c] = all
	}
	return all
}

// scalars returns the values of nodes, or one noValue if there are none.
func (s *pathSearch) scalars(found []jsonNodeID) []any {
	if len(found) == 0 {
		return []any{noValue{}}
	}
	if len(found) > maxFilterValues {
		panic(pathStop{errFilterValues})
	}
	all := make([]any, len(found))
	for i, n := range found {
		switch s.doc.kind(n) {
		case '{', '[':
			all[i] = container(s.doc.value(n))
			continue
		case '"':
			s.step(len(s.doc.raw(n)) / 64)
		}
		all[i] = s.doc.scalar(n)
	}
	return all
}

// lengths returns the number of bytes of texts, of members of objects and of items of
// arrays.
func (s *pathSearch) lengths(x *jsonPath, c *pathCondition, n jsonNodeID) []any {
	values := s.values(x, c, n)
	all := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			all[i] = int64(len(v))
		case container:
			all[i] = int64(s.size(jsonNodeID(v)))
		case []any:
			all[i] = int64(len(v))
		default:
			all[i] = noValue{}
		}
	}
	return all
}

// compares reports whether a comparison of two values is true.
func (s *pathSearch) compares(c *pathCondition, left, right any) bool {
	order, ordered := compareValues(left, right)
	switch c.op {
	case "==":
		return equalValues(left, right)
	case "!=":
		return !equalValues(left, right)
	case "<":
		return ordered && order < 0
	case "<=":
		return ordered && order <= 0
	case ">":
		return ordered && order > 0
	case ">=":
		return ordered && order >= 0
	case "in":
		list, _ := right.([]any)
		for _, v := range list {
			if s.step(1); equalValues(left, v) {
				return true
			}
		}
		return false
	case "empty":
		wanted, ok := right.(bool)
		size, sized := s.sizeOf(left)
		return ok && sized && wanted == (size == 0)
	case "has", "exists":
		wanted, ok := right.(bool)
		return ok && wanted == (left != noValue{})
	}
	return s.matches(c, left, right) // =~, match and search
}

// sizeOf returns the size of a text, object or array; false for other values.
func (s *pathSearch) sizeOf(v any) (int, bool) {
	switch v := v.(type) {
	case string:
		return len(v), true
	case []any:
		return len(v), true
	case container:
		return s.size(jsonNodeID(v)), true
	}
	return 0, false
}

// matches reports whether a text matches a pattern: match requires a match of the
// whole text, other operators of a part. An invalid pattern matches nothing.
func (s *pathSearch) matches(c *pathCondition, left, right any) bool {
	text, ok := left.(string)
	if !ok {
		return false
	}
	pattern := c.right.regexp
	if pattern == nil {
		if pattern = s.compilePattern(c.op, right); pattern == nil {
			return false
		}
	}
	return pattern.MatchReader(&stepReader{s, text})
}

// compilePattern compiles the pattern of an operator, or returns nil if it is invalid.
// It caches the last one, because most filters use the same again and again.
func (s *pathSearch) compilePattern(op string, pattern any) *regexp.Regexp {
	text, _ := pattern.(string)
	if text == "" || len(text) > maxJSONPath {
		return nil
	}
	if op == "match" {
		text = "^(?:" + text + ")$"
	}
	if s.pattern == nil || s.pattern.String() != text {
		s.step(100) // compiling takes as long as looking at many values
		compiled, err := regexp.Compile(text)
		if err != nil {
			return nil
		}
		s.pattern = compiled
	}
	return s.pattern
}

// stepReader reads a text for a regular expression and counts each character as a
// step.
type stepReader struct {
	search *pathSearch
	text   string
}

// ReadRune reads one character.
func (r *stepReader) ReadRune() (rune, int, error) {
	if r.text == "" {
		return 0, 0, io.EOF
	}
	r.search.step(1)
	c, size := utf8.DecodeRuneInString(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
