package routine

import (
	"bytes"
	"encoding/json"
	"strings"

	"rote/routine/placeholder"
)

// ParameterType is the type of a parameter's values.
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
	// TypeFiles is specific to rote: the values are files that the call contains.
	TypeFiles ParameterType = "x-files"
)

// Parameter declares one input of a routine. JSON may have its validation rules inside
// "validation" or next to "type"; it is always encoded with "validation".
type Parameter struct {
	Name        string        `json:"name"`
	Type        ParameterType `json:"type"`
	Required    bool          `json:"required"`
	Description string        `json:"description"`
	// Default is the JSON of the value used when a call has none; nil if there is no
	// default.
	Default    json.RawMessage `json:"default,omitempty"`
	Validation *Validation     `json:"validation,omitempty"`
	Examples   json.RawMessage `json:"examples,omitempty"`
	Observed   json.RawMessage `json:"observed_value,omitempty"`
	// Secret ("x-secret") masks the value wherever it is shown or stored.
	Secret bool `json:"x-secret,omitempty"`
	// FromSecret ("x-from-secret") names the stored secret, as in "shop.password", whose value
	// the parameter has if a call gives none; empty: there is none.
	FromSecret string `json:"x-from-secret,omitempty"`
	// Extra are fields of the author's own, whose names begin with "x-". They are kept
	// unchanged.
	Extra map[string]json.RawMessage `json:"-"`
}

// Validation are the rules that a parameter's values must meet. A zero field is no
// rule.
type Validation struct {
	MinLength  *int              `json:"min_length,omitempty"`
	MaxLength  *int              `json:"max_length,omitempty"`
	MinValue   json.Number       `json:"min_value,omitempty"`
	MaxValue   json.Number       `json:"max_value,omitempty"`
	Pattern    string            `json:"pattern,omitempty"`
	EnumValues []json.RawMessage `json:"enum_values,omitempty"`
	Format     string            `json:"format,omitempty"`
	// Extra are fields of the author's own, whose names begin with "x-". They are kept
	// unchanged.
	Extra map[string]json.RawMessage `json:"-"`
}

// ValidationFields are the names of the rules that may also be given next to "type".
var ValidationFields = []string{"min_length", "max_length", "min_value", "max_value", "pattern", "enum_values", "format"}

// rules decodes the rules of a Validation, with lengths in any spelling of a whole
// number, such as 2.0.
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

// UnmarshalJSON accepts the rules in both places, fills in the defaults of missing
// fields, and treats a default of null as none.
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

// MarshalJSON encodes the parameter with its rules in "validation".
func (p Parameter) MarshalJSON() ([]byte, error) {
	type plain Parameter
	return withOwnFields(JSONText(plain(p)), p.Extra), nil
}

// UnmarshalJSON accepts lengths in any spelling of a whole number.
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

// MarshalJSON encodes the rules that are set.
func (v Validation) MarshalJSON() ([]byte, error) {
	type plain Validation
	return withOwnFields(JSONText(plain(v)), v.Extra), nil
}

// ownFields returns an object's "x-" fields except x-secret and x-from-secret.
func ownFields(text []byte) (map[string]json.RawMessage, error) {
	if !bytes.Contains(text, []byte("x-")) && !bytes.Contains(text, []byte(`\u`)) {
		return nil, nil // most have none
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for k := range all {
		if !strings.HasPrefix(k, "x-") || k == "x-secret" || k == "x-from-secret" {
			delete(all, k)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// withOwnFields adds fields to the JSON text of an object: {"a":1} with x-b becomes
// {"a":1,"x-b":2}.
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

// or returns v with the rules that it does not have taken from w.
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

// Needed reports whether a call must give a value: the parameter is required, and neither a
// default nor a stored secret supplies one.
func (p *Parameter) Needed() bool { return p.Required && p.Default == nil && p.FromSecret == "" }

// Rules returns the parameter's rules; none if it declares no validation.
func (p *Parameter) Rules() Validation {
	if p.Validation == nil {
		return Validation{}
	}
	return *p.Validation
}

// Enum returns the values to choose from as text.
func (p *Parameter) Enum() []string {
	var out []string
	for _, e := range p.Rules().EnumValues {
		out = append(out, textOf(e))
	}
	return out
}

// textOf returns a JSON value as text: a string without its quotes, anything else as a
// placeholder would write it.
func textOf(raw json.RawMessage) string {
	var v any
	if DecodeJSON(raw, &v) != nil {
		return string(raw)
	}
	return placeholder.Format(v)
}
