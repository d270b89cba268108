package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// operator is the caller that tests look through.
var operator = routine.Principal{UserID: "admin", OrganizationID: "default", ProjectID: "default", Scopes: routine.ScopeAdmin}

// hiddenValue is a value that is written in another way in HTML, in JSON and in an address.
const hiddenValue = `pa"ss'&<b>wörd+ 7`

// checkHidden fails if an answer has a value in any spelling.
func checkHidden(t testing.TB, got answer, values ...string) {
	t.Helper()
	for _, value := range values {
		inJSON, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		plainJSON, err := routine.EncodeJSON(value)
		if err != nil {
			t.Fatal(err)
		}
		spellings := []string{value, html.EscapeString(value), template.HTMLEscapeString(value), template.JSEscapeString(value),
			url.QueryEscape(value), url.PathEscape(value),
			strings.Trim(string(inJSON), `"`), strings.Trim(string(plainJSON), `"`), html.EscapeString(string(inJSON)), html.EscapeString(string(plainJSON)),
			fmt.Sprintf("%q", value), fmt.Sprintf("%+q", value)}
		for _, spelled := range spellings {
			if strings.Contains(got.body, spelled) || strings.Contains(html.UnescapeString(got.body), spelled) || strings.Contains(fmt.Sprint(got.Header), spelled) {
				t.Errorf("%s %s shows %s:\n%v\n%s", got.Request.Method, got.Request.URL, spelled, got.Header, got.body)
				return
			}
		}
	}
}

// postHidden is post, and fails if the answer has one of the values that were posted in
// fields whose values nobody may see.
func (e *env) postHidden(path string, status int, fields ...string) answer {
	e.t.Helper()
	got := e.post(path, status, fields...)
	for i := 0; i+1 < len(fields); i += 2 {
		if name := fields[i]; fields[i+1] != "" && (name == "field_value" || name == "totp" || name == "code" || name == "state" ||
			strings.HasPrefix(name, "value.") || strings.HasPrefix(name, "secret.")) {
			checkHidden(e.t, got, fields[i+1])
		}
	}
	return got
}

func TestSecretPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	golden(t, "secrets_empty.txt", stableOutline(t, e.get("/console/secrets", http.StatusOK).body))
	golden(t, "new_secret.txt", stableOutline(t, e.get("/console/new-secret", http.StatusOK).body))
	key := "JBSWY3DPEHPK3PXP"
	made := e.postHidden("/console/secrets", http.StatusSeeOther, "name", "shop", "project", "true", "field_name", "username", "field_value", hiddenValue,
		"field_name", "password", "field_value", hiddenValue+"2", "field_name", "", "field_value", "", "totp", key,
		"hosts", "shop.example *.shop.example", "field_rule", "password", "description", hostileText)
	if made.Header.Get("Location") != "/console/secrets/shop?done=saved&project=true" {
		t.Fatal(made.Header)
	}
	page := e.get(made.Header.Get("Location"), http.StatusOK)
	checkHidden(t, page, hiddenValue, hiddenValue+"2", key)
	golden(t, "secret.txt", stableOutline(t, page.body))
	info, err := e.service.Secret(t.Context(), operator, "shop", nil)
	if err != nil || len(info.Fields) != 3 || !info.Project || strings.Join(info.Hosts, " ") != "*.shop.example shop.example" || info.Description != hostileText {
		t.Fatal(info, err)
	}

	// One value is changed, and one is deleted.
	changed := e.postHidden("/console/secrets/shop", http.StatusSeeOther, "project", "true", "version", "1", "value.username", "", "value.password", hiddenValue,
		"delete", "totp", "hosts", "*.shop.example shop.example", "field_rule", "password", "description", "")
	if !strings.Contains(e.get(changed.Header.Get("Location"), http.StatusOK).body, "saved as version 2") {
		t.Error(changed.Header)
	}
	if info, err = e.service.Secret(t.Context(), operator, "shop", nil); err != nil || len(info.Fields) != 2 || info.Description != "" {
		t.Fatal(info, err)
	}
	list := e.get("/console/secrets", http.StatusOK)
	golden(t, "secrets.txt", stableOutline(t, list.body))
	uses := e.get("/console/secrets/shop/uses?project=true", http.StatusOK)
	golden(t, "secret_uses.txt", stableOutline(t, uses.body))
	if !strings.Contains(uses.body, "console") {
		t.Error("changes are not recorded as made in the console")
	}
	checkHidden(t, list, hiddenValue)

	code := e.postHidden("/console/secrets/shop/code", http.StatusSeeOther, "code", "49 12 34")
	if !strings.Contains(e.get(code.Header.Get("Location"), http.StatusOK).body, "The code is kept for five minutes") {
		t.Error(code.Header)
	}
	wrong := e.postHidden("/console/secrets/shop/code", http.StatusBadRequest, "code", hiddenValue)
	if !strings.Contains(outline(t, wrong.body), `input password code="" required aria-invalid`) {
		t.Error(outline(t, wrong.body))
	}
	e.postHidden("/console/secrets/none/code", http.StatusNotFound, "code", "491234")

	e.post("/console/secrets/shop/delete", http.StatusSeeOther, "project", "true")
	e.get("/console/secrets/shop", http.StatusNotFound)
}

// A secret of the organization and one of the project may have the same name: each page changes
// and deletes its own.
func TestSecretsWithOneName(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	rules := []string{"name", "shop", "field_rule", "any", "hosts", "shop.example"}
	for _, project := range []string{"true", "false"} {
		e.postHidden("/console/secrets", http.StatusSeeOther, append(rules, "project", project, "field_name", "value", "field_value", hiddenValue)...)
	}
	page := outline(t, e.get("/console/secrets/shop?project=false", http.StatusOK).body)
	if !strings.Contains(page, "Belongs to organization") || !strings.Contains(page, `input hidden project="false"`) {
		t.Error(page)
	}
	changed := e.postHidden("/console/secrets/shop", http.StatusSeeOther, append(rules, "project", "false", "version", "1", "value.value", hiddenValue+"2",
		"description", "of all")...)
	if location := changed.Header.Get("Location"); location != "/console/secrets/shop?done=saved&project=false" {
		t.Error(location)
	}
	for project, version := range map[bool]int{true: 1, false: 2} {
		if info, err := e.service.Secret(t.Context(), operator, "shop", &project); err != nil || info.Version != version {
			t.Error(project, info, err)
		}
	}
	e.post("/console/secrets/shop/delete", http.StatusSeeOther, "project", "false")
	e.get("/console/secrets/shop?project=false", http.StatusNotFound)
	e.get("/console/secrets/shop?project=true", http.StatusOK)
}

// The page of a secret has the routines that use it, and that of its uses each run.
func TestSecretUses(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.postHidden("/console/secrets", http.StatusSeeOther, "name", "shop", "project", "true", "field_rule", "any", "hosts", "shop.example",
		"field_name", "value", "field_value", hiddenValue)
	r, _, err := e.service.CreateRoutine(t.Context(), operator, []byte(`{"name": "log_in", "description": "d",
		"operations": [{"type": "input_text", "selector": "#p", "text": "{{secret:shop}}"}, {"type": "return_html"}]}`), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	if page := outline(t, e.get("/console/secrets/shop", http.StatusOK).body); !strings.Contains(page, "[log_in](/console/routines/"+r.ID+")") {
		t.Error(page)
	}
	use := routine.SecretUse{At: routinetest.Time, OrganizationID: "default", ProjectID: "default", What: "typed", Name: "shop", Field: "value", Outcome: "ok",
		Host: "shop.example", ExecutionID: "run-1", RoutineID: r.ID, Operation: 1, UserID: hostileText, Via: routine.ViaMCP}
	refused := use
	refused.At, refused.Outcome, refused.Reason, refused.Host = use.At.Add(1), "secret_refused", hostileText, "evil.example"
	if err := e.store.RecordSecretUses(t.Context(), []routine.SecretUse{use, refused}); err != nil {
		t.Fatal(err)
	}
	page := e.get("/console/secrets/shop/uses", http.StatusOK)
	golden(t, "secret_uses_run.txt", stableOutline(t, page.body))
	checkHidden(t, page, hiddenValue)
	if strings.Contains(page.body, "<script>alert") {
		t.Error(page.body)
	}
}

// A form that is refused keeps the settings and no value, and nothing is saved.
func TestRefusedSecretForms(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	for name, c := range map[string]struct {
		fields []string
		want   string
	}{
		"no hosts": {[]string{"name", "a", "field_name", "value", "field_value", hiddenValue}, "hosts is missing"},
		"a name that is none": {[]string{"name", "no name", "hosts", "a.example", "field_name", "value", "field_value", hiddenValue},
			"cannot be the name of a secret"},
		"a value without a name": {[]string{"name", "a", "hosts", "a.example", "field_name", "", "field_value", hiddenValue},
			"A value has no name"},
		"a field without a valid name": {[]string{"name", "a", "hosts", "a.example", "field_name", "1 2", "field_value", hiddenValue}, "the name of a field"},
		"a key that is none":           {[]string{"name", "a", "hosts", "a.example", "totp", hiddenValue}, `input password totp="" aria-invalid`},
		"a reference without a name":   {[]string{"name", "a", "hosts", "a.example", "references", "vault:x"}, `textarea references="vault:x" aria-invalid`},
		"too large a value": {[]string{"name", "a", "hosts", "a.example", "field_name", "value", "field_value", strings.Repeat("ä\"", 40<<10)},
			"more than 65536 bytes"},
		"not UTF-8": {[]string{"name", "a", "hosts", "a.example", "field_name", "value", "field_value", "caf\xe9 au lait"}, "is not UTF-8"},
	} {
		got := e.postHidden("/console/secrets", http.StatusBadRequest, append(c.fields, "project", "true", "field_rule", "any", "description", hostileText)...)
		text := outline(t, got.body)
		if !strings.Contains(text, c.want) || !strings.Contains(text, `select field_rule="any"`) || !strings.Contains(html.UnescapeString(got.body), hostileText) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if list, _, err := e.service.Secrets(t.Context(), operator, 0, 0); err != nil || len(list) != 0 {
		t.Error(list, err)
	}

	save := []string{"name", "shop", "project", "true", "field_rule", "password", "hosts", "a.example", "field_name", "value", "field_value", hiddenValue}
	e.postHidden("/console/secrets", http.StatusSeeOther, save...)
	e.postHidden("/console/secrets", http.StatusPreconditionFailed, save...)
	change := []string{"project", "true", "field_rule", "password", "hosts", "evil.example", "version"}
	got := e.post("/console/secrets/shop", http.StatusConflict, append(change, "1")...)
	if !strings.Contains(outline(t, got.body), `textarea hosts="evil.example"`) {
		t.Error(outline(t, got.body))
	}
	e.postHidden("/console/secrets/shop", http.StatusPreconditionFailed, append(change, "7", "value.value", hiddenValue)...)
	if info, err := e.service.Secret(t.Context(), operator, "shop", nil); err != nil || info.Version != 1 || info.Hosts[0] != "a.example" {
		t.Error(info, err)
	}
}

// A sign-in that has ended does not carry a value on to the sign-in page.
func TestSignInPageHasNoSecret(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.postHidden("/console/secrets", http.StatusUnauthorized, "name", "a", "hosts", "a.example", "field_name", "value", "field_value", hiddenValue)
	e.postHidden("/console/secrets/a/code", http.StatusUnauthorized, "code", hiddenValue)
}

// The rules of a secret are saved as the form has them, and the page shows them again.
func TestRulesOfSecrets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("secrets:write", "secrets:read")
	r, _, err := e.service.CreateRoutine(t.Context(), operator, []byte(`{"name": "a", "description": "d", "operations": [{"type": "return_html"}]}`),
		service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	rules := []string{"name", "shop", "field_rule", "none", "hosts", "shop.example:8443", "requests", "1", "confine", "1", "routines", " " + r.ID + "\n",
		"field_name", "value", "field_value", hiddenValue}
	refused := e.postHidden("/console/secrets", http.StatusForbidden, append(rules, "project", "false")...)
	text := outline(t, refused.body)
	if !strings.Contains(text, `textarea hosts="shop.example:8443"`) || !strings.Contains(refused.body, `<option value="false" selected>`) {
		t.Error(refused.body)
	}
	e.postHidden("/console/secrets", http.StatusSeeOther, append(rules, "project", "true")...)
	info, err := e.service.Secret(t.Context(), operator, "shop", nil)
	if err != nil || !info.Requests || !info.Confine || info.Field != "none" || strings.Join(info.Routines, " ") != r.ID ||
		strings.Join(info.Hosts, " ") != "shop.example:8443" {
		t.Error(info, err)
	}
	page := e.get("/console/secrets/shop", http.StatusOK).body
	for _, want := range []string{`name="requests" value="1" checked`, `name="confine" value="1" checked`, "<option selected>none</option>",
		">" + r.ID + "</textarea>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s:\n%s", want, page)
		}
	}
}

func TestSecretsNeedTheirScopes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("secrets:read")
	got := outline(t, e.get("/console/secrets", http.StatusOK).body)
	if !strings.Contains(got, "<New secret (needs a token with the scope secrets:write)> disabled") {
		t.Error(got)
	}
	e.get("/console/new-secret", http.StatusForbidden)
	for _, path := range []string{"/console/secrets", "/console/secrets/a", "/console/secrets/a/code", "/console/secrets/a/delete"} {
		got := e.post(path, http.StatusForbidden, "field_name", "value", "field_value", hiddenValue)
		if !strings.Contains(got.body, "needs the scope secrets:write") {
			t.Error(path, got.body)
		}
	}
	e.signIn("routines:read")
	for _, path := range []string{"/console/secrets", "/console/secrets/a", "/console/secrets/a/uses"} {
		if got := e.get(path, http.StatusForbidden); !strings.Contains(got.body, "needs the scope secrets:read") {
			t.Error(path, got.body)
		}
	}
}
