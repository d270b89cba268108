package mcp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// opened is an answer that stays open until the end of the test, if its status
// is 200.
func (f *front) opened(t *testing.T, method, path, user, body string, header map[string]string) *http.Response {
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

// TestOneUserCannotTakeAllSessions: a thousand idle /sse streams of one token once
// gave every organization 503.
func TestOneUserCannotTakeAllSessions(t *testing.T) {
	f := newFront(t)
	var streams []*http.Response
	for range defaultSessionLimits.user {
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
	soon(t, "there is room again", func() bool { return f.do(t, "POST", "/mcp", "ann", hello, nil) == 200 })
}

func TestOneOrganizationCannotTakeAllSessions(t *testing.T) {
	all := newSessions()
	fill := func(organization string) (n int, err error) {
		for {
			p := routine.Principal{UserID: fmt.Sprint("user", n/10), OrganizationID: organization}
			if _, _, err = all.add(p, nil, nil); err != nil {
				return n, err
			}
			n++
		}
	}
	for i := range defaultSessionLimits.all / defaultSessionLimits.organization {
		n, err := fill(fmt.Sprint("organization", i))
		e := routine.AsError(err)
		if n != defaultSessionLimits.organization || e.Code != routine.CodeRateLimited || e.RetryAfter == 0 || !strings.Contains(e.Message, "200 MCP sessions of your organization") {
			t.Fatalf("%d sessions, then %v", n, err)
		}
	}
	if n, err := fill("last"); n != 0 || routine.CodeOf(err) != routine.CodeBusy {
		t.Errorf("%d more, then %v", n, err)
	}
}

// Who begins sessions and never uses them ends their own, and nobody else's, even
// when there are as many as there can be.
func TestSessionsThatAreNeverUsed(t *testing.T) {
	all := newSessions()
	now := time.Unix(0, 0)
	all.now = func() time.Time { return now }
	first, _, err := all.add(eve, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all.release(first)
	for user := range 50 {
		for range 60 {
			now = now.Add(time.Millisecond)
			p := routine.Principal{UserID: fmt.Sprint("user", user), OrganizationID: fmt.Sprint("organization", user%10)}
			s, _, err := all.add(p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			all.release(s)
		}
	}
	if len(all.open) != defaultSessionLimits.all {
		t.Errorf("%d sessions are open", len(all.open))
	}
	if _, err := all.use(eve, first.id, false); err != nil {
		t.Errorf("the session of another organization: %v", err)
	}
}

// Clients that begin sessions and abandon them end their own, not the one that
// the same user works with.
func TestAbandonedSessionsGiveWayFirst(t *testing.T) {
	f := newFront(t, named("page"))
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
	abandoned := make([]*httpCaller, 2*defaultSessionLimits.user)
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

// Of the sessions of one user the least recently used one is ended, of whatever
// project it is. Clients that begin at the same time do not end each other's.
func TestLeastRecentlyUsedSessionGivesWay(t *testing.T) {
	all := newSessions()
	now := time.Unix(0, 0)
	all.now = func() time.Time { now = now.Add(time.Second); return now }
	begin := func(project string, called bool) *httpSession {
		p := ann
		p.ProjectID = project
		s, _, err := all.add(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if called {
			all.noteCall(s)
		}
		all.release(s)
		return s
	}
	oldest := begin("small", true)
	var busy []*httpSession
	for i := range defaultSessionLimits.user - 1 {
		s := begin("large", true)
		if i < 5 {
			p := ann
			p.ProjectID = "large"
			if _, err := all.use(p, s.id, false); err != nil {
				t.Fatal(err)
			}
			busy = append(busy, s)
		}
	}
	var begun []*httpSession
	for range 5 {
		begun = append(begun, begin("large", false))
	}
	if all.open[oldest.id] != nil {
		t.Error("the least recently used session is still open")
	}
	for _, s := range append(busy, begun...) {
		if all.open[s.id] == nil {
			t.Error("a session in use, or one that has just begun, was ended")
		}
	}
}

// Streams without a session are bounded too.
func TestOneUserCannotTakeAllStreams(t *testing.T) {
	f := newFront(t)
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
