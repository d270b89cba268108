package httpapi_test

import (
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/service"
)

func TestSessions(t *testing.T) {
	e := newEnv(t)
	const value = "hunter2-session"
	const settings = `{"hosts": ["shop.example"]}`
	state := `{"cookies": [{"name": "sid", "value": "` + value + `", "domain": "shop.example", "path": "/", "expires": -1, "httpOnly": true, "secure": true}]`
	lines := "# Netscape\n#HttpOnly_shop.example\tFALSE\t/\tTRUE\t0\tsid\t" + value + "\n"
	text := map[string]string{"Content-Type": "text/plain"}
	hidden := []string{value}
	runAll(t, e, []scenario{
		{"without a token", "PUT", "/sessions/shop", "", nil, settings, 401, nil, hidden},
		{"without the scope", "PUT", "/sessions/shop", "$guest", nil, settings, 403, []string{"secrets:write"}, hidden},
		{"no JSON", "PUT", "/sessions/shop", "$keeper", text, settings, 415, nil, hidden},
		{"a name that is none", "PUT", "/sessions/a.b", "$keeper", nil, settings, 400, []string{"cannot be the name of a session"}, hidden},
		{"a wrong condition", "PUT", "/sessions/shop", "$keeper", map[string]string{"If-None-Match": `"1"`}, settings, 400, []string{"the session"}, hidden},
		{"one that should be there", "PUT", "/sessions/shop", "$keeper", map[string]string{"If-Match": `"1"`}, settings, 412,
			[]string{"there is no session shop"}, hidden},
		{"a state without a session", "PUT", "/sessions/shop/state", "$keeper", nil, state + "}", 404, []string{"The state is for shop.example"}, hidden},
		{"a new one", "PUT", "/sessions/shop", "$keeper", nil, settings, 201, []string{`"condition":"empty"`}, hidden},
		{"a state", "PUT", "/sessions/shop/state", "$keeper", map[string]string{"If-Match": `"1"`}, state + "}", 200,
			[]string{`"condition":"fresh"`, `"cookies":1`}, hidden},
		{"a state of another version", "PUT", "/sessions/shop/state", "$keeper", map[string]string{"If-Match": `"1"`}, state + "}", 412, nil, hidden},
		{"a state with a wrong condition", "PUT", "/sessions/shop/state", "$keeper", map[string]string{"If-Match": "1"}, state + "}", 400, nil, hidden},
		{"cookies.txt", "PUT", "/sessions/shop/state", "$keeper", text, lines, 200, []string{`"version":3`}, hidden},
		{"cookies.txt with a fault", "PUT", "/sessions/shop/state", "$keeper", text, lines + "x", 400, []string{`"line":3`, `"code":"type"`}, hidden},
		{"a state with a fault", "PUT", "/sessions/shop/state", "$keeper", nil, strings.Replace(state, `"/"`, `""`, 1) + "}", 400,
			[]string{`"pointer":"/cookies/0/path"`}, hidden},
		{"a state as HTML", "PUT", "/sessions/shop/state", "$keeper", map[string]string{"Content-Type": "text/html"}, lines, 415, []string{"text/plain"}, hidden},
		{"a state without a token", "PUT", "/sessions/shop/state", "", nil, state + "}", 401, nil, hidden},
		{"a state without the scope", "PUT", "/sessions/shop/state", "$guest", nil, state + "}", 403, nil, hidden},
		{"a state that is too large", "PUT", "/sessions/shop/state", "$keeper", text, lines + strings.Repeat("# comment\n", 500_000), 413, nil, hidden},
		{"settings that are too large", "PUT", "/sessions/shop", "$keeper", nil, `{"mode": "` + strings.Repeat("m", 5<<20) + `"}`, 413, nil, hidden},
		{"widened", "PUT", "/sessions/shop", "$keeper", nil, `{"readable": true}`, 409, []string{`"code":"value_required"`, "import the state"}, hidden},
		{"changed", "PUT", "/sessions/shop", "$keeper", nil, `{"max_age": "12h"}`, 200, []string{`"max_age":"12h"`}, hidden},
		{"not changed since", "GET", "/sessions/shop", "$keeper", map[string]string{"If-None-Match": `"4"`}, "", 304, nil, hidden},
		{"read", "GET", "/sessions/shop", "$keeper", nil, "", 200, []string{`"state":[{"host":"shop.example","cookies":1,"local_storage":false}]`}, hidden},
		{"of another organization", "GET", "/sessions/shop", "$guest", nil, "", 404, nil, hidden},
		{"a list of another organization", "GET", "/sessions", "$guest", nil, "", 200, []string{`"total":0`}, hidden},
		{"a list", "GET", "/sessions/", "$keeper", nil, "", 200, []string{`"total":1`}, hidden},
		{"a list with an unknown query", "GET", "/sessions?project=false", "$keeper", nil, "", 400, []string{"project"}, hidden},
		{"uses", "GET", "/sessions/shop/uses?limit=1", "$keeper", nil, "", 200, []string{`"what":"saved"`, `"total":5`, `"user_id":"admin"`}, hidden},
		{"uses with a limit that is none", "GET", "/sessions/shop/uses?limit=0", "$keeper", nil, "", 400, []string{"limit"}, hidden},
		{"uses of none", "GET", "/sessions/other/uses", "$keeper", nil, "", 404, nil, hidden},
		{"clear another version", "DELETE", "/sessions/shop/state", "$keeper", map[string]string{"If-Match": `"1"`}, "", 412, nil, hidden},
		{"clear with a wrong condition", "DELETE", "/sessions/shop/state", "$keeper", map[string]string{"If-Match": "1"}, "", 400, nil, hidden},
		{"clear", "DELETE", "/sessions/shop/state", "$keeper", nil, "", 204, nil, hidden},
		{"clear none", "DELETE", "/sessions/other/state", "$keeper", nil, "", 404, nil, hidden},
		{"delete of another organization", "DELETE", "/sessions/shop", "$guest", nil, "", 403, nil, hidden},
		{"delete", "DELETE", "/sessions/shop", "$keeper", nil, "", 204, nil, hidden},
		{"delete again", "DELETE", "/sessions/shop", "$keeper", nil, "", 404, nil, hidden},
		{"a state that creates one", "PUT", "/sessions/shop/state", "$keeper", nil, state + `, "hosts": ["shop.example"]}`, 200, []string{`"version":1`}, hidden},
		{"another method", "POST", "/sessions/shop/state", "$keeper", nil, "", 405, nil, hidden},
	})
	if log := strings.Join(e.lines(), ""); strings.Contains(log, value) || strings.Contains(log, "shop.example") || !strings.Contains(log, "/sessions/{name}/state") {
		t.Errorf("the log has something of a body:\n%s", log)
	}
}

// Somebody who may change a session starts its login, also after logins have failed.
func TestSessionLogin(t *testing.T) {
	e := newEnv(t)
	e.browser.Page.State = []byte(`{"cookies":[{"name":"sid","value":"v","url":"https://shop.example/","path":"/","secure":true}]}`)
	const definition = `{"name":"log_in","description":"d","session":"shop","operations":[{"type":"navigate","url":"https://shop.example/"}]}`
	r, _, err := e.service.CreateRoutine(t.Context(), admin, []byte(definition), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	const at = "/sessions/shop/login"
	runAll(t, e, []scenario{
		{"no session", "POST", at, "$keeper", nil, "", 404, []string{`there is no session \"shop\" in project default`}, nil},
		{"a session", "PUT", "/sessions/shop", "$keeper", nil, `{"hosts": ["shop.example"]}`, 201, nil, nil},
		{"no login routine", "POST", at, "$keeper", nil, "", 409, []string{"rote session set shop --login ROUTINE"}, nil},
		{"its login", "PUT", "/sessions/shop", "$keeper", nil, `{"login": {"routine_id": "` + r.ID + `"}}`, 200, nil, nil},
		{"without a token", "POST", at, "", nil, "", 401, nil, nil},
		{"without the scope", "POST", at, "$guest", nil, "", 403, []string{"secrets:write"}, nil},
	})
	failed, err := e.store.Session(t.Context(), admin.OrganizationID, admin.ProjectID, "shop")
	if err != nil {
		t.Fatal(err)
	}
	failed.Condition, failed.Failures, failed.Reason = routine.SessionFailed, 2, "wrong password"
	if err := e.store.SaveSession(t.Context(), failed, nil, failed.Generation); err != nil {
		t.Fatal(err)
	}
	got := e.must(t, "POST", at, map[string]string{"X-Service-Token": "$keeper"}, "")
	if got.status != 202 || !strings.Contains(got.body, `"status":"pending"`) || !strings.Contains(got.body, r.ID) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	id := strings.TrimPrefix(got.header.Get("Location"), "/executions/")
	if ended, err := e.service.Wait(t.Context(), admin, id); err != nil || ended.Status != routine.ExecutionCompleted {
		t.Fatalf("the login: %+v, %v", ended, err)
	}
	runAll(t, e, []scenario{
		{"logged in", "GET", "/sessions/shop", "$keeper", nil, "", 200, []string{`"condition":"fresh"`, `"failures":0`, `"cookies":1`}, []string{"wrong password"}},
		{"it needs a value", "PATCH", "/routines/" + r.ID, "$keeper", nil, `{"parameters":[{"name":"n","type":"string","description":"d"}],` +
			`"operations":[{"type":"navigate","url":"https://shop.example/{{n}}"}]}`, 200, nil, nil},
		{"a value is missing", "POST", at, "$keeper", nil, "", 400, []string{`"n\" is required`}, nil},
		{"another session", "PATCH", "/routines/" + r.ID, "$keeper", nil, `{"parameters":[],"session":"bank",` +
			`"operations":[{"type":"navigate","url":"https://shop.example/"}]}`, 200, nil, nil},
		{"not its routine any more", "POST", at, "$keeper", nil, "", 409, []string{`has the session \"bank\" and not shop`}, nil},
	})
	e.store.sessionChanged = true
	runAll(t, e, []scenario{
		{"a state at the same time", "PUT", "/sessions/shop/state", "$keeper", map[string]string{"Content-Type": "text/plain"},
			"# Netscape\nshop.example\tFALSE\t/\tTRUE\t0\tsid\tv\n", 409, []string{"at the same time"}, nil},
		{"cleared at the same time", "DELETE", "/sessions/shop/state", "$keeper", nil, "", 409, []string{"at the same time"}, nil},
	})
}
