package mcp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/routinetest/leakcheck"
	"rote/routine/service"
)

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func TestProtocolErrorsAreAnswered(t *testing.T) {
	h := newTestServer(t, hang)
	h.transport.MaxMessage = 1000
	p := initialized(t, h.Server)
	for _, row := range []struct {
		name, line string
		id         string
		code       int
	}{
		{"no JSON", `{"jsonrpc":`, "null", -32700},
		{"a batch", `[` + ping + `]`, "null", -32700},
		{"a message that is too long", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 100000) + `"}}`, "null", -32600},
		{"an unknown method", `{"jsonrpc":"2.0","id":1.0,"method":"tools/lost"}`, "1.0", -32601},
		{"an unknown tool", call(`"a"`, "nonesuch", "{}"), `"a"`, -32602},
		{"another protocol", `{"jsonrpc":"1.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", -32600},
		{"a modern call without capabilities", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "1", -32602},
	} {
		t.Run(row.name, func(t *testing.T) {
			p.send(row.line)
			if m := p.next(); m.Error == nil || m.Error.Code != row.code || string(m.ID) != row.id {
				t.Errorf("got %s, want error %d of id %s", m.raw, row.code, row.id)
			}
			p.send(ping)
			p.result(`"ping"`)
		})
	}
}

func TestNotificationsGetNoAnswer(t *testing.T) {
	p := initialized(t, newTestServer(t).Server)
	p.send("", "   ",
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no"}}`,
		`{"jsonrpc":"2.0","method":"notifications/unheard_of"}`,
		cancelled("77"), cancelled("{}"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
		ping)
	p.result(`"ping"`)
}

func TestRequestIDInUseIsRefused(t *testing.T) {
	h := newTestServer(t, hang)
	p := initialized(t, h.Server)
	p.send(call("1", "hang", "{}"))
	<-h.hanging
	p.send(call("1", "hang", "{}"))
	if m := p.next(); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("got %s", m.raw)
	}
	if n := h.browser.Opened(); n != 1 {
		t.Errorf("%d pages were opened", n)
	}
}

// maxInFlight is how many requests of one session may be in flight.
const maxInFlight = 1000

// Requests of a client that does not wait for answers are bounded.
func TestTooManyRequestsAreRefused(t *testing.T) {
	p := initialized(t, newTestServer(t).Server)
	for i := range maxInFlight {
		p.send(listening(i))
		if m := p.next(); m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("got %.300s", m.raw)
		}
	}
	p.send(listening(maxInFlight))
	if m := p.next(); m.Error == nil || m.Error.Code != wire.CodeBusy || string(m.ID) != fmt.Sprint(maxInFlight) {
		t.Errorf("got %.300s", m.raw)
	}
}

func listening(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id)
}

// The calls of one session are limited, and the agent gets an error.
func TestTooManyCallsAreRefused(t *testing.T) {
	h := newTestServer(t, hang)
	h.service = service.New(service.Config{Store: h.store, Browser: h.browser, Concurrency: 1, Queue: 2 * maxCalls})
	h = h.with(t, Config{})
	p := initialized(t, h.Server)
	var lines []string
	for i := range maxCalls {
		lines = append(lines, call(fmt.Sprint(i), "hang", "{}"))
	}
	p.send(lines...)
	waitUntil(t, "all are under way", func() bool { return len(h.executions(t, routine.ExecutionPending)) == maxCalls-1 })
	p.send(call(`"more"`, "hang", "{}"))
	if m := p.result(`"more"`); !strings.Contains(m.raw, `"isError":true`) || !strings.Contains(m.raw, "64 calls of this session go on already [busy]") {
		t.Errorf("got %.300s", m.raw)
	}
	p.send(cancelled("0"), cancelled("1"))
	waitUntil(t, "two have ended", func() bool { return len(h.executions(t, routine.ExecutionFailed)) == 2 })
	other := initialized(t, h.Server) // has calls of its own
	for id, p := range map[string]*peer{"100": p, "200": other} {
		p.send(call(id, "describe_routine", `{"id":"hang"}`))
		if m := p.result(id); strings.Contains(m.raw, "[busy]") {
			t.Errorf("then: %.300s", m.raw)
		}
	}
}

// The cancellation comes right behind the call: whether the call has begun or
// waits in the queue, it must end, and no answer may come.
func TestCancelRightAfterTheCall(t *testing.T) {
	h := newTestServer(t, hang, named("quick"))
	h.service = service.New(service.Config{Store: h.store, Browser: h.browser, Concurrency: 1, Queue: 100})
	p := initialized(t, newServer(t, Config{Service: h.service, RefreshInterval: -1}))
	// A call counts until its goroutine has ended, which may be after all of this: together
	// they must be fewer than one session may have.
	for i := range maxCalls/2 - 1 {
		one, other := fmt.Sprintf(`"a%d"`, i), fmt.Sprintf(`"b%d"`, i)
		p.send(call(one, "hang", "{}"), call(other, "hang", "{}"), cancelled(one), cancelled(other), ping)
		p.result(`"ping"`)
		waitUntil(t, "both calls have ended", func() bool {
			open := len(h.executions(t, routine.ExecutionPending)) + len(h.executions(t, routine.ExecutionRunning))
			return open == 0 && h.browser.Opened() == h.browser.Closed()
		})
	}
	p.send(call("2", "quick", "{}"))
	p.result("2")
}

// Cancelling one call leaves the other alone, though their ids read alike.
func TestCancelAffectsOnlyItsCall(t *testing.T) {
	h := newTestServer(t, hang)
	p := initialized(t, h.Server)
	p.send(call("1", "hang", "{}"), call(`"1"`, "hang", "{}"))
	<-h.hanging
	<-h.hanging
	p.send(cancelled(`"1"`))
	waitUntil(t, "one page is closed", func() bool { return h.browser.Closed() == 1 })
	p.send(ping)
	p.result(`"ping"`)
	if n := h.browser.Closed(); n != 1 {
		t.Errorf("%d pages are closed", n)
	}
}

// serve checks that no goroutine is left.
func TestEndOfInputCancelsTheRuns(t *testing.T) {
	h := newTestServer(t, hang)
	p := initialized(t, h.Server)
	p.send(call("1", "hang", "{}"), call("2", "hang", "{}"))
	<-h.hanging
	<-h.hanging
	_ = p.in.Close()
	if err := p.wait(); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
	if n := h.browser.Closed(); n != 2 {
		t.Errorf("%d pages were closed when ServeStdio returned", n)
	}
	for range 2 {
		if m := p.next(); !strings.Contains(m.raw, "[cancelled]") {
			t.Errorf("answer %s", m.raw)
		}
	}
}

func TestEndOfContextCancelsTheRuns(t *testing.T) {
	h := newTestServer(t, hang)
	p := initialized(t, h.Server)
	p.send(call("1", "hang", "{}"))
	<-h.hanging
	p.stop()
	if err := p.wait(); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
	if n := h.browser.Closed(); n != 1 {
		t.Errorf("%d pages were closed when ServeStdio returned", n)
	}
}

// As in printf '…' | rote mcp: the input has ended before the first answer.
func TestRequestsBeforeEndOfInputAreAnswered(t *testing.T) {
	h := newTestServer(t, named("only"))
	for range 20 {
		var out strings.Builder
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
			"\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`) // no line break
		if err := h.ServeStdio(t.Context(), ann, in, &out); err != nil {
			t.Fatal(err)
		}
		first, second, _ := strings.Cut(out.String(), "\n")
		if !strings.Contains(first, `"serverInfo"`) || !strings.Contains(second, `"name":"only"`) {
			t.Fatalf("answers: %s", out.String())
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestBrokenOutputEndsServeStdio(t *testing.T) {
	h := newTestServer(t, hang)
	in, client := io.Pipe()
	go func() {
		_, _ = io.WriteString(client, call("1", "hang", "{}")+"\n")
		<-h.hanging
		_, _ = io.WriteString(client, ping+"\n")
	}()
	err := h.ServeStdio(t.Context(), ann, in, brokenWriter{})
	if err == nil || err.Error() != "write to client: nobody reads" {
		t.Errorf("ServeStdio: %v", err)
	}
	if n := h.browser.Closed(); n != 1 {
		t.Errorf("%d pages were closed when ServeStdio returned", n)
	}
	_ = client.Close()
}

// stuck takes nothing until it is let go.
type stuck chan struct{}

func (s stuck) Write(b []byte) (int, error) {
	<-s
	return len(b), nil
}

// A client that has gone silent, with its end of the pipe open, does not keep
// the process from ending.
func TestStuckOutputEndsServeStdio(t *testing.T) {
	before := goleak.IgnoreCurrent()
	h := newTestServer(t, hang)
	h.transport.DrainTimeout = 50 * time.Millisecond
	out := make(stuck)
	in := strings.NewReader(call("1", "hang", "{}") + "\n" + ping)
	if err := h.ServeStdio(t.Context(), ann, in, out); err == nil || err.Error() != "write to client: it has taken nothing for 50ms" {
		t.Errorf("ServeStdio: %v", err)
	}
	waitUntil(t, "the page is closed", func() bool { return h.browser.Closed() == h.browser.Opened() })
	close(out)
	if err := leakcheck.Find(before); err != nil {
		t.Error(err)
	}
}

func TestInputErrorIsReturned(t *testing.T) {
	in, client := io.Pipe()
	_ = client.CloseWithError(errors.New("cable cut"))
	if err := newTestServer(t).ServeStdio(t.Context(), ann, in, io.Discard); err == nil || err.Error() != "read from client: cable cut" {
		t.Errorf("ServeStdio: %v", err)
	}
}

func TestModernSubscription(t *testing.T) {
	h := newTestServer(t)
	p := newPeer(t, h.Server)
	p.send(listening(1))
	if m := p.next(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("got %s", m.raw)
	}
	create(t, h.service, ann, named("new"))
	annOrganization(t, h.Server).registry.refresh(t.Context())
	if m := p.next(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %s", m.raw)
	}
	_ = p.in.Close()
	p.result("1")
}

func TestNewNeedsAService(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a server without service was made")
	}
}

func TestAnonymousCallersAreRefused(t *testing.T) {
	err := newTestServer(t).ServeStdio(t.Context(), routine.Principal{}, strings.NewReader(""), io.Discard)
	if routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("ServeStdio: %v", err)
	}
}
