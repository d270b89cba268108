package httpapi_test

import (
	"fmt"
	"testing"
)

// Each token has a limit of its own. Calls without a valid token are limited by
// address.
func TestRateLimit(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.RateLimit = 3 })
	for _, token := range []string{"$admin", "$guest", "", "guess"} {
		headers := map[string]string{}
		if token != "" {
			headers["X-Service-Token"] = token
		}
		if token == "guess" { // the address has used its calls up
			if got := e.must(t, "GET", "/routines/", headers, ""); got.status != 429 {
				t.Errorf("a bad token after calls without any: %d", got.status)
			}
			continue
		}
		for left := 2; left >= 0; left-- {
			got := e.must(t, "GET", "/routines/$public", headers, "")
			policy := map[bool]string{true: "address", false: "token"}[token == ""]
			if want := fmt.Sprintf(`"%s";r=%d;t=60`, policy, left); got.status != 200 || got.header.Get("RateLimit") != want ||
				got.header.Get("RateLimit-Policy") != fmt.Sprintf(`"%s";q=3;w=60`, policy) {
				t.Errorf("%d, RateLimit %s, want %s", got.status, got.header.Get("RateLimit"), want)
			}
		}
		for range 2 {
			scenario{"", "POST", "/routines/", "", headers, readPage, 429, []string{`"code":"rate_limited"`, "more than 3 calls"}, nil}.run(t, e)
		}
		if got := e.must(t, "GET", "/routines/", headers, "").header; got.Get("Retry-After") != "60" || got.Get("RateLimit") == "" {
			t.Errorf("%v", got)
		}
	}
	for range 5 {
		scenario{"", "GET", "/healthz", "", nil, "", 200, nil, nil}.run(t, e)
	}
	if h := newEnv(t).must(t, "GET", "/routines/", nil, "").header; h.Get("RateLimit") != "" {
		t.Errorf("without a limit: %v", h)
	}
}

func TestCORS(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.CORSOrigins = []string{"https://app.example"} })
	ask := func(e *env, origin string) response {
		return e.must(t, "OPTIONS", "/routines/", map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "content-type,x-service-token"}, "")
	}
	if got := ask(e, "https://app.example"); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
		got.header.Get("Access-Control-Allow-Methods") != "POST" || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", got.status, got.header)
	}
	got := e.must(t, "GET", "/routines/$public", map[string]string{"Origin": "https://app.example"}, "")
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" || got.header.Get("Access-Control-Expose-Headers") == "" {
		t.Errorf("%d %v", got.status, got.header)
	}
	for _, origin := range []string{"http://app.example", "https://app.example:8443", "https://other.example", "null"} {
		if got := ask(e, origin); got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, got.status, got.header)
		}
	}
	// That pages of an origin may ask does not make it a name of the service.
	scenario{"", "GET", "/healthz", "", map[string]string{"Host": "app.example"}, "", 403, nil, nil}.run(t, e)

	off := newEnv(t, func(c *envConfig) { c.http.AllowedHosts = []string{"app.example"} })
	if got := ask(off, "https://app.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without being configured: %v", got.header)
	}
}
