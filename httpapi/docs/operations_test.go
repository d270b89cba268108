package docs

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rote/schemas"
)

var update = flag.Bool("update", false, "write the page of the operations anew, from the schemas")

// field is the schema of a field of an operation.
type field struct {
	Description string
	Type        any
	Enum        []any
	Default     json.RawMessage
	Minimum     *json.Number
	Maximum     *json.Number
}

// The page of the operations is what the schemas say: run the test with -update after a change.
func TestOperationsPage(t *testing.T) {
	want := operationsPage(t)
	if *update {
		if err := os.WriteFile("operations.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("operations.md")
	if err != nil || string(got) != want {
		t.Errorf("operations.md is not made from the schemas: go test ./httpapi/docs -run TestOperationsPage -update (%v)", err)
	}
}

func operationsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Operations\n\nThe kinds of operations, with all their fields. The text is that of the schemas, which agents and editors read too.\n")
	for _, kind := range schemas.OperationKinds() {
		text, err := fs.ReadFile(schemas.Files, "operations/"+kind+".json")
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Description string
			Required    []string
			Properties  map[string]field
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n[Schema](../../schemas/operations/%s.json)\n\n", kind, prose(s.Description), kind)
		b.WriteString("| Field | Value | Meaning |\n|---|---|---|\n")
		for _, name := range fieldsInOrder(text, s.Properties) {
			if f := s.Properties[name]; name != "type" {
				required := ""
				if slices.Contains(s.Required, name) {
					required = ", required"
				}
				fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", name, f.value(), required, prose(f.Description))
			}
		}
	}
	return b.String()
}

// fieldsInOrder returns the names of the fields as the schema lists them.
func fieldsInOrder(text []byte, fields map[string]field) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Index(string(text), "\n    \""+a+"\": {") - strings.Index(string(text), "\n    \""+b+"\": {")
	})
	return names
}

// value says which values a field takes.
func (f field) value() string {
	text := fmt.Sprint(f.Type)
	switch {
	case f.Type == nil:
		text = "see the schema"
	case len(f.Enum) > 0:
		var values []string
		for _, v := range f.Enum {
			quoted, _ := json.Marshal(v) // of JSON: it cannot fail
			values = append(values, "`"+string(quoted)+"`")
		}
		text = strings.Join(values, ", ")
	case f.Minimum != nil && f.Maximum != nil:
		text += fmt.Sprintf(", %s to %s", *f.Minimum, *f.Maximum)
	}
	if len(f.Default) > 0 {
		text += ", default `" + string(f.Default) + "`"
	}
	return text
}

var (
	placeholders = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	quotedCode   = regexp.MustCompile("(^|[ (])([a-z]+_[a-z_]+|x-[a-z]+)([ ,.;:)]|$)")
)

// prose returns a text of a schema as Markdown: names of fields and placeholders as code, and
// nothing that Markdown would take for its own.
func prose(text string) string {
	text = strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "[", `\[`, "\n", " ").Replace(text)
	text = placeholders.ReplaceAllString(text, "`$0`")
	return quotedCode.ReplaceAllString(text, "$1`$2`$3")
}
