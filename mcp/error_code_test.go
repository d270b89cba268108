package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// Errors of prompts and resources have the code that says whose fault they are,
// over every transport.
func TestErrorCodesOfPromptsAndResources(t *testing.T) {
	rows := []struct {
		name, method, params string
		code, modernCode     int
		words                string
	}{
		{"a prompt without its argument", "prompts/get", `{"name":"author_routine"}`, mcp.INVALID_PARAMS, mcp.INVALID_PARAMS, "goal is required"},
		{"a blank argument", "prompts/get", `{"name":"author_routine","arguments":{"goal":" "}}`, mcp.INVALID_PARAMS, mcp.INVALID_PARAMS, "goal is required"},
		{"a prompt without an execution", "prompts/get", `{"name":"debug_execution","arguments":{}}`, mcp.INVALID_PARAMS, mcp.INVALID_PARAMS, "execution_id is required"},
		{"a prompt for an unknown execution", "prompts/get", `{"name":"debug_execution","arguments":{"execution_id":"nothing"}}`, mcp.INVALID_PARAMS, mcp.INVALID_PARAMS, "nothing"},
		{"an unknown execution", "resources/read", `{"uri":"execution://nothing"}`, mcp.RESOURCE_NOT_FOUND, mcp.INVALID_PARAMS, "nothing"},
		{"the data of an unknown execution", "resources/read", `{"uri":"execution://nothing/data"}`, mcp.RESOURCE_NOT_FOUND, mcp.INVALID_PARAMS, "nothing"},
		{"an unknown routine", "resources/read", `{"uri":"routine://Routine_nothing"}`, mcp.RESOURCE_NOT_FOUND, mcp.INVALID_PARAMS, "nothing"},
	}
	last := func(list []message) message { return list[len(list)-1] }
	for name, open := range map[string]func(*testing.T, *httpFixture) func(string) message{
		"stdio": func(t *testing.T, f *httpFixture) func(string) message {
			c := initialized(t, f.Server)
			return func(text string) message { c.send(text); return c.next() }
		},
		"sse": func(t *testing.T, f *httpFixture) func(string) message {
			c := f.sse(t, "ann")
			return func(text string) message { c.send(text); return c.next() }
		},
		"http": func(t *testing.T, f *httpFixture) func(string) message {
			c := f.caller(t, legacy, "ann")
			return func(text string) message { return last(c.ask(text)) }
		},
		"modern http": func(t *testing.T, f *httpFixture) func(string) message {
			c := f.caller(t, modern, "ann")
			return func(text string) message { return last(c.ask(text)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ask := open(t, newHTTPFixture(t, lookup))
			if m := ask(`{"jsonrpc":"2.0","id":null,"method":"ping"}`); m.Error == nil || !strings.Contains(m.raw, "must be a string or a number") {
				t.Errorf("the id null: %s", m.raw)
			}
			for _, row := range rows {
				want := row.code
				if name == "modern http" {
					want = row.modernCode
				}
				m := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, row.method, row.params))
				var e struct {
					Code    int
					Message string
				}
				if m.Error == nil || json.Unmarshal([]byte(jsonOf(t, m.Error)), &e) != nil || e.Code != want || !strings.Contains(e.Message, row.words) {
					t.Errorf("%s: %s, want code %d with %q", row.name, m.raw, want, row.words)
				}
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// With one place in the list, routines that are called at once by their own
// names are all found.
func TestConcurrentCallsFindTheirTools(t *testing.T) {
	var texts []string
	for i := range 8 {
		texts = append(texts, fmt.Sprintf(`{"name":"nap %d","description":"d","operations":[{"type":"sleep","timeout_seconds":0}]}`, i))
	}
	h := newTestServer(t, texts...).with(t, Config{MaxListed: 1})
	c := connect(t, h.Server)
	var all sync.WaitGroup
	for round := range 5 {
		for i := range texts {
			all.Go(func() {
				var q mcp.CallToolRequest
				q.Params.Name = fmt.Sprintf("nap_%d", i)
				if _, err := c.CallTool(t.Context(), q); err != nil {
					t.Errorf("round %d, %s: %v", round, q.Params.Name, err)
				}
			})
		}
		all.Wait()
	}
	if list := initialized(t, h.Server).tools(); len(strings.Fields(list)) != 1 {
		t.Errorf("%s are listed, want one", list)
	}
}
