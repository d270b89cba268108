package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
	"rote/routine/definition"
)

const (
	// maxPropertyDescription is in characters, without the example.
	maxPropertyDescription = 200
	maxExample             = 80 // bytes
)

// propertyNames matches the names of properties that every client accepts.
var propertyNames = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// inputSchema returns the JSON Schema of a call's arguments, without keywords that
// some client is known to fail on.
func inputSchema(parameters []routine.Parameter) (json.RawMessage, error) {
	for _, p := range parameters {
		if !propertyNames.MatchString(p.Name) {
			return nil, fmt.Errorf("parameter %q has a name that clients do not take", p.Name)
		}
	}
	return definition.ParametersSchema(parameters, describeProperty)
}

// checkCompiles checks that a text is a valid JSON Schema. mcp-go does not: one
// invalid schema would make the whole list of tools fail. The keywords of
// parameters mean the same in draft 7, which compiles in half the time.
func checkCompiles(schema []byte) error {
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

// describeProperty joins the author's description, the notes and one example.
func describeProperty(p *routine.Parameter, s *definition.Schema) {
	example := ""
	if len(s.Examples) > 0 && len(s.Examples[0]) <= maxExample {
		example = routine.PlainText(routine.OneLine(string(s.Examples[0])))
	}
	s.Examples, s.WriteOnly = nil, false
	notes := strings.Join(s.Notes, " ")
	text := routine.Shorten(routine.OneLine(routine.PlainText(p.Description)), max(maxPropertyDescription-len([]rune(notes))-2, 0)) // a full stop and a blank
	if text != "" && notes+example != "" && !strings.ContainsAny(text[len(text)-1:], ".!?") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	s.Description = routine.Shorten(strings.TrimSpace(text+" "+notes), maxPropertyDescription)
	if example != "" {
		s.Description = strings.TrimSpace(s.Description + " Example: " + example)
	}
}
