package mcp

import (
	"context"
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

func TestProgressComesInOrderBeforeTheAnswer(t *testing.T) {
	h := newHouse(t, buy)
	h.site.click = func(routine.Click) error { return nil }
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

func TestNoProgressUnasked(t *testing.T) {
	p := initialized(t, newHouse(t, named("quiet")).Server)
	p.send(call("1", "quiet", "{}"))
	p.result("1")
}

func TestClientCancelEndsTheRun(t *testing.T) {
	h := newHouse(t, hang)
	c := connect(t, h.Server)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var request mcp.CallToolRequest
		request.Params.Name = "hang"
		_, err := c.CallTool(ctx, request)
		ended <- err
	}()
	<-h.site.hanging
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled call succeeded")
	}
	soon(t, "the page is closed", func() bool { return h.site.closed.Load() == 1 })
	soon(t, "the ledger says cancelled", func() bool {
		failed := h.executions(t, routine.ExecutionFailed)
		return len(failed) == 1 && failed[0].ErrorCode == routine.CodeCancelled
	})
}
