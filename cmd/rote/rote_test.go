package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	out, errs, code := r.run("demo")
	if code != 0 || !strings.Contains(out, "REST and MCP gave the same data.") || !strings.Contains(out, `"LAMP-03"`) {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, words := range []string{"POST /routines/ stored", "initialize and tools/list in", "js_evaluate", "REST, second call", "MCP, second call"} {
		if !strings.Contains(out, words) {
			t.Errorf("the demo does not show %q:\n%s", words, out)
		}
	}
	// The temporary directory of tests is closed to other users, so that root's
	// browser is not confined: the demo says so, in a line.
	if os.Geteuid() == 0 && (strings.Count(errs, "warning: BROWSER IS NOT CONFINED: ") != 1 || strings.Count(errs, "\n") != 1) {
		t.Errorf("standard error:\n%s", errs)
	}
	if entries, _ := os.ReadDir(r.home); len(entries) != 1 { // its temporary directory
		t.Errorf("the demo left %v in the home", entries)
	}
}

// The commands that the demo shows for going on by hand work as they stand.
func TestDemoKeepsShopRunning(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	c := r.command("demo", "--keep")
	out := &output{more: make(chan struct{}, 1)}
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			_ = c.Process.Signal(os.Interrupt)
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
	defer stop()
	shown := out.wait(t, func(text string) string {
		_, commands, _ := strings.Cut(text, "In another terminal:\n")
		if strings.Count(commands, "\n") < 3 {
			return ""
		}
		return commands
	})
	for line := range strings.Lines(shown) {
		if strings.Contains(line, " curl ") {
			if _, err := exec.LookPath("curl"); err != nil {
				continue
			}
		}
		sh := exec.CommandContext(t.Context(), "sh", "-c", line)
		sh.Env = r.command().Env
		for i, variable := range sh.Env {
			if strings.HasPrefix(variable, "ROTE_ALLOW_HOST=") {
				sh.Env[i] = "UNUSED="
			}
		}
		if text, err := sh.CombinedOutput(); err != nil || !strings.Contains(line, " mcp ") && !strings.Contains(string(text), "LAMP-03") {
			t.Errorf("%s: %v\n%s", line, err, text)
		}
	}
	stop()
}

func TestDemoWithMissingBrowser(t *testing.T) {
	t.Parallel()
	out, errs, code := newRote(t).run("demo", "--browser", "/nowhere/chromium")
	if code != 1 || !strings.Contains(errs, "no such file") && !strings.Contains(errs, "no browser") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
}

func TestRunFile(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	rows := []struct {
		name      string
		args      []string
		code      int
		out, errs string
	}{
		{"search", []string{r.example("search_products"), "-p", "query=LAMP", "-p", "max_price=30"}, 0, `"sku": "LAMP-03"`, "1/6 navigate"},
		{"login and JSON API", []string{r.example("list_orders"), "-p", "username=ada", "-p", "password=lovelace"}, 0, `"total": 42.50`, "fetch"},
		{"a page's HTML", []string{r.example("page_text"), "-p", "sku=LAMP-01"}, 0, `<main`, "return_html"},
		{"the whole execution", []string{r.example("download_invoice"), "-p", "username=ada", "-p", "password=lovelace",
			"-p", "order_id=A-1001", "--json"}, 0, `"filename": "invoice-A-1001.pdf"`, "download"},
		{"a wrong password", []string{r.example("list_orders"), "-p", "username=ada", "-p", "password=x"}, 1, "", "operation"},
		{"a missing parameter", []string{r.example("search_products")}, 1, "", `"query" is required`},
		{"an unknown parameter", []string{r.example("search_products"), "-p", "query=x", "-p", "max=3"}, 1, "", `did you mean "max_price"?`},
		{"no such file", []string{"nowhere.json"}, 1, "", "routine file"},
		{"no routine", []string{r.file("bad.json", `{"name":"x","operations":[{"type":"clik"}]}`)}, 1, "", `did you mean "click"?`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"run"}, row.args...)
			if strings.Contains(row.args[0], r.home) {
				args = append(args, "-p", "site="+r.shop)
			}
			if row.name == "no routine" {
				args = args[:2]
			}
			out, errs, code := r.run(args...)
			if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
				t.Fatalf("exit %d\n%s\n%s", code, out, errs)
			}
			if row.code != 0 && out != "" {
				t.Errorf("stdout of a failed run: %s", out)
			}
		})
	}
}

// A failed run prints the state of the page to stderr.
func TestRunPrintsEvidence(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	wrong := r.file("wrong.json", `{"name":"w","description":"d","parameters":[{"name":"site"}],"operations":[
		{"type":"navigate","url":"{{site}}/"},{"type":"click","selector":"#serch-button","timeout_ms":2000},{"type":"return_html"}]}`)
	out, errs, code := r.run("run", wrong, "-p", "site="+r.shop)
	if code != 1 || out != "" {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, words := range []string{"the page was at " + r.shop + "/ \"", "\nit has:\n  ", "(click): no element matches \"#serch-button\" after 2000 ms; nearest: "} {
		if !strings.Contains(errs, words) {
			t.Errorf("no %q in\n%s", words, errs)
		}
	}
}

// quickest is the least time of three runs of a command line, which must
// succeed.
func (r *rote) quickest(args ...string) time.Duration {
	r.t.Helper()
	best := time.Hour
	for range 3 {
		start := time.Now()
		if _, errs, code := r.run(args...); code != 0 {
			r.t.Fatal(errs)
		}
		best = min(best, time.Since(start))
	}
	return best
}

// A second start to the first result costs little more than starting the
// browser does. A ratio, as the machine's own speed varies: 0.45 s and 0.2 s on
// two idle cores.
func TestSpeedOfRunCommand(t *testing.T) {
	optional.Speed(t)
	r := newRote(t)
	floor := r.quickest("browser", "check")
	took := r.quickest("run", r.example("search_products"), "-p", "query=lamp", "-p", "site="+r.shop)
	t.Logf("browser check %v, run %v", floor, took)
	if took > 15*floor { // 2 s where a start takes 0.13 s
		t.Errorf("run took %v, %.1f times a bare start of the browser", took, float64(took)/float64(floor))
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	bad := r.file("bad.json", "{\"name\": \"x\", \"description\": \"d\",\n \"operations\": [\n  {\"type\": \"click\", \"selecter\": \"#a\"}]}")
	out, errs, code := r.run("validate", r.example("search_products"), bad, "nowhere.json")
	for _, line := range []string{
		bad + `:3:21: error: /operations/0/selecter: click has no field "selecter"; did you mean "selector"? [unknown_field]`,
		"nowhere.json:1:1: error: open nowhere.json",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("missing %q in:\n%s", line, out)
		}
	}
	if code != 1 || !strings.Contains(errs, "search_products.json: valid") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	out, errs, code := r.run("token", "create", "--user", "ann", "--organization", "acme", "--project", "p", "--expires", "90d",
		"--scope", "executions:run", "--scope", "routines:read", "--reach", "*.shop.example")
	if code != 0 || len(strings.Fields(out)) != 1 || !strings.HasPrefix(out, "rote_") {
		t.Fatal(out, errs, code)
	}
	list, _, _ := r.run("token", "list")
	if !strings.Contains(list, "ann") || !strings.Contains(list, "routines:read executions:run  *.shop.example") ||
		!strings.Contains(list, "valid until") || strings.Contains(list, strings.TrimSpace(out)) {
		t.Fatal(list)
	}
	id := strings.Fields(strings.Split(list, "\n")[1])[0]
	if _, errs, code := r.run("token", "revoke", id); code != 0 {
		t.Fatal(errs)
	}
	if list, _, _ := r.run("token", "list"); !strings.Contains(list, "revoked") {
		t.Fatal(list)
	}
	if _, errs, code := r.run("token", "revoke", "none"); code != 1 || !strings.Contains(errs, "rote token list") {
		t.Fatal(errs)
	}
	files, err := filepath.Glob(filepath.Join(r.home, ".local/share/rote/*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if text, _ := os.ReadFile(f); strings.Contains(string(text), strings.TrimSpace(out)) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

func TestMCPOverStdio(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	text, _ := os.ReadFile(r.example("search_products"))
	if status, answer := s.call("POST", "/routines/", string(text)); status != 201 {
		t.Fatal(status, answer)
	}
	// The same file of routines, another process. It starts no browser before
	// a call needs one.
	started := filepath.Join(r.home, "started")
	executable := r.file("browser", "#!/bin/sh\ntouch "+started+"\nexit 1\n")
	if err := os.Chmod(executable, 0o755); err != nil {
		t.Fatal(err)
	}
	c := r.command("mcp", "--browser", executable)
	c.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, ``}, "\n"))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a session without calls started the browser")
	}
	ids := map[float64]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      float64         `json:"id"`
			Result  json.RawMessage `json:"result"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Version != "2.0" {
			t.Errorf("not of the protocol on stdout: %q", line)
		}
		ids[m.ID] = true
		if m.ID == 2 && !strings.Contains(string(m.Result), `"search_products"`) {
			t.Errorf("tools/list: %s", m.Result)
		}
	}
	if !ids[1] || !ids[2] {
		t.Errorf("answers missing:\n%s", out)
	}
}

// processes are those whose command line holds text.
func processes(t *testing.T, text string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatalf("no processes in /proc: %v", err)
	}
	var found []string
	for _, line := range lines {
		args, _ := os.ReadFile(line) // gone meanwhile, or a zombie: empty
		if strings.Contains(string(args), text) {
			found = append(found, line+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}

func waitNone(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(testTime)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left := processes(t, text)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("still there after %v:\n%s", testTime, strings.Join(left, "\n"))
		}
	}
}

// A run that is not incognito finds the cookies and storage that the last such
// run of the project left, also in another process. Other projects do not.
func TestSavedState(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	routine := r.file("count.json", `{"name":"count","description":"Counts its runs in the shop's own storage.","incognito":false,
		"parameters":[{"name":"site","type":"url"}],
		"operations":[{"type":"navigate","url":"{{site}}/"},
			{"type":"js_evaluate","js":"(() => { localStorage.runs = 1 + Number(localStorage.runs ?? 0); return localStorage.runs })()","session_storage_key":"runs"},
			{"type":"return","session_storage_key":"runs"}]}`)
	run := func(want string, more ...string) {
		t.Helper()
		out, errs, code := r.run(append([]string{"run", routine, "-p", "site=" + r.shop}, more...)...)
		if code != 0 || strings.TrimSpace(out) != want {
			t.Fatalf("exit %d, %q, want %s\n%s", code, out, want, errs)
		}
	}
	run("1")
	run("2")
	run("1", "--project", "other")
	run("3")
	key := filepath.Join(r.home, ".local/share/rote/rote.db.key")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := r.run("run", routine, "-p", "site="+r.shop); code != 1 || !strings.Contains(errs, key+" can be used by other users: chmod 600 it") {
		t.Errorf("a key file that others can read: exit %d\n%s", code, errs)
	}
}
