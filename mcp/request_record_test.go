package mcp

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// requestLines returns the log lines of requests without what differs from call to call.
func (h *testServer) requestLines() (lines []string) {
	varying := regexp.MustCompile(`time=\S+ level=INFO msg="mcp request" | duration_seconds=\S+| session=[0-9a-f]{12}\b`)
	for line := range strings.Lines(h.log.String()) {
		if strings.Contains(line, `msg="mcp request"`) {
			lines = append(lines, strings.TrimSpace(varying.ReplaceAllString(line, "")))
		}
	}
	return lines
}

// Each request has one line in the log, which has nothing that its client has chosen freely.
func TestEachRequestHasOneLogLine(t *testing.T) {
	const search = `{"name": "search", "description": "Searches.", "parameters": [{"name": "q", "type": "string", "description": "What."}],
		"operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#buy"}]}`
	messages := []string{
		call("1", "search", `{"q": "private-value"}`),
		call("2", "search_routines", `{"query": "private-value"}`),
		call("3", "search", `{"private-value": 1}`),
		call("4", "private-value", `{}`),
		`{"jsonrpc":"2.0","id":"5 private-value","method":"private-value/x","params":{}}`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"rote://private-value"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":1}}`,
	}
	const whose = " user_id=ann organization_id=acme"
	want := []string{
		"method=tools/call tool=search outcome=tool_error code=element_not_found request_id=1" + whose,
		"method=tools/call tool=search_routines outcome=ok request_id=2" + whose,
		"method=tools/call tool=search outcome=tool_error code=invalid request_id=3" + whose,
		"method=tools/call outcome=error code=not_found request_id=4" + whose,
		"outcome=error code=invalid" + whose,
		"method=resources/read outcome=error code=not_found request_id=6" + whose,
		"method=prompts/get outcome=error code=invalid request_id=7" + whose,
	}
	check := func(t *testing.T, h *testServer, want []string) {
		t.Helper()
		waitUntil(t, "the log has a line for each request", func() bool { return len(h.requestLines()) == len(want) })
		if got := h.requestLines(); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if strings.Contains(h.log.String(), "private-value") {
			t.Errorf("the log has what a client has chosen:\n%s", h.log)
		}
	}
	prefixed := func(transport string, lines ...string) (list []string) {
		for _, line := range lines {
			list = append(list, "transport="+transport+" "+line)
		}
		return list
	}
	notThere := routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing matches #buy"))
	t.Run("http", func(t *testing.T) {
		f := newHTTPFixture(t, search)
		f.browser.Page.Click = notThere
		c := f.caller(t, legacy, "ann")
		for _, m := range messages {
			c.ask(m)
		}
		session := c.session
		c.session = "private-value"
		_ = c.post(t.Context(), messages[0]).Body.Close()
		check(t, f.testServer, prefixed("http", slices.Concat([]string{"method=initialize outcome=ok request_id=hello" + whose}, want,
			[]string{"outcome=error code=not_found" + whose})...))
		if strings.Contains(f.log.String(), session) {
			t.Error("the log has the id of a session, which is a secret")
		}
	})
	t.Run("stdio", func(t *testing.T) {
		h := newTestServer(t, search)
		h.browser.Page.Click = notThere
		p := initialized(t, h.Server)
		for _, m := range messages {
			p.send(m)
			p.next()
		}
		check(t, h, prefixed("stdio", slices.Concat([]string{"method=initialize outcome=ok request_id=hello" + whose}, want)...))
	})
}
