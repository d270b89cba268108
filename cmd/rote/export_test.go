package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A routine file and a stored routine give the same export. The report names each operation that
// is left out, with its line, and the exit code is 3.
func TestExport(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	file := r.file("find.json", `{"name": "find", "description": "Finds.",
		"parameters": [{"name": "query", "type": "string", "required": true, "description": "What."}],
  "operations": [{"type": "navigate", "url": "https://shop.example/"},
    {"type": "input_text", "selector": "#q", "text": "{{query}}", "clear": true},
    {"type": "return_html"}]}`)
	if _, errs, code := r.run("add", file); code != 0 {
		t.Fatal(errs)
	}
	out, errs, code := r.run("export", file, "--to", "recorder")
	want := file + ":5:5: dropped: return_html: a recording has no step for return_html [operation]"
	if code != 3 || !strings.Contains(out, `"value": "{{query}}"`) || !strings.Contains(errs, want) ||
		!strings.Contains(errs, "3 steps: 1 carried, 1 changed, 1 dropped") {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	if stored, _, code := r.run("export", "find", "--to", "recorder"); code != 3 || !strings.Contains(stored, `"value": "{{query}}"`) {
		t.Errorf("exit %d: %s", code, stored)
	}
	saved := filepath.Join(t.TempDir(), "find.spec.ts")
	if out, errs, code = r.run("export", file, "--to", "playwright", "-o", saved); code != 0 || out != "" {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	if text, err := os.ReadFile(saved); err != nil || !strings.Contains(string(text), "await page.locator('#q').fill(`${QUERY}`);") {
		t.Errorf("%s %v", text, err)
	}
	broken := r.file("broken.json", "{\"name\": \"a\",\n 1}")
	for want, args := range map[string][]string{"broken.json:2:2: error: ": {broken, "--to", "curl"}, "--to must be one of": {file, "--to", "tape"},
		"no routine is named": {"nothing", "--to", "curl"}, "missing flags: --to": {file}} {
		if out, errs, code := r.run(append([]string{"export"}, args...)...); code == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s\n%s", want, code, out, errs)
		}
	}
}
