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

// A test of a HAR file names the request; the others are listed with their places.
func TestImportRequest(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	entry := func(path string) string {
		return `{"request": {"method": "GET", "url": "https://shop.example/` + path + `"},` +
			` "response": {"status": 200, "content": {"mimeType": "application/json", "text": "[]"}}}`
	}
	file := r.file("shop.har", "{\"log\": {\"entries\": [\n"+entry("api/first")+",\n"+entry("api/second")+"]}}")
	out, errs, code := r.run("import", file, "--test", "first")
	for _, want := range []string{file + ":2:1: taken: request 1: GET https://shop.example/api/first: 200 application/json, 2 bytes (score 85)",
		file + ":3:1: candidate: request 2: "} {
		if code != 0 || !strings.Contains(errs, want) || !strings.Contains(out, `"url": "https://shop.example/api/first"`) {
			t.Errorf("exit %d: %s\n%s", code, out, errs)
		}
	}
}

// All tests of a project become a file each; the exit code is the worst.
func TestImportAllTests(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	command := `{"command": "open", "target": "/"}`
	project := r.file("shop.side", `{"url": "https://shop.example", "tests": [{"name": "Find lamps!", "commands": [`+command+`]},
		{"name": "find: LAMPS", "commands": [`+command+`, {"command": "mouseOver", "target": "id=menu"}]}, {"name": "?", "commands": [`+command+`]}]}`)
	dir := filepath.Join(t.TempDir(), "new", "routines")
	out, errs, code := r.run("import", project, "--test", "*", "-o", dir)
	if code != 3 || out != "" || strings.Count(errs, "1 steps: 1 carried") != 2 || !strings.Contains(errs, "dropped: mouseOver") {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	for _, name := range []string{"find_lamps", "find_lamps_2", "test"} {
		if text, err := os.ReadFile(filepath.Join(dir, name+".json")); err != nil || !strings.Contains(string(text), "https://shop.example/") {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	if _, errs, code = r.run("import", project, "--test", "*", "--save"); code != 3 {
		t.Errorf("exit %d: %s", code, errs)
	}
	if out, _, _ = r.run("list"); !strings.Contains(out, "Find lamps!") || !strings.Contains(out, "find: LAMPS") {
		t.Errorf("not stored: %s", out)
	}
	broken := r.file("broken.side", `{"tests": [{"name": "a", "commands": [{}]}, {"name": "a", "commands": `)
	curl := r.file("items.txt", "curl https://shop.example/")
	for want, args := range map[string][]string{"has no tests by name": {curl, "-o", dir}, "--name is the name of one": {project, "--name", "x", "--save"},
		"give a directory": {project}, "broken.side:1:": {broken, "-o", dir}, "not a directory": {project, "-o", curl}} {
		if _, errs, code := r.run(append([]string{"import", "--test", "*"}, args...)...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", want, code, errs)
		}
	}
	if out, errs, code := r.run("import", curl, "-o", filepath.Join(dir, "none", "a.json")); code != 1 || !strings.Contains(errs, "no such file") ||
		!strings.Contains(out, `"https://shop.example/"`) {
		t.Errorf("a file that cannot be written: exit %d\n%s\n%s", code, out, errs)
	}
	if _, errs, code := r.run("import", curl, "--test", "find"); code != 1 || !strings.Contains(errs, "curl has no tests to choose from: leave the test out") {
		t.Errorf("a test of commands: exit %d: %s", code, errs)
	}
}
