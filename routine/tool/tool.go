// Package tool describes a routine as the tool that agents are offered. MCP serves these
// descriptions, and other front ends show them.
package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/operation"
)

const (
	// MaxSchema limits the input schema of a tool, in bytes. A routine with a larger one is
	// no tool of its own.
	MaxSchema = 16 << 10
	// maxDescription limits a tool's description, in characters: an agent has the
	// descriptions of all tools in its context.
	maxDescription = 600
	// maxResultName limits the name of a result in a description, in characters.
	maxResultName = 60
)

// names matches the tool names that every client accepts. Any other name makes some
// clients drop the whole list.
var names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// ValidName reports whether every client accepts a name as that of a tool.
func ValidName(name string) bool { return names.MatchString(name) }

// Tool is a routine as the tool of an agent. Its JSON is that of a tool in MCP's
// tools/list, without _meta.
type Tool struct {
	// Name is the routine's tool name. It never changes, so that clients with an older
	// list of tools can still call it.
	Name string `json:"name"`
	// Title is the name of the routine on one line.
	Title string `json:"title"`
	// Description is the author's description, followed by what a call returns, in at
	// most 600 characters.
	Description string `json:"description"`
	// InputSchema is the JSON Schema of a call's arguments; nil if there is none that
	// clients accept: Check then says why.
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations Annotations     `json:"annotations"`
	// Result says what a call returns, as in "data is the value stored as \"items\".".
	Result string `json:"-"`

	schemaErr error // why there is no schema
}

// Annotations are hints for clients on what a call of the tool does.
type Annotations struct {
	// ReadOnly reports whether no operation of the routine can change a site, and
	// Destructive the opposite.
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	// OpenWorld is true: runs visit sites that rote does not know.
	OpenWorld bool `json:"openWorldHint"`
}

// ErrTooLarge is the SchemaError of a routine whose schema is larger than MaxSchema.
var ErrTooLarge = fmt.Errorf("the schema of its parameters has more than %d bytes", MaxSchema)

// Of returns a routine as a tool. It describes any routine, also one that is not published.
// Texts have no invisible characters.
func Of(r *routine.Routine) *Tool {
	readOnly := operation.ReadOnly(r.Operations)
	t := &Tool{Name: r.ToolName, Title: routine.OneLine(routine.PlainText(r.Name)), Result: resultOf(&r.Definition),
		Annotations: Annotations{ReadOnly: readOnly, Destructive: !readOnly, OpenWorld: true}}
	t.Description = description(r.Description, "Result: "+t.Result)
	t.InputSchema, t.schemaErr = inputSchema(r.Parameters)
	if len(t.InputSchema) > MaxSchema {
		t.InputSchema, t.schemaErr = nil, ErrTooLarge
	}
	return t
}

// Check returns the reason why the routine cannot be a tool, or nil. Clients that cannot
// read one tool may drop the whole list. Check compiles the schema, which takes much
// longer than Of.
func (t *Tool) Check() error {
	if !ValidName(t.Name) {
		return fmt.Errorf("%q is no tool name that clients take", t.Name)
	}
	if t.schemaErr != nil {
		return t.schemaErr
	}
	return checkCompiles(t.InputSchema)
}

// SchemaError returns the reason why there is no InputSchema, or nil.
func (t *Tool) SchemaError() error { return t.schemaErr }

// description returns the author's description, followed by a sentence on what a call
// returns.
func description(author, result string) string {
	text := routine.Shorten(routine.OneLine(routine.PlainText(author)), maxDescription-len([]rune(result))-2)
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) {
		text += "."
	}
	return strings.TrimSpace(text + " " + result)
}

// resultOf says what a call returns.
func resultOf(d *routine.Definition) string {
	o := operation.ResultOf(d)
	of := routine.Shorten(routine.OneLine(routine.PlainText(o.Name)), maxResultName)
	switch o.Kind {
	case operation.ResultValue:
		return fmt.Sprintf("data is the value stored as %q.", of)
	case operation.ResultHTML:
		if of == "" {
			of = "the page"
		}
		return fmt.Sprintf("data is the HTML of %s.", of)
	case operation.ResultFile:
		return fmt.Sprintf("the file %s.", of)
	}
	return "no data; it acts on the site."
}
