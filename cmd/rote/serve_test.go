package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/sqlite"
)

const endless = `{"name":"endless","description":"Waits for ever.","parameters":[{"name":"site","type":"url"}],"operations":[
	{"type":"navigate","url":"{{site}}/"},{"type":"js_evaluate","js":"(async () => { for (;;) await new Promise(r => setTimeout(r, 50)) })()","timeout_seconds":10}]}`

func TestServe(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	if !strings.HasPrefix(s.token, "rote_") || strings.Contains(s.log.String(), s.token) {
		t.Fatal("the first token must be on stdout, alone: ", s.token)
	}
	text, err := os.ReadFile(r.example("search_products"))
	if err != nil {
		t.Fatal(err)
	}
	status, created := s.call("POST", "/routines/", string(text))
	id, _ := created["id"].(string)
	if status != 201 || !strings.HasPrefix(id, "Routine_") {
		t.Fatal(status, created)
	}
	status, e := s.call("POST", "/routines/"+id+"/execute", fmt.Sprintf(`{"parameters":{"site":%q,"query":"lamp"}}`, r.shop))
	if status != 201 || e["status"] != "completed" || !strings.Contains(fmt.Sprint(e["result"]), "LAMP-04") {
		t.Fatal(status, e)
	}
	status, e = s.call("POST", "/routines/"+id+"/execute", `{"parameters":{"site":"http://127.0.0.1:18999","query":"lamp"}}`)
	if status != 500 || e["code"] != "egress_denied" || e["detail"] == "" || e["execution"].(map[string]any)["status"] != "failed" {
		t.Fatal(status, e)
	}
	metrics := s.metrics()
	for _, line := range []string{`rote_executions_total{code="",status="completed",via="rest"} 1`, `rote_executions_total{code="egress_denied",status="failed",via="rest"} 1`,
		"rote_browser_starts_total 1", "rote_browser_failures_total 0", "rote_egress_denials_total 1", `rote_http_requests_total{method="GET",route="/mcp",status="401"} 1`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
	s.stop(syscall.SIGTERM)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, s.log)
	}
	waitNone(t, r.home)
	again := r.serve()
	again.token = s.token
	if status, got := again.call("GET", "/routines/"+id, ""); status != 200 || got["name"] != "search_products" {
		t.Fatal(status, got)
	}
	again.stop(syscall.SIGTERM)
	if out := again.out.String(); out != "" {
		t.Fatal("a second start must not print a token: ", out)
	}
}

// metrics are those of a server that has refused one call of an agent.
func (s *server) metrics() string {
	s.t.Helper()
	var text []byte
	for _, path := range []string{"/mcp", "/metrics"} {
		q, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		if path == "/metrics" {
			q.Header.Set("X-Service-Token", s.token)
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			s.t.Fatal(err)
		}
		text, err = io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			s.t.Fatal(err)
		}
	}
	return string(text)
}

// open counts the executions that have not ended, after a fresh start has had
// its chance to end them.
func openExecutions(t *testing.T, home string) int {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(home, ".local/share/rote/rote.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n, err := store.RecoverExecutions(t.Context(), routine.Execution{}.CreatedAt)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKilledServer(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve()
	var ids []string
	for i := range 3 {
		_, created := s.call("POST", "/routines/", strings.Replace(endless, `"endless"`, fmt.Sprintf(`"endless %d"`, i), 1))
		ids = append(ids, created["id"].(string))
	}
	failed := make(chan error, 1)
	go func() {
		_, _, err := s.try("POST", "/routines/"+ids[0]+"/execute", fmt.Sprintf(`{"parameters":{"site":%q}}`, r.shop))
		failed <- err
	}()
	s.log.wait(t, func(log string) string {
		if strings.Contains(log, "browser started") {
			return "yes"
		}
		return ""
	})
	if len(processes(t, "--user-data-dir="+r.home)) == 0 {
		t.Fatal("no Chromium to be killed")
	}
	s.stop(syscall.SIGKILL)
	if err := <-failed; err == nil {
		t.Fatal("the call was answered by a dead server")
	}
	waitNone(t, "--user-data-dir="+r.home)
	if len(profiles(t, r.home)) == 0 {
		t.Fatal("a killed server has left no profile to sweep")
	}
	again := r.serve()
	if left := profiles(t, r.home); len(left) > 0 {
		t.Error("not swept by the next server: ", left)
	}
	again.token = s.token
	for _, id := range ids {
		if status, got := again.call("GET", "/routines/"+id, ""); status != 200 {
			t.Errorf("acknowledged and lost: %s %v", id, got)
		}
	}
	if !strings.Contains(again.log.String(), "ended executions that a crash had left open") {
		t.Errorf("nothing was recovered:\n%s", again.log)
	}
	again.stop(syscall.SIGTERM)
	if n := openExecutions(t, r.home); n != 0 {
		t.Errorf("%d executions were still open", n)
	}
}

// profiles are the directories of browsers, made to look as old as what a killed
// program has left behind.
func profiles(t *testing.T, home string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(home, "tmp", "rote-profile-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		// A process that is ending removes its own.
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return left
}

func TestStoppedServerInterruptsLongRuns(t *testing.T) {
	t.Parallel() // it waits for the end of a limit
	r := newRote(t)
	s := r.serve()
	answered := s.startNap()
	s.stop(syscall.SIGTERM)
	endedInOrder(t, r, s, <-answered)
}

// The page of /docs works in a browser that gets nothing but what rote serves. It is a heavy
// page: beside two busy processes a click on it takes more than ten seconds.
func TestDocs(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	r.life = 3 * testTime
	s := r.serve()
	file := r.file("docs.json", `{"name":"docs","description":"Opens one call in the docs.","operations":[
		{"type":"navigate","url":"`+s.url+`/docs/api"},
		{"type":"click","selector":"#operations-routines-executeRoutine .opblock-summary-control","timeout_ms":60000},
		{"type":"return_html","scope":"element","selector":"#operations-routines-executeRoutine .opblock-body:has(.opblock-description-wrapper):has(.opblock-section-request-body pre)"}]}`)
	out, log, code := r.run("run", file, "--timeout", "120s", "--allow-host", strings.TrimPrefix(s.url, "http://"))
	if code != 0 || !strings.Contains(out, "Runs the routine and answers when it has ended") || !strings.Contains(out, "timeout_seconds") {
		t.Fatalf("exit %d:\n%s\n%s", code, out, log)
	}
	s.stop(syscall.SIGTERM)
}
