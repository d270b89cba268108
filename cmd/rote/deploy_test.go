package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	flagInFile     = regexp.MustCompile(`(?:^|[\s"\[(])--([a-z][a-z-]+)`)
	variableInFile = regexp.MustCompile(`\bROTE_([A-Z_]+)\b`)
	commentInFile  = regexp.MustCompile(`(?m)(^|\s)#.*$`)
)

// The files of deploy name only flags and environment variables that their commands have.
func TestDeployFilesNameRealFlags(t *testing.T) {
	var flags cli
	parser, err := newParser(&flags, streams{})
	if err != nil {
		t.Fatal(err)
	}
	flagsOf := func(command string) []string {
		var names []string
		for _, node := range append(parser.Model.Children, parser.Model.Node) {
			if node.Name != command && node != parser.Model.Node {
				continue
			}
			for _, f := range node.Flags {
				names = append(names, f.Name)
			}
		}
		return names
	}
	// These are no flags: ROTE_HOST is a setting of the compose file itself.
	others := []string{"service-token", "host"}
	for _, row := range []struct {
		file, command string
		flags         int // at least
	}{
		{"Dockerfile", "serve", 0},
		{"compose.yaml", "serve", 4},
		{"rote.service", "serve", 1},
		{"helm/values.yaml", "serve", 0},
		{"helm/templates/serve.yaml", "serve", 6},
		{"helm/templates/worker.yaml", "worker", 3},
		{"helm/templates/_helpers.tpl", "serve", 5},
		{"helm/templates/_helpers.tpl", "worker", 5},
	} {
		text, err := os.ReadFile("deploy/" + row.file)
		if err != nil {
			t.Fatal(err)
		}
		known, content := flagsOf(row.command), commentInFile.ReplaceAllString(string(text), "")
		if !slices.Contains(known, "addr") || !strings.Contains(content, "rote") {
			t.Fatalf("%s: nothing can be found", row.file)
		}
		if row.file == "Dockerfile" { // the flags of other programs come before
			_, content, _ = strings.Cut(content, "\nENV ")
		}
		found := flagInFile.FindAllStringSubmatch(content, -1)
		if len(found) < row.flags {
			t.Errorf("%s: only %d flags are found", row.file, len(found))
		}
		for _, m := range found {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: rote %s has no flag --%s", row.file, row.command, m[1])
			}
		}
		for _, m := range variableInFile.FindAllStringSubmatch(content, -1) {
			if name := strings.ToLower(strings.ReplaceAll(m[1], "_", "-")); !slices.Contains(known, name) && !slices.Contains(others, name) {
				t.Errorf("%s: %s sets nothing", row.file, m[0])
			}
		}
	}
}

// The servers of the compose file and of the chart let the load balancer reach all paths, and
// send what belongs to one server there.
func TestDeployedProxiesKeepSessions(t *testing.T) {
	for file, parts := range map[string][]string{
		"haproxy.cfg": {"balance leastconn", "stick match req.hdr(Mcp-Session-Id)", "stick store-response res.hdr(Mcp-Session-Id)", "^/(sse|message|lessons)(/|$)",
			"balance hdr(X-Caller)"},
		"helm/templates/ingress.yaml": {`"/mcp" "/sse" "/message" "/lessons"`, "upstream-hash-by: \"$http_authorization$http_x_service_token\""},
	} {
		text, err := os.ReadFile("deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %s", file, part)
			}
		}
	}
}
