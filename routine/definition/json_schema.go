package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/pattern"
)

const (
	// maxSchemaNumber bounds the spelling of a number in a schema, in characters:
	// what reads schemas may have less room for digits than the service.
	maxSchemaNumber = 40
	maxNotedFormat  = 39
	maxNotedPattern = 79
	// Bounds of the values in the schema of one parameter, in bytes of JSON:
	// agents have all schemas in their context. Longer ones are described in
	// words, and the checks of a call still know them whole.
	maxSchemaEnum     = 4 << 10
	maxSchemaValue    = 1 << 10
	maxSchemaExamples = 10
	// maxNotedValues bounds the values that a note shows, in bytes.
	maxNotedValues = 60
)

const (
	secretNote     = "Secret: it is masked wherever it is shown or stored."
	fromSecretNote = "Leave it out: a stored secret supplies the value."
)

// Schema is the JSON Schema (2020-12) of a parameter. It has only keywords that mean
// the same in all drafts and to all readers.
type Schema struct {
	Type string `json:"type"`
	// Description is set by the caller that shows the schema, which knows how long it
	// may be.
	Description string            `json:"description,omitempty"`
	Format      string            `json:"format,omitempty"`
	MinLength   *int              `json:"minLength,omitempty"`
	MaxLength   *int              `json:"maxLength,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Minimum     json.Number       `json:"minimum,omitempty"`
	Maximum     json.Number       `json:"maximum,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	// Items, MinItems and MaxItems describe a list of files.
	Items    json.RawMessage `json:"items,omitempty"`
	MinItems int             `json:"minItems,omitempty"`
	MaxItems int             `json:"maxItems,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	// Examples are those of the author, or else the observed value. A secret parameter
	// has neither examples nor a default.
	Examples  []json.RawMessage `json:"examples,omitempty"`
	WriteOnly bool              `json:"writeOnly,omitempty"`

	// Notes are rules and hints, as sentences, that only words can say.
	Notes []string `json:"-"`
}

// schemaOf returns the JSON Schema of the values that a parameter takes. It only
// guides callers: [Bind] decides, and also accepts numbers and booleans that are
// written as strings.
func schemaOf(p *routine.Parameter) Schema {
	var rules routine.Validation
	if p.Validation != nil {
		rules = *p.Validation
	}
	s := Schema{Type: "string"}
	switch p.Type {
	case routine.TypeInteger, routine.TypeNumber:
		s.Type = string(p.Type)
		s.Minimum = s.bound("at least", rules.MinValue)
		s.Maximum = s.bound("at most", rules.MaxValue)
	case routine.TypeBoolean:
		s.Type = "boolean"
	case routine.TypeFiles:
		s.Type, s.Items, s.MinItems, s.MaxItems = "array", json.RawMessage(inputFileSchema), 1, routine.MaxInputFiles
		s.note("%s", filesNote)
		if s.WriteOnly = p.Secret; p.Secret {
			s.note(secretNote)
		}
		return s // a default or an example would be the content of a file
	default:
		s.text(p.Type, rules)
	}
	s.enum(p, rules)
	s.pattern(rules.Pattern)
	if s.WriteOnly = p.Secret; p.Secret {
		s.note(secretNote)
		if p.FromSecret != "" {
			s.note(fromSecretNote)
		}
		return s
	}
	if value := s.literal(p.Default); len(value) > 0 && !publishable(value, maxSchemaValue) {
		s.note("Default: %s.", routine.Truncate(routine.EscapeInvisible(visibleLiteral(value)), maxNotedValues))
	} else {
		s.Default = value
	}
	var examples []json.RawMessage
	_ = json.Unmarshal(p.Examples, &examples) // no list: no examples
	if len(examples) == 0 {
		examples = append(examples, p.Observed)
	}
	for _, e := range examples {
		if len(e) == 0 || string(e) == "null" || len(s.Examples) == maxSchemaExamples {
			continue
		}
		if value := s.literal(e); publishable(value, maxSchemaValue) {
			s.Examples = append(s.Examples, value)
		}
	}
	return s
}

// publishable reports whether a schema may contain a value: it has at most limit bytes
// and no invisible characters.
func publishable(value json.RawMessage, limit int) bool {
	var text string
	if len(value) > limit {
		return false
	}
	_ = json.Unmarshal(value, &text) // a number or boolean holds no such characters
	_, at := routine.FirstInvisible(text)
	return at < 0
}

// visibleLiteral returns a JSON value without the escapes of printable characters that
// the author used.
func visibleLiteral(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return routine.JSONText(text)
}

// ParametersSchema returns the JSON Schema of the object with the values of a call,
// with the parameters in the order of their declaration. describe may complete the
// schema of each parameter. It fails only for parameters that [Parse] refuses.
func ParametersSchema(parameters []routine.Parameter, describe func(*routine.Parameter, *Schema)) (json.RawMessage, error) {
	var properties bytes.Buffer
	required := []string{}
	for i := range parameters {
		p := &parameters[i]
		s := schemaOf(p)
		describe(p, &s)
		if i > 0 {
			properties.WriteByte(',')
		}
		text, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("schema of parameter %q: %w", p.Name, err)
		}
		fmt.Fprintf(&properties, "%s:%s", routine.JSONText(p.Name), text)
		if p.Needed() {
			required = append(required, p.Name)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":"object","properties":{%s}`, properties.Bytes())
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, routine.JSONText(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes(), nil
}

func (s *Schema) note(format string, args ...any) {
	s.Notes = append(s.Notes, routine.PlainText(fmt.Sprintf(format, args...)))
}

// text adds the keywords for values that are strings.
func (s *Schema) text(kind routine.ParameterType, rules routine.Validation) {
	s.MinLength, s.MaxLength = rules.MinLength, rules.MaxLength
	switch kind {
	case routine.TypeDate:
		if rules.Format == "" || rules.Format == "YYYY-MM-DD" {
			s.Format = "date"
			s.note("YYYY-MM-DD.")
		} else {
			s.note("Spelt %s.", routine.Truncate(routine.OneLine(rules.Format), maxNotedFormat))
		}
	case routine.TypeDatetime:
		s.Format = "date-time"
		s.note("RFC 3339, with offset.")
	case routine.TypeEmail:
		s.Format = "email"
	case routine.TypeURL:
		s.Format = "uri"
		s.note("http or https.")
	}
}

// bound returns a bound for the schema. It describes one that is too long for other
// readers in words instead.
func (s *Schema) bound(word string, n json.Number) json.Number {
	if n == "" {
		return ""
	}
	if _, err := n.Float64(); err == nil && len(n) <= maxSchemaNumber {
		return n
	}
	s.note("It must be %s %s.", word, routine.Truncate(n.String(), maxSchemaNumber-1))
	return ""
}

// enum lists the values to choose from, all of the property's own type.
func (s *Schema) enum(p *routine.Parameter, rules routine.Validation) {
	if s.Type == "boolean" {
		if choices := p.Enum(); len(choices) == 1 {
			s.note("It must be %s.", choices[0])
		}
		return
	}
	size := 0
	values := make([]json.RawMessage, 0, min(len(rules.EnumValues), maxSchemaEnum/2))
	for _, v := range rules.EnumValues {
		value := s.literal(v)
		size += len(value) + 1
		if size > maxSchemaEnum || !publishable(value, maxSchemaEnum) {
			s.noteValues(rules.EnumValues)
			return
		}
		values = append(values, value)
	}
	if len(values) > 0 {
		s.Enum = values
	}
}

// noteValues says in words how many values there are to choose from, and shows the
// first ones.
func (s *Schema) noteValues(all []json.RawMessage) {
	var shown []string
	size := 0
	for _, v := range all {
		value := routine.EscapeInvisible(visibleLiteral(s.literal(v)))
		if size += len(value) + 2; size > maxNotedValues {
			break
		}
		shown = append(shown, value)
	}
	switch {
	case len(shown) == len(all):
		s.note("One of %s.", strings.Join(shown, ", "))
	case len(shown) == 0:
		s.note("One of %d values, such as %s.", len(all), routine.Truncate(routine.EscapeInvisible(visibleLiteral(s.literal(all[0]))), maxNotedValues))
	default:
		s.note("One of %d values, such as %s.", len(all), strings.Join(shown, ", "))
	}
}

// pattern publishes an expression that all validators can read. It describes others in
// words; Bind checks all of them.
func (s *Schema) pattern(expr string) {
	if expr == "" {
		return
	}
	if s.Type == "string" && pattern.Portable(expr) {
		s.Pattern = expr
		return
	}
	s.note("It must match the expression %s.", routine.Truncate(routine.EscapeInvisible(routine.OneLine(expr)), maxNotedPattern))
}

// literal converts a declared value to the property's type: authors may write numbers
// and booleans as strings, and choices as numbers.
func (s *Schema) literal(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	switch {
	case s.Type == "string" && !isText:
		return json.RawMessage(routine.JSONText(string(raw)))
	case s.Type != "string" && isText && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return raw
}
