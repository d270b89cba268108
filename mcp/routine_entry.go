package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/operation"
)

const (
	// maxToolSchema limits the input schema of a listed tool, in bytes. A routine
	// with a larger one is called with run_routine.
	maxToolSchema = 16 << 10
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
	id, tool, name    string
	authorDescription string // the author's description
	description       string // of the tool
	version           int
	updatedAt         int64
	status            routine.Status
	readOnly          bool
	operations        int
	steps             []string // what the first operations do
	result            string   // what a call returns
	parameters        []string // the first names
	schema            json.RawMessage
	schemaErr         error        // why there is no schema
	unlistable        func() error // why it cannot be a tool
	searchText        string       // what a search looks at, in lower case
	described         func() []byte
}

func newEntry(r *routine.Routine) *entry {
	e := &entry{id: r.ID, tool: r.ToolName, name: clean(r.Name), authorDescription: truncate(clean(r.Description), maxAuthorDescription),
		description: toolDescription(&r.Definition), version: r.Version,
		updatedAt: r.UpdatedAt, status: r.Status, readOnly: operation.ReadOnly(r.Operations), operations: len(r.Operations), steps: operationSummaries(r.Operations),
		result: strings.TrimPrefix(resultShape(&r.Definition), "Result: "), searchText: searchTextOf(r)}
	for i, p := range r.Parameters {
		if i == maxNamedParameters {
			e.parameters = append(e.parameters, fmt.Sprintf("and %d more", len(r.Parameters)-i))
			break
		}
		e.parameters = append(e.parameters, p.Name)
	}
	e.schema, e.schemaErr = inputSchema(r.Parameters)
	e.described = sync.OnceValue(e.describe)
	e.unlistable = sync.OnceValue(e.checkTool)
	if len(e.schema) > maxToolSchema {
		schema, note := shortSchema(r.Parameters)
		e.schema, e.schemaErr = nil, errTooLargeForATool
		e.described = func() []byte { return e.describeWith(schema, note) }
	}
	return e
}

// errTooLargeForATool is the schemaErr of a routine whose schema is too large.
var errTooLargeForATool = fmt.Errorf("the schema of its parameters has more than %d bytes", maxToolSchema)

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

// checkTool returns the reason why the routine cannot be a tool, or nil. Clients
// that cannot read one tool may drop the whole list.
func (e *entry) checkTool() error {
	if !toolNames.MatchString(e.tool) {
		return fmt.Errorf("%q is no tool name that clients take", e.tool)
	}
	if e.schemaErr != nil {
		return e.schemaErr
	}
	return checkCompiles(e.schema)
}

// toTool returns the tool that the routine is published as. The name of the tool
// never changes, so that clients with an older list can still call it.
func (e *entry) toTool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(e.tool, e.description, e.schema)
	t.Title = routine.OneLine(e.name)
	t.Annotations = mcp.ToolAnnotation{ReadOnlyHint: new(e.readOnly), DestructiveHint: new(!e.readOnly), OpenWorldHint: new(true)}
	t.Meta = mcp.NewMetaFromMap(map[string]any{"rote/routine-id": e.id, "rote/version": e.version, "anthropic/maxResultSizeChars": maxResultSize})
	return t
}

// listedSize returns about how many bytes the tool takes in a list.
func (e *entry) listedSize() int { return len(e.schema) + len(e.description) + 512 }

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
	if e.schemaErr != nil {
		return e.describeWith(routine.RawJSON(e.schemaErr.Error()), "") // an older row: its schema is no tool's
	}
	return e.describeWith(e.schema, "")
}

func (e *entry) describeWith(schema json.RawMessage, note string) []byte {
	return routine.RawJSON(routineDescription{ID: e.id, Tool: e.tool, Name: e.name, Description: e.authorDescription, Status: e.status,
		Version: e.version, ReadOnly: e.readOnly,
		Note: note, Parameters: schema, Operations: e.steps, Result: e.result})
}

// describedValue returns the result of described as a value.
func (e *entry) describedValue() routineDescription {
	var d routineDescription
	if err := json.Unmarshal(e.described(), &d); err != nil {
		d = routineDescription{ID: e.id, Tool: e.tool, Name: e.name} // what was encoded here can be decoded
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
