package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestDefinitionTextHasAnOperationOnALine(t *testing.T) {
	t.Parallel()
	d := routinetest.Parse(t, `{"name": "n", "description": "A <b> & \"c\"", "tags": ["x", "y"],
		"parameters": [{"name": "q", "description": "Words"}],
		"operations": [{"type": "navigate", "url": "https://shop.example/{{q}}"}, {"type": "input_text", "selector": "#q", "text": "`+strings.Repeat("ü", 90)+`"}]}`)
	want := `{
  "name": "n",
  "description": "A <b> & \"c\"",
  "incognito": true,
  "is_public": false,
  "is_mcp_tool_designated": true,
  "tags": ["x", "y"],
  "parameters": [
    {"name": "q", "type": "string", "required": true, "description": "Words"}
  ],
  "operations": [
    {"type": "navigate", "url": "https://shop.example/{{q}}"},
    {
      "type": "input_text",
      "selector": "#q",
      "text": "` + strings.Repeat("ü", 90) + `"
    }
  ]
}
`
	if diff := cmp.Diff(want, definitionText(&d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The text that is edited is the definition that is stored, down to each digit and escape.
func TestLayoutKeepsTheJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `[]`, `null`, `""`, `-0.50e+07`, `"a,b:{}[]\"\\"`, `{"a":{}}`, `{"a":[],"b":[{}]}`, `[[],[[]],{}]`, `[{"a":[{"b":1.10}]}]`,
		`{"n":12345678901234567890.1234567890,"m":1E400,"":"","\u0022":"\u2028 \\\" {"}`,
		`{"long":"` + strings.Repeat(`\"x, `, 60) + `","list":[` + strings.Repeat(`{"a":1},`, 40) + `{"b":[` + strings.Repeat("1.0,", 60) + `2]}]}`,
		strings.Repeat(`{"a":[`, 30) + strings.Repeat(`]}`, 30),
	} {
		got := layOut([]byte(text))
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(got)); err != nil || compact.String() != text {
			t.Errorf("%s became\n%s%v", text, got, err)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > lineWidth && strings.Count(line, ",") > strings.Count(text, `\"x, `)+1 {
				t.Errorf("a line of %d characters could have been broken: %s", n, line)
			}
		}
	}
}

func TestOneMemberOfAnOperationIsReplaced(t *testing.T) {
	t.Parallel()
	got, err := withMember([]byte(`{ "type": "click",  "selector" : "a\"b" , "x-n": 1.50 }`), "selector", []byte(`"#new"`))
	if want := `{ "type": "click",  "selector" : "#new" , "x-n": 1.50 }`; string(got) != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := withMember([]byte(`{"type": "navigate", "in": {"selector": "a"}}`), "selector", []byte(`"b"`)); err == nil {
		t.Error("an object without the member was changed")
	}
}

func TestDifferencesInWords(t *testing.T) {
	t.Parallel()
	d := routinetest.Definition(t)
	got, err := patchInWords(&routine.Version{Definition: &d, Status: routine.StatusActive}, []byte(`[
		{"op": "remove", "path": "/operations/0"}, {"op": "replace", "path": "/operations/0/selector", "value": "#b"},
		{"op": "add", "path": "/operations/-", "value": {"type": "sleep", "timeout_seconds": 1.50}},
		{"op": "replace", "path": "/parameters/1/default", "value": 30}, {"op": "add", "path": "/session", "value": "shop"},
		{"op": "add", "path": "/tags/0", "value": "new"}, {"op": "replace", "path": "/routine_status", "value": "draft"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`operation 1 is removed: {"type":"navigate","url":"https://shop.example/search?q={{item}}"}`,
		`operation 1, selector: "main > .hit:first-of-type" → "#b"`,
		`operation at the end is added: {"timeout_seconds":1.50,"type":"sleep"}`,
		`parameter 2, default: 20 → 30`, `session is added: "shop"`, `tag 1 is added: "new"`, `routine_status: "active" → "draft"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailingSince(t *testing.T) {
	t.Parallel()
	run := func(version int, code routine.Code) *routine.Execution {
		e := &routine.Execution{RoutineVersion: version, Status: routine.ExecutionFailed, ErrorCode: code}
		switch code {
		case "":
			e.Status = routine.ExecutionCompleted
		case "open":
			e.Status = routine.ExecutionRunning
		}
		return e
	}
	const broken, cancelled = routine.Code("element_not_found"), routine.CodeCancelled
	for _, row := range []struct {
		name        string
		runs        []*routine.Execution
		first, runN int
		changed     bool
	}{
		{"no runs", nil, 0, 0, false},
		{"the last completed", []*routine.Execution{run(3, ""), run(2, broken)}, 0, 0, false},
		{"only cancelled since", []*routine.Execution{run(3, cancelled), run(3, "open"), run(3, "")}, 0, 0, false},
		{"since a version", []*routine.Execution{run(5, "open"), run(5, broken), run(4, cancelled), run(4, broken), run(3, "")}, 4, 2, true},
		{"with the same version", []*routine.Execution{run(3, broken), run(3, "")}, 3, 1, false},
		{"never completed", []*routine.Execution{run(2, broken), run(1, broken)}, 1, 2, false},
	} {
		got := failingSince(row.runs)
		if got == nil {
			if row.runN > 0 {
				t.Errorf("%s: not failing", row.name)
			}
			continue
		}
		if got.First.RoutineVersion != row.first || got.Runs != row.runN || got.Changed() != row.changed {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a-b_1.x": "a-b_1.x", "": "''", "a b": "'a b'",
		"it's $x": `'it'\''s $x'`, "query=lamp": "query=lamp", "é": "'é'"} {
		if got := shellQuote(text); got != want {
			t.Errorf("%q is quoted %s", text, got)
		}
	}
}
