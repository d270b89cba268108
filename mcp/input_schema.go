package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"rote/routine"
)

const (
	// maxPropertyDescription is in characters, the example not counted.
	maxPropertyDescription = 200
	maxExample             = 80 // bytes
)

// propertyNames are those that every client takes.
var propertyNames = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// inputSchema gives the schema of a call's arguments, with no keyword that any
// client is known to choke on.
func inputSchema(parameters []routine.Parameter) (json.RawMessage, error) {
	for _, p := range parameters {
		if !propertyNames.MatchString(p.Name) {
			return nil, fmt.Errorf("parameter %q has a name that clients do not take", p.Name)
		}
	}
	return routine.ParametersSchema(parameters, describeProperty)
}

// shortSchema is the schema of parameters whose whole schema is too large, in at
// most maxToolSchema bytes: without descriptions and values, and if need be of
// the first parameters only. note says what is missing.
func shortSchema(parameters []routine.Parameter) (schema json.RawMessage, note string) {
	const advice = "This routine has too many parameters to be a tool of its own: call it with run_routine. "
	bare := func(_ *routine.Parameter, s *routine.ParameterSchema) {
		*s = routine.ParameterSchema{Type: s.Type, Format: s.Format, Items: s.Items}
	}
	for n := min(len(parameters), maxToolSchema/len(`"p":{"type":"string"},`)); ; n /= 2 {
		schema, err := routine.ParametersSchema(parameters[:n], bare)
		if err != nil {
			return routine.RawJSON(err.Error()), ""
		}
		switch {
		case len(schema) > maxToolSchema:
			continue
		case n == len(parameters):
			return schema, advice + "parameters leaves out their descriptions and rules."
		}
		schema = append(bytes.TrimSuffix(schema, []byte(`,"additionalProperties":false}`)), '}')
		return schema, advice + fmt.Sprintf("parameters shows the first %d of %d, without their descriptions and rules.", n, len(parameters))
	}
}

// checkCompiles checks what mcp-go would send as it is: one schema that is no JSON
// silences the whole list. The keywords of parameters mean the same in draft 7,
// which compiles in half the time.
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

// describeProperty puts the author's words, the notes and one example together.
func describeProperty(p *routine.Parameter, s *routine.ParameterSchema) {
	example := ""
	if len(s.Examples) > 0 && len(s.Examples[0]) <= maxExample {
		example = clean(routine.OneLine(string(s.Examples[0])))
	}
	s.Examples, s.WriteOnly = nil, false
	notes := strings.Join(s.Notes, " ")
	text := truncate(routine.OneLine(clean(p.Description)), max(maxPropertyDescription-len([]rune(notes))-2, 0)) // a stop and a blank
	if text != "" && notes+example != "" && !strings.ContainsAny(text[len(text)-1:], ".!?") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	s.Description = truncate(strings.TrimSpace(text+" "+notes), maxPropertyDescription)
	if example != "" {
		s.Description = strings.TrimSpace(s.Description + " Example: " + example)
	}
}
