package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/operation"
	"rote/routine/tool"
)

const (
	// maxResultSize is published for clients that would otherwise cut results off. It
	// exceeds maxResult, because clients escape the JSON once more.
	maxResultSize = 100000
	// maxDescribedSteps limits the operations that describe_routine lists, in
	// bytes; maxOperations limits their number.
	maxDescribedSteps = 8 << 10
	maxOperations     = 100
	// maxAuthorDescription limits the author's description in describe_routine, in
	// characters.
	maxAuthorDescription = 2000
	// maxSearchText limits the text that search_routines searches, in bytes.
	maxSearchText = 16 << 10
	// maxNamedParameters limits how many names of parameters are kept for messages.
	maxNamedParameters = 50
)

// entry has what is needed to publish, find and describe a routine. It does not
// hold the definition, which may be large.
type entry struct {
	id, name          string
	tool              *tool.Tool
	authorDescription string // the author's description
	version           int
	updatedAt         int64
	status            routine.Status
	operations        int
	steps             []string     // what the first operations do
	parameters        []string     // the first names
	unlistable        func() error // why it cannot be a tool
	searchText        string       // what a search looks at, in lower case
	described         func() []byte
}

func newEntry(r *routine.Routine) *entry {
	e := &entry{id: r.ID, name: clean(r.Name), tool: tool.Of(r), authorDescription: truncate(clean(r.Description), maxAuthorDescription),
		version: r.Version, updatedAt: r.UpdatedAt, status: r.Status,
		operations: len(r.Operations), steps: operationSummaries(r.Operations), searchText: searchTextOf(r)}
	for i, p := range r.Parameters {
		if i == maxNamedParameters {
			e.parameters = append(e.parameters, fmt.Sprintf("and %d more", len(r.Parameters)-i))
			break
		}
		e.parameters = append(e.parameters, p.Name)
	}
	e.described = sync.OnceValue(e.describe)
	e.unlistable = sync.OnceValue(e.tool.Check)
	if errors.Is(e.tool.SchemaError(), tool.ErrTooLarge) {
		schema, note := shortSchema(r.Parameters)
		e.described = func() []byte { return e.describeWith(schema, note) }
	}
	return e
}

// operationSummaries returns a line for each of the first operations.
func operationSummaries(operations []routine.Operation) []string {
	steps := []string{}
	size := 0
	for _, text := range operation.DescribeAll(operations[:min(len(operations), maxOperations+1)]) {
		step := truncate(routine.OneLine(clean(text)), 100)
		if size += len(step); len(steps) == maxOperations || size > maxDescribedSteps {
			return append(steps, "…")
		}
		steps = append(steps, step)
	}
	return steps
}

// searchTextOf returns the names, descriptions and tags of a routine, in lower
// case.
func searchTextOf(r *routine.Routine) string {
	var b strings.Builder
	add := func(text string) {
		if room := maxSearchText - b.Len(); room > 0 {
			b.WriteString(strings.ToValidUTF8(text[:min(len(text), room)], "") + " ")
		}
	}
	for _, text := range append([]string{r.ToolName, r.Name, r.Description}, r.Tags...) {
		add(text)
	}
	for _, p := range r.Parameters {
		add(p.Name)
		add(p.Description)
	}
	return strings.ToLower(b.String())
}

// toTool returns the tool that the routine is published as.
func (e *entry) toTool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(e.tool.Name, e.tool.Description, e.tool.InputSchema)
	t.Title = e.tool.Title
	hints := &e.tool.Annotations
	t.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &hints.ReadOnly, DestructiveHint: &hints.Destructive, OpenWorldHint: &hints.OpenWorld}
	t.Meta = mcp.NewMetaFromMap(map[string]any{"rote/routine-id": e.id, "rote/version": e.version, "anthropic/maxResultSizeChars": maxResultSize})
	return t
}

// listedSize returns about how many bytes the tool takes in a list.
func (e *entry) listedSize() int { return len(e.tool.InputSchema) + len(e.tool.Description) + 512 }

// shortSchema returns a schema of at most tool.MaxSchema bytes for parameters whose
// schema is larger: without descriptions and values, and if necessary of the first
// parameters only. note says what is missing.
func shortSchema(parameters []routine.Parameter) (schema json.RawMessage, note string) {
	const advice = "This routine has too many parameters to be a tool of its own: call it with run_routine. "
	bare := func(_ *routine.Parameter, s *definition.Schema) {
		*s = definition.Schema{Type: s.Type, Format: s.Format, Items: s.Items}
	}
	for n := min(len(parameters), tool.MaxSchema/len(`"p":{"type":"string"},`)); ; n /= 2 {
		schema, err := definition.ParametersSchema(parameters[:n], bare)
		if err != nil {
			return routine.RawJSON(err.Error()), ""
		}
		switch {
		case len(schema) > tool.MaxSchema:
			continue
		case n == len(parameters):
			return schema, advice + "parameters leaves out their descriptions and rules."
		}
		schema = append(bytes.TrimSuffix(schema, []byte(`,"additionalProperties":false}`)), '}')
		return schema, advice + fmt.Sprintf("parameters shows the first %d of %d, without their descriptions and rules.", n, len(parameters))
	}
}

// routineDescription is the result of describe_routine.
type routineDescription struct {
	ID          string          `json:"id"`
	Tool        string          `json:"tool"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Status      routine.Status  `json:"routine_status"`
	Version     int             `json:"version"`
	ReadOnly    bool            `json:"read_only"`
	Note        string          `json:"note,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Operations  []string        `json:"operations"`
	Result      string          `json:"result"`
	Definition  json.RawMessage `json:"definition,omitempty"`
}

func (e *entry) describe() []byte {
	if err := e.tool.SchemaError(); err != nil {
		return e.describeWith(routine.RawJSON(err.Error()), "") // an older row: its schema is no tool's
	}
	return e.describeWith(e.tool.InputSchema, "")
}

func (e *entry) describeWith(schema json.RawMessage, note string) []byte {
	return routine.RawJSON(routineDescription{ID: e.id, Tool: e.tool.Name, Name: e.name, Description: e.authorDescription, Status: e.status,
		Version: e.version, ReadOnly: e.tool.Annotations.ReadOnly,
		Note: note, Parameters: schema, Operations: e.steps, Result: e.tool.Result})
}

// describedValue returns the result of described as a value.
func (e *entry) describedValue() routineDescription {
	var d routineDescription
	if err := json.Unmarshal(e.described(), &d); err != nil {
		d = routineDescription{ID: e.id, Tool: e.tool.Name, Name: e.name} // what was encoded here can be decoded
	}
	return d
}

// withoutOperations returns the description for a caller who may run the routine
// but not read it.
func (e *entry) withoutOperations() routineDescription {
	d := e.describedValue()
	d.Operations = []string{}
	return d
}

// withDefinition returns the description with the definition, in which invisible
// characters are escaped. A definition that is too large for an answer is left out:
// the note says where it can be read.
func (e *entry) withDefinition(definition *routine.Definition) routineDescription {
	d := e.describedValue()
	text := routine.EscapeInvisible(routine.JSONText(definition))
	if room := maxResult - len(routine.RawJSON(d)) - len(`,"definition":`); len(text) > room {
		d.Note = strings.TrimSpace(fmt.Sprintf("%s The definition has %d bytes, which is too large for an answer: read the resource %s.",
			d.Note, len(text), routineURI(e.id)))
		return d
	}
	d.Definition = json.RawMessage(text)
	return d
}
