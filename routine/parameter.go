package routine

import (
	"bytes"
	"encoding/json"
	"rote/routine/placeholder"
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
	// TypeFiles is rote's own: files that the call hands in.
	TypeFiles ParameterType = "x-files"
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
	// Extra are the author's own "x-" fields, kept as they are.
	Extra map[string]json.RawMessage `json:"-"`
}

// validationFields are the rules that may stand beside "type" too.
var ValidationFields = []string{"min_length", "max_length", "min_value", "max_value", "pattern", "enum_values", "format"}

// rules are those of a Validation as they are read: lengths in any spelling of a
// whole number.
type rules struct {
	MinLength  *Integer          `json:"min_length"`
	MaxLength  *Integer          `json:"max_length"`
	MinValue   json.Number       `json:"min_value"`
	MaxValue   json.Number       `json:"max_value"`
	Pattern    string            `json:"pattern"`
	EnumValues []json.RawMessage `json:"enum_values"`
	Format     string            `json:"format"`
}

func (r rules) validation() Validation {
	return Validation{MinLength: (*int)(r.MinLength), MaxLength: (*int)(r.MaxLength), MinValue: r.MinValue, MaxValue: r.MaxValue,
		Pattern: r.Pattern, EnumValues: r.EnumValues, Format: r.Format}
}

// UnmarshalJSON reads either dialect and fills in the defaults.
func (p *Parameter) UnmarshalJSON(text []byte) error {
	type plain Parameter
	read := struct {
		plain
		rules
	}{plain: plain{Type: TypeString, Required: true}}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*p = Parameter(read.plain)
	flat := read.validation()
	if p.Validation != nil {
		flat = flat.or(*p.Validation)
	}
	p.Validation = nil
	if !flat.empty() {
		p.Validation = &flat
	}
	if string(p.Default) == "null" {
		p.Default = nil // null is "not given"
	}
	var err error
	p.Extra, err = ownFields(text)
	return err
}

// MarshalJSON writes the one form that answers carry.
func (p Parameter) MarshalJSON() ([]byte, error) {
	type plain Parameter
	return withOwnFields(JSONText(plain(p)), p.Extra), nil
}

// UnmarshalJSON takes lengths in any spelling of a whole number.
func (v *Validation) UnmarshalJSON(text []byte) error {
	var read rules
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*v = read.validation()
	var err error
	v.Extra, err = ownFields(text)
	return err
}

// MarshalJSON writes the rules that there are.
func (v Validation) MarshalJSON() ([]byte, error) {
	type plain Validation
	return withOwnFields(JSONText(plain(v)), v.Extra), nil
}

// ownFields are an object's "x-" fields that have no meaning here.
func ownFields(text []byte) (map[string]json.RawMessage, error) {
	if !bytes.Contains(text, []byte("x-")) && !bytes.Contains(text, []byte(`\u`)) {
		return nil, nil // most have none
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for k := range all {
		if !strings.HasPrefix(k, "x-") || k == "x-secret" {
			delete(all, k)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// withOwnFields adds fields to the text of an object.
func withOwnFields(text string, fields map[string]json.RawMessage) []byte {
	switch {
	case len(fields) == 0:
		return []byte(text)
	case text == "{}":
		return RawJSON(fields)
	}
	return []byte(text[:len(text)-1] + "," + JSONText(fields)[1:])
}

func (v Validation) empty() bool {
	return v.MinLength == nil && v.MaxLength == nil && v.MinValue == "" && v.MaxValue == "" &&
		v.Pattern == "" && v.EnumValues == nil && v.Format == "" && v.Extra == nil
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
	v.Extra = w.Extra
	return v
}

func (p *Parameter) Rules() Validation {
	if p.Validation == nil {
		return Validation{}
	}
	return *p.Validation
}

// Enum are the values to choose from, as text.
func (p *Parameter) Enum() []string {
	var out []string
	for _, e := range p.Rules().EnumValues {
		out = append(out, textOf(e))
	}
	return out
}

func textOf(raw json.RawMessage) string {
	var v any
	if DecodeJSON(raw, &v) != nil {
		return string(raw)
	}
	return placeholder.Format(v)
}
