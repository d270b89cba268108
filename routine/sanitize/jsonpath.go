package sanitize

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"rote/routine"

	"github.com/ohler55/ojg/jp"
)

const (
	// maxPathSteps bounds the values that one step visits. A path with .. twice visits
	// many more values than the response has.
	maxPathSteps = 30_000_000
	// maxPathMatches bounds the values that one path selects.
	maxPathMatches = 4_000_000
	// maxJSONPath bounds the length of one expression in bytes.
	maxJSONPath = 1000
	// stepsPerCheck is how many values are visited between two checks of the context.
	stepsPerCheck = 4096
)

var (
	errAll       = errors.New("it removes the whole response")
	errPathSteps = errors.New("it goes through too many values")
)

// jsonPath is a compiled JSONPath expression. The library jp parses it; this package
// evaluates it, because the library's own evaluation cannot be interrupted, compares
// all pairs of values that two paths in a filter select, and panics on null.
type jsonPath struct {
	expr    jp.Expr
	filters map[*jp.Filter]*pathCondition
}

// compileJSONPath compiles an expression. hint says how to write what the author
// probably meant.
func compileJSONPath(text string) (x *jsonPath, hint string, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser panics on some faulty expressions
			x, err = nil, errors.New("it cannot be read")
		}
	}()
	if len(text) > maxJSONPath {
		return nil, "", fmt.Errorf("it has more than %d characters", maxJSONPath)
	}
	if !strings.HasPrefix(text, "$") {
		return nil, fmt.Sprintf("did you mean %q?", "$."+strings.TrimLeft(routine.Truncate(text, 60), ".@")), errors.New("it does not begin with $")
	}
	expr, err := jp.ParseString(text)
	if err != nil {
		if strings.Contains(text, "[(") {
			hint = "the last item is [-1]"
		}
		return nil, hint, errors.New(strings.TrimSuffix(err.Error(), " in "+text))
	}
	if _, open := expr[len(expr)-1].(jp.Descent); open {
		return nil, "write $..* for everything, or $..name", errors.New("a name must follow the two dots at its end")
	}
	x = &jsonPath{expr: expr, filters: map[*jp.Filter]*pathCondition{}}
	if err := x.compileFilters(expr); err != nil {
		return nil, "", err
	}
	return x, "", nil
}

// single reports whether the path can select one value only. Its result is then that
// value and not a list.
func (x *jsonPath) single() bool { return x.expr.Normal() }

func (x *jsonPath) String() string { return x.expr.String() }

// pathSearch evaluates the paths of one step on a document. Its methods panic with a
// pathStop if the context ends or a limit is reached; find, remove and write recover
// it and return an error.
type pathSearch struct {
	ctx     context.Context
	doc     *jsonDocument
	steps   int // how many are left
	unasked int // steps since the context was last asked
	// absolute caches the values of paths in filters that begin at the root.
	absolute map[*pathCondition][]any
	pattern  *regexp.Regexp // the last that a filter compiled from a text
}

// pathStop is the value with which the methods of a pathSearch panic.
type pathStop struct{ err error }

func newPathSearch(ctx context.Context, doc *jsonDocument) *pathSearch {
	return &pathSearch{ctx: ctx, doc: doc, steps: maxPathSteps, absolute: map[*pathCondition][]any{}}
}

// step counts n visited values.
func (s *pathSearch) step(n int) {
	s.steps -= n
	if s.steps < 0 {
		panic(pathStop{errPathSteps})
	}
	if s.unasked += n; s.unasked >= stepsPerCheck {
		s.unasked = 0
		if s.ctx.Err() != nil {
			panic(pathStop{routine.CauseOf(s.ctx)})
		}
	}
}

// searchError converts a value recovered from the search of x to an error. It panics
// again with any value but a pathStop.
func searchError(x *jsonPath, recovered any) error {
	if recovered == nil {
		return nil
	}
	stop, ok := recovered.(pathStop)
	if !ok {
		panic(recovered)
	}
	var known *routine.Error
	if errors.As(stop.err, &known) {
		return known
	}
	return routine.Errorf(routine.CodeResultTooLarge, "data_sanitizer: the path %s cannot be used on this response: %w. Use a path with fewer .. or filters",
		routine.Truncate(x.String(), 60), stop.err)
}

// find returns the nodes that the path selects, in the order of the response.
func (s *pathSearch) find(x *jsonPath) (found []jsonNodeID, err error) {
	defer func() { err = searchError(x, recover()) }()
	return s.collect(x, x.expr, rootNode), nil
}

// collect returns the nodes that parts of x select from a node.
func (s *pathSearch) collect(x *jsonPath, parts jp.Expr, from jsonNodeID) []jsonNodeID {
	var found []jsonNodeID
	s.walk(x, parts, from, func(n jsonNodeID) {
		if len(found) == maxPathMatches {
			panic(pathStop{fmt.Errorf("it selects more than %d values", maxPathMatches)})
		}
		found = append(found, n)
	})
	return found
}

// remove removes what the path selects from the document.
func (s *pathSearch) remove(x *jsonPath) error {
	found, err := s.find(x)
	if err != nil {
		return err
	}
	for _, n := range found {
		s.doc.remove(n)
	}
	clear(s.absolute) // their values may have gone
	return nil
}

// walk calls emit for each node that parts select from n.
func (s *pathSearch) walk(x *jsonPath, parts jp.Expr, n jsonNodeID, emit func(jsonNodeID)) {
	s.step(1)
	if len(parts) == 0 {
		emit(n)
		return
	}
	next := func(child jsonNodeID) { s.walk(x, parts[1:], child, emit) }
	switch part := parts[0].(type) {
	case jp.Root:
		next(rootNode)
	case jp.Child:
		s.child(n, string(part), next)
	case jp.Nth:
		s.item(n, int(part), next)
	case jp.Wildcard:
		s.each(n, next)
	case jp.Union:
		for _, choice := range part {
			switch choice := choice.(type) {
			case string:
				s.child(n, choice, next)
			case int64:
				s.item(n, int(choice), next)
			}
		}
	case jp.Slice:
		s.slice(n, part, next)
	case jp.Descent: // what is inside comes first
		s.each(n, func(child jsonNodeID) {
			if s.doc.kind(child) == '{' || s.doc.kind(child) == '[' {
				s.walk(x, parts, child, emit)
			}
		})
		next(n)
	case *jp.Filter:
		condition := x.filters[part]
		s.each(n, func(child jsonNodeID) {
			if s.meets(x, condition, child) {
				next(child)
			}
		})
	default: // At and marks of the parser: the node itself
		next(n)
	}
}

// each calls use for each member of an object or item of an array.
func (s *pathSearch) each(n jsonNodeID, use func(jsonNodeID)) {
	for child := range s.doc.children(n) {
		s.step(1)
		use(child)
	}
}

// child calls use with the member of an object that has a name.
func (s *pathSearch) child(n jsonNodeID, name string, use func(jsonNodeID)) {
	if s.doc.kind(n) != '{' {
		return
	}
	for child := range s.doc.children(n) {
		s.step(1)
		if s.doc.named(child, name) {
			use(child)
			return
		}
	}
}

// item calls use with an item of an array. A negative index counts from the end.
func (s *pathSearch) item(n jsonNodeID, index int, use func(jsonNodeID)) {
	if s.doc.kind(n) != '[' {
		return
	}
	if index < 0 {
		index += s.size(n)
	}
	i := 0
	for child := range s.doc.children(n) {
		s.step(1)
		if i == index {
			use(child)
			return
		}
		i++
	}
}

// size returns the number of members or items.
func (s *pathSearch) size(n jsonNodeID) int {
	size := 0
	s.each(n, func(jsonNodeID) { size++ })
	return size
}

// slice calls use for the items of an array from a start to before an end. Negative
// ones count from the end of the array.
func (s *pathSearch) slice(n jsonNodeID, part jp.Slice, use func(jsonNodeID)) {
	if s.doc.kind(n) != '[' {
		return
	}
	var items []jsonNodeID
	s.each(n, func(child jsonNodeID) { items = append(items, child) })
	size, step := len(items), part[2]
	if step == jp.SliceNotSet {
		step = 1
	}
	bound := func(given, missing, least, most int) int {
		if given == jp.SliceNotSet {
			return missing
		}
		if given < 0 {
			given += size
		}
		return min(max(given, least), most)
	}
	switch {
	case step > 0:
		end := bound(part[1], size, 0, size)
		for i := bound(part[0], 0, 0, size); i < end; i += min(step, size) {
			use(items[i])
		}
	case step < 0:
		end := bound(part[1], -1, -1, size-1)
		for i := bound(part[0], size-1, -1, size-1); i > end; i += max(step, -size) {
			use(items[i])
		}
	}
}
