package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// No request that a page of another origin makes reads or changes anything, although the
// browser sends the cookie with some of them: cookies ignore ports.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *envConfig) { c.http.CORSOrigins = []string{"https://listed.example"} })
	e.signIn()
	own := e.URL
	port := own[strings.LastIndex(own, ":"):]
	for _, c := range []struct {
		name    string
		headers []string // names and values in turn
		get     int      // statuses
		post    int
	}{
		{"typed or bookmarked", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 303, 303},
		{"a page of the console", []string{"Sec-Fetch-Site", "same-origin", "Origin", own}, 303, 303},
		{"a program", nil, 303, 303},
		{"a link of another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 303, 403},
		{"an image of another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403, 403},
		{"an image of another port", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403, 403},
		{"a frame of another port", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403, 403},
		{"a script of another port", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Origin", "http://127.0.0.1:1"}, 403, 403},
		{"a form of another port", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document",
			"Origin", "http://127.0.0.1:1"}, 403, 403},
		{"another name of this machine", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://localhost" + port}, 403, 403},
		{"a sandboxed page", []string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, 403, 403},
		{"an origin that may use REST", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Origin", "https://listed.example"}, 403, 403},
		{"an old browser, by its origin", []string{"Origin", "http://evil.example"}, 403, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			for i := 0; i+1 < len(c.headers); i += 2 {
				header.Set(c.headers[i], c.headers[i+1])
			}
			got := e.do("GET", "/console/", header, nil)
			if got.StatusCode != c.get || got.StatusCode == http.StatusForbidden && strings.Contains(got.body, "<main") {
				t.Errorf("GET: status %d, want %d: %s", got.StatusCode, c.get, got.body)
			}
			header.Set("Content-Type", "application/x-www-form-urlencoded")
			got = e.do("POST", "/console/preferences", header, strings.NewReader("theme=dark&back=/console/"))
			if got.StatusCode != c.post || (len(got.Cookies()) > 0) != (c.post == http.StatusSeeOther) {
				t.Errorf("POST: status %d with cookies %v, want %d", got.StatusCode, got.Cookies(), c.post)
			}
			if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Error("the console allows CORS for ", allowed)
			}
		})
	}
}

func TestHeadersOfPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, path := range []string{"/console/login", "/console/nothing"} {
		h := e.do("GET", path, nil, nil).Header
		for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';",
			"frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: no %s in %s", path, part, policy)
			}
		}
	}
}

func TestSignInsAreLimited(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for range 10 {
		e.post("/console/login", http.StatusUnauthorized, "token", "rote_wrong")
	}
	got := e.post("/console/login", http.StatusTooManyRequests, "token", adminToken)
	if got.Header.Get("Retry-After") == "" || len(got.Cookies()) != 0 {
		t.Error(got.Header)
	}
}

func TestRevokedTokenEndsItsSignIns(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("admin")
	e.get("/console/", http.StatusSeeOther)
	tokens, err := e.service.Tokens(t.Context())
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	if err := e.service.RevokeToken(t.Context(), tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	e.get("/console/", http.StatusUnauthorized)
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	got := e.post("/console/preferences", http.StatusSeeOther, "theme", "dark", "times", "utc", "keys", "off", "back", "/console/login?next=%2Fconsole%2Fx")
	if got.Header.Get("Location") != "/console/login?next=%2Fconsole%2Fx" {
		t.Error(got.Header)
	}
	if page := e.get("/console/login", http.StatusOK).body; !strings.Contains(page, `<html lang="en" data-theme="dark" data-times="utc" data-keys="off">`) {
		t.Error(page)
	}
	e.post("/console/preferences", http.StatusSeeOther, "theme", `"><script>`)
	if page := e.get("/console/login", http.StatusOK).body; !strings.Contains(page, `<html lang="en">`) {
		t.Error(page)
	}
}

// The assets of a page can be kept for ever, and those of another version are not served.
func TestAssets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	page := e.get("/console/login", http.StatusOK).body
	_, rest, _ := strings.Cut(page, `href="/console/assets/`)
	hash, _, _ := strings.Cut(rest, "/")
	for _, name := range []string{"console.css", "console.js", "login.js", "icon.svg"} {
		got := e.get(fmt.Sprintf("/console/assets/%s/%s", hash, name), http.StatusOK)
		if !strings.Contains(got.Header.Get("Cache-Control"), "immutable") || got.body == "" {
			t.Errorf("%s: %v", name, got.Header)
		}
	}
	e.get("/console/assets/0123456789abcdef/console.css", http.StatusNotFound)
	e.get("/console/assets/"+hash+"/nothing.css", http.StatusNotFound)
}

func TestLimitOfForms(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *envConfig) { c.console.MaxBody = 1000 })
	e.post("/console/preferences", http.StatusRequestEntityTooLarge, "theme", strings.Repeat("x", 1001))
}
