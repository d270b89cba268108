package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is the part of the README below a heading of the second level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the README has no section %q", heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// blocks are the fenced blocks of a language.
func blocks(text, language string) (found []string) {
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, block[1])
	}
	return found
}

// The README's JSON is JSON, its links lead somewhere and its commands are
// commands.
func TestReadme(t *testing.T) {
	text := readme(t)
	r := newRote(t)
	for _, block := range blocks(text, "json") {
		if !json.Valid([]byte(block)) {
			t.Errorf("no JSON:\n%s", block)
		}
	}
	settings := blocks(text, "yaml")
	if len(settings) == 0 {
		t.Fatal("no file of flags in the README")
	}
	for _, file := range settings {
		if _, errs, code := r.run("version", "--config", r.file("readme.yaml", file)); code != 0 {
			t.Errorf("the README's file of flags: %s", errs)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([a-z][^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Errorf("a dead link: %v", err)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^ {4}(?:\./)?rote ([a-z]+)`).FindAllStringSubmatch(text, -1) {
		if _, errs, code := r.run(line[1], "--help"); code != 0 {
			t.Errorf("rote %s: %s", line[1], errs)
		}
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ {4}(go run \./cmd/rote (?:demo|browser install && go test ).*)$`).FindAllStringSubmatch(text, -1)
	if len(commands) != 2 {
		t.Errorf("%d of the demo's and the tests' command in the README, want one of each", len(commands))
	}
	for _, command := range commands {
		if !strings.Contains(string(ci), command[1]+"\n") {
			t.Errorf(".ci/run does not run %q", command[1])
		}
	}
	// Where gcc is installed, go build links to libc unless CGO_ENABLED is 0.
	builds := 0
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "go build") && !strings.Contains(line, "go install") {
			continue
		}
		if builds++; !strings.Contains(line, "CGO_ENABLED=0 go ") {
			t.Errorf("the program would not be static: %s", line)
		}
	}
	if builds == 0 {
		t.Error("the README does not say how to build the program")
	}
	for _, words := range []string{"git clone ", "Go 1.26", "Linux", "macOS", "Windows is not supported", "GB of disk"} {
		if !strings.Contains(section(t, text, "Try it"), words) {
			t.Errorf("the README's prerequisites do not have %q", words)
		}
	}
}
