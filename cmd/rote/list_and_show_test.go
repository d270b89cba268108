package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreRoutines stores routines from files and reads them back, with the
// command line alone.
func TestStoreRoutines(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	write := func(name, text string) string {
		path := filepath.Join(r.home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	definition := `{"name": "read it", "description": "Reads.", "tags": ["shop"],
		"operations": [{"type": "navigate", "url": "{{site}}/"}, {"type": "return_html"}], "parameters": [{"name": "site", "type": "url"}]}`
	first := write("first.json", definition)
	second := write("second.json", strings.Replace(definition, "Reads.", "Reads more.", 1))
	other := write("other.json", strings.Replace(definition, "read it", "other", 1))
	broken := write("broken.json", `{"name": "broken"}`)
	for _, step := range []struct {
		name        string
		args        []string
		code        int
		out, errors string // parts of the output
	}{
		{"no database", []string{"list"}, 1, "", "rote.db"},
		{"nothing is stored beside a broken file", []string{"add", other, broken}, 1, "", "nothing is stored"},
		{"two files of one name", []string{"add", first, second}, 1, "", "both define the routine \"read it\""},
		{"new", []string{"add", first}, 0, "created read it (Routine_", ""},
		{"again", []string{"add", first}, 0, "unchanged read it (Routine_", ""},
		{"changed, and another", []string{"add", second, other}, 0, "version 2, tool read_it", ""},
		{"list", []string{"list", "--tag", "shop"}, 0, "read_it", ""},
		{"list by words", []string{"list", "more"}, 0, "read it", ""},
		{"show by name", []string{"show", "read it"}, 0, `"description": "Reads more."`, "version 2, tool read_it"},
		{"show a version", []string{"show", "read it", "--at-version", "1"}, 0, `"description": "Reads."`, ""},
		{"show what is not there", []string{"show", "nothing"}, 1, "", "rote list"},
		{"run by name", []string{"run", "read it", "-p", "site=" + r.shop}, 0, "<html", ""},
		{"executions", []string{"executions", "--routine", "read it"}, 0, "completed", ""},
		{"executions of a schedule that has none", []string{"executions", "--schedule", "Schedule_x", "--json"}, 0, "[]\n", ""},
		{"another one of the name", []string{"add", "--new", second}, 0, "created read it", "duplicate_routine"},
		{"a name that two have", []string{"add", first}, 1, "", "several routines are named"},
		{"a part of a list", []string{"list", "--limit", "1"}, 0, "NAME", "1 of 3 are shown"},
	} {
		out, errs, code := r.run(step.args...)
		if code != step.code || !strings.Contains(out, step.out) || !strings.Contains(errs, step.errors) {
			t.Fatalf("%s: exit %d\n%s\n%s", step.name, code, out, errs)
		}
	}
	var stored []struct{ ID, Name string }
	out, _, _ := r.run("list", "--json", "other")
	if err := json.Unmarshal([]byte(out), &stored); err != nil || len(stored) != 1 || stored[0].Name != "other" {
		t.Fatalf("%v: %s", err, out)
	}
	renamed := write("renamed.json", strings.Replace(definition, "read it", "renamed", 1))
	if out, errs, code := r.run("add", "--id", stored[0].ID, renamed); code != 0 ||
		!strings.Contains(out, "updated renamed ("+stored[0].ID+", version 2, tool other)") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	// What show prints is a file that add takes.
	out, _, _ = r.run("show", "renamed")
	if again, errs, code := r.run("add", write("shown.json", out)); code != 0 || !strings.Contains(again, "unchanged renamed") {
		t.Errorf("exit %d\n%s\n%s", code, again, errs)
	}
	out, _, _ = r.run("executions", "--json")
	var executions []struct {
		ID string `json:"execution_id"`
	}
	if err := json.Unmarshal([]byte(out), &executions); err != nil || len(executions) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if out, errs, code := r.run("executions", executions[0].ID); code != 0 || !strings.Contains(out, `"operations_metadata"`) {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}
