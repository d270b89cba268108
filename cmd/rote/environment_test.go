package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// runWith runs a command line with additional environment variables.
func (r *rote) runWith(variables []string, args ...string) (stdout, stderr string, code int) {
	r.t.Helper()
	c := r.command(args...)
	c.Env = append(c.Env, variables...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Flags that belong to one invocation are not taken from the environment: a
// variable that another program has set must not change what a command does.
func TestInvocationFlagsIgnoreEnvironment(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	invalid := r.file("invalid.json", `{"name":"x"}`)
	valid := r.file("valid.json", `{"name":"t","description":"d","operations":[{"type":"js_evaluate","js":"(() => 7)()","session_storage_key":"k"},
		{"type":"return","session_storage_key":"k"}]}`)
	elsewhere := filepath.Join(r.home, "elsewhere")
	for _, row := range []struct {
		variable  string
		args      []string
		code      int
		out, errs string
	}{
		{"ROTE_VERSION=1.2.3", []string{"validate", invalid}, 1, "error: ", "ROTE_VERSION is ignored"},
		{"ROTE_VERSION=true", []string{"validate", invalid}, 1, "error: ", "ROTE_VERSION is ignored"},
		{"ROTE_HELP=true", []string{"validate", invalid}, 1, "error: ", "ROTE_HELP is ignored"},
		{"ROTE_JSON=true", []string{"run", valid}, 0, "7\n", "ROTE_JSON is ignored"},
		{"ROTE_OUTPUT=" + elsewhere, []string{"run", valid}, 0, "7\n", "ROTE_OUTPUT is ignored"},
		{"ROTE_PARAM=nobody=1", []string{"run", valid}, 0, "7\n", "ROTE_PARAM is ignored"},
	} {
		out, errs, code := r.runWith([]string{row.variable}, row.args...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
			t.Errorf("%s: exit %d\n%s\n%s", row.variable, code, out, errs)
		}
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("ROTE_OUTPUT chose where the data was written")
	}
}

// The flags that say what one invocation does, rather than how rote works, are
// not settings.
func TestInvocationFlags(t *testing.T) {
	invocation := []string{"help", "version", "param", "json", "output", "query", "keep", "id", "new", "status", "limit", "proxy", "port"}
	var flags cli
	parser, err := newParser(&flags, streams{out: new(bytes.Buffer), err: new(bytes.Buffer)})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	var walk func(*kong.Node)
	walk = func(n *kong.Node) {
		for _, flag := range n.Flags {
			found[flag.Name] = true
			if slices.Contains(invocation, flag.Name) && isSetting(flag) {
				t.Errorf("%s --%s is taken from %v", n.Name, flag.Name, flag.Envs)
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(parser.Model.Node)
	for _, name := range invocation {
		if !found[name] {
			t.Errorf("no flag is named --%s", name)
		}
	}
}

// A variable that begins with ROTE_ and sets nothing is reported, without its
// value, and does not stop the command.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for variable, want := range map[string]string{
		"ROTE_EGRES=s3cret":     `environment variable ROTE_EGRES is ignored: rote has no such setting; did you mean "ROTE_EGRESS"?`,
		"ROTE_ALLOW_HOSTS=x":    `did you mean "ROTE_ALLOW_HOST"?`,
		"ROTE_SERVICE_TOKENS=x": `did you mean "ROTE_SERVICE_TOKEN"?`,
		"ROTE_SOMETHING_OF=x":   `ROTE_SOMETHING_OF is ignored: rote has no such setting`,
	} {
		out, errs, code := r.runWith([]string{variable}, "version")
		if code != 0 || !strings.HasPrefix(out, "rote ") || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "s3cret") {
			t.Errorf("%s: exit %d\n%s\n%s\nwant %s", variable, code, out, errs, want)
		}
	}
	// Settings, also those of other commands, and the variables that Kubernetes
	// and Docker set for a service named rote are not reported.
	known := []string{"ROTE_EGRESS=listed", "ROTE_ADDR=127.0.0.1:1", "ROTE_SERVICE_TOKEN=x", "ROTE_TEST_ANY=x", "ROTEST=x", "MY_ROTE_X=x",
		"ROTE_SERVICE_HOST=10.0.0.1", "ROTE_SERVICE_PORT=8080", "ROTE_SERVICE_PORT_HTTP=8080", "ROTE_PORT=tcp://10.0.0.1:8080",
		"ROTE_PORT_8080_TCP=tcp://10.0.0.1:8080", "ROTE_PORT_8080_TCP_ADDR=10.0.0.1", "ROTE_WEB_SERVICE_HOST=10.0.0.1"}
	if _, errs, code := r.runWith(known, "version"); code != 0 || errs != "" {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if _, errs, _ := r.runWith([]string{"ROTE_PORT=9000"}, "version"); !strings.Contains(errs, "ROTE_PORT is ignored") {
		t.Errorf("a port that nothing reads: %s", errs)
	}
}
