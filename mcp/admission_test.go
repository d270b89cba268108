package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rote/httpapi"
)

func TestHTTPRequestsAreAdmittedOrRefused(t *testing.T) {
	f := newHTTPFixture(t, hang)
	session := f.caller(t, legacy, "ann").session
	message := strings.TrimPrefix(f.sse(t, "ann").post, "/message")
	type row struct {
		name, method, path, user string
		header                   map[string]string
		status                   int
	}
	rows := []row{
		{"no media type", "POST", "/mcp", "ann", map[string]string{"Content-Type": ""}, 415},
		{"text", "POST", "/mcp", "ann", map[string]string{"Content-Type": "text/plain"}, 415},
		{"a form", "POST", "/message" + message, "ann", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"no session", "POST", "/mcp", "ann", nil, 400},
		{"no session to listen to", "GET", "/mcp", "ann", nil, 400},
		{"no session to end", "DELETE", "/mcp", "ann", nil, 400},
		{"a session that is none", "POST", "/mcp", "ann", map[string]string{"Mcp-Session-Id": "x"}, 404},
		{"a session of SSE that is none", "POST", "/message?sessionId=x", "ann", nil, 404},
		{"a modern client that listens the old way", "GET", "/mcp", "ann", map[string]string{"Mcp-Protocol-Version": "2026-07-28"}, 405},
		{"a modern client that ends a session", "DELETE", "/mcp", "ann", map[string]string{"Mcp-Protocol-Version": "2026-07-28"}, 405},
		{"an unknown revision", "POST", "/mcp", "ann", map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": "1999-01-01"}, 400},
		{"a page of our own host asks first", "OPTIONS", "/mcp", "", map[string]string{"Origin": f.url}, 204},
		{"the wrong method", "PUT", "/mcp", "ann", nil, 405},
		{"a post to the stream", "POST", "/sse", "ann", nil, 405},
		{"a read of messages", "GET", "/message" + message, "ann", nil, 405},
	}
	for path, methods := range map[string][]string{"/mcp": {"POST", "GET", "DELETE", "OPTIONS"}, "/sse": {"GET", "OPTIONS"}, "/message" + message: {"POST", "OPTIONS"}} {
		for _, method := range methods {
			for _, origin := range []string{"https://evil.example", "null", "http://localhost.evil.example", "file://", "http://localhost:1", "http://127.0.0.1:1"} {
				rows = append(rows, row{"from " + origin, method, path, "ann", map[string]string{"Origin": origin, "Mcp-Session-Id": session}, 403})
			}
			rows = append(rows, row{"to a foreign name", method, path, "ann", map[string]string{"Host": "evil.example", "Mcp-Session-Id": session}, 403})
			if method != "OPTIONS" {
				rows = append(rows, row{"no token", method, path, "", map[string]string{"Mcp-Session-Id": session}, 401},
					row{"a token that is none", method, path, "", map[string]string{"Authorization": "Bearer x", "Mcp-Session-Id": session}, 401})
			}
		}
	}
	for _, r := range rows {
		answer := f.request(t, r.method, r.path, r.user, strings.NewReader(call("1", "hang", "{}")), r.header)
		_ = answer.Body.Close()
		if answer.StatusCode != r.status {
			t.Errorf("%s: %s %s: %d, want %d", r.name, r.method, r.path, answer.StatusCode, r.status)
		}
		if asks := strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Bearer"); asks != (r.status == 401) {
			t.Errorf("%s: %s %s: WWW-Authenticate %q", r.name, r.method, r.path, answer.Header.Get("WWW-Authenticate"))
		}
		if r.status == 405 && answer.Header.Get("Allow") == "" {
			t.Errorf("%s: %s %s without Allow", r.name, r.method, r.path)
		}
		if origin := answer.Header.Get("Access-Control-Allow-Origin"); origin == "*" || origin != "" && r.status == 403 {
			t.Errorf("%s: %s %s: allows %q", r.name, r.method, r.path, origin)
		}
	}
	if n := f.browser.Opened(); n != 0 {
		t.Errorf("%d pages were opened", n)
	}
}

// endless counts the bytes that are read from it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read.Add(int64(len(b)))
	return len(b), nil
}

func TestTooLongBodyIsNotReadToTheEnd(t *testing.T) {
	f := newHTTPFixture(t)
	post := "/message" + strings.TrimPrefix(f.sse(t, "ann").post, "/message")
	for _, path := range []string{"/mcp", post} {
		e := &endless{}
		five := io.LimitReader(e, 5<<20)
		q, err := http.NewRequestWithContext(t.Context(), "POST", f.url+path, five)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Authorization", "Bearer "+f.tokens["ann"])
		q.ContentLength = 5 << 20
		q.Header.Set("Expect", "100-continue")
		r, err := f.patient().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != 413 || e.read.Load() != 0 {
			t.Errorf("%s: %d, after %d bytes", path, r.StatusCode, e.read.Load())
		}
		if status := f.request(t, "POST", path, "ann", io.LimitReader(e, 5<<20), nil); status.StatusCode != 413 { // of unknown length
			t.Errorf("%s in chunks: %d", path, status.StatusCode)
		}
	}
}

// patient is a client that sends a body only when the server wants it.
func (f *httpFixture) patient() *http.Client {
	return &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}}
}

// A token has one budget of calls for both front ends and all paths. A rejected
// call runs nothing.
func TestRateLimitIsSharedWithREST(t *testing.T) {
	var admission *httpapi.Admission
	f := newHTTPFixtureWith(t, func(f *httpFixture) {
		admission = httpapi.NewAdmission(httpapi.Config{Service: f.service, RateLimit: 4})
		f.admission = admission
	}, hang)
	rest := httpapi.NewHandler(httpapi.Config{Service: f.service, Admission: admission})
	read := func(user string) *http.Response {
		q := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/routines/", http.NoBody)
		q.Header.Set("X-Service-Token", f.tokens[user])
		w := httptest.NewRecorder()
		rest.ServeHTTP(w, q)
		return w.Result()
	}
	left := func(path, want string, r *http.Response) {
		t.Helper()
		_ = r.Body.Close()
		if got := r.Header.Get("RateLimit"); r.StatusCode != 200 || got != want || r.Header.Get("RateLimit-Policy") != `"token";q=4;w=60` {
			t.Errorf("%s: %d, RateLimit %s, want %s", path, r.StatusCode, got, want)
		}
	}
	left("/routines/", `"token";r=3;t=60`, read("ann"))
	first := f.request(t, "POST", "/mcp", "ann", strings.NewReader(hello), nil)
	left("/mcp", `"token";r=2;t=60`, first)
	left("/sse", `"token";r=1;t=60`, f.request(t, "GET", "/sse", "ann", nil, nil))
	left("/routines/", `"token";r=0;t=60`, read("ann"))
	session := map[string]string{"Mcp-Session-Id": first.Header.Get("Mcp-Session-Id")}
	for _, row := range [][2]string{{"POST", "/mcp"}, {"GET", "/mcp"}, {"DELETE", "/mcp"}, {"GET", "/sse"}, {"POST", "/message?sessionId=x"}} {
		r := f.request(t, row[0], row[1], "ann", strings.NewReader(call("1", "hang", "{}")), session)
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != 429 || r.Header.Get("Retry-After") != "60" || r.Header.Get("RateLimit") != `"token";r=0;t=60` ||
			!strings.Contains(string(text), "[rate_limited]") {
			t.Errorf("%s: %d %v %s %v", row, r.StatusCode, r.Header, text, err)
		}
	}
	if r := read("ann"); r.StatusCode != 429 {
		t.Errorf("REST after MCP has used the budget up: %d", r.StatusCode)
	}
	left("/routines/ of another token", `"token";r=3;t=60`, read("bob"))
	if n := f.browser.Opened(); n != 0 {
		t.Errorf("%d pages were opened", n)
	}
}
