// Package routine has the types that all of rote shares: routines and their
// definitions, executions and their results, errors and principals. It also declares
// the ports [Store], [Browser] and [Page], which other packages implement.
//
// The work is done in the packages below: definition compiles definitions, operation
// has the kinds of operations, engine runs one definition, and service has the use
// cases. None of them knows HTTP, MCP, SQL or a browser driver.
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
	// MaxFilledBytes bounds the bytes that placeholders write into operations,
	// counting every occurrence: those of parameters in all operations together, and
	// those of all kinds in one operation.
	MaxFilledBytes = 32 << 20

	DefaultPageLimit = 20
	MaxPageLimit     = 100
)

// Status is the state of a routine in its lifecycle.
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

// Definition is the part of a routine that its author writes. It comes from
// definition.Parse only, which has checked it.
type Definition struct {
	Name                string `json:"name"`
	Description         string `json:"description"`
	Incognito           bool   `json:"incognito"`
	IsPublic            bool   `json:"is_public"`
	IsMCPToolDesignated bool   `json:"is_mcp_tool_designated"`
	// Session is the name of the saved session that runs use, which may have tokens of
	// parameters; empty: none. With it Incognito is false.
	Session string `json:"session,omitempty"`
	// Block names the resources that the pages of a run do not load; nil: all are loaded.
	Block      []string    `json:"x-block,omitempty"`
	Tags       []string    `json:"tags"`
	Parameters []Parameter `json:"parameters"`
	Operations []Operation `json:"operations"`
	// Newer reports whether the stored definition has fields that this version does not know,
	// because a newer one has saved it. See [Definition.CheckKnown].
	Newer bool `json:"-"`
}

// CheckKnown returns CodeInvalid if a newer version of rote has saved the definition, with
// fields that this one does not know. It may be read without them, but not be run or changed,
// because what they say would be lost.
func (d *Definition) CheckKnown() error {
	if !d.Newer {
		return nil
	}
	return Errorf(CodeInvalid, "a newer version of rote has saved this routine, with fields that this version does not know: update rote")
}

// Routine is a definition with the service's own data about it.
type Routine struct {
	ID string `json:"id"`
	Definition
	CreatedBy string `json:"created_by"`
	ProjectID string `json:"project_id"`
	// OrganizationID decides access. Callers do not see it.
	OrganizationID string `json:"-"`
	// ToolName is the name under which the routine is published over MCP. It is unique
	// in its organization and never changes.
	ToolName string `json:"-"`
	Status   Status `json:"routine_status"`
	// CreatedAt and UpdatedAt are Unix seconds.
	CreatedAt int64 `json:"created_at"`
	UpdatedAt int64 `json:"updated_at"`
	// Version counts the routine's changes from 1.
	Version int `json:"version"`
	// Redacted reports whether values of secret parameters were left out for the
	// caller.
	Redacted bool `json:"-"`
	// UniqueName makes the creation fail if another routine of the organization that
	// is not archived has the same name. It is not stored.
	UniqueName bool `json:"-"`
	// Withheld reports whether the caller may not read the routine. It then answers a
	// change by the caller, and has ID, ToolName, OrganizationID, Status, Version,
	// Name and IsMCPToolDesignated only.
	Withheld bool `json:"-"`
	// Omitted names the fields that a list leaves out because the definition is large.
	// They are empty then.
	Omitted []string `json:"omitted,omitempty"`
	// Key is saved with a new routine and not read back.
	Key *IdempotencyKey `json:"-"`
}

// Published reports whether the routine is offered to agents as a tool.
func (r *Routine) Published() bool {
	return r.Status == StatusActive && r.IsMCPToolDesignated
}

// SearchText returns the text in which a search looks for words, in lower case: the
// name, the description and the tags.
func (d *Definition) SearchText() string {
	return strings.ToLower(d.Name + "\n" + d.Description + "\n" + strings.Join(d.Tags, "\n"))
}

// DecodeDefinition decodes a stored definition. It does not repeat the checks of
// definition.Parse.
func DecodeDefinition(stored []byte) (d Definition, err error) {
	newer, err := DecodeStored(stored, &d)
	d.Newer = newer
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

// Type returns the operation's type, as in "click".
func (o Operation) Type() string { return o.typ }

// MarshalJSON returns the JSON text as it was written.
func (o Operation) MarshalJSON() ([]byte, error) { return o.raw, nil }

// UnmarshalJSON accepts an operation of any type. It keeps one of a type that this
// version does not know; only running it fails.
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
