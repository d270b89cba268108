package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/mcp/wire"
	"rote/routine"
)

func TestHTTPProgressIsCompleteInOrderAndOnItsOwnStream(t *testing.T) {
	for _, e := range []era{legacy, modern} {
		t.Run(string(e), func(t *testing.T) {
			f := newHTTPFixture(t, buy)
			c := f.caller(t, e, "ann")
			var callers sync.WaitGroup
			for caller := range 8 {
				callers.Go(func() {
					for i := range 20 {
						id := fmt.Sprint(1000*caller + i)
						list := c.ask(calling(id, "buy"))
						if len(list) != 4 || string(list[3].ID) != id || list[3].Result == nil {
							t.Errorf("call %s: %d messages, last %.200s", id, len(list), list[len(list)-1].raw)
							return
						}
						for done, m := range list[:3] {
							if m.Params.Progress != float64(done) || string(m.Params.ProgressToken) != id {
								t.Errorf("call %s: %s", id, m.raw)
							}
						}
					}
				})
			}
			callers.Wait()
		})
	}
}

func TestHTTPAnswersWithPlainJSONWithoutNotifications(t *testing.T) {
	for _, e := range []era{legacy, modern} {
		c := newHTTPFixture(t, named("only")).caller(t, e, "ann")
		r := c.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if kind := r.Header.Get("Content-Type"); kind != "application/json" || !bytes.Contains(body, []byte(`"name":"only"`)) {
			t.Errorf("%s: %s %s", e, kind, body)
		}
	}
}

// A client that goes away ends its run, on every transport.
func TestHTTPDisconnectCancelsTheRun(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, f *httpFixture){
		"legacy": func(t *testing.T, f *httpFixture) { hangUp(t, f, legacy) },
		"modern": func(t *testing.T, f *httpFixture) { hangUp(t, f, modern) },
		"sse": func(t *testing.T, f *httpFixture) {
			c := f.sse(t, "ann")
			c.send(call("1", "hang", "{}"))
			<-f.hanging
			c.stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newHTTPFixture(t, hang)
			leave(t, f)
			waitUntil(t, "the page is closed", func() bool { return f.browser.Closed() == 1 })
			waitUntil(t, "the ledger says cancelled", func() bool {
				failed := f.executions(t, routine.ExecutionFailed)
				return len(failed) == 1 && failed[0].ErrorCode == routine.CodeCancelled
			})
		})
	}
}

func hangUp(t *testing.T, f *httpFixture, e era) {
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	c := f.caller(t, e, "ann")
	go func() {
		defer close(gone)
		if r, err := c.send(ctx, calling("1", "hang")); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
	}()
	<-f.hanging
	leave()
	<-gone
}

func TestHTTPCancelAffectsOnlyTheOwnCall(t *testing.T) {
	f := newHTTPFixture(t, hang)
	mine, colleague, stranger := f.caller(t, legacy, "ann"), f.caller(t, legacy, "bob"), f.caller(t, legacy, "eve")
	other := f.caller(t, legacy, "ann") // another session of the same user
	nobody := f.caller(t, modern, "ann")
	answered := make(chan []message, 1)
	go func() { answered <- mine.ask(call("5", "hang", "{}")) }()
	<-f.hanging
	stolen := *stranger
	stolen.session = mine.session
	for _, c := range []*httpCaller{colleague, stranger, other, nobody, &stolen} {
		r := c.post(t.Context(), cancelled("5"))
		_ = r.Body.Close()
		if want := map[bool]int{true: 404, false: 202}[c == &stolen]; r.StatusCode != want {
			t.Errorf("%s %s: %s, want %d", c.era, c.user, r.Status, want)
		}
	}
	if n := f.browser.Closed(); n != 0 || len(answered) != 0 {
		t.Fatal("another client has cancelled the call")
	}
	_ = mine.post(t.Context(), cancelled("5")).Body.Close()
	waitUntil(t, "the page is closed", func() bool { return f.browser.Closed() == 1 })
	<-answered
}

func TestSessionsAreUsableByTheirOwnerOnly(t *testing.T) {
	f := newHTTPFixture(t, hang)
	session := map[string]string{"Mcp-Session-Id": f.caller(t, legacy, "ann").session}
	sse := f.sse(t, "ann")
	for _, user := range []string{"bob", "eve"} {
		for path, method := range map[string]string{"/mcp": "POST", "/mcp#": "GET", "/mcp##": "DELETE", sse.post: "POST"} {
			if status := f.do(t, method, path, user, call("1", "hang", "{}"), session); status != 404 {
				t.Errorf("%s %s as %s: %d", method, path, user, status)
			}
		}
	}
	// Nor is a session of one transport one of the other.
	crossed := map[string]string{"Mcp-Session-Id": strings.TrimPrefix(sse.post, "/message?sessionId=")}
	if status := f.do(t, "POST", "/mcp", "ann", ping, crossed); status != 404 {
		t.Errorf("/mcp with the session of /sse: %d", status)
	}
	if status := f.do(t, "POST", "/message?sessionId="+session["Mcp-Session-Id"], "ann", ping, nil); status != 404 {
		t.Errorf("/message with the session of /mcp: %d", status)
	}
	if status := f.do(t, "DELETE", "/mcp", "ann", "", session); status != 200 {
		t.Errorf("DELETE: %d", status)
	}
	if status := f.do(t, "POST", "/mcp", "ann", ping, session); status != 404 {
		t.Errorf("after DELETE: %d", status)
	}
	if n := f.browser.Opened(); n != 0 {
		t.Errorf("%d pages were opened", n)
	}
}

// A call that takes long gets comments, and its answer as the last event.
func TestLongCallGetsKeepAliveComments(t *testing.T) {
	for _, e := range []era{legacy, modern} {
		f := newHTTPFixtureWith(t, func(f *httpFixture) { f.transport.KeepAlive = time.Millisecond }, hang)
		c := f.caller(t, e, "ann")
		r := c.post(t.Context(), strings.Replace(calling("1", "hang"), `"progressToken":1`, `"x":1`, 1))
		<-f.hanging
		comment := make([]byte, len(": still here\n\n"))
		for range 3 {
			if _, err := io.ReadFull(r.Body, comment); err != nil || string(comment) != ": still here\n\n" {
				t.Fatalf("%s: %q, %v", e, comment, err)
			}
		}
		f.service.Close(ended(t)) // ends the run
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if list := messagesOf(t, r.Header.Get("Content-Type"), body); err != nil || len(list) != 1 || !strings.Contains(list[0].raw, "[interrupted]") {
			t.Errorf("%s: %s, %v", e, body, err)
		}
	}
}

// ended is a context that has.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// listening is a stream of changes, of each kind.
func TestChangesAreNotifiedOnEveryKindOfStream(t *testing.T) {
	f := newHTTPFixture(t, named("first"))
	sse := f.sse(t, "ann")
	session := f.caller(t, legacy, "ann").session
	get := f.request(t, "GET", "/mcp", "ann", nil, map[string]string{"Mcp-Session-Id": session})
	defer get.Body.Close()
	listen := f.caller(t, modern, "ann").post(t.Context(), `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`)
	defer listen.Body.Close()
	stranger := f.request(t, "GET", "/mcp", "eve", nil, map[string]string{"Mcp-Session-Id": f.caller(t, legacy, "eve").session})
	defer stranger.Body.Close()
	create(t, f.service, ann, named("second"))
	annOrganization(t, f.Server).registry.refresh(t.Context())

	changed := []byte("notifications/tools/list_changed")
	for name, body := range map[string]io.Reader{"GET": get.Body, "listen": listen.Body} {
		var seen []byte
		for buffer := make([]byte, 1024); !bytes.Contains(seen, changed); {
			n, err := body.Read(buffer)
			if seen = append(seen, buffer[:n]...); err != nil {
				t.Fatalf("%s: %q, %v", name, seen, err)
			}
		}
	}
	if m := sse.next(); m.Method != string(changed) {
		t.Errorf("sse: %s", m.raw)
	}
	f.http.Close()
	for name, body := range map[string]io.Reader{"GET": get.Body, "listen": listen.Body, "stranger": stranger.Body} {
		rest, err := io.ReadAll(body)
		if err != nil || name == "stranger" && bytes.Contains(rest, changed) {
			t.Errorf("%s: %q, %v", name, rest, err)
		}
	}
	if _, open := <-sse.events; open {
		t.Error("the SSE stream goes on")
	}
}

// panickingAdmission panics for the method DELETE.
type panickingAdmission struct{ wire.Admission }

func (a panickingAdmission) Admit(r *http.Request) error {
	if r.Method == http.MethodDelete {
		panic("the admission is broken")
	}
	return a.Admission.Admit(r)
}

// A fault of ours cuts the connection and is in the log, and the others go on.
func TestPanicClosesOneConnectionOnly(t *testing.T) {
	f := newHTTPFixtureWith(t, func(f *httpFixture) { f.admission = panickingAdmission{f.admission} }, named("only"))
	q, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, f.url+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := http.DefaultClient.Do(q); err == nil {
		_ = r.Body.Close()
		t.Errorf("an answer: %s", r.Status)
	}
	if !strings.Contains(f.log.String(), "panic: the admission is broken") {
		t.Errorf("log: %s", f.log)
	}
	if list := f.caller(t, modern, "ann").ask(call("1", "only", "{}")); list[0].Result == nil {
		t.Error(list[0].raw)
	}
}

// A message to a session over SSE does what its own token is good for, not what
// that of the stream is.
func TestSSEMessageHasItsOwnToken(t *testing.T) {
	f := newHTTPFixture(t, hang, named("only"))
	narrow := ann
	narrow.Scopes = routine.ScopeExecutionsRead
	secret, _, err := f.service.CreateToken(t.Context(), narrow, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.tokens["ann, to read"] = secret
	c := f.sse(t, "ann")
	if status := f.do(t, "POST", c.post, "ann, to read", call("1", "only", "{}"), nil); status != 202 {
		t.Fatal(status)
	}
	if m := c.next(); m.Error == nil || f.browser.Opened() != 0 {
		t.Errorf("%d pages, %s", f.browser.Opened(), m.raw)
	}
	c.send(call("2", "only", "{}"))
	if m := c.next(); string(m.ID) != "2" || m.Result == nil {
		t.Error(m.raw)
	}
}
