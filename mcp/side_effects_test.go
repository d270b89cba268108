package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rote/mcp/wire"
	"rote/routine"
	"rote/routine/routinetest"
)

// A run that has acted on a site is not to be repeated blindly, whatever ended
// it; one that has only read may be.
func TestAdviceAfterSideEffects(t *testing.T) {
	const (
		login = `{"type": "navigate", "url": "https://shop.example/login"}, {"type": "click", "selector": "#login"}, {"type": "wait_for_url", "url_regex": "/home"}`
		look  = `{"type": "fetch", "endpoint": {"url": "https://shop.example/a"}, "session_storage_key": "a"}, {"type": "wait_for_url", "url_regex": "/home"}`
		order = `{"type": "fetch", "endpoint": {"url": "https://shop.example/orders", "method": "POST"}}, {"type": "wait_for_url", "url_regex": "/thanks"}`
		late  = `{"type": "wait_for_url", "url_regex": "/home"}, ` + login
		wary  = "look at the site's state first and do not call again blindly, because "
		had   = " may have had an effect there; "
		unset = "if all is as it was before and the site was slow, the routine needs longer limits."
		after = "call again only if all is as it was before."
	)
	timedOut := routine.Errorf(routine.CodeTimeout, "the URL did not match")
	for _, row := range []struct {
		name, operations string
		fails            error // of wait_for_url
		evidence         *routine.Evidence
		want             string // after Next:
	}{
		{"a click before", login, timedOut, nil, wary + "operation 2 (click)" + had + unset},
		{"a login that was refused", login, timedOut, &routine.Evidence{URL: "https://shop.example/login", FailedRequests: []routine.FailedRequest{
			{Method: "POST", URL: "https://shop.example/login", Status: 401}, {Method: "GET", URL: "https://shop.example/favicon.ico", Status: 404}}},
			wary + "operation 2 (click)" + had + "POST https://shop.example/login was answered with HTTP status 401, which may be why; " + unset},
		{"a page that was refused", login, timedOut, &routine.Evidence{URL: "https://shop.example/login", FailedRequests: []routine.FailedRequest{
			{Method: "GET", URL: "https://shop.example/login", Status: 429}}},
			wary + "operation 2 (click)" + had + "GET https://shop.example/login was answered with HTTP status 429, which may be why; " + unset},
		{"a request that sends", order, routine.Errorf(routine.CodeBrowserCrashed, "gone"), nil, wary + "operation 1 (fetch)" + had + after},
		{"a request that reads", look, timedOut, nil, nextSteps[routine.CodeTimeout] + "."},
		{"the click has not come", late, timedOut, nil, nextSteps[routine.CodeTimeout] + "."},
		{"many clicks", strings.Repeat(`{"type": "press", "key": "Tab"}, `, 7) + login, timedOut, nil,
			wary + "operation 1 (press), operation 2 (press), operation 3 (press), operation 4 (press), operation 5 (press), 3 more" + had + unset},
		{"an answer that is no hope", login, routine.Errorf(routine.CodeEgressDenied, "refused"), nil,
			wary + "operation 2 (click)" + had + nextSteps[routine.CodeEgressDenied] + "."},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t, fmt.Sprintf(`{"name": "try", "description": "Tries.", "operations": [%s]}`, row.operations))
			h.browser.Page.Response = routinetest.Answer("application/json", `{}`)
			h.browser.Page.WaitURL = func(context.Context, func(string) (bool, error)) (string, error) {
				return "https://shop.example/", row.fails
			}
			h.browser.Page.Evidence = routinetest.ShowEvidence(row.evidence)
			c := connect(t, h.Server)
			_, text := callTool(t, c, "try", nil)
			if !strings.Contains(text, " Next: "+row.want) {
				t.Errorf("got  %s\nwant %s", text, row.want)
			}
			_, later := callTool(t, c, "get_execution", map[string]any{"execution_id": executionIDs.FindString(text)})
			if !strings.Contains(later, " Next: "+row.want) {
				t.Errorf("later %s\nwant %s", later, row.want)
			}
		})
	}
}

// An operation that was running when the service ended has no record.
func TestAdviceAfterAnInterruptedRun(t *testing.T) {
	e := &routine.Execution{ErrorCode: routine.CodeInterrupted, Operations: []routine.OperationRecord{{Index: 0, Type: "click"}}}
	f := &caller{name: "buy"}
	err := routine.Errorf(routine.CodeInterrupted, "the service has ended")
	want := "because operation 1 (click), the operation that was interrupted may have had an effect there; call again only if"
	if text := f.failureText(wire.WithPrincipal(t.Context(), ann), e, err); !strings.Contains(text, want) {
		t.Error(text)
	}
	f.readOnly = true
	e.Operations[0].Type = "return_html"
	if text := f.failureText(wire.WithPrincipal(t.Context(), ann), e, err); !strings.HasSuffix(text, "Next: call again.") {
		t.Error(text)
	}
	if text := f.failureText(wire.WithPrincipal(t.Context(), ann), nil, errors.New("x")); strings.Contains(text, "effect") {
		t.Error(text)
	}
}
