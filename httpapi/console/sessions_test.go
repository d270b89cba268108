package console_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"rote/routine/service"
)

// storedState returns a state with a cookie whose value nobody may see.
func storedState(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"cookies": []any{
		map[string]any{"name": "sid", "value": "t0p+s3cr3t/w~rd", "domain": "shop.example", "path": "/", "expires": -1, "httpOnly": true, "secure": true},
		map[string]any{"name": "other", "value": "t0p+s3cr3t/w~rd", "domain": "ads.example", "path": "/", "expires": -1, "httpOnly": true, "secure": true}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSessionPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.postHidden("/console/sessions/shop/import", http.StatusUnauthorized, "state", storedState(t))
	e.signIn()
	golden(t, "sessions_empty.txt", stableOutline(t, e.get("/console/sessions", http.StatusOK).body))
	golden(t, "new_session.txt", stableOutline(t, e.get("/console/new-session", http.StatusOK).body))
	made := e.post("/console/sessions", http.StatusSeeOther, "name", "shop", "hosts", "shop.example", "mode", "exclusive", "max_age", "12h",
		"signed_out_url", "/login", "signed_out_selector", "form.login")
	golden(t, "session_empty.txt", stableOutline(t, e.get(made.Header.Get("Location"), http.StatusOK).body))

	imported := e.postHidden("/console/sessions/shop/import", http.StatusSeeOther, "state", storedState(t))
	page := e.get(imported.Header.Get("Location"), http.StatusOK)
	checkHidden(t, page, "t0p+s3cr3t/w~rd")
	golden(t, "session.txt", stableOutline(t, page.body))
	golden(t, "sessions.txt", stableOutline(t, e.get("/console/sessions", http.StatusOK).body))
	info, err := e.service.Session(t.Context(), operator, "shop")
	if err != nil || info.Condition != "fresh" || *info.MaxAge != "12h" || info.SignedOut.Selector != "form.login" {
		t.Fatal(info, err)
	}
	cookies := "# Netscape HTTP Cookie File\n#HttpOnly_shop.example\tFALSE\t/\tTRUE\t0\tsid\tt0p+s3cr3t/w~rd\n"
	e.postHidden("/console/sessions/shop/import", http.StatusSeeOther, "state", cookies, "hosts", "shop.example")
	for _, state := range []string{cookies + "t0p+s3cr3t/w~rd", `{"cookies": [{"name": "sid", "value": "t0p+s3cr3t/w~rd"}]}`, "t0p+s3cr3t/w~rd", ""} {
		wrong := e.postHidden("/console/sessions/shop/import", http.StatusBadRequest, "state", state, "hosts", "shop.example")
		checkHidden(t, wrong, "t0p+s3cr3t/w~rd")
		if got := outline(t, wrong.body); !strings.Contains(got, "Paste the state again") || !strings.Contains(got, `input hosts="shop.example"`) {
			t.Error(got)
		}
	}

	changed := e.post("/console/sessions/shop", http.StatusSeeOther, "version", versionOf(t, e.get("/console/sessions/shop", http.StatusOK)),
		"hosts", "shop.example", "mode", "shared")
	if got := e.get(changed.Header.Get("Location"), http.StatusOK); !strings.Contains(got.body, "The settings are saved.") {
		t.Error(got.body)
	}
	if info, err = e.service.Session(t.Context(), operator, "shop"); err != nil || info.Mode != "shared" || info.MaxAge != nil || info.SignedOut != nil {
		t.Error(info, err)
	}
	golden(t, "session_uses.txt", stableOutline(t, e.get("/console/sessions/shop/uses", http.StatusOK).body))
	cleared := e.post("/console/sessions/shop/clear", http.StatusSeeOther)
	if got := e.get(cleared.Header.Get("Location"), http.StatusOK); !strings.Contains(got.body, "The login is deleted.") {
		t.Error(got.body)
	}
	e.post("/console/sessions/shop/delete", http.StatusSeeOther)
	e.get("/console/sessions/shop", http.StatusNotFound)
}

// versionOf returns the version that the form of a page has.
func versionOf(t *testing.T, page answer) string {
	t.Helper()
	_, rest, ok := strings.Cut(outline(t, page.body), `input hidden version="`)
	version, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		t.Fatal(page.body)
	}
	return version
}

func TestRefusedSessionForms(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.post("/console/sessions", http.StatusSeeOther, "name", "shop", "hosts", "shop.example", "mode", "shared")
	for want, fields := range map[string][]string{
		`textarea hosts="https://x/" aria-invalid`:                           {"hosts", "https://x/"},
		`input max_age="soon" aria-invalid`:                                  {"hosts", "a.example", "max_age", "soon"},
		`textarea parameters="" aria-invalid`:                                {"hosts", "a.example", "login_routine", "Routine_1", "parameters", "{"},
		`input login_routine="" aria-invalid`:                                {"hosts", "a.example", "parameters", "{}"},
		`input login_routine="Routine_1" aria-invalid`:                       {"hosts", "a.example", "login_routine", "Routine_1"},
		`input signed_out_url="(" aria-invalid`:                              {"hosts", "a.example", "signed_out_url", "("},
		`input signed_out_selector="<script>alert(1)</script>" aria-invalid`: {"hosts", "a.example", "signed_out_selector", "<script>alert(1)</script>"},
	} {
		for _, path := range []string{"/console/sessions", "/console/sessions/shop"} {
			got := e.post(path, http.StatusBadRequest, append(fields, "name", "new", "mode", "exclusive", "version", "1")...)
			text := outline(t, got.body)
			if !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) || !strings.Contains(text, `select mode="exclusive"`) {
				t.Errorf("%s, %s:\n%s", path, want, text)
			}
		}
	}
	e.post("/console/sessions", http.StatusPreconditionFailed, "name", "shop", "hosts", "shop.example", "mode", "shared")
	e.post("/console/sessions/shop", http.StatusPreconditionFailed, "version", "9", "hosts", "shop.example", "mode", "shared")
}

// The settings of a session take no value of a secret parameter, and the form does not show
// the one that was refused.
func TestLoginParametersAreNoSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	r, _, err := e.service.CreateRoutine(t.Context(), operator, []byte(`{"name": "login", "description": "d", "session": "shop",
		"parameters": [{"name": "password", "type": "string", "x-secret": true, "required": false, "description": "d"}], "operations": [{"type": "return_html"}]}`),
		service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	e.post("/console/sessions", http.StatusSeeOther, "name", "shop", "hosts", "shop.example", "mode", "shared")
	parameters, err := json.Marshal(map[string]string{"password": hiddenValue})
	if err != nil {
		t.Fatal(err)
	}
	got := e.post("/console/sessions/shop", http.StatusBadRequest, "version", "1", "hosts", "shop.example", "mode", "shared", "login_routine", r.ID,
		"parameters", string(parameters))
	checkHidden(t, got, hiddenValue, string(parameters))
	if text := outline(t, got.body); !strings.Contains(text, `textarea parameters="" aria-invalid`) {
		t.Error(text)
	}
	for name, fields := range map[string][]string{
		"other settings are wrong": {"version", "1", "hosts", "https://x/", "login_routine", r.ID, "parameters", string(parameters)},
		"the text is no JSON":      {"version", "1", "hosts", "shop.example", "login_routine", r.ID, "parameters", string(parameters) + "}"},
		"an unknown routine":       {"version", "1", "hosts", "shop.example", "login_routine", "Routine_none", "parameters", string(parameters)},
		"no routine":               {"version", "1", "hosts", "shop.example", "parameters", string(parameters)},
		"another version":          {"version", "7", "hosts", "shop.example", "login_routine", r.ID, "parameters", string(parameters)},
	} {
		for _, path := range []string{"/console/sessions", "/console/sessions/shop"} {
			refused := e.postForm(path, append(fields, "name", "shop", "mode", "shared")...)
			text := outline(t, refused.body)
			if refused.StatusCode < 400 || refused.StatusCode >= 500 || !strings.Contains(text, "Write the parameters again") {
				t.Errorf("%s, %s: %d\n%s", path, name, refused.StatusCode, text)
			}
			checkHidden(t, refused, hiddenValue)
		}
	}
	kept := outline(t, e.post("/console/sessions/shop", http.StatusBadRequest, "version", "1", "hosts", "shop.example", "mode", "shared", "login_routine", r.ID,
		"parameters", `{"site": "a"}`).body)
	if !strings.Contains(kept, `textarea parameters="{\"site\": \"a\"}" aria-invalid`) {
		t.Error(kept)
	}

	e.post("/console/sessions/shop/login", http.StatusConflict)
	e.post("/console/sessions/shop", http.StatusSeeOther, "version", "1", "hosts", "shop.example", "mode", "shared", "login_routine", r.ID)
	e.post("/console/sessions/shop", http.StatusSeeOther, "version", "2", "hosts", "shop.example", "mode", "shared", "login_routine", r.ID, "readable", "1")
	settings := e.get("/console/sessions/shop", http.StatusOK).body
	if !strings.Contains(settings, `name="readable" value="1" checked`) || !strings.Contains(settings, `name="login_routine" value="`+r.ID+`"`) {
		t.Error(settings)
	}
	e.browser.Page.State = []byte(`{"cookies":[{"name":"sid","value":"v","url":"https://shop.example/","path":"/","secure":true}]}`)
	run := e.post("/console/sessions/shop/login", http.StatusSeeOther).Header.Get("Location")
	id := strings.TrimPrefix(run, "/console/executions/")
	ended, err := e.service.Wait(t.Context(), operator, id)
	if err != nil || ended.Via != "console" || ended.RoutineID != r.ID {
		t.Error(run, ended, err)
	}
}

func TestSessionsNeedTheirScopes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.post("/console/sessions", http.StatusSeeOther, "name", "shop", "hosts", "shop.example", "mode", "shared")
	e.signIn("secrets:read")
	if got := outline(t, e.get("/console/sessions/shop", http.StatusOK).body); strings.Count(got, "(needs a token with the scope secrets:write)> disabled") != 4 {
		t.Error(got)
	}
	e.get("/console/new-session", http.StatusForbidden)
	for _, path := range []string{"", "/shop", "/shop/import", "/shop/clear", "/shop/delete", "/shop/login"} {
		if got := e.post("/console/sessions"+path, http.StatusForbidden, "state", storedState(t)); !strings.Contains(got.body, "needs the scope secrets:write") {
			t.Error(path, got.body)
		}
	}
}
