package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// No text to a caller names a tool that the caller does not have, or an
// operation of a routine that it may not read.
func TestTextsNameOnlyToolsOfTheCaller(t *testing.T) {
	h := newTestServer(t, hang, named("reads"),
		`{"name": "clicks", "description": "Fails.", "operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#markoperation"}]}`)
	h.browser.Page.HTML = strings.Repeat("long ", 20_000)
	h.browser.Page.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "no element"))
	h.browser.Page.Evidence = routinetest.ShowEvidence(&routine.Evidence{URL: "https://shop.example/", Title: "Shop"})
	failedRun := runAs(t, h, "clicks")
	for _, scopes := range []routine.Scopes{routine.ScopeExecutionsRun, routine.ScopeExecutionsRead, routine.ScopeRoutinesRead, routine.ScopeRoutinesWrite,
		routine.ScopeExecutionsRun | routine.ScopeExecutionsRead, routine.ScopeExecutionsRun | routine.ScopeRoutinesWrite,
		routine.ScopeRoutinesRead | routine.ScopeRoutinesWrite, routine.DefaultScopes} {
		for _, config := range []Config{{}, {ReadOnly: true}, {Authoring: true}, {Authoring: true, ReadOnly: true}, {Lessons: newFakeLessons()}} {
			config.SoftDeadline = 50 * time.Millisecond
			t.Run(fmt.Sprintf("%v %v %v %v", scopes, config.ReadOnly, config.Authoring, config.Lessons != nil), func(t *testing.T) {
				p := ann
				p.Scopes = scopes
				texts, tools := everythingTold(t, h.with(t, config), p, failedRun)
				for _, text := range texts {
					for tool := range h.ownTools {
						if strings.Contains(text, tool) && !slices.Contains(tools, tool) {
							t.Errorf("%s is advised and not offered: %.600s", tool, text)
						}
					}
				}
			})
		}
	}
}

// runAs runs a routine as ann and returns the id of its execution.
func runAs(t *testing.T, h *testServer, name string) string {
	t.Helper()
	rs, _, err := h.service.Routines(t.Context(), ann, routine.RoutineFilter{Words: []string{name}, Limit: 1})
	if err != nil || len(rs) != 1 {
		t.Fatal(rs, err)
	}
	e, err := h.service.Execute(t.Context(), ann, rs[0].ID, service.Call{})
	if e == nil {
		t.Fatal(err)
	}
	return e.ID
}

// everythingTold returns all texts that a caller gets at the start, in the list
// of tools and in answers.
func everythingTold(t *testing.T, h *testServer, p routine.Principal, failedRun string) (texts, tools []string) {
	t.Helper()
	c, hi := initializedClient(t, h.Server, p)
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, hi.Instructions)
	for _, tool := range list.Tools {
		tools = append(tools, tool.Name)
		texts = append(texts, tool.Description, string(tool.RawInputSchema))
	}
	calls := []struct{ tool, arguments string }{{"hang", `{}`}, {"reads", `{}`}, {"clicks", `{}`}, {"no_such_tool", `{}`}}
	for tool := range h.ownTools {
		for _, arguments := range []string{`{}`, `{"id": "absent"}`, `{"id": "reads"}`, `{"execution_id": "absent"}`, `{"execution_id": "` + failedRun + `"}`,
			`{"id": "reads", "on": true, "expected_version": 7}`, `{"id": "reads", "expected_version": 7}`} {
			if tool != "cancel_execution" || !strings.Contains(arguments, failedRun) {
				calls = append(calls, struct{ tool, arguments string }{tool, arguments})
			}
		}
	}
	for _, call := range calls {
		result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: call.tool, Arguments: json.RawMessage(call.arguments)}})
		if err != nil {
			texts = append(texts, strings.ReplaceAll(err.Error(), fmt.Sprintf("%q", call.tool), ""))
			continue
		}
		text := fmt.Sprint(result.Content)
		texts = append(texts, text)
		if call.tool == "describe_routine" && !p.Has(routine.ScopeRoutinesRead) && strings.Contains(text, "shop.example") {
			t.Errorf("operations are shown: %s", text)
		}
	}
	for _, status := range []routine.ExecutionStatus{routine.ExecutionPending, routine.ExecutionRunning} {
		for _, e := range h.executions(t, status) {
			if _, err := h.service.Cancel(t.Context(), ann, e.ID); err != nil {
				t.Error(err)
			}
		}
	}
	return texts, tools
}
