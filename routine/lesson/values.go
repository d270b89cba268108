package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/lesson/parameters"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

// givenValue is a value that the author gave to a placeholder.
type givenValue struct {
	// value is a text, a json.Number, a bool, or the JSON of files.
	value any
	// field is the form field that took the value; nil if none did.
	field *routine.Field
	// secret reports whether the value must not be shown.
	secret bool
	// from names the stored secret, as in "shop.password", whose value it is; empty if it is
	// a value of the author's own. The lesson never has the value.
	from string
	// size is the size of its JSON in bytes.
	size int
}

const (
	// maxValues bounds the values that a lesson has, and maxValueBytes the size of their
	// JSON together.
	maxValues     = 100
	maxValueBytes = 8 << 20
)

// declaration is the parameter of the value.
func (g givenValue) declaration(name string) routine.Parameter {
	if _, files := g.value.(json.RawMessage); files {
		return routine.Parameter{Name: name, Type: routine.TypeFiles, Required: true, Description: parameters.Describe(name, g.field)}
	}
	return parameters.Declare(name, g.value, g.field, g.secret)
}

// setValues takes the values of a call: all, or none if there is an error. CodeInvalid.
func (l *lesson) setValues(values map[string]json.RawMessage) error {
	given, names := maps.Clone(l.given), slices.Sorted(maps.Keys(values))
	for _, name := range names {
		g, err := l.readValue(name, values[name])
		if err != nil {
			return err
		}
		if was, ok := l.given[name]; ok {
			g.field, g.secret = was.field, g.secret || was.secret
		}
		given[name] = g
	}
	size := 0
	for _, g := range given {
		size += g.size
	}
	switch {
	case len(given) > maxValues:
		return routine.Errorf(routine.CodeInvalid, "a lesson has at most %d values, and this one would have %d: use the names again that it has",
			maxValues, len(given))
	case size > maxValueBytes:
		return routine.Errorf(routine.CodeInvalid, "the values of a lesson have at most %d bytes together, and these would have %d: give shorter ones",
			maxValueBytes, size)
	}
	for _, name := range names {
		l.setValue(name, given[name])
	}
	return nil
}

// checkWith takes the values of a call and checks operations with them. If there is an
// error, the values are as before. The errors are those of setValues, check and valuesOf.
func (l *lesson) checkWith(ctx context.Context, p routine.Principal, values map[string]json.RawMessage, raw []json.RawMessage) ([]routine.Operation, error) {
	given, parameters := maps.Clone(l.given), slices.Clone(l.parameters)
	err := l.setValues(values)
	var operations []routine.Operation
	if err == nil {
		operations, err = l.check(ctx, p, raw)
	}
	if err == nil {
		err = checkPauses(operations)
	}
	if err == nil {
		_, _, err = l.valuesOf(operations)
	}
	if err != nil {
		l.given, l.parameters = given, parameters
		return nil, err
	}
	return operations, nil
}

// setValue sets a value and declares its parameter.
func (l *lesson) setValue(name string, g givenValue) {
	p := g.declaration(name)
	if own := slices.IndexFunc(l.declared, func(p routine.Parameter) bool { return p.Name == name }); own >= 0 {
		p = l.declared[own]
		p.Secret = p.Secret || g.secret
		if p.Observed = nil; !p.Secret && p.Type != routine.TypeFiles {
			p.Observed = routine.RawJSON(g.value)
		}
	}
	if g.from != "" {
		p = secretParameter(p, g.from)
	} else if p.FromSecret != "" {
		p.FromSecret = "" // it has a value
	}
	l.given[name] = g
	if i := slices.IndexFunc(l.parameters, func(p routine.Parameter) bool { return p.Name == name }); i >= 0 {
		l.parameters[i] = p
	} else {
		l.parameters = append(l.parameters, p)
	}
}

// readValue reads one value of a call.
func (l *lesson) readValue(name string, raw json.RawMessage) (givenValue, error) {
	if !definition.ValidName(name) {
		free := parameters.Name(name, func(string) bool { return false })
		return givenValue{}, invalidValue(routine.Truncate(name, 60), "cannot be the name of a value: write it as "+free)
	}
	var value any
	if err := routine.DecodeJSON(raw, &value); err != nil {
		return givenValue{}, invalidValue(name, "is not JSON")
	}
	size := len(raw)
	switch v := value.(type) {
	case nil:
		return givenValue{}, invalidValue(name, "needs a value: null is none")
	case []any:
		return givenValue{value: raw, size: size}, nil
	case map[string]any:
		secret, ok := v["secret"].(string)
		if !ok || len(v) != 1 {
			return givenValue{value: raw, size: size}, nil
		}
		if _, ok := routine.ParseSecretReference(secret); !ok {
			return givenValue{}, invalidValue(name, `names no secret: write {"secret":"NAME"} or {"secret":"NAME.FIELD"}`)
		}
		return givenValue{secret: true, from: secret, size: size}, nil
	}
	return givenValue{value: value, size: size}, nil
}

func invalidValue(name, message string) error {
	return routine.Invalid("values", []routine.Problem{{Pointer: "/values/" + routine.EscapePointer(name), Code: "invalid_value",
		Message: fmt.Sprintf("%q %s", name, message)}})
}

// valuesOf returns the values of the placeholders in operations, converted to the types of
// their parameters, with the declarations of these. CodeInvalid if one has no value, or one
// that does not fit in its place.
func (l *lesson) valuesOf(operations []routine.Operation) ([]routine.Parameter, routine.Values, error) {
	used := map[string]bool{}
	var missing []routine.Problem
	for i, o := range operations {
		for _, name := range parameterTokens(o) {
			if _, ok := l.given[name]; !ok && !used[name] && !l.isOptional(name) {
				missing = append(missing, routine.Problem{Pointer: fmt.Sprintf("/operations/%d", i), Code: "no_value",
					Message: fmt.Sprintf("{{%s}} has no value", name), Hint: fmt.Sprintf(`give it one: "values":{"%s":"…"}`, name)})
			}
			used[name] = true
		}
	}
	if len(missing) > 0 {
		return nil, nil, routine.Invalid("operation", missing)
	}
	d := &routine.Definition{Operations: operations}
	values := map[string]any{}
	for _, p := range l.parameters {
		if used[p.Name] {
			d.Parameters = append(d.Parameters, p)
			if l.given[p.Name].from != "" {
				continue
			}
			values[p.Name] = parameters.Value(p, l.given[p.Name].value)
		}
	}
	for _, p := range l.declared {
		if _, given := l.given[p.Name]; used[p.Name] && !given { // with its default, or without a value
			d.Parameters = append(d.Parameters, p)
		}
	}
	bound, err := definition.Bind(d, routine.RawJSON(values))
	return d.Parameters, bound, err
}

// isOptional reports whether a mended routine declares a parameter that needs no value.
func (l *lesson) isOptional(name string) bool {
	return slices.ContainsFunc(l.declared, func(p routine.Parameter) bool { return p.Name == name && !p.Needed() })
}

// parameterTokens returns the names of the parameters that an operation uses.
func parameterTokens(o routine.Operation) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	eachSite(o, func(_ operation.Site, used []string) {
		for _, name := range used {
			add(name)
		}
	})
	var files struct {
		Name string `json:"x-files"`
	}
	if json.Unmarshal(o.Raw(), &files) == nil && files.Name != "" {
		add(files.Name)
	}
	return names
}

// selectorOf returns the selector of the element that an operation acts on, with the values
// of parameters filled in; empty if it names none.
func selectorOf(o routine.Operation, values routine.Values) string {
	return textAt(o, values, "/selector")
}

// textAt returns the text of an operation at a JSON pointer, with the values of parameters
// filled in; empty if it has none there, or one with other values.
func textAt(o routine.Operation, values routine.Values, pointer string) string {
	op, err := operation.Decode(o)
	if err != nil {
		return ""
	}
	found := ""
	operation.EachTemplate(op, func(s operation.Site) {
		if s.Pointer != pointer {
			return
		}
		t, _ := placeholder.Parse(s.Text, s.Place)
		filled, err := (&placeholder.Filling{Resolve: func(t placeholder.Token) (any, bool) {
			v, ok := values[t.Name]
			return v, ok && t.Source == placeholder.Parameter
		}}).Fill(t)
		if text, ok := filled.(string); ok && err == nil {
			found = text
		}
	})
	return found
}

// takeField notes the form field that an operation types a value into, or the radio buttons
// of which it clicks the one with a value: the parameter is declared by it.
func (l *lesson) takeField(k *keptOperation) {
	if k.element == nil || k.element.Field == nil {
		return
	}
	switch k.operation.Type() {
	case "click":
		l.takeRadio(k)
		return
	case "input_text":
	default:
		return
	}
	eachSite(k.operation, func(s operation.Site, names []string) {
		if s.Pointer != "/text" || len(names) != 1 {
			return
		}
		g := l.given[names[0]]
		whole := strings.TrimSpace(s.Text) == "{{"+names[0]+"}}"
		if k.element.Field.Secret {
			g.secret = true
		}
		if whole {
			g.field = k.element.Field
		}
		l.setValue(names[0], g)
	})
	l.updateValues(k)
}

// takeRadio notes the group of radio buttons of which an operation clicks the one whose value
// attribute is a parameter, as in input[value="{{kind}}"].
func (l *lesson) takeRadio(k *keptOperation) {
	f := k.element.Field
	if f.Type != "radio" {
		return
	}
	eachSite(k.operation, func(s operation.Site, names []string) {
		if s.Pointer != "/selector" || len(names) != 1 || !choosesByValue(s.Text, names[0]) {
			return
		}
		g := l.given[names[0]]
		g.field = &routine.Field{Type: f.Type, Options: f.Values, OptionsVary: f.OptionsVary} // the label is that of one button
		l.setValue(names[0], g)
	})
	l.updateValues(k)
}

// choosesByValue reports whether a selector matches an element only if its value attribute
// is the value of the parameter with the name.
func choosesByValue(selector, name string) bool {
	token := "{{" + name + "}}"
	return strings.Count(selector, token) == 1 && !strings.Contains(selector, ":not(") && !strings.Contains(selector, ",") &&
		(strings.Contains(selector, `[value="`+token+`"]`) || strings.Contains(selector, `[value='`+token+`']`) || strings.Contains(selector, `[value=`+token+`]`))
}

// updateValues sets the values and the declarations of an operation to those of the lesson.
func (l *lesson) updateValues(k *keptOperation) {
	if ps, values, err := l.valuesOf([]routine.Operation{k.operation}); err == nil {
		k.parameters, k.values = ps, values
	}
}

// noteEntered notes that an operation has given the page a value, on which the options of
// lists of other documents may depend. Who is logged in is no such value.
func (l *lesson) noteEntered(k *keptOperation) {
	switch k.operation.Type() {
	case "fetch", "download", "return", "return_html":
		return // the page stays as it is
	}
	e, document := k.element, 0.0
	if e != nil {
		document = e.DocumentAt
	}
	switch {
	case e != nil && e.InLoginForm:
	case e != nil && e.Field != nil, len(parameterTokens(k.operation)) > 0:
		if l.entered == nil {
			l.entered = map[float64]bool{}
		}
		l.entered[document] = true
	}
}

// enteredElsewhere reports whether an operation has given a value to another document than
// the one that was opened at a time.
func (l *lesson) enteredElsewhere(documentAt float64) bool {
	others := len(l.entered)
	if l.entered[documentAt] {
		others--
	}
	return others > 0
}
