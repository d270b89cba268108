package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

// properties is the part of an input schema that describes one parameter, p.
func properties(t *testing.T, p routine.Parameter) string {
	t.Helper()
	p.Name = "p"
	schema, err := inputSchema([]routine.Parameter{p})
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	return string(s.Properties["p"])
}

func TestParameterAsProperty(t *testing.T) {
	for _, row := range []struct{ name, parameter, want string }{
		{"plain text", `{}`, `{"type":"string"}`},
		{"a description of several lines", `{"description": "One\n  two"}`, `{"type":"string","description":"One two"}`},
		{"rules in words", `{"description": "Which?", "type": "date", "format": "DD/MM/YYYY", "examples": ["03/02/2031"]}`,
			`{"type":"string","description":"Which? Spelt DD/MM/YYYY. Example: \"03/02/2031\""}`},
		{"an example", `{"description": "Whither?", "examples": ["Rome", "Oslo"], "observed_value": "Nice"}`,
			`{"type":"string","description":"Whither? Example: \"Rome\""}`},
		{"a value that was seen", `{"description": "Whither", "observed_value": "Nice"}`,
			`{"type":"string","description":"Whither. Example: \"Nice\""}`},
		{"an example too long to show", `{"examples": ["` + strings.Repeat("x", 80) + `"]}`, `{"type":"string"}`},
		{"a secret shows no value", `{"x-secret": true, "default": "hunter2", "observed_value": "hunter2"}`,
			`{"type":"string","description":"Secret: it is masked wherever it is shown or stored."}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var p routine.Parameter
			if err := json.Unmarshal([]byte(row.parameter), &p); err != nil {
				t.Fatal(err)
			}
			if got := properties(t, p); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestDescriptionsAreBounded(t *testing.T) {
	p := routine.Parameter{Type: routine.TypeDate, Description: strings.Repeat("ü", 500), Examples: json.RawMessage(`["2031-02-03"]`)}
	want := `{"type":"string","description":"` + strings.Repeat("ü", 186) + `… YYYY-MM-DD. Example: \"2031-02-03\"","format":"date"}`
	if got := properties(t, p); got != want {
		t.Errorf("got %s", got)
	}
}
