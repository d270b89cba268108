package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"rote/routine"
	"rote/routine/pattern"
	"rote/routine/placeholder"
)

// reservedNames cannot be names of parameters: a placeholder with such a name means
// something else.
var reservedNames = map[string]bool{
	string(placeholder.UUID): true, string(placeholder.EpochMilliseconds): true, string(placeholder.SessionStorage): true,
	string(placeholder.LocalStorage): true, string(placeholder.Cookie): true, string(placeholder.Meta): true,
	string(placeholder.WindowProperty): true,
}

// ValidName reports whether a parameter may have the name.
func ValidName(name string) bool {
	return !reservedNames[name] && loadShapes().parameter.Validate(map[string]any{"name": name}) == nil
}

// parameters checks and decodes the declarations of parameters, including that each
// default and example obeys the parameter's own rules.
func (c *checker) parameters(list *node) {
	if list == nil {
		return
	}
	if list.bad || list.kind != '[' {
		c.namesKnown = false
		return
	}
	for i := range list.items() {
		n := &list.kids.nodes[i]
		c.shapeAt(loadShapes().parameter, n, "parameters", i, "a parameter")
		if n.bad || n.member("name") == nil || n.member("name").bad {
			c.namesKnown = false
		}
		base := "/parameters/" + strconv.Itoa(i)
		c.extensions(loadShapes().parameter, n, "a parameter", base)
		if n.bad || c.problems.full() || !c.spend(parameterEffort, func() string { return base }) {
			c.namesKnown = false
			continue
		}
		var p routine.Parameter
		if err := json.Unmarshal(c.doc.sound(n), &p); err != nil {
			c.add(routine.Problem{Pointer: base, Code: "type", Message: "cannot be read: " + err.Error()})
			continue
		}
		if c.declared[p.Name] && p.Name != "" {
			c.add(routine.Problem{Pointer: base + "/name", Code: "duplicate_parameter",
				Message: fmt.Sprintf("another parameter is named %q: rename one", p.Name)})
		}
		c.declared[p.Name] = true
		c.definition.Parameters = append(c.definition.Parameters, p)
		c.declaration(base, &p, n)
	}
}

// declaration checks what the schema cannot express about a parameter. n is its node.
func (c *checker) declaration(base string, p *routine.Parameter, n *node) {
	d := &parameterCheck{p, n, c, base}
	typ := n.member("type")
	typed := typ == nil || !typ.bad // else what follows from the type is not known
	if reservedNames[p.Name] {
		d.add("/name", "reserved_name", "%q is a placeholder's own word: choose another name", p.Name)
	}
	d.conflicts()
	d.shownSecrets()
	d.storedSecret()
	if typed {
		d.unusedRules()
	}
	r := p.Rules()
	if low, ok := routine.ExactNumber(r.MinValue); ok {
		if high, ok := routine.ExactNumber(r.MaxValue); ok && low.Cmp(high) > 0 {
			d.add(d.rulePointer("min_value"), "range", "min_value %s is over max_value %s", r.MinValue, r.MaxValue)
		}
	}
	if r.MinLength != nil && r.MaxLength != nil && *r.MinLength > *r.MaxLength {
		d.add(d.rulePointer("min_length"), "range", "min_length %d is over max_length %d", *r.MinLength, *r.MaxLength)
	}
	if p.Type == routine.TypeDate && r.Format != "" && !validDateFormat(r.Format) {
		c.add(routine.Problem{Pointer: base + d.rulePointer("format"), Code: "format",
			Message: fmt.Sprintf("%s is no date format: write the tokens YYYY MM DD HH mm ss with separators between them", routine.Show(r.Format)),
			Hint:    `as in "DD/MM/YYYY"`})
		return // its values cannot be judged
	}
	if r.Pattern != "" {
		at := base + d.rulePointer("pattern")
		if !c.spend(patternEffort+2*min(len(r.Pattern), pattern.MaxLength), func() string { return at }) {
			return
		}
		if _, err := pattern.Compile(r.Pattern); err != nil {
			c.add(pattern.Problem(at, err))
			return
		}
	}
	if p.Type == routine.TypeEnum && len(r.EnumValues) == 0 {
		if given, _, _ := n.find(d.rulePointer("enum_values")); !given.bad {
			c.add(routine.Problem{Pointer: base, Code: "required", Message: "an enum parameter needs enum_values",
				Hint: `as in "validation": {"enum_values": ["small", "large"]}`})
		}
		return
	}
	examples, _, _ := n.find("/examples")
	if typed && c.spend(choiceEffort*(len(r.EnumValues)+len(examples.items())), func() string { return base }) {
		d.ownValues()
	}
}

// parameterCheck is the check of one parameter's declaration.
type parameterCheck struct {
	*routine.Parameter
	node *node
	c    *checker
	base string
}

func (d *parameterCheck) add(at, code, format string, args ...any) {
	d.c.add(routine.Problem{Pointer: d.base + at, Code: code, Message: fmt.Sprintf(format, args...)})
}

// rulePointer returns the pointer of a rule, which may be inside "validation" or next to
// "type".
func (d *parameterCheck) rulePointer(rule string) string {
	if d.node.member("validation").member(rule) != nil {
		return "/validation/" + rule
	}
	return "/" + rule
}

// shownSecrets warns of values in the declaration of a secret parameter.
func (d *parameterCheck) shownSecrets() {
	for _, field := range []string{"default", "examples", "observed_value"} {
		if n := d.node.member(field); d.Secret && n != nil && n.kind != 'n' && !n.bad {
			d.c.warn(routine.Problem{Pointer: d.base + "/" + field, Code: "shown_secret",
				Message: field + " of a secret parameter is shown to everybody in the organization who may read the routine: leave it out"})
		}
	}
}

// conflicts reports rules that are given in both places with different values.
func (d *parameterCheck) conflicts() {
	inner := d.node.member("validation")
	for _, rule := range routine.ValidationFields {
		beside, inside := d.node.member(rule), inner.member(rule)
		if beside == nil || inside == nil || beside.kind == 'n' || inside.kind == 'n' || beside.bad || inside.bad {
			continue
		}
		if !sameValue(beside.value(), inside.value()) {
			d.add("/"+rule, "conflict", "%s stands beside type and inside validation with different values: keep one", rule)
		}
	}
}

// unusedRules warns of rules that have no effect on the parameter's type.
func (d *parameterCheck) unusedRules() {
	isNumber, isFiles := d.Type == routine.TypeNumber || d.Type == routine.TypeInteger, d.Type == routine.TypeFiles
	useless := map[string]bool{"min_value": !isNumber, "max_value": !isNumber, "format": d.Type != routine.TypeDate,
		"min_length": isNumber || isFiles || d.Type == routine.TypeBoolean, "max_length": isNumber || isFiles || d.Type == routine.TypeBoolean,
		"pattern": isFiles, "enum_values": isFiles}
	for _, rule := range routine.ValidationFields {
		n, _, _ := d.node.find(d.rulePointer(rule))
		if !useless[rule] || n == d.node || n == d.node.member("validation") || n.kind == 'n' || n.bad {
			continue
		}
		d.c.warn(routine.Problem{Pointer: d.base + d.rulePointer(rule), Code: "unused_rule",
			Message: fmt.Sprintf("%s does nothing for a parameter of type %s", rule, d.Type)})
	}
}

// ownValues checks that default, enum_values and examples obey the parameter's own
// rules.
func (d *parameterCheck) ownValues() {
	j := newValueChecker(d.Parameter, &d.c.matching)
	judge := func(n *node, pointer, what string) {
		if n == nil || n.bad || n.kind == 'n' || d.c.problems.full() {
			return
		}
		if _, faults := j.apply(n.value()); len(faults) > 0 {
			d.add(pointer, faults[0].code, "%s %s", what, faults[0].message)
		}
	}
	judge(d.node.member("default"), "/default", "the default")
	each := func(at, what string) {
		list, _, _ := d.node.find(at)
		if list.kind != '[' {
			return
		}
		for i := range list.items() {
			judge(&list.kids.nodes[i], at+"/"+strconv.Itoa(i), what)
		}
	}
	if d.Type != routine.TypeFiles {
		each(d.rulePointer("enum_values"), "the value")
	}
	each("/examples", "the example")
}

// unusedParameters warns of parameters that no operation uses, and of placeholders in
// texts that are not filled in.
func (c *checker) unusedParameters() {
	for i, p := range c.definition.Parameters {
		if c.used[p.Name] || c.guessing || p.Name == "" {
			continue
		}
		hint := fmt.Sprintf("write {{%s}} where its value belongs", p.Name)
		if p.Type == routine.TypeFiles {
			hint = fmt.Sprintf(`write "x-files": %q on the input_text that hands the files in`, p.Name)
		}
		c.warn(routine.Problem{Pointer: "/parameters/" + strconv.Itoa(i), Code: "unused_parameter",
			Message: fmt.Sprintf("parameter %q is never used", p.Name), Hint: hint})
	}
	c.invisibleTexts()
	for _, field := range [][2]string{{"/name", c.definition.Name}, {"/description", c.definition.Description}} {
		t, _ := placeholder.Parse(field[1], placeholder.Text)
		for _, tok := range t.Tokens() {
			c.put(&c.warnings, finding{within: tok.Offset + 1, Problem: routine.Problem{Pointer: field[0], Code: "literal_placeholder",
				Message: fmt.Sprintf("%s is not filled in here: it stays as it is written", routine.Truncate(tok.Raw, 60))}})
		}
	}
}

// invisibleTexts warns of characters that [routine.PlainText] removes from the texts
// that agents read.
func (c *checker) invisibleTexts() {
	check := func(pointer, text string) {
		if r, at := routine.FirstInvisible(text); at >= 0 {
			c.put(&c.warnings, finding{within: at + 1, Problem: routine.Problem{Pointer: pointer, Code: "invisible_character",
				Message: fmt.Sprintf("holds the invisible character %U: agents see the text without it", r), Hint: "remove it"}})
		}
	}
	check("/name", c.definition.Name)
	check("/description", c.definition.Description)
	for i, tag := range c.definition.Tags {
		check("/tags/"+strconv.Itoa(i), tag)
	}
	for i, p := range c.definition.Parameters {
		check("/parameters/"+strconv.Itoa(i)+"/description", p.Description)
	}
}

// sameValue reports whether two decoded JSON values are equal; numbers are compared by
// value.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		if !ok {
			return false
		}
		return routine.CanonicalNumber(a.String()) == routine.CanonicalNumber(n.String())
	case []any:
		list, ok := b.([]any)
		return ok && slices.EqualFunc(a, list, sameValue)
	case map[string]any:
		return false
	}
	if _, isObject := b.(map[string]any); isObject {
		return false
	}
	if _, isList := b.([]any); isList {
		return false
	}
	return a == b
}
