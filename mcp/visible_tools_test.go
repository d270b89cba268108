package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

// allTestTools are the tools that a caller with all scopes sees in the test below.
const allTestTools = "archive_routine buy cancel_execution create_routine create_schedule delete_schedule describe_routine get_execution " +
	"import_routine list_executions list_schedules list_secrets list_sessions publish_routine reads run_routine search_routines " +
	"update_routine update_schedule validate_routine"

// A tool that a token may not call is not listed either.
func TestVisibleToolsAreTheCallableOnes(t *testing.T) {
	h := newTestServer(t, named("reads"), buy)
	for _, row := range []struct {
		scopes   routine.Scopes
		readOnly bool
		want     string
	}{
		{routine.DefaultScopes, false, allTestTools},
		{routine.DefaultScopes, true,
			"describe_routine get_execution list_executions list_schedules list_secrets list_sessions reads search_routines validate_routine"},
		{routine.ScopeExecutionsRun, false,
			"buy cancel_execution create_schedule delete_schedule describe_routine reads run_routine search_routines update_schedule"},
		{routine.ScopeExecutionsRead, false, "get_execution list_executions list_schedules"},
		{routine.ScopeRoutinesRead, false, "validate_routine"},
		{routine.ScopeRoutinesWrite, false, "archive_routine create_routine publish_routine update_routine"},
	} {
		h := h.with(t, Config{Authoring: true, ReadOnly: row.readOnly})
		p := ann
		p.Scopes = row.scopes
		c := connectAs(t, h.Server, p)
		list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		visible := map[string]bool{}
		var names []string
		for _, tool := range list.Tools {
			visible[tool.Name] = true
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.scopes, got, row.want)
		}
		for tool := range strings.FieldsSeq(allTestTools) {
			q := mcp.CallToolRequest{}
			q.Params.Name = tool
			if tool == "buy" || tool == "reads" {
				q.Params.Arguments = map[string]any{"no": "such argument"} // so that nothing is run
			}
			r, err := c.CallTool(t.Context(), q)
			if callable := err == nil && !strings.Contains(fmt.Sprint(r.Content), "[forbidden]"); callable != visible[tool] {
				t.Errorf("%s (read only %v): %s is visible %v, callable %v: %v %v", row.scopes, row.readOnly, tool, visible[tool], callable, r, err)
			}
		}
	}
}

// A script that provably only reads does not make a tool destructive.
func TestReadOnlyScripts(t *testing.T) {
	scripted := func(name, js string) string {
		return fmt.Sprintf(`{"name": %q, "description": "Reads.", "parameters": [{"name": "word", "description": "A word."}], "operations": [
			{"type": "navigate", "url": "https://shop.example/?q={{word}}"},
			{"type": "js_evaluate", "session_storage_key": "a", "js": %q}, {"type": "return", "session_storage_key": "a"}]}`, name, js)
	}
	h := newTestServer(t,
		scripted("reads", `(() => [...document.querySelectorAll('li')].map(e => e.innerText).filter(t => t.includes({{word}})))()`),
		scripted("clicks", `(() => document.querySelector('#buy').click())()`),
		scripted("calls", `(() => document.body["{{word}}"]())()`))
	list, err := connectAs(t, h.Server, ann).ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, tool := range list.Tools {
		want, ours := map[string]bool{"reads": true, "clicks": false, "calls": false}[tool.Name]
		if !ours {
			continue
		}
		seen++
		if a := tool.Annotations; *a.ReadOnlyHint != want || *a.DestructiveHint == want {
			t.Errorf("%s: read-only %v, destructive %v, want read-only %v", tool.Name, *a.ReadOnlyHint, *a.DestructiveHint, want)
		}
	}
	if seen != 3 {
		t.Errorf("%d of 3 tools are listed", seen)
	}
}
