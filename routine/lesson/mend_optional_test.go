package lesson

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

// An optional click is done again only if its element is there and harmless, and what it did
// in its lesson stays with it when it is skipped.
func TestStartMendJudgesOptionalClicks(t *testing.T) {
	optional := func(fields string) string {
		return strings.Replace(lampRoutine, `{"type":"click","selector":"#lamps","x-target":{"role":"link","name":"Lamps"}}`,
			`{"type":"click","selector":"#maybe","timeout_ms":50,"x-optional":true,"x-target":{"role":"button","name":"Confirm order"}`+fields+`}`, 1)
	}
	for _, row := range []struct {
		name, fields string
		element      routine.ElementDescription
		want         string // the error
		clicks       int
	}{
		{"it acted in its lesson", `,"x-acting":["POST /orders"]`, routine.ElementDescription{Matches: 1}, "operation 3, click #maybe, sends POST /orders", 0},
		{"it may act", "", routine.ElementDescription{Matches: 1, Target: routine.Target{Role: "button", Name: "Confirm order"}},
			`operation 3, click #maybe, may send something: it is a button "Confirm order"`, 0},
		{"harmless", "", routine.ElementDescription{Matches: 1, Target: routine.Target{Role: "button", Name: "Accept all"}}, "", 1},
		{"absent", "", routine.ElementDescription{}, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			var actions []string
			page := redesigned()
			describe := page.Describe
			page.Actions = &actions
			page.Describe = func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error) {
				if selector == "#maybe" {
					return row.element, nil
				}
				return describe(ctx, selector, use)
			}
			c := newClassroom(t, page)
			r, e := c.failedRun(t, optional(row.fields), `{"word":"lamp"}`)
			actions = nil
			started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Execution: e.ID})
			if row.want != "" {
				wantError(t, err, routine.CodeConflict, row.want)
			} else if err != nil || len(started.Operations) != 3 || len(started.Remaining) != 2 {
				t.Fatalf("%+v, %v", started, err)
			}
			clicks := 0
			for _, a := range actions {
				if strings.HasPrefix(a, "click") && strings.Contains(a, "#maybe") {
					clicks++
				}
			}
			if clicks != row.clicks {
				t.Errorf("did %q", actions)
			}
		})
	}
}

// An optional click that was skipped is saved with the requests that it made in an earlier lesson.
func TestSkippedOperationKeepsItsNotes(t *testing.T) {
	text := `{"type":"click","selector":"#a","x-optional":true,"x-target":{"role":"button","name":"Order"},"x-acting":["POST /orders"]}`
	k := &keptOperation{raw: json.RawMessage(text), operation: parsedOperation(json.RawMessage(text)),
		record: routine.OperationRecord{Type: "click", Details: map[string]any{"skipped": true}}}
	if got := (&draft{}).withNotes(k.raw, k); string(got) != text {
		t.Errorf("%s", got)
	}
}
