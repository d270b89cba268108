// Package routine has the words of rote: routines and their definitions, executions
// and their results, errors, principals, and the ports [Store], [Browser] and [Page]
// that other packages supply.
//
// The work is done below it: definition compiles, operation has the kinds of
// operations, engine runs one definition, service has the use cases. None of them
// knows HTTP, MCP, SQL or a browser driver.
package routine

import (
	"encoding/json"
	"strings"
)

// Limits that callers see.
const (
	// MaxDefinitionBytes bounds the text of one definition.
	MaxDefinitionBytes = 4 << 20
	// MaxDepth bounds the nesting of a definition.
	MaxDepth = 64
	// MaxFilledBytes bounds what placeholders write into the operations, as it
	// is written and as often as it is: those of parameters into all operations
	// together, and all of them into one.
	MaxFilledBytes = 32 << 20

	DefaultPageLimit = 20
	MaxPageLimit     = 100
)

// Status is where a routine stands in its life.
type Status string

// A draft can be run but is not published as a tool; an archived routine is
// neither run nor published.
const (
	StatusDraft    Status = "draft"
	StatusActive   Status = "active"
	StatusArchived Status = "archived"
)

// Valid reports whether s is one of the statuses above.
func (s Status) Valid() bool { return s == StatusDraft || s == StatusActive || s == StatusArchived }

// Definition is the part of a routine that its author writes. Only definition.Parse
// makes one, so it holds everything that Parse promises.
type Definition struct {
	Name                string      `json:"name"`
	Description         string      `json:"description"`
	Incognito           bool        `json:"incognito"`
	IsPublic            bool        `json:"is_public"`
	IsMCPToolDesignated bool        `json:"is_mcp_tool_designated"`
	Tags                []string    `json:"tags"`
	Parameters          []Parameter `json:"parameters"`
	Operations          []Operation `json:"operations"`
}

// Routine is a definition with what the service knows about it.
type Routine struct {
	ID string `json:"id"`
	Definition
	CreatedBy string `json:"created_by"`
	ProjectID string `json:"project_id"`
	// OrganizationID decides access and stays inside the service.
	OrganizationID string `json:"-"`
	// ToolName is the name under which the routine is published over MCP. It
	// is unique in its organization and stays the same for the routine's life.
	ToolName string `json:"-"`
	Status   Status `json:"routine_status"`
	// CreatedAt and UpdatedAt are Unix seconds.
	CreatedAt int64 `json:"created_at"`
	UpdatedAt int64 `json:"updated_at"`
	// Version counts the routine's changes from 1.
	Version int `json:"version"`
	// Redacted: values of secret parameters were left out for the one caller
	// that it was read for.
	Redacted bool `json:"-"`
	// UniqueName makes the creation fail where a routine of the organization
	// that is not archived has the same name. It is not stored.
	UniqueName bool `json:"-"`
	// Withheld: the caller may not read the routine, and this is the answer to a
	// change of theirs. It has the ID, ToolName, OrganizationID, Status, Version,
	// Name and IsMCPToolDesignated of the routine and nothing else.
	Withheld bool `json:"-"`
	// Omitted names the fields that a list leaves out of a routine whose
	// definition is large: they are empty there.
	Omitted []string `json:"omitted,omitempty"`
	// Key is saved with a new routine, and not read back.
	Key *IdempotencyKey `json:"-"`
}

// Published tells whether the routine is offered to agents as a tool.
func (r *Routine) Published() bool {
	return r.Status == StatusActive && r.IsMCPToolDesignated
}

// SearchText returns, in lower case, what the words of a search are looked for
// in: the name, the description and the tags.
func (d *Definition) SearchText() string {
	return strings.ToLower(d.Name + "\n" + d.Description + "\n" + strings.Join(d.Tags, "\n"))
}

// DecodeDefinition reads back a definition that was stored after definition.Parse had
// accepted it. It does not check anything again.
func DecodeDefinition(stored []byte) (Definition, error) {
	var d Definition
	err := json.Unmarshal(stored, &d)
	return d, err
}

// Operation is one step of a definition as its author wrote it.
type Operation struct {
	raw json.RawMessage
	typ string
}

// NewOperation returns an operation of a type with its JSON text.
func NewOperation(typ string, raw json.RawMessage) Operation { return Operation{raw, typ} }

// Raw returns the JSON text of the operation as it was written.
func (o Operation) Raw() json.RawMessage { return o.raw }

// Type is the kind's name.
func (o Operation) Type() string { return o.typ }

// MarshalJSON gives the operation as it was written.
func (o Operation) MarshalJSON() ([]byte, error) { return o.raw, nil }

// UnmarshalJSON takes an operation of any type: one that this version does not know
// is kept, and only a run of it fails.
func (o *Operation) UnmarshalJSON(text []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	o.raw, o.typ = append(json.RawMessage(nil), text...), head.Type
	return nil
}
