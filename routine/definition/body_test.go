package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

// checkBody is like checkMarked, for ParseBody.
func checkBody(t *testing.T, text string, want []string) {
	t.Helper()
	plain, places, _ := unmark(text)
	_, got, _, _ := sameEachTime(t, func() (*routine.Definition, []routine.Problem, error) { return ParseBody([]byte(plain)) })
	if diff := cmp.Diff(placed(t, places, want), listed(got)); diff != "" {
		t.Errorf("errors (-want +got):\n%s%s", diff, plain)
	}
}

func TestBodies(t *testing.T) {
	bad := "{\n \"name\": \"n\", \"description\": \"d\",\n \"operations\": [{\"type\": \"press\", \"key\": ▸5}]}"
	deep := `{"name": "n", "description": "d", "operations": [{"type": "return_html", "x-a": ` + strings.Repeat("[", 61) + strings.Repeat("]", 61) + `}]}`
	for _, row := range []marked{
		{"plain", "\ufeff" + bad, []string{"/operations/0/key type"}},
		{"wrapped object counts lines in the body", "\ufeff{\n\n\"routine_json\":" + bad + "}", []string{"/operations/0/key type"}},
		{"wrapped object among other keys", "{\"note\": {\"operations\": 1},\n\"routine_json\":" + bad + ", \"more\": []}", []string{"/operations/0/key type"}},
		{"key written with escapes", `{"routine\u005fjson": {"name": "n", "description": "d", "operations": ▸[]}}`, []string{"/operations minItems"}},
		{"missing fields", "{\n \"routine_json\": ▸▸{\"name\": \"n\"}}", []string{" required", " required"}},
		{"null", `{"routine_json": ▸null}`, []string{" type"}},
		{"duplicate key in the routine", `{"routine_json": {"name": "n", ▸"name": "m", "description": "d", "operations": [{"type": "return_html"}]}}`, []string{"/name duplicate_key"}},
		{"duplicate wrapper", `{"routine_json": {"name": "n", "description": "d", "operations": [{"type": "return_html"}]}, ▸"routine_json": "{}"}`, []string{" duplicate_key"}},
		{"broken inside", "{\"routine_json\": {\n\"name\": ▸nil}}", []string{"/name json_syntax"}},
		{"text behind the body", `{"routine_json": {"name": "n", "description": "d", "operations": [{"type": "return_html"}]}} ▸x`, []string{" trailing_text"}},
		{"64 deep, the wrapper not counted", `{"routine_json": ` + deep + `}`, nil},
		{"64 deep, plain", deep, nil},
		{"65 deep, wrapped", `{"routine_json": ` + strings.Replace(strings.Replace(deep, "[]", "[▸[]]", 1), "x-a", "x-b", 1) + `}`, []string{"/operations/0/x-b" + strings.Repeat("/0", 61) + " too_deep"}},
	} {
		t.Run(row.name, func(t *testing.T) { checkBody(t, row.text, row.problems) })
	}
}

// Lines and columns of the string form count inside the string.
func TestBodyWithAString(t *testing.T) {
	for _, row := range []marked{
		{"lines", "{\n \"name\": \"n\", \"description\": \"d\",\n \"operations\": [{\"type\": \"press\", \"key\": ▸5}]}", []string{"/operations/0/key type"}},
		{"byte-order mark inside", "\ufeff{\"name\": \"é\", \"description\": \"d\", \"operations\": ▸[]}", []string{"/operations minItems"}},
		{"no JSON inside", "{\"name\": ▸'n'}", []string{"/name json_syntax"}},
		{"nothing inside", "▸", []string{" json_syntax"}},
		{"a string inside", `▸"{}"`, []string{" type"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			plain, places, _ := unmark(row.text)
			inner, err := json.Marshal(plain)
			if err != nil {
				t.Fatal(err)
			}
			body := "{\n\n\n   \"routine_json\": " + string(inner) + "}"
			_, got, _, _ := sameEachTime(t, func() (*routine.Definition, []routine.Problem, error) { return ParseBody([]byte(body)) })
			if strings.HasPrefix(plain, "\ufeff") {
				places = []string{"1:49"} // the mark is no character of the first line
			}
			if diff := cmp.Diff(placed(t, places, row.problems), listed(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The routine is the same in all accepted forms of the body.
func TestAllFormsOfTheBodyAreEquivalent(t *testing.T) {
	text := declaring(`{"name": "p", "type": "enum", "enum_values": ["a"]}`)
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(plain)
	for _, body := range []string{text, "\ufeff" + text, `{"routine_json": ` + text + `}`, `{"routine_json": ` + string(quoted) + `}`} {
		d, _, err := ParseBody([]byte(body))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, _ := json.Marshal(d); string(got) != string(want) {
			t.Errorf("%s\ngave %s\nwant %s", body, got, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for name, parse := range map[string]func([]byte) (*routine.Definition, []routine.Problem, error){"Parse": Parse, "ParseBody": ParseBody} {
		text := []byte(around(`{"type": "return_html"}`))
		text = append(text, []byte(strings.Repeat(" ", routine.MaxDefinitionBytes-len(text)))...)
		if _, _, err := parse(text); err != nil {
			t.Errorf("%s of %d bytes: %v", name, len(text), err)
		}
		if _, _, err := parse(append(text, ' ')); routine.CodeOf(err) != routine.CodeTooLarge {
			t.Errorf("%s of one byte more: %v", name, err)
		}
	}
}
