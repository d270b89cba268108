package main

import (
	"strings"
	"testing"
)

// A file of flags is understood wholly or refused, with its line.
func TestInvalidConfigFiles(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	for _, row := range []struct{ name, text, says string }{
		{"misspelt", "db: x\negres: listed\n", `config.yaml:2: no flag is named "egres"; did you mean "egress"?`},
		{"misspelt below a command", "serve:\n  adr: x\n", `config.yaml:2: serve has no flag "adr"; did you mean "addr"?`},
		{"of another command", "mcp:\n  addr: x\n", `config.yaml:2: mcp has no flag "addr"`},
		{"the file in the file", "config: x\n", `config.yaml:1: --config cannot be set in a file`},
		{"the version", "user: a\nversion: true\n", `config.yaml:2: --version cannot be set in a file: give it on the command line`},
		{"the output of one run", "run: {output: x}\n", `config.yaml:1: --output cannot be set in a file`},
		{"no number", "queue: many\n", `config.yaml:1: queue: `},
		{"no size, for another command", "\nkeep-size: much\n", `config.yaml:2: keep-size: "much" is no size`},
		{"not of its values", "egress: lsted\n", `config.yaml:1: egress is public or listed or any, not "lsted"`},
		{"not of its values, in a list", "toolsets: [run, all]\n", `config.yaml:1: toolsets is run or teach or authoring, not "all"`},
		{"a list for one value", "user: [a, b]\n", `config.yaml:1: user takes one value`},
		{"flags for one value", "user: {a: b}\n", `config.yaml:1: user takes one value`},
		{"no value", "allow-host:\n", `config.yaml:1: allow-host takes a value or a list of them`},
		{"twice", "user: a\nuser: b\n", `config.yaml:2: user is set twice`},
		{"a command twice", "mcp: {read-only: true}\nmcp: {read-only: false}\n", `config.yaml:2: mcp is set twice`},
		{"a list", "- user\n", `config.yaml:1: write the name of each flag, a colon and its value`},
		{"no YAML", "a: b: c\n", `config.yaml: yaml: `},
		{"two documents", "user: a\n---\negress: listed\n", `config.yaml: write all flags in one YAML document`},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, errs, code := r.run("version", "--config", r.file("config.yaml", row.text))
			if code != 2 || out != "" || !strings.Contains(errs, row.says) {
				t.Errorf("exit %d, %s\n%s\nwant %s", code, out, errs, row.says)
			}
		})
	}
}

// All commands can share one file: each reads its own settings.
func TestConfigFile(t *testing.T) {
	r := newRote(t)
	config := r.file("config.yaml", `# a comment
addr: 127.0.0.1:of-the-file
allow-host: [one.example, "*.two.example"]
toolsets: [run, authoring]
read-only: true
token:
  organization: of-tokens
  create: {user: of-create, scope: [executions:run, routines:read], expires: 90d}
serve:
  db: /dev/null/of-serve
`)
	if out, errs, code := r.run("token", "create", "--config", config); code != 0 || !strings.Contains(errs, "user of-create, organization of-tokens, project default") {
		t.Fatalf("exit %d, %s\n%s", code, out, errs)
	}
	if list, errs, _ := r.run("token", "list"); !strings.Contains(list, "routines:read executions:run") || !strings.Contains(list, "valid until") {
		t.Errorf("%s\n%s", list, errs)
	}
	if _, errs, code := r.run("serve", "--config", config); code != 1 || !strings.Contains(errs, "tcp/of-the-file") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if _, errs, code := r.run("serve", "--config", config, "--addr", "127.0.0.1:0"); code != 1 || !strings.Contains(errs, "mkdir /dev/null") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if out, errs, code := r.run("version", "--config", r.file("empty.yaml", "# nothing\n")); code != 0 || out == "" {
		t.Errorf("exit %d\n%s", code, errs)
	}
	c := r.command("version")
	c.Env = append(c.Env, "ROTE_CONFIG="+r.file("wrong.yaml", "egres: listed"))
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), `did you mean "egress"?`) {
		t.Errorf("%v: %s", err, out)
	}
}

// A list is in one environment variable.
func TestListsInEnvironment(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	c := r.command("token", "create", "--user", "ann")
	c.Env = append(c.Env, "ROTE_ALLOW_HOST=a.example:1, b.example", "ROTE_REACH=a.example:1,10.0.0.0/8\tb.example", "ROTE_SCOPE=executions:run,routines:read", "ROTE_DENY_HOST=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	list, _, _ := r.run("token", "list")
	for _, words := range []string{"a.example:1 10.0.0.0/8 b.example ", "routines:read executions:run"} {
		if !strings.Contains(list, words) {
			t.Errorf("no %q in\n%s", words, list)
		}
	}
	text := r.file("text.json", `{"name":"t","description":"d","parameters":[{"name":"q","type":"enum","enum_values":["a, b"]}],"operations":[{"type":"sleep","timeout_seconds":0}]}`)
	if out, errs, code := r.run("run", text, "-p", "q=a, b"); code != 0 { // a parameter's value is no list
		t.Errorf("exit %d, %s\n%s", code, out, errs)
	}
}
