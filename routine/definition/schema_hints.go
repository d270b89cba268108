package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"rote/routine"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// show returns a node as a message quotes it: short and on one line.
func (d *document) show(n *node) string {
	raw := d.src[n.start:n.end]
	switch {
	case n.kind == '"':
		return routine.Show(n.text)
	case n.kind == '{' && (len(raw) > 60 || strings.Contains(raw, "\n")):
		return "an object"
	case n.kind == '[' && (len(raw) > 60 || strings.Contains(raw, "\n")):
		return "an array"
	}
	return routine.Truncate(raw, 60)
}

// typeNames returns the types of a schema in words.
func typeNames(types []string) string {
	words := map[string]string{"object": "an object", "array": "an array", "string": "a string", "number": "a number",
		"integer": "an integer", "boolean": "true or false", "null": "null"}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = words[t]
	}
	return alternatives(names)
}

// alternatives joins names as in "a, b or c".
func alternatives(names []string) string {
	if len(names) < 3 {
		return strings.Join(names, " or ")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// fieldNames are the names of the fields that a schema declares, and of those that an
// object does not have.
type fieldNames struct {
	schema         *jsonschema.Schema
	known, missing []string
}

func namesOf(s *jsonschema.Schema, n *node) *fieldNames {
	f := &fieldNames{schema: s, known: slices.Sorted(maps.Keys(s.Properties))}
	for _, name := range f.known {
		if n.member(name) == nil {
			f.missing = append(f.missing, name)
		}
	}
	return f
}

// unknownField reports a field that an object does not have. If it is clear which
// field was meant, the value is checked as that one, which is then not reported as
// missing.
func (c *shapeCheck) unknownField(names *fieldNames, k *key) {
	k.bad = true
	if !c.wantsMessage() {
		return
	}
	p := finding{offset: int(k.start), Problem: routine.Problem{Pointer: c.path.String() + "/" + routine.EscapePointer(k.name), Code: "unknown_field",
		Message: fmt.Sprintf("%s has no field %q", c.subject(), routine.Truncate(k.name, 60))}}
	var meant string
	if p.Hint, meant = names.hint(k.name); meant != "" {
		k.as, k.bad, c.doc.taken = meant, false, true
		names.missing = slices.DeleteFunc(names.missing, func(f string) bool { return f == meant })
	}
	c.found.add(p)
}

// takeFor looks in n, which has no field with a required name, for another field that
// was probably meant to be it. That field is then checked as the required one, so that
// its faults are reported in the same answer. missing are all required fields that n
// does not have.
func (d *document) takeFor(n *node, field string, missing []string) (hint string) {
	for i := range n.keys()[:min(len(n.keys()), routine.MaxSuggestionCandidates)] {
		k := &n.kids.keys[i]
		if k.bad || k.as != k.name || routine.Nearest(k.name, missing) != field {
			continue
		}
		k.as, d.taken = field, true
		return fmt.Sprintf("rename %q to %q", k.name, field)
	}
	return ""
}

// hint suggests what an unknown field was meant to be: a missing field of the object,
// which is then meant, or a field of an object inside it.
func (f *fieldNames) hint(name string) (hint, meant string) {
	for _, field := range f.known {
		inner := f.schema.Properties[field]
		if inner.Ref != nil {
			inner = inner.Ref
		}
		if _, ok := inner.Properties[name]; ok {
			return fmt.Sprintf("put it inside %q", field), ""
		}
	}
	if near := routine.Nearest(name, f.missing); near != "" {
		return fmt.Sprintf("did you mean %q?%s", near, unitNote(name, near)), near
	}
	if hint := routine.DidYouMean(name, f.known); hint != "" {
		return hint, ""
	}
	plain := slices.DeleteFunc(slices.Clone(f.known), func(field string) bool { return strings.HasPrefix(field, extensionPrefix) })
	return "its fields are " + strings.Join(plain, ", "), ""
}

// unitNote returns a note that a field counts in another unit than the one probably
// meant.
func unitNote(name, near string) string {
	if strings.HasSuffix(near, "_ms") && !strings.HasSuffix(name, "ms") && !strings.Contains(name, "milli") {
		return " It counts milliseconds"
	}
	if strings.HasSuffix(near, "_seconds") && !strings.Contains(name, "sec") {
		return " It counts seconds"
	}
	return ""
}

// notInEnum reports a string that is none of the allowed ones. If it is clear which
// one was meant, the string is taken for that.
func (c *shapeCheck) notInEnum(s *jsonschema.Schema, n *node) {
	names := make([]string, len(s.Enum))
	for i, e := range s.Enum {
		names[i] = fmt.Sprint(e)
	}
	near, hint := routine.Nearest(n.text, names), ""
	if near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	if hint == "" {
		hint = extensionElsewhere(c.name(), n.text)
	}
	c.addProblem(n, "enum", hint, "must be one of %s, not %s", strings.Join(names, ", "), routine.Show(n.text))
	if near != "" {
		n.text, n.taken, n.bad = near, true, false
	}
}

var anyPlaceholder = regexp.MustCompile(`^\s*\{\{.*\}\}\s*$`)

// typeHint suggests how a value of the wrong type was probably meant.
func typeHint(name string, s *jsonschema.Schema, n *node) string {
	text := strings.TrimSpace(n.text)
	spelt := &node{}
	switch {
	case n.kind == '0':
		if x, ok := routine.ExactNumber(json.Number(n.text)); ok {
			return unitHint(name, s, x)
		}
		return ""
	case n.kind == '{' && name == "parameters" && len(n.keys()) > 0:
		return fmt.Sprintf(`write a list, as in [{"name": %q, "type": "string"}]`, n.keys()[0].name)
	case n.kind != '"':
		return ""
	case slices.Contains(s.Types, "array") && s.Items2020 != nil && slices.Contains(s.Items2020.Types, "string"):
		return fmt.Sprintf(`write a list, as in [%s]`, routine.Show(n.text))
	case slices.Contains(s.Types, "object") && slices.Equal(s.Required, []string{"url"}):
		return fmt.Sprintf(`as in {"url": %s}`, routine.Show(n.text))
	case anyPlaceholder.MatchString(text):
		return "no placeholder can stand here: write the value itself"
	case routine.IsNumber(text):
		spelt.kind, spelt.text = '0', text
	case text == "true" || text == "false":
		spelt.kind = 't'
	}
	if slices.ContainsFunc(s.Types, func(t string) bool { return spelt.kind != 0 && isType(t, spelt) }) {
		return "write it without quotes: " + text
	}
	return ""
}

// unitHint suggests that a number out of bounds was meant in another unit than its
// field's.
func unitHint(name string, s *jsonschema.Schema, x *big.Rat) string {
	thousand := big.NewRat(1000, 1)
	switch {
	case strings.HasSuffix(name, "_seconds") && s.Maximum != nil && x.Cmp(big.NewRat(500, 1)) >= 0 && x.Cmp(s.Maximum) > 0:
		if y := new(big.Rat).Quo(x, thousand); y.Cmp(s.Maximum) <= 0 {
			return fmt.Sprintf("it counts seconds: %s ms are %s", decimal(x), decimal(y))
		}
	case strings.HasSuffix(name, "_ms") && x.Sign() > 0 && (!x.IsInt() || s.Minimum != nil && x.Cmp(s.Minimum) < 0):
		if y := new(big.Rat).Mul(x, thousand); y.IsInt() {
			return fmt.Sprintf("it counts milliseconds: %s s are %s", decimal(x), decimal(y))
		}
	}
	return ""
}

// decimal returns a number with at most three decimals and no trailing zeros.
func decimal(x *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(x.FloatString(3), "0"), ".")
}

// nameHint suggests a name that matches the pattern for names.
func nameHint(s *jsonschema.Schema, text string) string {
	proposal := strings.Trim(notInNames.ReplaceAllString(routine.Truncate(text, 60), "_"), "_")
	if proposal != "" && proposal[0] >= '0' && proposal[0] <= '9' {
		proposal = "_" + proposal
	}
	if s.Pattern.MatchString(proposal) {
		return fmt.Sprintf("use letters, digits and underscores, as in %q", proposal)
	}
	return ""
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)
