package httpapi_test

import (
	"strings"
	"testing"
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
