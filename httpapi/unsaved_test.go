package httpapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/sqlite"
)

// unsaved is the body of a call that runs readPage on a page without saving it.
func unsaved(page string) string {
	return strings.Replace(call(page), "{", `{"routine": `+readPage+`, `, 1)
}

func TestExecuteUnsaved(t *testing.T) {
	const path = "/executions/"
	e := newEnv(t)
	runAll(t, e, []scenario{
		{"completed", "POST", path, "$admin", nil, unsaved("x"), 201,
			[]string{`{"execution_id":"`, `"routine_id":""`, `"routine_name":"read_page"`, `"routine_version":0`, `"status":"completed"`,
				`"data":"<b>5 > \"4\" & so on</b>"`, `"parameters":{"page":"https://shop.example/x"}`, `"via":"rest"`, `"operations_total":2`}, nil},
		{"without the slash", "POST", "/executions", "$admin", nil, unsaved("x"), 201, nil, nil},
		{"without parameters", "POST", path, "$admin", nil, `{"routine": {"name": "n", "description": "d", "operations": [{"type": "return_html"}]}}`, 201,
			[]string{`"parameters":{}`}, nil},
		{"with a warning", "POST", path, "$admin", nil, `{"routine": ` + doubtful + `}`, 201, []string{`"status":"completed"`}, nil},
		{"with a timeout", "POST", path, "$admin", nil, strings.Replace(unsaved("x"), "{", `{"timeout_seconds": 2, `, 1), 201, nil, nil},
		{"a byte-order mark", "POST", path, "$admin", nil, "\ufeff" + unsaved("x"), 201, nil, nil},
		{"a run that failed", "POST", path, "$admin", nil, unsaved("fail/element_not_found"), 500,
			[]string{`"code":"element_not_found"`, `"execution":{"execution_id":"`, `"routine_id":""`, `"evidence":{`}, nil},

		{"an invalid definition", "POST", path, "$admin", nil, `{"routine": ` + misspelt + `}`, 400,
			[]string{`"code":"invalid"`, `"detail":"1 problem in the routine: `, `"pointer":"/operations/0/type","line":4,"column":26`,
				`did you mean \"return_html\"?`}, []string{`"execution"`}},
		{"an invalid definition, whose first line is not the body's", "POST", path, "$admin", nil, "\ufeff{\n\"parameters\": {}, \"routine\": {\"nam\": 1}}", 400,
			[]string{`"pointer":"/nam","line":2,"column":31`}, nil},
		{"warnings stand beside errors", "POST", path, "$admin", nil, `{ "routine": {"name": "x", "operations": [{"type": "press", "key": "Enter"}]}}`, 400,
			[]string{`"errors":[{`, `"warnings":[{`, `"code":"no_result"`, `"column":42`}, []string{`"valid"`}},
		{"a value that breaks a rule", "POST", path, "$admin", nil, strings.Replace(unsaved("x"), "https://shop.example/x", "shop", 1), 400,
			[]string{`"detail":"1 problem in the parameters: `, `"pointer":"/page"`}, []string{`"line"`}},
		{"an unknown parameter", "POST", path, "$admin", nil, `{"routine": ` + readPage + `, "parameters": {"pag": 1}}`, 400,
			[]string{`"code":"unknown_parameter"`}, nil},
		{"no routine", "POST", path, "$admin", nil, call("x"), 400,
			[]string{`"detail":"the body needs the field \"routine\""`, `"code":"required"`, `"hint":`}, nil},
		{"a routine that is none", "POST", path, "$admin", nil, `{"routine": "Routine_x"}`, 400,
			[]string{`"pointer":"/routine","line":1,"column":13,"code":"type"`}, nil},
		{"the definition itself", "POST", path, "$admin", nil, noDescription, 400,
			[]string{`"pointer":"/name"`, `"code":"unknown_field"`, "the definition goes into routine"}, nil},
		{"no object", "POST", path, "$admin", nil, `[]`, 400, []string{"an object with the field routine"}, nil},
		{"with an outline", "POST", path, "$admin", nil, strings.Replace(unsaved("x"), "{", `{"outline": true, `, 1), 201, []string{`"outline":"From the page`}, nil},
		{"no timeout", "POST", path, "$admin", nil, strings.Replace(unsaved("x"), "{", `{"timeout_seconds": 0, `, 1), 400,
			[]string{`"pointer":"/timeout_seconds"`}, nil},
		{"a callback for a call that waits", "POST", path, "$admin", nil, strings.Replace(unsaved("x"), "{", `{"callback_url": "https://a.example/", `, 1), 400,
			[]string{`"pointer":"/callback_url"`, "respond-async"}, nil},
		{"no JSON", "POST", path, "$admin", map[string]string{"Content-Type": "text/plain"}, unsaved("x"), 415, nil, nil},
		{"without token", "POST", path, "", nil, unsaved("x"), 401, []string{`"code":"unauthenticated"`}, nil},
		{"with both scopes and no other", "POST", path, e.tokenOf(t, routine.Principal{UserID: "u", OrganizationID: "o", ProjectID: "p",
			Scopes: routine.ScopeRoutinesWrite | routine.ScopeExecutionsRun}), nil, unsaved("x"), 201, []string{`"data":"<b>`}, nil},

		{"nothing is saved", "GET", "/routines/?status=all", "$admin", nil, "", 200, []string{`"total":3,`}, nil},
		{"the ledger has all runs", "GET", "/executions/?limit=1", "$admin", nil, "", 200, []string{`"routine_id":""`, `"total":8,`}, nil},
		{"the runs belong to no routine", "GET", "/routines/$private/executions", "$admin", nil, "", 200, []string{`"total":0,`}, nil},
	})
}

func TestExecuteUnsavedAsync(t *testing.T) {
	e := newEnv(t)
	async := map[string]string{"X-Service-Token": "$admin", "Prefer": "respond-async"}
	got := e.must(t, "POST", "/executions/", async, unsaved("block"))
	location := got.header.Get("Location")
	if got.status != 202 || !strings.HasPrefix(location, "/executions/") || got.header.Get("Preference-Applied") != "respond-async" {
		t.Fatalf("%d %v %s", got.status, got.header, got.body)
	}
	<-e.browser.blocked
	runAll(t, e, []scenario{
		{"it runs", "GET", location, "$admin", nil, "", 200, []string{`"status":"running"`, `"routine_id":""`}, nil},
		{"it is cancelled", "POST", location + "/cancel", "$admin", nil, "", 200, []string{`"error_code":"cancelled"`}, nil},
		{"its events", "GET", location + "/events", "$admin", nil, "", 200, []string{"event: execution", `"status":"failed"`}, nil},
	})
}

func TestExecuteUnsavedWithKey(t *testing.T) {
	e := newEnv(t)
	first := e.must(t, "POST", "/executions/", withKey("k"), unsaved("x"))
	if again := e.must(t, "POST", "/executions/", withKey("k"), unsaved("x")); first.status != 201 || again.status != 201 || again.body != first.body {
		t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
	}
	scenario{"", "POST", "/executions/", "", withKey("k"), unsaved("y"), 422, []string{`"code":"idempotency_mismatch"`}, nil}.run(t, e)
	async := withKey("blocked")
	async["Prefer"] = "respond-async"
	if got := e.must(t, "POST", "/executions/", async, unsaved("block")); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	<-e.browser.blocked
	conflict := e.must(t, "POST", "/executions/", withKey("blocked"), unsaved("block"))
	if conflict.status != 409 || !strings.Contains(conflict.body, "still in flight") || conflict.header.Get("Retry-After") != "2" {
		t.Errorf("while it runs: %d %v %s", conflict.status, conflict.header, conflict.body)
	}
	close(e.browser.release)
}

func TestExecuteUnsavedBusy(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.service.Concurrency, c.service.Queue = 1, 1 })
	first := e.start(t.Context(), call("block"))
	<-e.browser.blocked
	<-e.store.created
	async := map[string]string{"X-Service-Token": "$admin", "Prefer": "respond-async"}
	if got := e.must(t, "POST", "/executions/", async, unsaved("x")); got.status != 202 { // it waits
		t.Fatalf("%d %s", got.status, got.body)
	}
	scenario{"", "POST", "/executions/", "$admin", nil, unsaved("x"), 503, []string{`"code":"busy"`}, []string{"execution\":"}}.run(t, e)
	close(e.browser.release)
	if p := <-first; p.err != nil || p.status != 201 {
		t.Errorf("%d, %v", p.status, p.err)
	}
}

// Neither the definition nor a secret value gets into the database, the log or a refusal.
func TestUnsavedDefinitionIsNotStored(t *testing.T) {
	e := newEnv(t)
	const definition = `{"name": "tried", "description": "only-in-the-definition", "tags": ["only-in-the-definition"],
		"parameters": [{"name": "page", "type": "url"}, {"name": "password", "x-secret": true, "description": "only-in-the-definition"}],
		"operations": [{"type": "navigate", "url": "{{page}}?p={{password}}"}, {"type": "input_text", "selector": "#p", "text": "{{password}}"},
			{"type": "return_html"}]}`
	for page, status := range map[string]int{"x": 201, "fail/timeout": 500} {
		body := `{"routine": ` + definition + `, "parameters": {"page": "https://shop.example/` + page + `", "password": "hunter2-secret"}}`
		scenario{page, "POST", "/executions/", "$admin", nil, body, status, []string{`"password":"***"`}, []string{"hunter2", "only-in-the-definition"}}.run(t, e)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := e.store.Store.(*sqlite.Store).Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "tried") {
		t.Error("the backup does not have the executions")
	}
	for _, hidden := range []string{"hunter2", "only-in-the-definition"} {
		if strings.Contains(string(text), hidden) || strings.Contains(e.log.String(), hidden) {
			t.Errorf("%s is in the database or the log", hidden)
		}
	}
}
