package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// addRun stores an execution of the organization of the tests, with the id run-N, N hours
// after the first.
func (e *env) addRun(n int, edits ...func(*routine.Execution)) *routine.Execution {
	e.t.Helper()
	x := routinetest.Execution(e.t, func(x *routine.Execution) {
		x.ID, x.RoutineID, x.OrganizationID = fmt.Sprint("run-", n), "Routine_1", "default"
		x.CreatedAt = routinetest.Time.Add(time.Duration(n) * time.Hour)
		x.StartedAt, x.CompletedAt, x.DurationSeconds = nil, nil, nil
		x.Parameters = json.RawMessage(`{"item":"<lamp> & more","price":12.50,"password":"***"}`)
	})
	end := new(*x)
	for _, edit := range edits {
		edit(end)
	}
	start := *end
	start.Status, start.Result, start.Error, start.ErrorCode = routine.ExecutionPending, nil, nil, ""
	if end.Status == routine.ExecutionRunning {
		start.Status = routine.ExecutionRunning
	}
	if err := e.store.CreateExecution(e.t.Context(), &start); err != nil {
		e.t.Fatal(err)
	}
	if len(end.Operations) > 0 {
		if err := e.store.SaveProgress(e.t.Context(), map[string][]routine.OperationRecord{end.ID: end.Operations}); err != nil {
			e.t.Fatal(err)
		}
	}
	for _, f := range end.Files {
		if err := e.store.PutFile(e.t.Context(), end.ID, &routine.File{FileInfo: f, Data: []byte("content of " + f.Name)}); err != nil {
			e.t.Fatal(err)
		}
	}
	if !end.Open() {
		if err := e.store.FinishExecution(e.t.Context(), end); err != nil {
			e.t.Fatal(err)
		}
	}
	return end
}

// start starts a run of three operations and returns its id.
func (e *env) start() string {
	e.t.Helper()
	p, err := e.service.Authenticate(e.t.Context(), adminToken)
	if err != nil {
		e.t.Fatal(err)
	}
	r, _, err := e.service.CreateRoutine(e.t.Context(), p, []byte(`{"name": "look", "description": "Looks at the shop.", "parameters": [], "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#buy"},
		{"type": "js_evaluate", "js": "(() => 1)()", "session_storage_key": "k"}, {"type": "return", "session_storage_key": "k"}]}`), service.Idempotency{})
	if err != nil {
		e.t.Fatal(err)
	}
	x, err := e.service.Start(e.t.Context(), p, r.ID, service.Call{Via: routine.ViaREST})
	if err != nil {
		e.t.Fatal(err)
	}
	return x.ID
}

func completed(x *routine.Execution) {
	*x = *routinetest.Ended(x)
	x.Result.IsBase64, x.Result.ContentType, x.Result.Filename, x.Result.Size = false, "", "", nil
	x.Result.Data = json.RawMessage(`[{"sku":"a-1","price":42.50,"id":12345678901234567890},{"sku":"=1+1","stock":null,"price":1e2}]`)
	x.Result.OperationsMetadata = []routine.OperationRecord{
		{Index: 0, Type: "navigate", StartSeconds: new(0.5), DurationSeconds: 0.25, Details: map[string]any{"url": "https://shop.example/?a=1&b=2"}},
		{Index: 1, Type: "click", StartSeconds: new(0.75), DurationSeconds: 1.25, Details: map[string]any{"skipped": true}},
	}
}

func failed(x *routine.Execution) {
	*x = *routinetest.Failed(x)
	x.Result = &routine.Result{OperationsMetadata: []routine.OperationRecord{
		{Index: 0, Type: "navigate", StartSeconds: new(0.1), DurationSeconds: 0.2,
			EgressDenied: []routine.Denial{{Host: "ads.example:443", Reason: "the host is not listed", Count: 2}}},
		{Index: 1, Type: "click", StartSeconds: new(0.3), DurationSeconds: 0.7, Error: new("element #buy not found after 5000 ms"),
			EgressDenied: []routine.Denial{{Host: "ads.example:443", Reason: "the host is not listed", Count: 1}}},
	}}
	x.Files = []routine.FileInfo{{Name: "screenshot.jpg", ContentType: "image/jpeg", Size: 3}, {Name: "page.svg", ContentType: "image/svg+xml", Size: 5}}
}

func running(x *routine.Execution) {
	x.Status, x.StartedAt = routine.ExecutionRunning, new(x.CreatedAt.Add(time.Second))
	x.Operations = []routine.OperationRecord{{Index: 0, Type: "navigate", StartSeconds: new(0.0), DurationSeconds: 0.25}}
	x.OperationsDone = 1
}

func TestExecutions(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	golden(t, "executions-empty.txt", outline(t, e.get("/console/executions", http.StatusOK).body))
	e.addRun(1, completed)
	e.addRun(2, failed)
	e.addRun(3, running)
	e.addRun(4, func(x *routine.Execution) { x.RoutineID, x.RoutineVersion = "", 0 })
	list := e.get("/console/executions", http.StatusOK)
	golden(t, "executions.txt", outline(t, list.body))
	for query, want := range map[string]string{"status=failed": "run-2", "status=running": "run-3", "routine=Routine_1&status=completed": "run-1",
		"code=element_not_found&via=mcp&user=ann": "run-2"} {
		got := e.get("/console/executions?"+query, http.StatusOK).body
		if strings.Count(got, "<tr id=\"run-") != 1 || !strings.Contains(got, `<tr id="run-`+want) {
			t.Errorf("%s: want %s only:\n%s", query, want, outline(t, got))
		}
	}
	for _, query := range []string{"via=rest", "code=timeout", "user=bob", "since=24h"} {
		if got := e.get("/console/executions?"+query, http.StatusOK).body; !strings.Contains(got, "No execution matches.") {
			t.Errorf("%s:\n%s", query, outline(t, got))
		}
	}
	for _, query := range []string{"since=x", "before=x"} {
		e.get("/console/executions?"+query, http.StatusBadRequest)
	}
	golden(t, "executions-no-match.txt", outline(t, e.get("/console/executions?routine=Routine_2", http.StatusOK).body))
	golden(t, "executions-no-routine.txt", outline(t, e.get("/console/executions?routine=%3Cb%3E&status=failed", http.StatusBadRequest).body))
}

func TestExecutionsHavePages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	for n := range 60 {
		e.addRun(n, func(x *routine.Execution) { x.Status = routine.ExecutionFailed })
	}
	path, seen := "/console/executions?status=failed", map[string]bool{}
	for pages := 1; path != ""; pages++ {
		got := e.get(path, http.StatusOK).body
		for _, part := range strings.Split(got, `<tr id="run-`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			seen[id] = true
		}
		_, link, _ := strings.Cut(got, `rel="next"`)
		if link == "" && (pages != 3 || !strings.Contains(got, "60 match")) {
			t.Errorf("the list ends on page %d:\n%s", pages, outline(t, got))
		}
		before, _, more := strings.Cut(got, `" rel="next"`)
		path = ""
		if more {
			path = strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
		}
	}
	if len(seen) != 60 {
		t.Errorf("%d executions are on the pages, want 60", len(seen))
	}
}

func TestExecutionsMayBeReadOnly(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("executions:read")
	e.addRun(1, running)
	for _, path := range []string{"/console/executions", "/console/executions/run-1"} {
		if got := outline(t, e.get(path, http.StatusOK).body); !strings.Contains(got, "(needs a token with the scope executions:run)> disabled") {
			t.Errorf("%s does not say which scope is missing:\n%s", path, got)
		}
	}
	e.post("/console/executions/run-1/cancel", http.StatusForbidden)
	other := newEnv(t)
	other.signIn("routines:read")
	other.addRun(1)
	for _, path := range []string{"", "/run-1", "/run-1/live", "/run-1/picture", "/run-1/report.html", "/run-1/result.json", "/run-1/files/screenshot.jpg"} {
		other.get("/console/executions"+path, http.StatusForbidden)
	}
}

func TestCancelFromTheConsole(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	release := make(chan struct{})
	e.browser.Page.Navigate = func(ctx context.Context, url string) (routine.Navigation, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return routine.Navigation{}, routine.CauseOf(ctx)
		}
		return routine.Navigation{URL: url, Status: 200}, nil
	}
	defer close(release)
	for _, c := range []struct{ back, want string }{{"", ""}, {"/console/executions?status=running", "/console/executions?status=running"},
		{"https://evil.example/", "/console/"}} {
		id := e.start()
		got := e.post("/console/executions/"+id+"/cancel", http.StatusSeeOther, "back", c.back).Header.Get("Location")
		if want := c.want; got != want && (want != "" || got != "/console/executions/"+id) {
			t.Errorf("back to %q leads to %s", c.back, got)
		}
		if page := e.get("/console/executions/"+id, http.StatusOK).body; !strings.Contains(page, "the run was cancelled") {
			t.Error(outline(t, page))
		}
	}
}
