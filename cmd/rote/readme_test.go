package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docsPage returns the Markdown of a page of the documentation.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../httpapi/docs/" + name + ".md")
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

// The JSON of the README and of the documentation is JSON, their settings are settings and
// their commands are commands.
func TestDocumentationIsOfThisProgram(t *testing.T) {
	pages, err := filepath.Glob("../../httpapi/docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatal(len(pages), err)
	}
	r := newRote(t)
	settings := 0
	commands := map[string]bool{}
	for _, page := range append(pages, "../../README.md") {
		bytes, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(bytes)
		for _, block := range blocks(text, "json") {
			if !json.Valid([]byte(block)) {
				t.Errorf("%s: no JSON:\n%s", page, block)
			}
		}
		for _, file := range blocks(text, "yaml") {
			settings++
			if _, errs, code := r.run("version", "--config", r.file("readme.yaml", file)); code != 0 {
				t.Errorf("%s: the file of settings: %s", page, errs)
			}
		}
		for _, shown := range append(blocks(text, "sh"), regexp.MustCompile(`(?m)^ {4}.*$`).FindAllString(text, -1)...) {
			for _, line := range regexp.MustCompile(`(?m)^ *(?:sudo )?(?:\./)?rote ([a-z]+)`).FindAllStringSubmatch(shown, -1) {
				commands[line[1]] = true
			}
		}
		// Where gcc is installed, go build links to libc unless CGO_ENABLED is 0.
		for line := range strings.Lines(text) {
			if strings.Contains(line, "go build") && !strings.Contains(line, "CGO_ENABLED=0 go ") {
				t.Errorf("%s: the program would not be static: %s", page, line)
			}
		}
	}
	if settings == 0 || len(commands) < 12 {
		t.Errorf("%d files of settings, %d commands", settings, len(commands))
	}
	for command := range commands {
		if _, errs, code := r.run(command, "--help"); code != 0 {
			t.Errorf("rote %s: %s", command, errs)
		}
	}
}

// The README is short, its links lead somewhere, and its two commands are those of CI. Its first
// routine is that of the documentation's page.
func TestReadme(t *testing.T) {
	text := readme(t)
	if lines := strings.Count(text, "\n"); lines > 150 {
		t.Errorf("%d lines", lines)
	}
	for _, link := range regexp.MustCompile(`\]\(([a-z][^)#]*)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Errorf("a dead link: %v", err)
		}
	}
	if diff := cmp.Diff(blocks(docsPage(t, "first-routine"), "json"), blocks(text, "json")); diff != "" {
		t.Errorf("the first routine (-page +README):\n%s", diff)
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
	if !strings.Contains(text, "CGO_ENABLED=0 go build") {
		t.Error("the README does not say how to build the program")
	}
	for _, words := range []string{"git clone ", "Go 1.26", "Linux", "macOS", "Windows is not supported", "GB of disk"} {
		if !strings.Contains(section(t, text, "Try it"), words) {
			t.Errorf("the README's prerequisites do not have %q", words)
		}
	}
}
