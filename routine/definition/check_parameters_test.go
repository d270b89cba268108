package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

func TestParameterDeclarations(t *testing.T) {
	for _, row := range []marked{
		{"name alone", `{"name": "p"}`, nil},
		{"published form, flat with nulls",
			`{"name": "p", "type": "integer", "required": true, "description": "d", "default": null, "examples": [],
			"min_length": null, "max_length": null, "min_value": 1, "max_value": 9, "pattern": null, "enum_values": null, "format": null,
			"observed_value": null}`, nil},
		{"no name", `▸{"type": "string"}`, []string{" required"}},
		{"unknown field", `{"name": "p", ▸"optional": true}`, []string{"/optional unknown_field"}},
		{"x- fields, inside too", `{"name": "p", "x-a": 1, "validation": {"x-b": 2}}`, nil},
		{"unknown rule", `{"name": "p", "validation": {▸"minimum": 1}}`, []string{"/validation/minimum unknown_field"}},
		{"name that begins with a digit", `{"name": ▸"1p"}`, []string{"/name pattern"}},
		{"name with a dash", `{"name": ▸"first-name"}`, []string{"/name pattern"}},
		{"name with a letter beyond ASCII", `{"name": ▸"größe"}`, []string{"/name pattern"}},
		{"name with a line break", `{"name": ▸"p\n"}`, []string{"/name pattern"}},
		{"name of 65 characters", `{"name": ▸"p1234567890123456789012345678901234567890123456789012345678901234"}`, []string{"/name maxLength"}},
		{"name uuid", `{"name": ▸"uuid"}`, []string{"/name reserved_name"}},
		{"name epoch_milliseconds", `{"name": ▸"epoch_milliseconds"}`, []string{"/name reserved_name"}},
		{"name sessionStorage", `{"name": ▸"sessionStorage"}`, []string{"/name reserved_name"}},
		{"name localStorage", `{"name": ▸"localStorage"}`, []string{"/name reserved_name"}},
		{"name cookie", `{"name": ▸"cookie"}`, []string{"/name reserved_name"}},
		{"name meta", `{"name": ▸"meta"}`, []string{"/name reserved_name"}},
		{"name windowProperty", `{"name": ▸"windowProperty"}`, []string{"/name reserved_name"}},
		{"unknown type", `{"name": "p", "type": ▸"colour", "default": 5}`, []string{"/type enum"}},
		{"a type of other tools is taken for ours", `{"name": "p", "type": ▸"int", "default": ▸"x"}`, []string{"/type enum", "/default type"}},
		{"rules of the wrong types", `{"name": "p", "min_length": ▸-1, "validation": {"pattern": ▸5, "max_value": ▸"9"}}`,
			[]string{"/min_length minimum", "/validation/pattern type", "/validation/max_value type"}},
		{"length that is no integer", `{"name": "p", "validation": {"max_length": ▸1.5}}`, []string{"/validation/max_length type"}},
		{"length that no text has", `{"name": "p", "validation": {"max_length": ▸1e22}}`, []string{"/validation/max_length number_range"}},
		{"same rule twice, same value", `{"name": "p", "type": "number", "min_value": 1, "validation": {"min_value": 1.0}, "enum_values": null}`, nil},
		{"same rule twice, other value", `{"name": "p", "type": "number", "min_value": ▸1, "validation": {"min_value": 2}}`, []string{"/min_value conflict"}},
		{"same list twice, other order", `{"name": "p", "type": "enum", "enum_values": ▸["a", "b"], "validation": {"enum_values": ["b", "a"]}}`, []string{"/enum_values conflict"}},
		{"null beside a value is no conflict", `{"name": "p", "pattern": null, "validation": {"pattern": "a"}}`, nil},
		{"min over max", `{"name": "p", "type": "integer", "validation": {"min_value": ▸2, "max_value": 1}}`, []string{"/validation/min_value range"}},
		{"min over max by a hair", `{"name": "p", "type": "number", "min_value": ▸1.00000000000000000001, "validation": {"max_value": 1}}`, []string{"/min_value range"}},
		{"min_length over max_length", `{"name": "p", "max_length": 1, "min_length": ▸2}`, []string{"/min_length range"}},
		{"pattern that does not compile", `{"name": "p", "validation": {"pattern": ▸"["}, "default": "a"}`, []string{"/validation/pattern pattern"}},
		{"pattern of Python", `{"name": "p", "pattern": ▸"(?P<y>a)"}`, []string{"/pattern pattern"}},
		{"enum without values", `▸{"name": "p", "type": "enum"}`, []string{" required"}},
		{"enum with an empty list", `▸{"name": "p", "type": "enum", "validation": {"enum_values": []}}`, []string{" required"}},
		{"enum with values of the wrong type", `{"name": "p", "type": "enum", "enum_values": ▸"a,b"}`, []string{"/enum_values type"}},
		{"default of the wrong type", `{"name": "p", "type": "integer", "default": ▸"many"}`, []string{"/default type"}},
		{"default that spells an integer", `{"name": "p", "type": "integer", "default": "20"}`, nil},
		{"default not among the choices", `{"name": "p", "type": "enum", "enum_values": ["a", "b"], "default": ▸"c"}`, []string{"/default enum_values"}},
		{"default out of bounds", `{"name": "p", "type": "number", "max_value": 9, "default": ▸9.5}`, []string{"/default max_value"}},
		{"default too short", `{"name": "p", "min_length": 3, "default": ▸"éé"}`, []string{"/default min_length"}},
		{"default that the pattern refuses", `{"name": "p", "pattern": "^a$", "default": ▸"b"}`, []string{"/default pattern"}},
		{"default that is no date", `{"name": "p", "type": "date", "default": ▸"2031-02-29"}`, []string{"/default format"}},
		{"choices that break the other rules", `{"name": "p", "type": "integer", "validation": {"enum_values": [1, ▸"x", ▸20], "max_value": 9}}`,
			[]string{"/validation/enum_values/1 type", "/validation/enum_values/2 max_value"}},
		{"examples", `{"name": "p", "type": "boolean", "examples": [true, "false", ▸1, null]}`, []string{"/examples/2 type"}},
		{"examples as text", `{"name": "p", "examples": ▸"a"}`, []string{"/examples type"}},
		{"date format", `{"name": "p", "type": "date", "format": "DD/MM/YYYY", "default": "03/02/2031"}`, nil},
		{"date format of another language", `{"name": "p", "type": "date", "format": ▸"%Y-%m-%d"}`, []string{"/format format"}},
		{"date format in small letters", `{"name": "p", "type": "date", "validation": {"format": ▸"yyyy-MM-dd"}}`, []string{"/validation/format format"}},
		{"date format with time", `{"name": "p", "type": "date", "format": "YYYY-MM-DDTHH:mm:ssZ"}`, nil},
		{"date format without token", `{"name": "p", "type": "date", "format": ▸"-"}`, []string{"/format format"}},
		{"everything at once", `{"name": ▸"cookie", "type": "integer", "min_value": ▸9, ▸"hint": 1, "validation": {"max_value": 1, "pattern": ▸"("}, "default": "x"}`,
			[]string{"/name reserved_name", "/min_value range", "/hint unknown_field", "/validation/pattern pattern"}},
	} {
		for i, p := range row.problems {
			row.problems[i] = "/parameters/0" + p
		}
		row.text = declaring(row.text)
		if !strings.Contains(row.text, `"name": "p"`) {
			row.text = strings.Replace(row.text, "{{p}}", "a", 1) // the parameter has another name
		}
		t.Run(row.name, row.errors)
	}
	t.Run("two of one name", marked{"", declaring(`{"name": "p"}, {"name": ▸"p", "type": "integer"}, {"name": "P"}`), []string{"/parameters/1/name duplicate_parameter"}}.errors)
}

func TestParameterWarnings(t *testing.T) {
	for _, row := range []marked{
		{"never used", `{"name": "p"}, ▹{"name": "other"}`, []string{"/parameters/1 unused_parameter"}},
		{"length of a number", `{"name": "p", "type": "integer", "min_length": ▹1, "validation": {"max_length": ▹5}}`,
			[]string{"/parameters/0/min_length unused_rule", "/parameters/0/validation/max_length unused_rule"}},
		{"bound of a text", `{"name": "p", "max_value": ▹5}`, []string{"/parameters/0/max_value unused_rule"}},
		{"format of a text", `{"name": "p", "validation": {"format": ▹"email"}}`, []string{"/parameters/0/validation/format unused_rule"}},
		{"rules that do something", `{"name": "p", "type": "date", "min_length": 1, "format": "YYYY", "pattern": "a", "min_value": null}`, []string{}},
	} {
		t.Run(row.name, func(t *testing.T) { checkMarked(t, declaring(row.text), []string{}, row.problems) })
	}
}

// Either dialect is read, and one is written.
func TestParameterComesBackInOneForm(t *testing.T) {
	d, _, err := Parse([]byte(declaring(`{"name": "p", "x-a": [1], "type": "number", "min_value": 1.50, "validation": {"max_value": 99999999999999999999.10, "x-b": {"c": 1}, "pattern": null},
		"default": 7.0, "examples": [2, 3.0], "observed_value": {"a": 1.10}, "x-secret": true, "enum_values": null}`)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(d.Parameters[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"p","type":"number","required":true,"description":"","default":7.0,"validation":{"min_value":1.50,"max_value":99999999999999999999.10,"x-b":{"c":1}},` +
		`"examples":[2,3.0],"observed_value":{"a":1.10},"x-secret":true,"x-a":[1]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var again routine.Parameter
	if err := json.Unmarshal(got, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Parameters[0], again); diff != "" {
		t.Errorf("what was written is read as another: %s", diff)
	}
}
