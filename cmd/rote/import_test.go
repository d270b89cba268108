package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording is imported, saved under its title, and all that is not carried is reported with
// its place.
func TestImport(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	steps := `{"title": "Find lamps", "steps": [{"type": "navigate", "url": "https://shop.example/"},
		{"type": "change", "value": "lamp", "selectors": [["#query"]]}`
	whole, partly := r.file("whole.json", steps+"]}"), r.file("partly.json", steps+",\n  {\"type\": \"customStep\", \"name\": \"measure\"}]}")
	out, errs, code := r.run("import", whole)
	if code != 0 || !strings.Contains(out, `"selector": "#query"`) || !strings.Contains(errs, `could be the parameter query: "lamp" in /operations/1/text`) {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	saved := filepath.Join(t.TempDir(), "routine.json")
	out, errs, code = r.run("import", partly, "-o", saved, "--save")
	want := partly + `:3:3: dropped: customStep measure: "measure" is a step of another program [custom_step]`
	if code != 3 || !strings.Contains(out, "Find lamps (Routine_") || !strings.Contains(errs, want) {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	if text, err := os.ReadFile(saved); err != nil || !strings.Contains(string(text), `"url": "https://shop.example/"`) {
		t.Errorf("%s %v", text, err)
	}
	if out, _, _ := r.run("list"); !strings.Contains(out, "Find lamps") {
		t.Errorf("not stored: %s", out)
	}
	broken := r.file("broken.json", "{\"steps\": [\n 1 2]}")
	if _, errs, code = r.run("import", broken); code != 1 || !strings.Contains(errs, broken+":2:4: error: ") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
