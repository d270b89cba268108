package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"rote/httpapi/console"
	"rote/routine"
	"rote/routine/service"
)

// ids, times and secrets differ in each run.
var (
	randomID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	randomTime   = regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d UTC( \d+ (s|min|h) ago)?`)
	randomSecret = regexp.MustCompile(`rote_[A-Za-z0-9_-]{20,}`)
	randomPort   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// stableOutline is the outline of a page without what differs in each run.
func stableOutline(t *testing.T, page string) string {
	t.Helper()
	text := outline(t, page)
	text = randomID.ReplaceAllString(text, "ID")
	text = randomTime.ReplaceAllString(text, "TIME")
	text = randomSecret.ReplaceAllString(text, "SECRET")
	return randomPort.ReplaceAllString(text, "ADDRESS")
}

const hostileText = "<script>alert(1)</script>\"'&\u202e"

func TestTokensPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	golden(t, "tokens_empty.txt", stableOutline(t, e.get("/console/tokens", http.StatusOK).body))

	made := e.post("/console/tokens", http.StatusCreated, "user", "kim", "scope", "routines:read", "scope", "executions:run",
		"hosts", "*.shop.example\n10.0.0.0/8", "days", "30")
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Error(made.Header)
	}
	golden(t, "token_granted.txt", stableOutline(t, made.body))
	secret := randomSecret.FindString(made.body)
	p, err := e.service.Authenticate(t.Context(), secret)
	if err != nil || p.UserID != "kim" || p.Scopes.String() != "routines:read executions:run" || strings.Join(p.AllowedHosts, " ") != "*.shop.example 10.0.0.0/8" {
		t.Fatal(p, err)
	}
	for _, want := range []string{e.URL + "/mcp", "X-Service-Token: " + secret, `"Authorization": "Bearer ` + secret + `"`} {
		if !strings.Contains(html.UnescapeString(made.body), want) {
			t.Errorf("the snippets do not have %s:\n%s", want, made.body)
		}
	}
	if list := e.get("/console/tokens", http.StatusOK); strings.Contains(list.body, secret) || !strings.Contains(list.body, p.TokenID) {
		t.Error(list.body)
	}
	gone := e.post("/console/tokens/"+p.TokenID+"/revoke", http.StatusSeeOther)
	if gone.Header.Get("Location") != "/console/tokens" {
		t.Error(gone.Header)
	}
	if _, err := e.service.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("the token still works: %v", err)
	}
	e.post("/console/tokens", http.StatusCreated, "user", hostileText, "scope", "admin")
	list := e.get("/console/tokens", http.StatusOK)
	golden(t, "tokens.txt", stableOutline(t, list.body))
	if strings.Contains(list.body, "<script>alert") {
		t.Error("a name is markup")
	}
	e.post("/console/tokens/none/revoke", http.StatusNotFound)
}

// Revoking the token with which somebody has signed in ends the sign-in.
func TestRevokingTheOwnToken(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("admin")
	list := e.get("/console/tokens", http.StatusOK)
	if !strings.Contains(list.body, "you are signed out") {
		t.Error(list.body)
	}
	e.post("/console/tokens/"+randomID.FindString(list.body)+"/revoke", http.StatusSeeOther)
	e.get("/console/tokens", http.StatusUnauthorized)
}

func TestWrongTokenFormKeepsItsInput(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	for name, c := range map[string]struct {
		fields []string
		want   string
	}{
		"days":  {[]string{"scope", "admin", "days", "soon"}, "input days=\"soon\" aria-invalid"},
		"scope": {[]string{"days", "5"}, "at least one scope"},
		"hosts": {[]string{"scope", "admin", "hosts", "https://shop.example/", "days", "7"}, "https://shop.example/"},
		"name":  {[]string{"scope", "bogus", "days", "7"}, "is no scope"},
	} {
		got := e.post("/console/tokens", http.StatusBadRequest, append(c.fields, "user", hostileText)...)
		text := outline(t, got.body)
		if c.fields[1] == "admin" && !strings.Contains(got.body, `value="admin" checked`) {
			t.Errorf("%s: the scope is not kept:\n%s", name, got.body)
		}
		if !strings.Contains(text, c.want) || !strings.Contains(html.UnescapeString(got.body), `value="`+hostileText) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	_, total, err := e.service.OrganizationTokens(t.Context(), routine.Principal{UserID: "a", OrganizationID: "default", Scopes: routine.ScopeAdmin}, 0, 0)
	if err != nil || total != 0 {
		t.Error(total, err)
	}
	golden(t, "tokens_wrong.txt", stableOutline(t, e.post("/console/tokens", http.StatusBadRequest, "user", "kim", "scope", "admin", "days", "-1").body))
}

func TestListOfTokensHasPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	admin := routine.Principal{UserID: "a", OrganizationID: "default", ProjectID: "default", Scopes: routine.ScopeAdmin}
	for range 30 {
		if _, _, err := e.service.GrantToken(t.Context(), admin, service.Grant{Scopes: routine.ScopeRoutinesRead}); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/console/tokens":        "1–25 of 30 [Next ›](/console/tokens?page=2)",
		"/console/tokens?page=2": "[‹ Previous](/console/tokens?page=1) 26–30 of 30",
		"/console/tokens?page=9": "This page has no tokens. [Show the first page](/console/tokens)",
		"/console/tokens?page=x": "1–25 of 30 [Next ›](/console/tokens?page=2)",
	} {
		text := strings.Join(strings.Fields(outline(t, e.get(path, http.StatusOK).body)), " ")
		if !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", path, text)
		}
	}
}

func TestTokensAndHealthAreForAdministrators(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("routines:write", "executions:run", "secrets:write")
	for _, got := range []answer{e.get("/console/tokens", http.StatusForbidden), e.get("/console/health", http.StatusForbidden),
		e.post("/console/tokens", http.StatusForbidden, "scope", "admin"), e.post("/console/tokens/x/revoke", http.StatusForbidden)} {
		if !strings.Contains(got.body, "needs the scope admin") {
			t.Error(got.body)
		}
	}
}

func TestHealthPage(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *envConfig) {
		c.console.About = func() []console.Fact {
			return []console.Fact{{Name: "Version", Value: "1.2.3"}, {Name: "Egress", Value: hostileText}}
		}
	})
	e.signIn()
	golden(t, "health.txt", stableOutline(t, e.get("/console/health", http.StatusOK).body))
	golden(t, "health_checked.txt", stableOutline(t, e.get("/console/health?"+url.Values{"check": {"browser"}}.Encode(), http.StatusOK).body))
	if e.browser.Opened() != 0 {
		t.Error("the page opened a page of the browser")
	}
}

func TestHealthOfABrokenBrowser(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn()
	e.browser.OpenError = routine.Errorf(routine.CodeBrowserUnavailable, "no browser here")
	admin := routine.Principal{UserID: "a", OrganizationID: "default", ProjectID: "default", Scopes: routine.ScopeAdmin}
	text := []byte(`{"name": "x", "description": "d", "operations": [{"type": "return_html"}]}`)
	r, _, err := e.service.CreateRoutine(t.Context(), admin, text, service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := e.service.Execute(t.Context(), admin, r.ID, service.Call{Timeout: time.Minute}); err == nil {
			t.Fatal("a run without a browser has completed")
		}
	}
	got := outline(t, e.get("/console/health?check=browser", http.StatusOK).body)
	if !strings.Contains(got, "failed the browser does not start") || !strings.Contains(got, "Not ready: ") {
		t.Error(got)
	}
}
