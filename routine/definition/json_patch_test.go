package definition

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func TestApplyJSONPatch(t *testing.T) {
	old, _, err := Parse([]byte(`{"name": "n", "description": "d", "tags": ["x"], "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#a", "timeout_ms": 5000}, {"type": "return_html"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, patch string
		want        string // in the JSON of the result
		problem     string // pointer and code
	}{
		{"nothing", `[]`, routine.JSONText(*old), ""},
		{"a field", `[{"op":"replace","path":"/operations/1/selector","value":"#b"}]`, `{"type":"click","selector":"#b","timeout_ms":5000}`, ""},
		{"an operation at the end", `[{"op":"add","path":"/operations/-","value":{"type":"press","key":"Enter"}}]`,
			`{"type":"return_html"},{"type":"press","key":"Enter"}]`, ""},
		{"an operation in between", `[{"op":"add","path":"/operations/1","value":{"type":"press","key":"Enter"}}]`,
			`{"type":"press","key":"Enter"},{"type":"click"`, ""},
		{"moved and copied", `[{"op":"move","from":"/operations/2","path":"/operations/0"},{"op":"copy","from":"/operations/1","path":"/operations/-"}]`,
			`[{"type":"return_html"},{"type":"navigate","url":"https://shop.example/"},{"type":"click","selector":"#a","timeout_ms":5000},` +
				`{"type":"navigate","url":"https://shop.example/"}]`, ""},
		{"a parameter", `[{"op":"add","path":"/parameters/-","value":{"name":"q"}}]`, `"name":"q"`, ""},
		{"a test that holds", `[{"op":"test","path":"/operations/1/timeout_ms","value":5000}]`, `"timeout_ms":5000`, ""},
		{"other capitals", `[{"OP":"test","Path":"/name","VALUE":"n"}]`, `"name":"n"`, ""},
		{"null", `[{"op":"add","path":"/operations/1/x-note","value":null}]`, `"x-note":null`, ""},

		{"no list", `{}`, "", " json_patch"},
		{"no JSON", `[`, "", " json_patch"},
		{"null instead of a step", `[null]`, "", "/0/op enum"},
		{"another step", `[{"op":"change","path":"/name"}]`, "", "/0/op enum"},
		{"no path", `[{"op":"remove"}]`, "", "/0/path json_pointer"},
		{"the whole", `[{"op":"replace","path":"","value":{}}]`, "", "/0/path json_pointer"},
		{"a path with an empty name", `[{"op":"replace","path":"/","value":{}}]`, "", "/0/path json_pointer"},
		{"no origin", `[{"op":"copy","path":"/name"}]`, "", "/0/from json_pointer"},
		{"no value", `[{"op":"test","path":"/name"}]`, "", "/0/value required"},
		{"the second step", `[{"op":"remove","path":"/tags"},{"op":"remove","path":"/operations/3"},{"op":"remove","path":"/operations/7"}]`,
			"", "/1 json_patch"},
		{"a negative index", `[{"op":"remove","path":"/operations/-1"}]`, "", "/0 json_patch"},
		{"below a text", `[{"op":"add","path":"/name/x","value":1}]`, "", "/0 json_patch"},
		{"into itself", `[{"op":"move","from":"/operations","path":"/operations/0/x-a"}]`, "", "/0 json_patch"},
		{"a test that fails", `[{"op":"test","path":"/name","value":"m"}]`, "", "/0 json_patch"},
		{"too many steps", `[` + strings.Repeat(`{"op":"test","path":"/name","value":"n"},`, maxPatchSteps) + `{"op":"test","path":"/name","value":"n"}]`,
			"", " json_patch"},
		{"an invalid result", `[{"op":"replace","path":"/operations/1/selector","value":""}]`, "", "/operations/1/selector minLength"},
		{"an invalid status", `[{"op":"replace","path":"/routine_status","value":"gone"}]`, "", "/routine_status enum"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, _, err := ApplyJSONPatch(old, routine.StatusActive, []byte(row.patch))
			if row.problem == "" {
				if err != nil || m.Status != routine.StatusActive || !strings.Contains(routine.JSONText(m.Definition), row.want) {
					t.Errorf("%v, %+v, want %s", err, m, row.want)
				}
				return
			}
			if routine.CodeOf(err) != routine.CodeInvalid {
				t.Fatal(err)
			}
			if p := routine.AsError(err).Problems; len(p) != 1 || fmt.Sprint(p[0].Pointer, " ", p[0].Code) != row.problem || p[0].Line != 0 {
				t.Errorf("problems %+v, want %s", p, row.problem)
			}
		})
	}
}

// Copies cannot make a definition larger than it may be.
func TestJSONPatchIsBounded(t *testing.T) {
	old, _, err := Parse([]byte(`{"name": "n", "description": "d", "operations": [{"type": "return_html", "x-a": ["` + strings.Repeat("x", 1<<20) + `"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	patch := `[` + strings.TrimSuffix(strings.Repeat(`{"op":"copy","from":"/operations","path":"/operations/0/x-a/-"},`, 100), ",") + `]`
	if _, _, err := ApplyJSONPatch(old, routine.StatusActive, []byte(patch)); routine.CodeOf(err) != routine.CodeInvalid {
		t.Error(err)
	}
}
