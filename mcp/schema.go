package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
)

const (
	// maxPropertyDescription is in characters, the example not counted.
	maxPropertyDescription = 200
	maxExample             = 80
	// maxNumber bounds the spelling of a number in a schema.
	maxNumber = 40
)

// propertyNames are those that every client takes.
var propertyNames = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// property is a parameter in JSON Schema 2020-12, with no keyword that any
// client is known to choke on.
type property struct {
	Type        string            `json:"type"`
	Description string            `json:"description,omitempty"`
	Format      string            `json:"format,omitempty"`
	MinLength   *int              `json:"minLength,omitempty"`
	MaxLength   *int              `json:"maxLength,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Minimum     json.Number       `json:"minimum,omitempty"`
	Maximum     json.Number       `json:"maximum,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
	Default     json.RawMessage   `json:"default,omitempty"`

	// notes are rules and hints that only words can say.
	notes []string
}

// inputSchema gives the schema of a call's arguments, the parameters in the
// order of their declaration. It guides clients: [routine.Bind] decides.
func inputSchema(parameters []routine.Parameter) (json.RawMessage, error) {
	var b bytes.Buffer
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i := range parameters {
		p := &parameters[i]
		if !propertyNames.MatchString(p.Name) {
			return nil, fmt.Errorf("parameter %q has a name that clients do not take", p.Name)
		}
		text, err := json.Marshal(newProperty(p))
		if err != nil {
			return nil, fmt.Errorf("schema of parameter %q: %w", p.Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", p.Name, text)
		if p.Required && p.Default == nil {
			required = append(required, strconv.Quote(p.Name))
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":[%s]`, strings.Join(required, ","))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes(), compiles(b.Bytes())
}

// compiles checks what mcp-go would send as it is: one schema that is no JSON
// silences the whole list. The keywords above mean the same in draft 7, which
// compiles in half the time.
func compiles(schema []byte) error {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	if err := c.AddResource("tool.json", bytes.NewReader(schema)); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if _, err := c.Compile("tool.json"); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

func newProperty(p *routine.Parameter) property {
	var rules routine.Validation
	if p.Validation != nil {
		rules = *p.Validation
	}
	s := property{Type: "string"}
	switch p.Type {
	case routine.TypeInteger, routine.TypeNumber:
		s.Type = string(p.Type)
		s.Minimum = s.bound("at least", rules.MinValue)
		s.Maximum = s.bound("at most", rules.MaxValue)
	case routine.TypeBoolean:
		s.Type = "boolean"
	default:
		s.text(p.Type, rules)
	}
	s.enum(p, rules)
	s.pattern(rules.Pattern)
	if p.Secret {
		s.notes = append(s.notes, "Secret: it is masked wherever it is shown or stored.")
	} else {
		s.Default = s.literal(p.Default)
	}
	s.describe(p)
	return s
}

// text adds what holds for values that are strings.
func (s *property) text(kind routine.ParameterType, rules routine.Validation) {
	s.MinLength, s.MaxLength = plainInt(rules.MinLength), plainInt(rules.MaxLength)
	switch kind {
	case routine.TypeDate:
		if rules.Format == "" || rules.Format == "YYYY-MM-DD" {
			s.Format = "date"
			s.notes = append(s.notes, "YYYY-MM-DD.")
		} else {
			s.notes = append(s.notes, "Spelt "+clip(oneLine(rules.Format), 40)+".")
		}
	case routine.TypeDatetime:
		s.Format = "date-time"
		s.notes = append(s.notes, "RFC 3339, with offset.")
	case routine.TypeEmail:
		s.Format = "email"
	case routine.TypeURL:
		s.Format = "uri"
		s.notes = append(s.notes, "http or https.")
	}
}

func plainInt[T ~int](n *T) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// bound is a limit as a schema can have it; one that is too long for clients
// goes into words.
func (s *property) bound(word string, n json.Number) json.Number {
	if n == "" {
		return ""
	}
	if _, err := n.Float64(); err == nil && len(n) <= maxNumber {
		return n
	}
	s.notes = append(s.notes, fmt.Sprintf("It must be %s %s.", word, clip(n.String(), maxNumber)))
	return ""
}

// enum lists the values to choose from, all of the property's own type.
func (s *property) enum(p *routine.Parameter, rules routine.Validation) {
	for _, v := range rules.EnumValues {
		s.Enum = append(s.Enum, s.literal(v))
	}
	if s.Type == "boolean" {
		s.Enum = nil
		if choices := p.Enum(); len(choices) == 1 {
			s.notes = append(s.notes, "It must be "+choices[0]+".")
		}
	}
}

// pattern takes an expression that means the same everywhere. Others are told
// in words, and checked by the service all the same.
func (s *property) pattern(expr string) {
	if expr == "" {
		return
	}
	_, err := regexp.Compile(expr) // RE2 has no lookaround and no back references
	if plain := !strings.Contains(strings.ReplaceAll(expr, "(?:", ""), "(?"); err == nil && plain && s.Type == "string" {
		s.Pattern = expr
		return
	}
	s.notes = append(s.notes, "It must match the expression "+clip(oneLine(expr), 80)+".")
}

// literal is a declared value as one of the property's type: authors may spell
// numbers and booleans as strings, and choices as numbers.
func (s *property) literal(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	switch {
	case s.Type == "string" && !isText:
		quoted, err := json.Marshal(string(raw))
		if err != nil {
			return raw
		}
		return quoted
	case s.Type != "string" && isText && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return raw
}

// describe puts the author's words, the notes and one example together.
func (s *property) describe(p *routine.Parameter) {
	notes := strings.Join(s.notes, " ")
	text := clip(oneLine(p.Description), max(maxPropertyDescription-len([]rune(notes))-2, 0)) // a stop and a blank
	example := exampleOf(p)
	if text != "" && notes+example != "" && !strings.ContainsAny(text[len(text)-1:], ".!?") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	s.Description = clip(strings.TrimSpace(text+" "+notes), maxPropertyDescription)
	if example != "" {
		s.Description = strings.TrimSpace(s.Description + " Example: " + example)
	}
}

// exampleOf is a declared example, else a value the author has seen in use. A
// secret has none.
func exampleOf(p *routine.Parameter) string {
	var examples []json.RawMessage
	_ = json.Unmarshal(p.Examples, &examples) // no list: no examples
	examples = append(examples, p.Observed)
	example := oneLine(string(examples[0]))
	if p.Secret || example == "null" || len(example) > maxExample {
		return ""
	}
	return example
}
