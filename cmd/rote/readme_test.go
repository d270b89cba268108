package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's routine runs, its JSON is JSON, its links lead somewhere and its
// commands are commands.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newRote(t)
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if !json.Valid([]byte(block[1])) {
			t.Errorf("no JSON:\n%s", block[1])
		}
		if !strings.Contains(block[1], `"operations"`) {
			continue
		}
		file := r.file("readme.json", block[1])
		if out, errs, code := r.run("validate", file); code != 0 || out != "" {
			t.Errorf("%s%s", out, errs)
		}
		out, errs, code := r.run("run", file, "-p", "query=lamp", "-p", "site="+r.shop)
		if code != 0 || !strings.Contains(out, "Brass Desk Lamp") {
			t.Errorf("exit %d\n%s\n%s", code, out, errs)
		}
		ran++
	}
	if ran != 1 {
		t.Errorf("%d routines in the README, want 1", ran)
	}
	config := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))
	if config == nil {
		t.Fatal("no file of flags in the README")
	}
	if _, errs, code := r.run("version", "--config", r.file("readme.yaml", config[1])); code != 0 {
		t.Errorf("the README's file of flags: %s", errs)
	}
	for _, link := range regexp.MustCompile(`\]\(([a-z][^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Errorf("a dead link: %v", err)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ {4}(?:\./)?rote ([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, errs, code := r.run(line[1], "--help"); code != 0 {
			t.Errorf("rote %s: %s", line[1], errs)
		}
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ {4}(go run \./cmd/rote (?:demo|browser install && go test ).*)$`).FindAllStringSubmatch(string(text), -1)
	if len(commands) != 2 {
		t.Errorf("%d of the demo's and the tests' command in the README, want one of each", len(commands))
	}
	for _, command := range commands {
		if !strings.Contains(string(ci), command[1]+"\n") {
			t.Errorf(".ci/run does not run %q", command[1])
		}
	}
}
