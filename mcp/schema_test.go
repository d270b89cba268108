package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

func TestParameterAsProperty(t *testing.T) {
	huge := "1" + strings.Repeat("0", 60)
	for _, row := range []struct{ name, parameter, want string }{
		{"plain text", `{}`, `{"type":"string"}`},
		{"a description of several lines", `{"description": "One\n  two"}`, `{"type":"string","description":"One two"}`},
		{"lengths", `{"min_length": 1, "max_length": 9}`, `{"type":"string","minLength":1,"maxLength":9}`},
		{"bounds keep their digits", `{"type": "number", "min_value": 0.10, "max_value": 9007199254740993}`,
			`{"type":"number","minimum":0.10,"maximum":9007199254740993}`},
		{"a bound too long for clients", `{"type": "integer", "max_value": ` + huge + `}`,
			`{"type":"integer","description":"It must be at most 1` + strings.Repeat("0", 38) + `…."}`},
		{"a bound beyond float64", `{"type": "number", "min_value": -1e400}`, `{"type":"number","description":"It must be at least -1e400."}`},
		{"a pattern", `{"pattern": "^(?:[a-z]+|\\d{2})$"}`, `{"type":"string","pattern":"^(?:[a-z]+|\\d{2})$"}`},
		{"a pattern with lookahead", `{"pattern": "^(?=a)"}`, `{"type":"string","description":"It must match the expression ^(?=a)."}`},
		{"a pattern with a back reference", `{"pattern": "(a)\\1"}`, `{"type":"string","description":"It must match the expression (a)\\1."}`},
		{"a pattern with a named group", `{"pattern": "(?<x>a)"}`, `{"type":"string","description":"It must match the expression (?\u003cx\u003ea)."}`},
		{"a pattern of a number", `{"type": "integer", "pattern": "^1"}`, `{"type":"integer","description":"It must match the expression ^1."}`},
		{"numbers to choose from by name", `{"type": "enum", "enum_values": [1, 2.50, "x"], "default": 1}`,
			`{"type":"string","enum":["1","2.50","x"],"default":"1"}`},
		{"numbers to choose from", `{"type": "integer", "enum_values": [1, "2"], "default": "2"}`, `{"type":"integer","enum":[1,2],"default":2}`},
		{"a boolean with one choice", `{"type": "boolean", "enum_values": [true], "default": "true"}`,
			`{"type":"boolean","description":"It must be true.","default":true}`},
		{"a date spelt otherwise", `{"type": "date", "format": "DD/MM/YYYY", "examples": ["03/02/2031"]}`,
			`{"type":"string","description":"Spelt DD/MM/YYYY. Example: \"03/02/2031\""}`},
		{"an example", `{"description": "Whither?", "examples": ["Rome", "Oslo"], "observed_value": "Nice"}`,
			`{"type":"string","description":"Whither? Example: \"Rome\""}`},
		{"an example too long to show", `{"examples": ["` + strings.Repeat("x", 80) + `"]}`, `{"type":"string"}`},
		{"a secret shows no value", `{"x-secret": true, "default": "hunter2", "observed_value": "hunter2"}`,
			`{"type":"string","description":"Secret: it is masked wherever it is shown or stored."}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var p routine.Parameter
			if err := json.Unmarshal([]byte(row.parameter), &p); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(newProperty(&p))
			if err != nil || string(got) != row.want {
				t.Errorf("error %v\n got %s\nwant %s", err, got, row.want)
			}
			p.Name = "p"
			if _, err := inputSchema([]routine.Parameter{p}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDescriptionsAreBounded(t *testing.T) {
	p := routine.Parameter{Type: routine.TypeDate, Description: strings.Repeat("ü", 500), Examples: json.RawMessage(`["2031-02-03"]`)}
	want := strings.Repeat("ü", 186) + "… YYYY-MM-DD." + ` Example: "2031-02-03"`
	if got := newProperty(&p).Description; got != want {
		t.Errorf("got %s", got)
	}
}
