package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rote/mcp"
)

// newcomer is a person with an empty home, which is in place of /home/ann: the program
// is at rote/rote in it. local replaces that home and the shop in texts by the test's.
func newcomer(t *testing.T) (r *rote, local *strings.Replacer) {
	t.Helper()
	r = newRote(t)
	checkout := filepath.Join(r.home, "rote")
	if err := os.Mkdir(checkout, 0o700); err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\nexport %s=1 HOME='%s' TMPDIR='%s/tmp'\nexec '%s' \"$@\"\n", beRote, r.home, r.home, os.Args[0])
	if err := os.WriteFile(filepath.Join(checkout, "rote"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	return r, strings.NewReplacer("127.0.0.1:8765", strings.TrimPrefix(r.shop, "http://"), "/home/ann", r.home)
}

// follow runs the commands of the README's first routine, but for those that
// build the program and keep the shop up, and returns what they print.
func (r *rote) follow(text string) (stdout string) {
	r.t.Helper()
	part := section(r.t, text, "A first routine")
	files := blocks(part, "json")
	if len(files) != 2 || !strings.Contains(files[0], `"operations"`) {
		r.t.Fatalf("the first section has %d blocks of JSON, want a routine and its data", len(files))
	}
	r.file("rote/my_routine.json", files[0])
	script := "set -e\n"
	for _, line := range regexp.MustCompile(`(?m)^ {4}(.*)$`).FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(part, ""), -1) {
		if !strings.Contains(line[1], "go build") {
			script += line[1] + "\n"
		}
	}
	if n := strings.Count(script, "./rote "); n < 5 {
		r.t.Fatalf("%d commands in\n%s", n, script)
	}
	sh := exec.CommandContext(r.t.Context(), "sh", "-c", script)
	sh.Dir, sh.Env = filepath.Join(r.home, "rote"), []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH")}
	var out, errs bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &errs
	if err := sh.Run(); err != nil {
		r.t.Fatalf("%v\n%s\n%s\n%s", err, script, &out, &errs)
	}
	// The file and the stored routine print what the README shows.
	if strings.Count(out.String(), files[1]) != 2 {
		r.t.Errorf("the data is not twice as in the README:\n%s\nin\n%s", files[1], &out)
	}
	return files[1]
}

// The first routine of the README can be checked, run, stored and run again as
// written there, and prints the data shown. Then each client's snippet starts a
// server that has the routine and may reach the shop, as has rote serve with the
// same settings.
func TestReadmeFirstRoutine(t *testing.T) {
	t.Parallel()
	r, local := newcomer(t)
	shown := r.follow(local.Replace(readme(t)))
	agents := local.Replace(docsPage(t, "agents"))
	snippets := stdioSnippets(t, agents)
	if command := "claude mcp add rote -- "; !strings.Contains(local.Replace(readme(t)), command+strings.Join(snippets["Claude Code"], " ")+"\n") {
		t.Errorf("the README does not have the command of the page: %s%q", command, snippets["Claude Code"])
	}
	if len(snippets) != 7 {
		t.Errorf("%d snippets start rote mcp, want those of seven clients: %v", len(snippets), snippets)
	}
	called := map[string]bool{} // equal command lines need not be tried twice
	for client, line := range snippets {
		if called[strings.Join(line, " ")] {
			continue
		}
		called[strings.Join(line, " ")] = true
		var log bytes.Buffer
		agent, err := mcp.Start(t.Context(), &log, "test", line[0], line[1:]...)
		if err != nil {
			t.Fatalf("%s: %v: %v\n%s", client, line, err, &log)
		}
		answer, err := agent.Call(t.Context(), "search_products", map[string]any{"query": "lamp"})
		if err != nil || !sameData(t, answer, shown) {
			t.Errorf("%s: %v: %v, %s\n%s", client, line, err, answer, &log)
		}
		if err := agent.Close(); err != nil {
			t.Errorf("%s: %v", client, err)
		}
	}
	s := r.start(func(c *exec.Cmd) { // with the file's hosts rather than those of other tests
		c.Env = slices.DeleteFunc(c.Env, func(variable string) bool { return strings.HasPrefix(variable, "ROTE_ALLOW_HOST=") })
	}, "--config", filepath.Join(r.home, "rote.yaml"))
	if answer := s.tool("search_products", `{"query":"lamp"}`); !strings.HasPrefix(answer, "200") || !strings.Contains(answer, "Clip-on Reading Lamp") {
		t.Errorf("over HTTP: %s", answer)
	}
	s.curl(docsPage(t, "rest") + docsPage(t, "schedules"))
}

// curl runs the documentation's calls of the REST API.
func (s *server) curl(part string) {
	s.t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		s.t.Log("the calls with curl were not tried: it is not installed")
		return
	}
	script := "set -e\n"
	for _, line := range regexp.MustCompile(`(?m)^ {4}((?:curl| {5}|\(umask).*)$`).FindAllStringSubmatch(part, -1) {
		script += line[1] + "\n"
	}
	_, list := s.call("GET", "/routines/", "")
	id := list["items"].([]any)[0].(map[string]any)["id"].(string)
	script = strings.NewReplacer("localhost:8080", strings.TrimPrefix(s.url, "http://"), "Routine_…", id).Replace(script)
	sh := exec.CommandContext(s.t.Context(), "sh", "-c", script)
	sh.Dir, sh.Env = filepath.Join(s.home, "rote"), []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TOKEN=" + s.token}
	out, err := sh.CombinedOutput()
	if err != nil || strings.Count(script, "curl ") != 3 || !strings.Contains(string(out), id) || !strings.Contains(string(out), "Clip-on Reading Lamp") ||
		!strings.Contains(string(out), `{"id":"Schedule_`) {
		s.t.Errorf("%v\n%s\n%s", err, script, out)
	}
}

// sameData reports whether a tool's answer has the data that the README shows.
func sameData(t *testing.T, answer json.RawMessage, shown string) bool {
	t.Helper()
	var got struct{ Data json.RawMessage }
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	data, err := normalizeJSON(got.Data)
	want, errShown := normalizeJSON(json.RawMessage(shown))
	return err == nil && errShown == nil && bytes.Equal(data, want)
}

// stdioSnippets are the command lines of a page's snippets that start rote mcp, by the
// client.
func stdioSnippets(t *testing.T, part string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for line := range strings.Lines(part) {
		for client, add := range map[string]string{"Claude Code": "claude", "Codex": "codex"} {
			if _, command, ok := strings.Cut(line, add+" mcp add rote -- "); ok {
				found[client] = strings.Fields(command)
			}
		}
	}
	for _, chapter := range strings.Split(part, "\n**")[1:] {
		client, _, _ := strings.Cut(chapter, "**")
		for _, block := range blocks(chapter, "json") {
			var file struct {
				MCPServers, Servers map[string]struct {
					Command string
					Args    []string
				}
			}
			if err := json.Unmarshal([]byte(block), &file); err != nil {
				t.Fatal(err)
			}
			for _, servers := range []map[string]struct {
				Command string
				Args    []string
			}{file.MCPServers, file.Servers} {
				if s := servers["rote"]; strings.HasSuffix(s.Command, "/rote") {
					found[client] = append([]string{s.Command}, s.Args...)
				}
			}
		}
	}
	return found
}
