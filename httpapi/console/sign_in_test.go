package console_test

import (
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	refused := e.get("/console/executions", http.StatusUnauthorized)
	if !strings.Contains(refused.body, `name="next" value="/console/executions"`) {
		t.Errorf("the sign-in page does not lead back:\n%s", refused.body)
	}
	wrong := e.post("/console/login", http.StatusUnauthorized, "token", "rote_wrong")
	if !strings.Contains(wrong.body, "does not know this token") || strings.Contains(wrong.body, "rote_wrong") {
		t.Error(wrong.body)
	}
	in := e.post("/console/login", http.StatusSeeOther, "token", adminToken, "next", "/console/executions?status=failed")
	if in.Header.Get("Location") != "/console/executions?status=failed" {
		t.Error(in.Header)
	}
	cookie := in.Cookies()[0]
	_, port, _ := strings.Cut(strings.TrimPrefix(e.URL, "http://"), ":")
	if cookie.Name != "rote-"+port || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/console" || cookie.Domain != "" {
		t.Errorf("%+v", cookie)
	}
	e.get("/console/", http.StatusSeeOther)
	if e.do("GET", "/executions/", nil, nil).StatusCode != http.StatusUnauthorized {
		t.Error("REST honours the cookie")
	}
	e.post("/console/logout", http.StatusSeeOther)
	e.get("/console/executions", http.StatusUnauthorized)
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, next := range []string{"https://evil.example/", "//evil.example/", "/console/../../evil", "/console\\evil", "/routines", "javascript:alert(1)", ""} {
		got := e.post("/console/login", http.StatusSeeOther, "token", adminToken, "next", next).Header.Get("Location")
		if got != "/console/" {
			t.Errorf("%s leads to %s", next, got)
		}
	}
}

func TestNoTokenOverPlainHTTP(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *envConfig) { c.http.AllowedHosts = []string{"rote.example"} })
	signIn := func(origin string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "POST", e.URL+"/console/login", strings.NewReader("token="+adminToken))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin}}
		r.Host = "rote.example"
		got, err := e.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := signIn("http://rote.example"); got.StatusCode != http.StatusForbidden || len(got.Cookies()) != 0 {
		t.Error("over HTTP: ", got.StatusCode, got.Cookies())
	}
	got := signIn("https://rote.example") // a proxy in front of the service has HTTPS
	if got.StatusCode != http.StatusSeeOther {
		t.Fatal("over HTTPS: ", got.StatusCode)
	}
	c := got.Cookies()[0]
	if c.Name != "__Secure-rote-443" || !c.Secure {
		t.Errorf("%+v", c)
	}
	// The proxy passes the cookie on with requests that have no Origin.
	r, err := http.NewRequestWithContext(t.Context(), "GET", e.URL+"/console/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rote.example"
	r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	page, err := e.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if page.StatusCode != http.StatusSeeOther || page.Header.Get("Location") != "/console/routines" {
		t.Error("with the cookie: ", page.StatusCode, page.Header)
	}
}

func TestWithoutSignIn(t *testing.T) {
	t.Parallel()
	local := routine.Principal{UserID: "local", OrganizationID: "default", ProjectID: "default", Scopes: routine.ScopeAdmin}
	e := newEnv(t, func(c *envConfig) { c.http.Local = &local })
	if got := e.get("/console/nothing", http.StatusNotFound); !strings.Contains(got.body, "no sign-in (--auth off)") || strings.Contains(got.body, "Sign out") {
		t.Error(got.body)
	}
}

// The text of the editor is not lost if the sign-in has ended meanwhile.
func TestPostedTextSurvivesTheSignIn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	text := `{"name": "x</textarea>"}`
	refused := e.post("/console/routines", http.StatusUnauthorized, "definition", text, "secret", "is not kept")
	if !strings.Contains(refused.body, "Your text has been kept") || strings.Contains(refused.body, "is not kept") {
		t.Error(refused.body)
	}
	again := e.post("/console/login", http.StatusOK, "token", adminToken, "definition", text)
	if !strings.Contains(outline(t, again.body), `textarea definition="{\"name\": \"x</textarea>\"}"`) {
		t.Error(outline(t, again.body))
	}
}

func TestConsoleIsFoundFromTheAddressOfTheService(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/rote"} {
		e := newEnv(t, func(c *envConfig) { c.http.BasePath = base })
		got := e.do("GET", base+"/", http.Header{"Accept": {"text/html,*/*"}}, nil)
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != base+"/console/" {
			t.Error(base, got.StatusCode, got.Header)
		}
		if got = e.do("GET", base+"/", http.Header{"Accept": {"application/json"}}, nil); got.StatusCode != http.StatusNotFound {
			t.Error(base, got.StatusCode)
		}
		e.get(base+"/console/login", http.StatusOK)
	}
}
