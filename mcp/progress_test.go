package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/service"
)

func TestProgressComesInOrderBeforeTheAnswer(t *testing.T) {
	h := newTestServer(t, buy)
	p := initialized(t, h.Server)
	for i := range 50 {
		id := fmt.Sprint(i)
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"buy","_meta":{"progressToken":"t` + id + `"}}}`)
		for done, want := range []string{"1/3 navigate https://shop.example/", "2/3 click #buy", "3/3 return_html"} {
			m := p.next()
			if m.Method != "notifications/progress" || m.Params.Message != want || m.Params.Progress != float64(done) || m.Params.Total != 3 ||
				string(m.Params.ProgressToken) != `"t`+id+`"` {
				t.Fatalf("call %d: got %s, want progress %d, %q", i, m.raw, done, want)
			}
		}
		p.result(id)
	}
}

// Eight callers at once: each call's progress is complete, in order, under its
// own token and before its answer, over one stream for all.
func TestProgressOfConcurrentCallsOverOneStream(t *testing.T) {
	const callers, rounds = 8, 20
	f := newHTTPFixture(t, buy)
	f.service = service.New(service.Config{Store: f.store, Browser: f.browser, Concurrency: callers, Queue: callers})
	sse := f.sse(t, "ann")
	stdio := initialized(t, f.Server)
	for name, c := range map[string]struct {
		send func(string)
		next func() message
		era  era
	}{
		"stdio":         {func(text string) { stdio.send(text) }, stdio.next, legacy},
		"stdio, modern": {func(text string) { stdio.send(text) }, stdio.next, modern},
		"sse":           {func(text string) { sse.send(text) }, sse.next, legacy},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(id int) {
				text := calling(fmt.Sprint(id), "buy")
				if c.era == modern {
					text = strings.Replace(text, `"_meta":{`, `"_meta":{`+modernMeta+`,`, 1)
				}
				c.send(text)
			}
			for id := range callers {
				ask(id)
			}
			told := map[string]int{}
			for answered, asked := 0, callers; answered < callers*rounds; {
				m := c.next()
				if m.Method == "notifications/progress" {
					token := string(m.Params.ProgressToken)
					if m.Params.Progress != float64(told[token]) {
						t.Fatalf("after %d: %s", told[token], m.raw)
					}
					told[token]++
					continue
				}
				id := string(m.ID)
				if m.Result == nil || told[id] != 3 {
					t.Fatalf("%d of 3 notifications before %.300s", told[id], m.raw)
				}
				told[id] = 1000 // none may follow
				if answered++; asked < callers*rounds {
					ask(asked)
					asked++
				}
			}
		})
	}
}

func TestNoProgressWithoutToken(t *testing.T) {
	p := initialized(t, newTestServer(t, named("quiet")).Server)
	p.send(call("1", "quiet", "{}"))
	p.result("1")
}

func TestClientCancelCancelsTheRun(t *testing.T) {
	h := newTestServer(t, hang)
	c := connect(t, h.Server)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var request mcp.CallToolRequest
		request.Params.Name = "hang"
		_, err := c.CallTool(ctx, request)
		ended <- err
	}()
	<-h.hanging
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled call succeeded")
	}
	waitUntil(t, "the page is closed", func() bool { return h.browser.Closed() == 1 })
	waitUntil(t, "the ledger says cancelled", func() bool {
		failed := h.executions(t, routine.ExecutionFailed)
		return len(failed) == 1 && failed[0].ErrorCode == routine.CodeCancelled
	})
}
