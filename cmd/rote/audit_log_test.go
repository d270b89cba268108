package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/audit"
)

// auditLines reads an audit log. Each line has its time, which is left out.
func auditLines(t *testing.T, path string) (lines []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if fields["time"] == nil {
			t.Errorf("no time: %s", line)
		}
		lines = append(lines, fields)
	}
	return lines
}

// Each change and each refusal is one line, from every front end, with who did it and no value.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s := r.serve("--audit-log", path, "--toolsets", "run,authoring")
	id := s.changeEverything()
	if out, err := r.command("webhook", "secret", "--audit-log", path).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	limited := r.limitedToken(path)
	c := agentOf(t, s.url, limited)
	foreign := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "run_routine", Arguments: map[string]any{"id": id}}}
	if got, err := c.CallTool(t.Context(), foreign); err != nil || !got.IsError {
		t.Errorf("a call of a routine of another organization: %v %v", got, err)
	}
	s.stop(os.Interrupt)

	var got []string
	for _, l := range auditLines(t, path) {
		words := []string{fmt.Sprint(l["event"]), fmt.Sprint(l["outcome"]), fmt.Sprint(l["via"])}
		for _, name := range []string{"user_id", "code", "name", "version", "status", "request", "for_user"} {
			if l[name] != nil {
				words = append(words, fmt.Sprintf("%s=%v", name, l[name]))
			}
		}
		if l["client"] == nil {
			t.Errorf("no client: %v", l)
		}
		got = append(got, strings.Join(words, " "))
	}
	want := []string{
		"token.created done cli for_user=local",
		"routine.created done rest user_id=local name=audited version=1 status=active",
		"routine.changed done rest user_id=local name=audited version=2 status=active",
		"execution.started done rest user_id=local version=2",
		"execution.refused refused rest user_id=local code=egress_denied",
		"schedule.created done rest user_id=local",
		"schedule.changed done rest user_id=local",
		"schedule.deleted done rest user_id=local",
		"secret.saved done rest user_id=local name=shop",
		"secret.deleted done rest user_id=local name=shop",
		"request.refused refused rest code=unauthenticated request=GET /routines",
		"request.refused refused rest code=unauthenticated request=POST /routines",
		"request.refused refused console code=unauthenticated request=POST /console/login",
		"console.signed_in done console user_id=local",
		"webhook_secret.read done cli user_id=local",
		"token.created done cli for_user=reader",
		"request.refused refused mcp user_id=reader code=forbidden request=tools/call run_routine",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{soughtPassword, s.token, limited, "parameter-value"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the log has the value %s", secret)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info, err)
	}
}

// changeEverything makes each change once, and some calls that are refused. It returns the id of
// the routine.
func (s *server) changeEverything() string {
	t := s.t
	t.Helper()
	call := func(method, path, body string, want int) map[string]any {
		t.Helper()
		status, answer := s.call(method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %v", method, path, status, answer)
		}
		return answer
	}
	id := fmt.Sprint(call("POST", "/routines", `{"name":"audited","description":"Reaches what it may not.","parameters":[{"name":"q","type":"string"}],
		"operations":[{"type":"navigate","url":"http://10.255.255.1/?q={{q}}"}]}`, 201)["id"])
	call("PATCH", "/routines/"+id, `{"description":"Reaches what no run may."}`, 200)
	call("POST", "/routines/"+id+"/execute", `{"parameters":{"q":"parameter-value"}}`, 500)
	schedule := fmt.Sprint(call("POST", "/schedules", `{"routine_id":"`+id+`","cron":"0 0 1 1 *","parameters":{"q":"parameter-value"}}`, 201)["id"])
	call("PATCH", "/schedules/"+schedule, `{"enabled":false}`, 200)
	s.remove("/schedules/" + schedule)
	call("PUT", "/secrets/shop", `{"hosts":["shop.example"],"fields":{"password":`+routine.JSONText(soughtPassword)+`}}`, 201)
	s.remove("/secrets/shop")

	for _, method := range []string{"GET", "POST"} {
		if status, _, err := s.try(method, "/routines", "{}", "X-Service-Token", "rote_wrong"); err != nil || status != 401 {
			t.Errorf("%s with a wrong token: %d %v", method, status, err)
		}
	}
	for _, token := range []string{"rote_wrong", s.token} {
		form := url.Values{"token": {token}, "next": {"/console/"}}
		got, err := http.DefaultTransport.RoundTrip(s.formRequest("/console/login", form))
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
	}
	return id
}

// formRequest is what a browser sends for a form.
func (s *server) formRequest(path string, form url.Values) *http.Request {
	q, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return q
}

// remove calls DELETE, which has no body in its answer.
func (s *server) remove(path string) {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), "DELETE", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("X-Service-Token", s.token)
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = got.Body.Close()
	if got.StatusCode != 204 {
		s.t.Errorf("DELETE %s: %s", path, got.Status)
	}
}

// limitedToken creates a token of the user reader on the command line, with the same audit log.
func (r *rote) limitedToken(path string) string {
	r.t.Helper()
	out, err := r.command("token", "create", "--user", "reader", "--organization", "other", "--audit-log", path).Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// The page of the audit log names each event.
func TestAuditEventsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../routine/audit/audit.go")
	if err != nil {
		t.Fatal(err)
	}
	events := regexp.MustCompile(`Event = "([a-z_.]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(events) < 15 {
		t.Fatalf("only %d events were found", len(events))
	}
	page := docsPage(t, "audit")
	for _, e := range events {
		if !strings.Contains(page, "`"+e[1]+"`") {
			t.Errorf("the page does not name %s", e[1])
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fs.ErrInvalid }

// A log that cannot be opened ends the command before it changes anything. If a line cannot be
// written later, the change stays and the error is in the server's log.
func TestAuditLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	out, err := r.command("token", "create", "--audit-log", t.TempDir()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "name a file that can be written to") {
		t.Errorf("a directory: %v %s", err, out)
	}
	if out, err = r.command("token", "list").CombinedOutput(); err == nil {
		t.Errorf("the refused command has made a database: %s", out)
	}

	var log strings.Builder
	faults := streams{err: &log}.logger()
	audit.New(full{}, faults).Changed(t.Context(), (&globals{}).localPrincipal(), audit.TokenRevoked)
	if !strings.Contains(log.String(), "could not be written") || !strings.Contains(log.String(), "token.revoked") {
		t.Errorf("logged %q", log.String())
	}
}
