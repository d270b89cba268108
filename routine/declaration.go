package routine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"rote/routine/placeholder"
)

// reservedNames would hide a placeholder's own word.
var reservedNames = map[string]bool{
	string(placeholder.UUID): true, string(placeholder.EpochMilliseconds): true, string(placeholder.SessionStorage): true,
	string(placeholder.LocalStorage): true, string(placeholder.Cookie): true, string(placeholder.Meta): true,
	string(placeholder.WindowProperty): true,
}

// checkDeclaration finds what is wrong with a parameter beyond its shape.
// object is the declaration as decoded; pointers are relative to it.
func (p *Parameter) checkDeclaration(object map[string]any) []Problem {
	var problems []Problem
	add := func(at, code, format string, args ...any) {
		problems = append(problems, Problem{Pointer: at, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if reservedNames[p.Name] {
		add("/name", "reserved_name", "%q is a placeholder's own word: choose another name", p.Name)
	}
	inner, _ := object["validation"].(map[string]any)
	for _, f := range validationFields {
		beside, has := object[f]
		if inside, both := inner[f]; has && both && !reflect.DeepEqual(beside, inside) {
			add("/"+f, "conflict", "%s stands beside type and inside validation with different values: keep one", f)
		}
	}
	at := func(field string) string {
		if _, inside := inner[field]; inside {
			return "/validation/" + field
		}
		return "/" + field
	}
	r := p.rules()
	if low, ok := exact(r.MinValue); ok {
		if high, ok := exact(r.MaxValue); ok && low.Cmp(high) > 0 {
			add(at("min_value"), "range", "min_value %s is over max_value %s", r.MinValue, r.MaxValue)
		}
	}
	if r.MinLength != nil && r.MaxLength != nil && *r.MinLength > *r.MaxLength {
		add(at("min_length"), "range", "min_length %d is over max_length %d", *r.MinLength, *r.MaxLength)
	}
	if r.Pattern != "" {
		if _, err := compilePattern(r.Pattern); err != nil {
			add(at("pattern"), "pattern", "is no ECMAScript regular expression: %v", err)
			return problems // its own values cannot be judged
		}
	}
	if p.Type == TypeEnum && len(r.EnumValues) == 0 {
		problems = append(problems, Problem{Code: "required", Message: "an enum parameter needs enum_values", Hint: `as in "validation": {"enum_values": ["small", "large"]}`})
		return problems
	}
	return append(problems, p.checkOwnValues(at)...)
}

// checkOwnValues holds default, enum_values and examples against the
// parameter's own rules.
func (p *Parameter) checkOwnValues(at func(string) string) []Problem {
	var problems []Problem
	judge := func(pointer, what string, raw json.RawMessage) {
		var v any
		if unmarshal(raw, &v) != nil || v == nil {
			return
		}
		if _, faults := p.check(v); len(faults) > 0 {
			problems = append(problems, Problem{Pointer: pointer, Code: faults[0].code, Message: what + " " + faults[0].message})
		}
	}
	if p.Default != nil {
		judge("/default", "the default", p.Default)
	}
	for i, e := range p.rules().EnumValues {
		judge(at("enum_values")+"/"+strconv.Itoa(i), "the value", e)
	}
	var examples []json.RawMessage
	if json.Unmarshal(p.Examples, &examples) == nil {
		for i, e := range examples {
			judge("/examples/"+strconv.Itoa(i), "the example", e)
		}
	}
	return problems
}

// names checks every placeholder of the definition against what is declared.
func (c *checker) names() {
	declared, used := map[string]bool{}, map[string]bool{}
	for _, p := range c.definition.Parameters {
		declared[p.Name] = true
	}
	for i, op := range c.decoded {
		if op == nil {
			continue
		}
		base := "/operations/" + strconv.Itoa(i)
		eachTemplate(op, func(s site) { c.templateNames(base+s.pointer, s, declared, used) })
	}
	for i, p := range c.definition.Parameters {
		if !used[p.Name] && !c.undecoded() {
			c.warn(Problem{Pointer: "/parameters/" + strconv.Itoa(i), Code: "unused_parameter",
				Message: fmt.Sprintf("parameter %q is never used", p.Name), Hint: fmt.Sprintf("write {{%s}} where its value belongs", p.Name)})
		}
	}
	for field, text := range map[string]string{"name": c.definition.Name, "description": c.definition.Description} {
		if t, _ := placeholder.Parse(text, placeholder.Text); !t.Literal() {
			c.warn(Problem{Pointer: "/" + field, Code: "literal_placeholder", Message: "placeholders are not filled in here"})
		}
	}
}

// undecoded tells whether an operation could not be read, so that what it uses
// is not known.
func (c *checker) undecoded() bool {
	for _, op := range c.decoded {
		if op == nil {
			return true
		}
	}
	return false
}

func (c *checker) templateNames(pointer string, s site, declared, used map[string]bool) {
	t, faults := placeholder.Parse(s.text, s.place)
	for _, f := range faults {
		c.add(Problem{Pointer: pointer, Code: f.Code, Message: f.Message, Hint: f.Hint, within: f.Offset + 1})
	}
	for _, tok := range t.Tokens() {
		if tok.Source != placeholder.Parameter {
			continue
		}
		used[tok.Name] = true
		if declared[tok.Name] {
			continue
		}
		p := Problem{Pointer: pointer, Code: "undeclared_parameter", Message: fmt.Sprintf("%s names no parameter of this routine", tok.Raw),
			within: strings.Index(s.text, tok.Raw) + 1}
		if near := nearest(tok.Name, sortedNames(declared)); near != "" {
			p.Hint = fmt.Sprintf("did you mean {{%s}}?", near)
		} else {
			p.Hint = fmt.Sprintf("declare it: {\"name\": %q, \"type\": \"string\", \"description\": \"…\"}", tok.Name)
		}
		c.add(p)
	}
}
