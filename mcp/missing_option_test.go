package mcp

import (
	"context"
	"strings"
	"testing"

	"rote/routine"
)

// The advice after an element that could not be acted on fits the reason: an option that
// a list does not have is no consent page.
func TestAdviceAfterAMissingOption(t *testing.T) {
	h := newTestServer(t, `{"name": "order", "description": "Orders.", "parameters": [{"name": "size"}],
		"operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "input_text", "selector": "#size", "text": "{{size}}"}]}`)
	c := connect(t, h.Server)
	for _, row := range []struct {
		name    string
		options []string
		want    string
	}{
		{"no such option", []string{"S", "M"}, missingOptionStep},
		{"another reason", nil, nextSteps[routine.CodeElementNotActionable]},
	} {
		t.Run(row.name, func(t *testing.T) {
			h.browser.Page.Type = func(context.Context, routine.Typing) (routine.Match, error) {
				return routine.Match{Matches: 1, Options: row.options}, routine.Errorf(routine.CodeElementNotActionable, "the reason")
			}
			result, text := callTool(t, c, "order", map[string]any{"size": "XXL"})
			if !result.IsError || !strings.Contains(text, "Next: "+row.want+".") {
				t.Errorf("got %s", text)
			}
			// The same holds when the run is read from the ledger.
			_, text = callTool(t, c, "get_execution", map[string]any{"execution_id": executionIDs.FindString(text)})
			if !strings.Contains(text, "Next: "+row.want) || strings.Contains(text, `"options":["S","M"]`) != (row.options != nil) {
				t.Errorf("later: %s", text)
			}
		})
	}
}
