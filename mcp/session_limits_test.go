package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// maxUserSessions is how many sessions one user may have in use.
const maxUserSessions = 50

// opened is an answer that stays open until the end of the test, if its status
// is 200.
func (f *httpFixture) opened(t *testing.T, method, path, user, body string, header map[string]string) *http.Response {
	t.Helper()
	r := f.request(t, method, path, user, strings.NewReader(body), header)
	t.Cleanup(func() { _ = r.Body.Close() })
	return r
}

// refused fails unless an answer is 429 with some words and when to come back.
func refused(t *testing.T, r *http.Response, retryAfter, words string) {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, 1000))
	if err != nil || r.StatusCode != 429 || r.Header.Get("Retry-After") != retryAfter || !strings.Contains(string(text), words) || !strings.Contains(string(text), "[rate_limited]") {
		t.Fatalf("%s, Retry-After %s: %s %v", r.Status, r.Header.Get("Retry-After"), text, err)
	}
}

// A regression test: a thousand idle /sse streams of one token made every
// organization get 503.
func TestOneUserCannotTakeAllSessions(t *testing.T) {
	f := newHTTPFixture(t)
	var streams []*http.Response
	for range maxUserSessions {
		r := f.opened(t, "GET", "/sse", "ann", "", nil)
		if r.StatusCode != 200 {
			t.Fatal(r.Status)
		}
		streams = append(streams, r)
	}
	refused(t, f.opened(t, "GET", "/sse", "ann", "", nil), "60", "50 MCP sessions of your user are in use, which is the limit. End some")
	refused(t, f.opened(t, "POST", "/mcp", "ann", hello, nil), "60", "50 MCP sessions of your user")
	for _, user := range []string{"bob", "eve"} {
		for _, r := range []*http.Response{f.opened(t, "POST", "/mcp", user, hello, nil), f.opened(t, "GET", "/sse", user, "", nil)} {
			if r.StatusCode != 200 {
				t.Errorf("%s: %s", user, r.Status)
			}
		}
	}
	_ = streams[0].Body.Close()
	waitUntil(t, "there is room again", func() bool { return f.do(t, "POST", "/mcp", "ann", hello, nil) == 200 })
}

// Clients that begin sessions and abandon them end their own, not the one that
// the same user works with.
func TestAbandonedSessionsAreEndedFirst(t *testing.T) {
	f := newHTTPFixture(t, named("page"))
	live := f.caller(t, legacy, "ann")
	answered := func(r *http.Response) string {
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.Status + " " + string(text)
	}
	if got := answered(live.post(t.Context(), call("1", "page", "{}"))); !strings.Contains(got, `"completed"`) {
		t.Fatal(got)
	}
	abandoned := make([]*httpCaller, 2*maxUserSessions)
	for i := range abandoned {
		abandoned[i] = f.caller(t, legacy, "ann")
		if got := answered(abandoned[i].post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)); !strings.HasPrefix(got, "200 ") {
			t.Fatal(got)
		}
	}
	if got := answered(live.post(t.Context(), call("2", "page", "{}"))); !strings.Contains(got, `"completed"`) {
		t.Errorf("the session in use: %s", got)
	}
	got := answered(abandoned[0].post(t.Context(), call("3", "page", "{}")))
	if !strings.HasPrefix(got, "404 ") || !strings.Contains(got, "more than 50") || !strings.Contains(got, "initialize") {
		t.Errorf("the first abandoned session: %s", got)
	}
}

// Streams without a session are bounded too.
func TestOneUserCannotTakeAllStreams(t *testing.T) {
	f := newHTTPFixture(t)
	header := map[string]string{"Mcp-Protocol-Version": string(modern), "Mcp-Method": "subscriptions/listen"}
	for i := range 200 {
		if r := f.opened(t, "POST", "/mcp", "ann", listening(i), header); r.StatusCode != 200 {
			text, _ := io.ReadAll(r.Body)
			t.Fatalf("stream %d: %s %s", i, r.Status, text)
		}
	}
	refused(t, f.opened(t, "POST", "/mcp", "ann", listening(200), header), "5", "200 requests of your user are open, which is the limit. Close")
	for _, user := range []string{"bob", "eve"} {
		if r := f.opened(t, "POST", "/mcp", user, listening(0), header); r.StatusCode != 200 {
			t.Errorf("%s: %s", user, r.Status)
		}
	}
}
