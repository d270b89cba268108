package routine

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ParameterType says what values a parameter takes.
type ParameterType string

const (
	TypeString   ParameterType = "string"
	TypeInteger  ParameterType = "integer"
	TypeNumber   ParameterType = "number"
	TypeBoolean  ParameterType = "boolean"
	TypeDate     ParameterType = "date"
	TypeDatetime ParameterType = "datetime"
	TypeEmail    ParameterType = "email"
	TypeURL      ParameterType = "url"
	TypeEnum     ParameterType = "enum"
)

// Parameter declares one input of a routine. Decoding takes the rules from
// inside "validation" or from beside "type"; encoding puts them in
// "validation".
type Parameter struct {
	Name        string        `json:"name"`
	Type        ParameterType `json:"type"`
	Required    bool          `json:"required"`
	Description string        `json:"description"`
	// Default is the JSON of the value used when none is given; nil: none.
	Default    json.RawMessage `json:"default,omitempty"`
	Validation *Validation     `json:"validation,omitempty"`
	Examples   json.RawMessage `json:"examples,omitempty"`
	Observed   json.RawMessage `json:"observed_value,omitempty"`
	// Secret masks the value wherever it is shown or stored ("x-secret").
	Secret bool `json:"x-secret,omitempty"`
	// Extra are the author's own "x-" fields, kept as they are.
	Extra map[string]json.RawMessage `json:"-"`
}

// Validation are the rules for a parameter's values. A nil or zero field is no
// rule.
type Validation struct {
	MinLength  *int              `json:"min_length,omitempty"`
	MaxLength  *int              `json:"max_length,omitempty"`
	MinValue   json.Number       `json:"min_value,omitempty"`
	MaxValue   json.Number       `json:"max_value,omitempty"`
	Pattern    string            `json:"pattern,omitempty"`
	EnumValues []json.RawMessage `json:"enum_values,omitempty"`
	Format     string            `json:"format,omitempty"`
}

// validationFields are the rules that may stand beside "type" too.
var validationFields = []string{"min_length", "max_length", "min_value", "max_value", "pattern", "enum_values", "format"}

// UnmarshalJSON reads either dialect and fills in the defaults.
func (p *Parameter) UnmarshalJSON(text []byte) error {
	type plain Parameter
	q := plain{Type: TypeString, Required: true}
	if err := unmarshal(text, &q); err != nil {
		return err
	}
	var flat Validation
	if err := unmarshal(text, &flat); err != nil {
		return err
	}
	if q.Validation != nil {
		flat = flat.or(*q.Validation)
	}
	q.Validation = nil
	if !flat.empty() {
		q.Validation = &flat
	}
	var all map[string]json.RawMessage
	if err := unmarshal(text, &all); err != nil {
		return err
	}
	for k, v := range all {
		if strings.HasPrefix(k, "x-") && k != "x-secret" {
			if q.Extra == nil {
				q.Extra = map[string]json.RawMessage{}
			}
			q.Extra[k] = v
		}
	}
	if string(q.Default) == "null" {
		q.Default = nil // null is "not given"
	}
	*p = Parameter(q)
	return nil
}

// MarshalJSON writes the one form that answers carry.
func (p Parameter) MarshalJSON() ([]byte, error) {
	type plain Parameter
	text := compact(plain(p))
	if len(p.Extra) > 0 {
		text = text[:len(text)-1] + "," + compact(p.Extra)[1:]
	}
	return []byte(text), nil
}

// UnmarshalJSON takes lengths in any spelling of a whole number.
func (v *Validation) UnmarshalJSON(text []byte) error {
	type plain Validation
	read := struct {
		*plain
		MinLength *integer `json:"min_length"`
		MaxLength *integer `json:"max_length"`
	}{plain: (*plain)(v)}
	if err := unmarshal(text, &read); err != nil {
		return err
	}
	v.MinLength, v.MaxLength = (*int)(read.MinLength), (*int)(read.MaxLength)
	return nil
}

func (v Validation) empty() bool {
	return v.MinLength == nil && v.MaxLength == nil && v.MinValue == "" && v.MaxValue == "" &&
		v.Pattern == "" && v.EnumValues == nil && v.Format == ""
}

// or takes from w the rules that v lacks.
func (v Validation) or(w Validation) Validation {
	if v.MinLength == nil {
		v.MinLength = w.MinLength
	}
	if v.MaxLength == nil {
		v.MaxLength = w.MaxLength
	}
	if v.MinValue == "" {
		v.MinValue = w.MinValue
	}
	if v.MaxValue == "" {
		v.MaxValue = w.MaxValue
	}
	if v.Pattern == "" {
		v.Pattern = w.Pattern
	}
	if v.EnumValues == nil {
		v.EnumValues = w.EnumValues
	}
	if v.Format == "" {
		v.Format = w.Format
	}
	return v
}

// unmarshal decodes JSON and keeps the digits of numbers.
func unmarshal(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
