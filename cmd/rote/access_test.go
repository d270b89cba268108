package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/sqlite"
)

const blank = `{"name":"blank","description":"Reads an empty page.","operations":[{"type":"return_html"}]}`

// toolCalls are what agents call for the actions of the access matrix. $object
// is a routine's id.
var toolCalls = map[string]struct {
	tool, arguments string
	// scope is the one without which the tool is neither seen nor called; the
	// matrix has it where it is empty.
	scope string
}{
	"replace":  {tool: "update_routine", arguments: `{"id":"$object","routine":` + blank + `}`},
	"archive":  {tool: "archive_routine", arguments: `{"id":"$object"}`},
	"publish":  {tool: "publish_routine", arguments: `{"id":"$object","on":true}`},
	"create":   {tool: "create_routine", arguments: `{"routine":` + blank + `}`},
	"validate": {tool: "validate_routine", arguments: `{"routine":` + blank + `}`, scope: "routines:read"},
	"execute":  {tool: "run_routine", arguments: `{"id":"$object"}`},
	"tools":    {tool: "search_routines", arguments: `{}`},
}

// shownCode matches the error code at the end of an answer to an agent.
var shownCode = regexp.MustCompile(`\[([a-z_]+)\]`)

// TestWhoMayDoWhatOverMCP is the access matrix over MCP: real tokens, another
// maker's client, the whole server.
func TestWhoMayDoWhatOverMCP(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	s := r.serve("--toolsets", "authoring")
	store, err := sqlite.Open(t.Context(), filepath.Join(r.home, ".local/share/rote/rote.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	service := service.New(service.Config{Store: store})
	agents := map[string]*client.Client{}
	seen := map[string]bool{}
	for _, c := range routinetest.Access() {
		call, isTool := toolCalls[c.Action]
		if !isTool && c.Action != "read" || c.Caller.Anonymous() {
			continue // the call without a token is not rejected
		}
		seen[c.Action] = true
		agent := agents[c.Caller.UserID]
		if agent == nil {
			secret, _, err := service.CreateToken(t.Context(), c.Caller, 0)
			if err != nil {
				t.Fatal(err)
			}
			agent = agentOf(t, s.url, secret)
			agents[c.Caller.UserID] = agent
		}
		t.Run(c.String(), func(t *testing.T) {
			id := object(t, store, c.Object)
			if c.Action == "read" {
				_, err := agent.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "routine://" + id}})
				if got := codeOf(err); got != string(c.Want) {
					t.Errorf("%q, want %q", got, c.Want)
				}
				return
			}
			if call.scope != "" {
				c.Scope = call.scope
			}
			got := calls(t, agent, call.tool, strings.ReplaceAll(call.arguments, "$object", id))
			want := string(c.Want)
			switch {
			case c.LacksScope():
				want = "no such tool"
			case c.Action == "execute" && c.Want == routine.CodeConflict && !c.Caller.Has(routine.ScopeRoutinesRead):
				want = string(routine.CodeNotFound) // a caller that sees only tools cannot find it any more
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	answer, err := http.Post(s.url+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != 401 {
		t.Errorf("nobody is answered %d, %v", answer.StatusCode, err)
	}
	if len(seen) != len(toolCalls)+1 {
		t.Errorf("the matrix has %d of the %d actions here", len(seen), len(toolCalls)+1)
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if m := shownCode.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return err.Error()
}

// calls calls a tool and returns the code that it failed with.
func calls(t *testing.T, agent *client.Client, tool, arguments string) string {
	t.Helper()
	list, err := agent.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	listed := false
	for _, known := range list.Tools {
		listed = listed || known.Name == tool
	}
	got, err := agent.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}})
	if (err == nil) != listed {
		t.Fatalf("listed: %v, called: %v", listed, err)
	}
	if err != nil {
		return "no such tool"
	}
	text := fmt.Sprint(got.Content)
	if !got.IsError {
		return ""
	}
	return codeOf(errors.New(text))
}

// object creates a routine of the kind that the matrix names and returns its id.
func object(t *testing.T, store routine.Store, kind string) string {
	t.Helper()
	if kind == "unknown" || kind == "-" {
		return "Routine_x"
	}
	r := routinetest.Routine(t, func(r *routine.Routine) {
		r.Definition = routinetest.Parse(t, blank)
		r.IsPublic = kind == "public"
		if kind == "archived" {
			r.Status = routine.StatusArchived
		}
	})
	if err := store.CreateRoutine(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// agentOf is a client of a token's bearer.
func agentOf(t *testing.T, url, secret string) *client.Client {
	t.Helper()
	c, err := client.NewStreamableHttpClient(url+"/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + secret}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: mcp.LATEST_PROTOCOL_VERSION,
		ClientInfo: mcp.Implementation{Name: "test", Version: "1"}}}); err != nil {
		t.Fatal(err)
	}
	return c
}
