package routine

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeHeader decodes the fields of a stored definition except its parameters and
// operations. session and x-block, which not every definition has, are stored before the tags.
// start is the definition's JSON or the beginning of it. complete reports whether start
// contained all of these fields.
func DecodeHeader(start []byte) (d Definition, complete bool) {
	d.Parameters, d.Operations = []Parameter{}, []Operation{}
	fields := map[string]any{"name": &d.Name, "description": &d.Description, "incognito": &d.Incognito,
		"is_public": &d.IsPublic, "is_mcp_tool_designated": &d.IsMCPToolDesignated, "tags": &d.Tags}
	optional := map[string]any{"session": &d.Session, "x-block": &d.Block}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(start))
	if _, err := decoder.ReadToken(); err != nil {
		return d, false
	}
	for len(fields) > 0 {
		name, err := decoder.ReadToken()
		if err != nil || name.Kind() != '"' {
			return d, false
		}
		field := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return d, false
		}
		into, ok := fields[field]
		if !ok {
			into, ok = optional[field]
		}
		if ok {
			if json.Unmarshal(value, into) != nil {
				return d, false
			}
			delete(fields, field)
		}
	}
	return d, true
}

// OmitDetails removes the parameters and operations from r and says so in
// Omitted.
func (r *Routine) OmitDetails() {
	r.Parameters, r.Operations, r.Omitted = []Parameter{}, []Operation{}, []string{"parameters", "operations"}
}

// Size returns roughly how many bytes the definition has as JSON, without the field
// names that every definition has.
func (d *Definition) Size() int {
	n := len(d.Name) + len(d.Description)
	for _, o := range d.Operations {
		n += len(o.Raw())
	}
	for _, p := range d.Parameters {
		n += p.size()
	}
	return n
}

func (p *Parameter) size() int {
	const declaration = 300 // of an empty one in memory
	n := declaration + len(p.Description) + len(p.Default) + len(p.Examples) + len(p.Observed) + extraSize(p.Extra)
	if v := p.Validation; v != nil {
		n += len(v.Pattern) + len(v.Format) + extraSize(v.Extra)
		for _, e := range v.EnumValues {
			n += len(e) + 24 // and the slice itself
		}
	}
	return n
}

func extraSize(fields map[string]json.RawMessage) (n int) {
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}
