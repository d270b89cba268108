package definition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/definition"
)

func TestParameterSchema(t *testing.T) {
	huge := "1" + strings.Repeat("0", 60)
	for _, row := range []struct{ name, parameter, want, notes string }{
		{"plain text", `{"description": "One"}`, `{"type":"string"}`, ""},
		{"lengths", `{"min_length": 1, "max_length": 9}`, `{"type":"string","minLength":1,"maxLength":9}`, ""},
		{"bounds keep their digits", `{"type": "number", "min_value": 0.10, "max_value": 9007199254740993}`,
			`{"type":"number","minimum":0.10,"maximum":9007199254740993}`, ""},
		{"a bound too long for readers", `{"type": "integer", "max_value": ` + huge + `}`, `{"type":"integer"}`, "It must be at most 1" + strings.Repeat("0", 38) + "…."},
		{"a bound beyond float64", `{"type": "number", "min_value": -1e400}`, `{"type":"number"}`, "It must be at least -1e400."},
		{"a pattern", `{"pattern": "^(?:[a-z]+|\\d{2})$"}`, `{"type":"string","pattern":"^(?:[a-z]+|\\d{2})$"}`, ""},
		{"a pattern with lookahead", `{"pattern": "^(?=a)"}`, `{"type":"string"}`, "It must match the expression ^(?=a)."},
		{"a pattern with a back reference", `{"pattern": "(a)\\1"}`, `{"type":"string"}`, `It must match the expression (a)\1.`},
		{"a pattern with a named group", `{"pattern": "(?<x>a)"}`, `{"type":"string"}`, "It must match the expression (?<x>a)."},
		{"a pattern that the u flag refuses", `{"pattern": "^a\\-b$"}`, `{"type":"string"}`, `It must match the expression ^a\-b$.`},
		{"a pattern that Python refuses", `{"pattern": "^\\p{L}+$"}`, `{"type":"string"}`, `It must match the expression ^\p{L}+$.`},
		{"a pattern with an invisible character", `{"pattern": "a\u202eb"}`, `{"type":"string"}`, `It must match the expression a\u202eb.`},
		{"a value with an invisible character", `{"type": "enum", "enum_values": ["ab", "a\u202eb"], "default": "a\u202eb", "examples": ["a\u202eb", "ab"]}`,
			`{"type":"string","examples":["ab"]}`, `One of "ab", "a\u202eb". Default: "a\u202eb".`},
		{"a value with a control character", `{"enum_values": ["a\u0007b"], "default": "\u001b[2J"}`, `{"type":"string"}`, `One of "a\u0007b". Default: "\u001b[2J".`},
		{"a long default", `{"default": "` + strings.Repeat("x", 2000) + `"}`, `{"type":"string"}`, `Default: "` + strings.Repeat("x", 59) + `….`},
		{"long examples", `{"examples": ["` + strings.Repeat("x", 2000) + `", "y"]}`, `{"type":"string","examples":["y"]}`, ""},
		{"many examples", `{"type": "integer", "examples": [1,2,3,4,5,6,7,8,9,10,11,12]}`, `{"type":"integer","examples":[1,2,3,4,5,6,7,8,9,10]}`, ""},
		{"many values", `{"type": "enum", "enum_values": [` + strings.TrimSuffix(strings.Repeat(`"value", `, 60000), ", ") + `]}`,
			`{"type":"string"}`, `One of 60000 values, such as "value", "value", "value", "value", "value", "value".`},
		{"many numbers", `{"type": "integer", "enum_values": [` + strings.TrimSuffix(strings.Repeat(`1000,`, 1000), ",") + `]}`,
			`{"type":"integer"}`, `One of 1000 values, such as 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000.`},
		{"a value that is too long", `{"type": "enum", "enum_values": ["` + strings.Repeat("x", 5000) + `"]}`,
			`{"type":"string"}`, `One of 1 values, such as "` + strings.Repeat("x", 59) + `….`},
		{"a pattern of a number", `{"type": "integer", "pattern": "^1"}`, `{"type":"integer"}`, "It must match the expression ^1."},
		{"numbers to choose from by name", `{"type": "enum", "enum_values": [1, 2.50, "x"], "default": 1}`,
			`{"type":"string","enum":["1","2.50","x"],"default":"1"}`, ""},
		{"numbers to choose from", `{"type": "integer", "enum_values": [1, "2"], "default": "2"}`, `{"type":"integer","enum":[1,2],"default":2}`, ""},
		{"a boolean with one choice", `{"type": "boolean", "enum_values": [true], "default": "true"}`, `{"type":"boolean","default":true}`, "It must be true."},
		{"a date", `{"type": "date"}`, `{"type":"string","format":"date"}`, "YYYY-MM-DD."},
		{"a date spelt otherwise", `{"type": "date", "format": "DD/MM/YYYY"}`, `{"type":"string"}`, "Spelt DD/MM/YYYY."},
		{"a time", `{"type": "datetime"}`, `{"type":"string","format":"date-time"}`, "RFC 3339, with offset."},
		{"an address", `{"type": "email"}`, `{"type":"string","format":"email"}`, ""},
		{"a place", `{"type": "url"}`, `{"type":"string","format":"uri"}`, "http or https."},
		{"examples", `{"type": "integer", "examples": ["1", null, 2], "observed_value": 3}`, `{"type":"integer","examples":[1,2]}`, ""},
		{"a value that was seen", `{"observed_value": 3}`, `{"type":"string","examples":["3"]}`, ""},
		{"nothing was seen", `{"observed_value": null}`, `{"type":"string"}`, ""},
		{"a secret shows no value", `{"x-secret": true, "default": "hunter2", "examples": ["hunter2"], "observed_value": "hunter2"}`,
			`{"type":"string","writeOnly":true}`, "Secret: it is masked wherever it is shown or stored."},
	} {
		t.Run(row.name, func(t *testing.T) {
			var p routine.Parameter
			if err := json.Unmarshal([]byte(row.parameter), &p); err != nil {
				t.Fatal(err)
			}
			var s definition.Schema
			if _, err := definition.ParametersSchema([]routine.Parameter{p}, func(_ *routine.Parameter, of *definition.Schema) { s = *of }); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(s)
			if notes := strings.Join(s.Notes, " "); err != nil || string(got) != row.want || notes != row.notes {
				t.Errorf("error %v\n got %s %q\nwant %s %q", err, got, notes, row.want, row.notes)
			}
		})
	}
}

// The schema has the order of the declaration, and a parameter with a default is
// optional.
func TestParametersSchema(t *testing.T) {
	d, _, err := definition.Parse([]byte(`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/{{z}}/{{a}}/{{m}}"}],
		"parameters": [{"name": "z", "description": "Z"}, {"name": "a", "description": "A", "default": "1"}, {"name": "m", "description": "M", "required": false}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := definition.ParametersSchema(d.Parameters, func(p *routine.Parameter, s *definition.Schema) { s.Description = p.Description })
	const want = `{"type":"object","properties":{"z":{"type":"string","description":"Z"},"a":{"type":"string","description":"A","default":"1"},` +
		`"m":{"type":"string","description":"M"}},"required":["z"],"additionalProperties":false}`
	if err != nil || string(got) != want {
		t.Errorf("error %v\n got %s\nwant %s", err, got, want)
	}
	got, err = definition.ParametersSchema(nil, nil)
	if err != nil || string(got) != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("without parameters %v %s", err, got)
	}
}
