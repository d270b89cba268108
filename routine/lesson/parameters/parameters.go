// Package parameters declares the parameters of a routine that a lesson makes, and finds the
// literals in its operations that could become one.
package parameters

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/pattern"
	"rote/routine/placeholder"
)

// Declare returns the declaration of the parameter for a value of a lesson. f is the
// form field that took the value; nil if none did, as for a part of a URL or of a request. The
// declaration accepts the value: a rule of the field that the value breaks is left out. The
// declaration of a secret has neither the value nor rules, which could tell it.
func Declare(name string, value any, f *routine.Field, secret bool) routine.Parameter {
	p := routine.Parameter{Name: name, Type: routine.TypeString, Required: true, Description: Describe(name, f)}
	if secret || f != nil && f.Secret {
		p.Secret = true
		return p
	}
	if f != nil && f.OptionsVary {
		p.Description = strings.TrimSpace(p.Description + " " + exampleOptions(f.Options))
	}
	for _, declared := range declarations(value, f) {
		p.Type, p.Validation = declared.typ, declared.validation()
		if accepts(p, value) {
			break
		}
	}
	p.Observed = routine.RawJSON(Value(p, value)) // which tools show as an example
	return p
}

// declared is a type with the rules for its values.
type declared struct {
	typ   routine.ParameterType
	rules routine.Validation
}

func (d declared) validation() *routine.Validation {
	if routine.JSONText(d.rules) == "{}" {
		return nil
	}
	return &d.rules
}

// declarations returns what the parameter of a value could be declared as, the strictest
// first. The last one accepts every value.
func declarations(value any, f *routine.Field) []declared {
	all := []declared{}
	if f != nil {
		all = fieldDeclarations(*f)
	}
	switch v := value.(type) {
	case bool:
		all = append(all, declared{typ: routine.TypeBoolean})
	case json.Number:
		if n, ok := routine.ExactNumber(v); ok && n.IsInt() {
			all = append(all, declared{typ: routine.TypeInteger})
		}
		all = append(all, declared{typ: routine.TypeNumber})
	}
	return append(all, declared{typ: routine.TypeString})
}

// fieldDeclarations returns what a form field accepts.
func fieldDeclarations(f routine.Field) []declared {
	switch f.Type {
	case "number", "range":
		limits := routine.Validation{MinValue: exactNumber(f.Min), MaxValue: exactNumber(f.Max)}
		number := []declared{{routine.TypeNumber, limits}, {typ: routine.TypeNumber}}
		if wholeSteps(f) {
			return append([]declared{{routine.TypeInteger, limits}, {typ: routine.TypeInteger}}, number...)
		}
		return number
	case "date":
		return []declared{{typ: routine.TypeDate}}
	case "checkbox":
		return []declared{{typ: routine.TypeBoolean}}
	}
	if len(f.Options) > 0 && len(f.Options) < maxFieldOptions && !f.OptionsVary {
		choices := make([]json.RawMessage, len(f.Options))
		for i, o := range f.Options {
			choices[i] = routine.RawJSON(o)
		}
		return []declared{{routine.TypeEnum, routine.Validation{EnumValues: choices}}}
	}
	typ := routine.TypeString
	switch f.Type {
	case "email":
		typ = routine.TypeEmail
	case "url":
		typ = routine.TypeURL
	}
	var length routine.Validation
	if f.MaxLength > 0 {
		length.MaxLength = new(f.MaxLength)
	}
	all := []declared{{typ, length}}
	strict := length
	strict.Pattern = "^(?:" + f.Pattern + ")$" // HTML matches it with the whole value
	if _, err := pattern.Compile(strict.Pattern); err == nil && f.Pattern != "" {
		all = []declared{{typ, strict}, {typ, length}}
	}
	return append(all, declared{routine.TypeString, length})
}

// maxFieldOptions is how many options a [routine.Field] has at most: a list with so many may
// have more, which an enumeration would refuse.
const maxFieldOptions = 50

// wholeSteps reports whether a number field accepts whole numbers only: HTML counts the steps,
// which are 1 if the page says nothing, from the least value.
func wholeSteps(f routine.Field) bool {
	whole := func(text, missing string) bool {
		if text == "" {
			text = missing
		}
		n, ok := new(big.Rat).SetString(text)
		return ok && n.IsInt()
	}
	return whole(f.Step, "1") && whole(f.Min, "0")
}

// exactNumber returns text as a number; empty if it is none.
func exactNumber(text string) json.Number {
	if !routine.IsNumber(text) {
		return ""
	}
	return json.Number(text)
}

// Accepts reports whether a parameter declared like p may have the value.
func accepts(p routine.Parameter, value any) bool {
	d := &routine.Definition{Parameters: []routine.Parameter{p}}
	_, err := definition.Bind(d, routine.RawJSON(map[string]any{p.Name: Value(p, value)}))
	return err == nil
}

// Value returns a value of a lesson as a call would give it for p: a number that went
// into a field of text is a text there.
func Value(p routine.Parameter, value any) any {
	switch p.Type {
	case routine.TypeInteger, routine.TypeNumber:
		if text, ok := value.(string); ok && routine.IsNumber(text) {
			return json.Number(text)
		}
	case routine.TypeBoolean:
		if text, ok := value.(string); ok && (text == "true" || text == "false") {
			return text == "true"
		}
	case routine.TypeFiles:
	default:
		if _, ok := value.(string); !ok && value != nil {
			return placeholder.Format(value)
		}
	}
	return value
}

// Describe returns the beginning of a parameter's description: the label of its field.
// It is empty if there is no label, or one that says nothing more than the name.
func Describe(name string, f *routine.Field) string {
	if f == nil {
		return ""
	}
	// Braces in the label of a page are no placeholder.
	text := strings.TrimRight(withoutBraces(routine.Truncate(routine.OneLine(routine.PlainText(f.Label)), 120)), " .:*")
	if words := strings.NewReplacer("_", " ", "-", " "); strings.EqualFold(words.Replace(text), words.Replace(name)) {
		return ""
	}
	if r := []rune(text); len(r) > 0 {
		text = string(unicode.ToUpper(r[0])) + string(r[1:])
	}
	if text == "" || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// maxExampleOptions is how many options the description of a parameter has at most.
const maxExampleOptions = 5

// exampleOptions returns the first options as a sentence for a description; empty if there
// are none.
func exampleOptions(options []string) string {
	var shown []string
	for _, o := range options[:min(len(options), maxExampleOptions)] {
		shown = append(shown, withoutBraces(routine.Truncate(routine.OneLine(routine.PlainText(o)), 40)))
	}
	if len(shown) == 0 {
		return ""
	}
	return "For example: " + strings.Join(shown, ", ") + "."
}

// withoutBraces returns a text of a page in which no braces begin or end a placeholder.
func withoutBraces(text string) string {
	return strings.NewReplacer("{{", "{ {", "}}", "} }").Replace(text)
}

// maxParameterName bounds the names that parameterName makes, in characters.
const maxParameterName = 40

// Name makes the name of a parameter out of a label, as customer_number out of
// "Customer number:". It is another one than those that are taken.
func Name(label string, taken func(string) bool) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(strings.ToLower(label)) {
		switch {
		case r == 'ß':
			b.WriteString("ss")
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’': // an accent, or within a word
		default:
			gap = true
		}
		if b.Len() >= maxParameterName {
			break
		}
	}
	name := strings.Trim(b.String(), "_")
	if !definition.ValidName(name) {
		name = strings.TrimSuffix("value_"+name, "_")
	}
	free := name
	for n := 2; taken(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}
