package requests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rote/routine"
)

const (
	// maxShapeKeys bounds the members of an object that a shape names, maxShapeDepth the
	// levels of objects and arrays, maxShapeItems the items of an array whose members are
	// united.
	maxShapeKeys  = 12
	maxShapeDepth = 3
	maxShapeItems = 20
	// maxShape bounds the characters of a shape.
	maxShape = 1000
	// maxName bounds the characters of a name of the page.
	maxName = 60
)

var plainWord = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,39}$`)

// Shape describes the structure of a JSON text without its values, as in
// {items:[23×{id,name,stock?}],total:int}. Members that not all items have are marked by a
// question mark, secret ones by ***. It returns an empty string if the text is not JSON.
func Shape(text []byte, secrets []string) string {
	n := parseJSON(text)
	if n == nil {
		return ""
	}
	return routine.Truncate(shaper{newMask(secrets), false}.of([]*node{n}, 0), maxShape)
}

// shaper writes shapes. quoted puts the names of members in quotes.
type shaper struct {
	mask   *mask
	quoted bool
}

// of is the shape that is common to some values, which are depth levels deep.
func (s shaper) of(all []*node, depth int) string { return s.at(all, depth, depth == 0) }

// at is of. top reports whether the members of objects have their kinds.
func (s shaper) at(all []*node, depth int, top bool) string {
	kind := all[0].kind
	for _, n := range all {
		if scalarKind(n) != scalarKind(all[0]) {
			return mixedKinds(all)
		}
	}
	switch kind {
	case '{':
		if depth >= maxShapeDepth {
			return "{…}"
		}
		return s.object(all, depth, top)
	case '[':
		return s.array(all, depth)
	}
	return scalarKind(all[0])
}

// scalarKind is the word for a value: str, int, num, bool, null, or { and [.
func scalarKind(n *node) string {
	switch n.kind {
	case '"':
		return "str"
	case '0':
		if strings.ContainsAny(n.text, ".eE") {
			return "num"
		}
		return "int"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return string(n.kind)
}

// mixedKinds names the kinds of values that differ, as in int|str.
func mixedKinds(all []*node) string {
	var kinds []string
	for _, n := range all {
		kind := scalarKind(n)
		switch kind {
		case "{":
			kind = "{…}"
		case "[":
			kind = "[…]"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	if slices.Contains(kinds, "num") {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "int" })
	}
	return strings.Join(kinds, "|")
}

func (s shaper) array(all []*node, depth int) string {
	var items []*node
	for _, n := range all {
		items = append(items, n.items[:min(len(n.items), maxShapeItems)]...)
	}
	count := fmt.Sprintf("%d×", len(all[0].items))
	if len(all) > 1 {
		count = ""
	}
	switch {
	case len(items) == 0:
		return "[]"
	case depth >= maxShapeDepth:
		return "[" + count + "…]"
	}
	if !slices.ContainsFunc(items, func(n *node) bool { return n.kind != '{' }) {
		return "[" + count + s.at(items, depth, false) + "]" // a list of objects is one level
	}
	return "[" + count + s.of(items, depth+1) + "]"
}

// object is the union of the members of some objects. On the first level the members that
// are neither objects nor arrays have their kind, further down only their name.
func (s shaper) object(all []*node, depth int, top bool) string {
	var names []string
	values := map[string][]*node{}
	for _, n := range all {
		seen := map[string]bool{}
		for _, m := range n.members {
			if seen[m.name] {
				continue
			}
			seen[m.name] = true
			if values[m.name] == nil {
				names = append(names, m.name)
			}
			values[m.name] = append(values[m.name], m.value)
		}
	}
	var parts []string
	for i, name := range names {
		if i == maxShapeKeys {
			parts = append(parts, fmt.Sprintf("… +%d", len(names)-i))
			break
		}
		part := s.name(name)
		if len(values[name]) < len(all) {
			part += "?"
		}
		scalars := !slices.ContainsFunc(values[name], func(n *node) bool { return !n.scalar() })
		switch {
		case scalars && secretName(name):
			part += ":" + routine.Masked
		case !scalars, top, s.quoted:
			part += ":" + s.of(values[name], depth+1)
		}
		parts = append(parts, part)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (s shaper) name(name string) string {
	if s.quoted {
		return quoteName(s.mask.text(name))
	}
	return shownName(s.mask.text(name))
}

// shownName is a name of the page as it is shown: as it is if it is one word, else in JSON
// quotes.
func shownName(name string) string {
	if plainWord.MatchString(name) || name == routine.Masked {
		return name
	}
	return quoteName(name)
}

// quoteName is a text of the page in JSON quotes, short and without characters that nobody
// can see.
func quoteName(name string) string {
	return routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(name)), maxName))
}

// SameShape reports whether two JSON texts have the same structure: the same kind of
// value, the same members of objects, and the same members in the first items of arrays. An
// empty array is like any other array, and null like any value.
func SameShape(a, b []byte) bool {
	x, y := parseJSON(a), parseJSON(b)
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return sameShape([]*node{x}, []*node{y}, 0)
}

func sameShape(a, b []*node, depth int) bool {
	a, b = withoutNull(a), withoutNull(b)
	if len(a) == 0 || len(b) == 0 || depth > maxShapeDepth {
		return true
	}
	kinds := func(all []*node) []string {
		found := map[string]bool{}
		for _, n := range all {
			found[strings.Replace(scalarKind(n), "int", "num", 1)] = true
		}
		var list []string
		for k := range found {
			list = append(list, k)
		}
		slices.Sort(list)
		return list
	}
	if !slices.Equal(kinds(a), kinds(b)) {
		return false
	}
	membersA, requiredA, itemsA := inside(a)
	membersB, requiredB, itemsB := inside(b)
	for name := range requiredA {
		if membersB[name] == nil {
			return false
		}
	}
	for name := range requiredB {
		if membersA[name] == nil {
			return false
		}
	}
	for name, values := range membersA {
		if others := membersB[name]; others != nil && !sameShape(values, others, depth+1) {
			return false
		}
	}
	return sameShape(itemsA, itemsB, depth+1)
}

func withoutNull(all []*node) []*node {
	return slices.DeleteFunc(slices.Clone(all), func(n *node) bool { return n.kind == 'n' })
}

// inside collects the members and the items of some values, and which members all objects
// among them have.
func inside(all []*node) (members map[string][]*node, required map[string]bool, items []*node) {
	members, required = map[string][]*node{}, map[string]bool{}
	objects := 0
	for _, n := range all {
		items = append(items, n.items[:min(len(n.items), maxShapeItems)]...)
		if n.kind == '{' {
			objects++
		}
		for _, m := range n.members {
			members[m.name] = append(members[m.name], m.value)
		}
	}
	for name, values := range members {
		required[name] = len(values) >= objects
	}
	for name, all := range required {
		if !all {
			delete(required, name)
		}
	}
	return members, required, items
}
