package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func call(page string) string {
	return `{"parameters": {"page": "https://shop.example/` + page + `"}}`
}

func manyFields(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `, "%d": 0`, i+1)
	}
	return text.String()
}

func TestExecute(t *testing.T) {
	const path = "/routines/$private/execute"
	tests := []scenario{
		{"the execution comes back unwrapped", "POST", path, "$admin", nil, call("x"), 201,
			[]string{`{"execution_id":"`, `"routine_id":"$private"`, `"routine_name":"read_page"`, `"status":"completed"`, `"error":null`,
				`"data":"<b>5 > \"4\" & so on</b>"`, `"created_at":"2026-03-04T05:06:07.891234Z"`}, []string{"error_code"}},
		{"with the slash", "POST", path + "/", "$admin", nil, call("x"), 201, nil, nil},
		{"with a timeout", "POST", path, "$admin", nil, `{"timeout_seconds": 1.5, "parameters": {"page": "https://shop.example/"}}`, 201, nil, nil},
		{"the longest timeout", "POST", path, "$admin", nil, `{"timeout_seconds": 300, "parameters": {"page": "https://shop.example/"}}`, 201, nil, nil},
		{"the shortest timeout", "POST", path, "$admin", nil, `{"timeout_seconds": 1e0, "parameters": {"page": "https://shop.example/"}}`, 201, nil, nil},
		{"with an outline", "POST", path, "$admin", nil, strings.Replace(call("x"), "{", `{"outline": true, `, 1), 201, []string{`"outline":"From the page`}, nil},
		{"without one", "POST", path, "$admin", nil, strings.Replace(call("x"), "{", `{"outline": false, `, 1), 201, nil, []string{"outline"}},
		{"an outline of another type", "POST", path, "$admin", nil, strings.Replace(call("x"), "{", `{"outline": "yes", `, 1), 400,
			[]string{`"pointer":"/outline"`, "outline must be true or false"}, nil},
		{"a byte-order mark", "POST", path, "$admin", nil, "\ufeff" + call("x"), 201, nil, nil},
		{"a run that failed", "POST", path, "$admin", nil, call("fail/element_not_found"), 500,
			[]string{`"code":"element_not_found"`, `"detail":"operation 1 of 2 (navigate): the page failed, as it was told to; nearest: button.buy-now 'Buy now'"`, `"execution":{"execution_id":"`,
				`"status":"failed"`, `"error_code":"element_not_found"`, `"ok":false`}, nil},
		{"a run's failure is 500, whatever its code", "POST", path, "$admin", nil, call("fail/not_found"), 500, []string{`"code":"not_found"`, `"execution":{`}, nil},
		{"a browser that is gone in mid-run", "POST", path, "$admin", nil, call("fail/browser_unavailable"), 500, []string{`"code":"browser_unavailable"`, `"execution":{`}, nil},
		{"unknown", "POST", "/routines/none/execute", "$admin", nil, call("x"), 404, []string{`"code":"not_found"`}, nil},
		{"without token", "POST", path, "", nil, call("x"), 403, []string{`"code":"forbidden"`}, nil},
		{"of another organization", "POST", path, "$guest", nil, call("x"), 403, nil, nil},
		{"public, of another organization", "POST", "/routines/$public/execute", "$guest", nil, call("x"), 403, nil, nil},
		{"archived", "POST", "/routines/$archived/execute", "$admin", nil, `{"parameters": {"item": "x"}}`, 409, []string{`"code":"conflict"`}, nil},

		{"a value that breaks a rule", "POST", path, "$admin", nil, `{"parameters": {"page": "shop"}}`, 400, []string{`"code":"invalid"`, `"pointer":"/page"`}, []string{"execution"}},
		{"all that is wrong with the values", "POST", path, "$admin", nil, `{"parameters": {"pag": 1}}`, 400,
			[]string{`"code":"required"`, `"code":"unknown_parameter"`, `did you mean \"page\"?`}, nil},
		{"no body", "POST", path, "$admin", nil, "", 400, []string{`"code":"json_syntax"`}, nil},
		{"no parameters", "POST", path, "$admin", nil, "\n {}", 400, []string{`"detail":"the body needs the field \"parameters\""`, `"code":"required"`, `"line":2,"column":2`, `"hint":`}, nil},
		{"parameters that are none", "POST", path, "$admin", nil, `{"parameters": null}`, 400, []string{`"pointer":"/parameters","line":1,"column":16,"code":"type"`}, nil},
		{"no object", "POST", path, "$admin", nil, ` [1]`, 400, []string{`"line":1,"column":2,"code":"type"`}, nil},
		{"fields that are none", "POST", path, "$admin", nil, `{"page": "é", "a/~é": 1}`, 400,
			[]string{`"detail":"3 problems in the request, first: `, `"pointer":"/page","line":1,"column":2,"code":"unknown_field"`, `"pointer":"/a~1~0é","line":1,"column":15`,
				`values go into parameters`}, nil},
		{"no more than 100 faults are told", "POST", path, "$admin", nil, `{"0": 0` + manyFields(1000) + `}`, 400, []string{`"detail":"100 problems`}, []string{`"pointer":"/100"`}},
		{"a key twice", "POST", path, "$admin", nil, "{\"parameters\": {\n\"page\": 1, \"page\": 2}}", 400, []string{`"pointer":"/parameters/page","line":2,"column":12,"code":"duplicate_key"`}, nil},
		{"a field twice", "POST", path, "$admin", nil, `{"parameters": {}, "parameters": {}}`, 400, []string{`"column":20,"code":"duplicate_key"`}, nil},
		{"trailing text", "POST", path, "$admin", nil, call("x") + " \n{}", 400, []string{`"line":2,"column":1,"code":"trailing_text"`}, nil},
		{"cut off", "POST", path, "$admin", nil, `{"parameters": {`, 400, []string{`"code":"json_syntax","message":"the JSON ends too early`, `"column":17`}, nil},
		{"no UTF-8", "POST", path, "$admin", nil, "{\"parameters\": {\"page\": \"\xff\"}}", 400, []string{`"code":"json_syntax"`, "UTF-8"}, nil},
		{"broken", "POST", path, "$admin", nil, "{\"parameters\": {é}}", 400, []string{`"column":17,"code":"json_syntax"`}, nil},
		{"too deep", "POST", path, "$admin", nil, `{"parameters": {"page": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`, 400, []string{`"code":"too_deep"`}, nil},
	}
	for _, timeout := range []string{"0", "0.999", "300.001", "-1", "1e400", "1e-12", "99999999999", `"60"`, "null", "[]"} {
		tests = append(tests, scenario{"timeout_seconds " + timeout, "POST", path, "$admin", nil, `{"parameters": {"page": "https://shop.example/"}, "timeout_seconds": ` + timeout + `}`, 400,
			[]string{`"detail":"timeout_seconds must be a number from 1 to 300"`, `"pointer":"/timeout_seconds","line":1,"column":70`}, nil})
	}
	runAll(t, newEnv(t), tests)
}

// A run on a browser that may not confine its pages is marked, whether it completes or fails.
func TestUnverifiedRunsAreMarked(t *testing.T) {
	e := newEnv(t)
	const path = "/routines/$private/execute"
	scenario{"verified", "POST", path, "$admin", nil, call("x"), 201, nil, []string{"unverified"}}.run(t, e)
	e.browser.Page.Unverified = true
	scenario{"unverified", "POST", path, "$admin", nil, call("x"), 201, []string{`"unverified":true`}, nil}.run(t, e)
	scenario{"failed", "POST", path, "$admin", nil, call("fail/element_not_found"), 500, []string{`"unverified":true`}, nil}.run(t, e)
}

// promised is what came of a request made in the background.
type promised struct {
	response
	err error
}

func (e *env) start(ctx context.Context, body string) <-chan promised {
	done := make(chan promised, 1)
	go func() {
		r, err := e.do(ctx, "POST", "/routines/$private/execute", asAdmin, body)
		done <- promised{r, err}
	}()
	return done
}

func TestBusy(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.service.Concurrency, c.service.Queue = 1, 1 })
	first := e.start(t.Context(), call("block"))
	<-e.browser.blocked
	<-e.store.created
	second := e.start(t.Context(), call("x"))
	<-e.store.created // it waits
	scenario{"", "POST", "/routines/$private/execute", "$admin", nil, call("x"), 503, []string{`"code":"busy"`}, []string{"execution\":"}}.run(t, e)
	close(e.browser.release)
	for _, p := range []promised{<-first, <-second} {
		if p.err != nil || p.status != 201 {
			t.Errorf("one that had its place gave %d, %v", p.status, p.err)
		}
	}
}

// A run that completed while the database was locked did its work on a real site:
// the caller gets its result, and can read it again.
func TestCompletedWhileTheDatabaseIsLocked(t *testing.T) {
	e := newEnv(t)
	e.store.locked.Store(true)
	r := e.must(t, "POST", "/routines/$private/execute", asAdmin, call("x"))
	if r.status != 201 || !strings.Contains(r.body, `"status":"completed"`) || !strings.Contains(r.body, "the database did not answer when the run ended") {
		t.Fatalf("%d %s", r.status, r.body)
	}
	id := <-e.store.created
	again := e.must(t, "GET", "/executions/"+id, asAdmin, "")
	if again.status != 200 || !strings.Contains(again.body, `"status":"completed"`) || !strings.Contains(again.body, `"ok":true`) {
		t.Errorf("%d %s", again.status, again.body)
	}
}

func TestDisconnectCancelsRun(t *testing.T) {
	e := newEnv(t)
	ctx, leave := context.WithCancel(t.Context())
	done := e.start(ctx, call("block"))
	<-e.browser.blocked
	leave()
	if p := <-done; p.err == nil {
		t.Fatalf("the call was answered with %d", p.status)
	}
	finished := <-e.store.finished
	saved, err := e.store.Execution(context.Background(), finished.ID)
	if err != nil {
		t.Fatal(err)
	}
	if saved.Status != routine.ExecutionFailed || saved.ErrorCode != routine.CodeCancelled {
		t.Errorf("the execution is %s with %q", saved.Status, saved.ErrorCode)
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	start := time.Now()
	scenario{"", "POST", "/routines/$private/execute", "$admin", nil, strings.Replace(call("block"), "{", `{"timeout_seconds": 1.25, `, 1), 500,
		[]string{`"code":"timeout"`, `timeout_seconds of 1.25`, `"error_code":"timeout"`, `"status":"failed"`}, nil}.run(t, e)
	if took := time.Since(start); took < 1250*time.Millisecond {
		t.Errorf("it was over after %v", took)
	}
}

func TestShutdown(t *testing.T) {
	e := newEnv(t)
	done := e.start(t.Context(), call("block"))
	<-e.browser.blocked
	now, cancel := context.WithCancel(t.Context())
	cancel()
	e.service.Close(now)
	if p := <-done; p.status != 500 || !strings.Contains(p.body, `"code":"interrupted"`) || !strings.Contains(p.body, `"execution":{`) {
		t.Errorf("the run in flight gave %d, %v: %s", p.status, p.err, p.body)
	}
	scenario{"", "POST", "/routines/$private/execute", "$admin", nil, call("x"), 503, []string{`"code":"shutting_down"`}, nil}.run(t, e)
}

func TestUnavailableStore(t *testing.T) {
	e := newEnv(t)
	db := e.store.Store.(interface{ Close() error })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	hidden := []string{"sql", "closed"}
	runAll(t, e, []scenario{
		{"not ready", "GET", "/readyz", "", nil, "", 503, []string{`"code":"store_unavailable"`}, hidden},
		{"alive", "GET", "/healthz", "", nil, "", 200, nil, nil},
		{"reading", "GET", "/routines/x", "$admin", nil, "", 503, []string{`"code":"store_unavailable"`}, hidden},
		{"a token of the store", "GET", "/routines/x", "$guest", nil, "", 503, []string{`"code":"store_unavailable"`}, hidden},
	})
	bodies := map[string]string{"/routines/": readPage, "/routines/by-name/{name}": strings.Replace(readPage, "read_page", "1", 1),
		"/routines/{routine_id}": `{"tags":[]}`, "/routines/{routine_id}/execute": call("x"), "/routines/{routine_id}/restore": `{"version":1}`,
		"/executions/": unsaved("x"), "/schedules/": `{"routine_id": "x", "cron": "@daily"}`}
	published().each(503, func(method, path string) {
		if path == "/routines/validate_routine_json" {
			return // it needs no store: its 503 is that of too many at once
		}
		token := "$admin"
		if path == "/routines/import" || strings.HasPrefix(path, "/lessons/") || strings.HasPrefix(path, "/secrets/{name}") ||
			strings.HasPrefix(path, "/sessions/{name}") {
			token = "$guest" // imports and lessons are not in the store, and names of secrets and sessions are checked first, but the token is in it
		}
		scenario{method + path, method, concrete(path), token, nil, bodies[path], 503, []string{`"code":"store_unavailable"`}, hidden}.run(t, e)
	})
	for _, line := range e.lines() {
		if strings.Contains(line, `"status":503`) && !(strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, " is closed")) {
			t.Errorf("the log does not tell why: %s", line)
		}
	}
}

func TestPanic(t *testing.T) {
	e := newEnv(t)
	e.store.pingPanic = true
	scenario{"", "GET", "/readyz", "", nil, "", http.StatusInternalServerError, []string{`"code":"internal"`, `"detail":"internal error"`}, []string{"secret"}}.run(t, e)
	if lines := e.lines(); len(lines) != 1 || !strings.Contains(lines[0], "a secret of the store") || !strings.Contains(lines[0], "fakes_test.go") {
		t.Errorf("the log does not tell where: %s", lines)
	}
}
