package service_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// withoutElement is a page on which every click and every text waits in vain and fails
// with code.
func withoutElement(code routine.Code, actions *[]string) routinetest.Page {
	wait := func(ctx context.Context, selector string) (routine.Match, error) {
		<-ctx.Done()
		return routine.Match{}, routine.Errorf(code, "%q did not come", selector)
	}
	return routinetest.Page{Actions: actions, HTML: "<p>",
		Click: func(ctx context.Context, c routine.Click) (routine.Match, error) { return wait(ctx, c.Selector) },
		Type:  func(ctx context.Context, t routine.Typing) (routine.Match, error) { return wait(ctx, t.Selector) }}
}

// An optional operation whose element does not come within its own limit is recorded as
// skipped, and the run continues. Any other failure ends the run.
func TestOptionalOperationsAreSkipped(t *testing.T) {
	t.Parallel()
	const notFound, notActionable = routine.CodeElementNotFound, routine.CodeElementNotActionable
	for _, row := range []struct {
		name, operation string
		code            routine.Code
		seconds         float64 // until the operation ends
		reason          string  // why it was skipped; empty: the run fails with code
	}{
		{"a click, not found", `{"type":"click","selector":"#b","x-optional":true}`, notFound, 2, `"#b" did not come after 2000 ms`},
		{"a click, not actionable", `{"type":"click","selector":"#b","x-optional":true}`, notActionable, 2, `"#b" did not come after 2000 ms`},
		{"a text", `{"type":"input_text","selector":"#i","text":"x","x-optional":true}`, notFound, 2, `"#i" did not come after 2000 ms`},
		{"a shorter limit", `{"type":"click","selector":"#b","x-optional":true,"timeout_ms":500}`, notFound, 0.5, `"#b" did not come after 500 ms`},
		{"the limit before the mark", `{"timeout_ms":500,"type":"click","selector":"#b","x-optional":true}`, notFound, 0.5, `"#b" did not come after 500 ms`},
		{"the default limit written out", `{"type":"click","selector":"#b","x-optional":true,"timeout_ms":20000}`, notFound, 20,
			`"#b" did not come after 20000 ms`},
		{"files", `{"type":"input_text","selector":"#f","text":"","x-files":"cv","x-optional":true}`, notFound, 2, `"#f" did not come after 2000 ms`},
		{"a secret in the reason", `{"type":"click","selector":"[title='{{pin}}']","x-optional":true}`, notFound, 2, `"[title='***']" did not come after 2000 ms`},
		{"not optional", `{"type":"click","selector":"#b","x-optional":false}`, notFound, 20, ""},
		{"not marked", `{"type":"click","selector":"#b"}`, notFound, 20, ""},
		{"a page that does not answer", `{"type":"click","selector":"#b","x-optional":true}`, routine.CodeTimeout, 2, ""},
		{"a click that leads nowhere", `{"type":"click","selector":"#b","x-optional":true}`, routine.CodeNavigationFailed, 2, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := runOnce(t, withoutElement(row.code, nil), row.operation+`,{"type":"return_html"}`,
					`{"name":"pin","x-secret":true},{"name":"cv","type":"x-files"}`,
					`{"pin":"hunter2hunter2","cv":[{"name":"a.txt","type":"text/plain","base64":"aGVsbG8="}]}`)
				records := e.Result.OperationsMetadata
				if records[0].DurationSeconds != row.seconds {
					t.Errorf("took %v s, want %v s", records[0].DurationSeconds, row.seconds)
				}
				if row.reason == "" {
					if routine.CodeOf(err) != row.code || len(records) != 1 || records[0].Error == nil || records[0].Details["skipped"] != nil {
						t.Errorf("%v, %+v", err, records)
					}
					return
				}
				if err != nil || string(e.Result.Data) != `"<p>"` || len(records) != 2 || records[0].Error != nil || e.Evidence != nil {
					t.Fatalf("%v, data %s, %+v", err, e.Result.Data, records)
				}
				if diff := cmp.Diff(map[string]any{"skipped": true, "reason": row.reason}, records[0].Details); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// The end of the run's own time ends the run, also while an optional operation waits.
func TestOptionalOperationAtTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	d := parse(t, definitionOf(`{"type":"click","selector":"#b","x-optional":true,"timeout_ms":5000},{"type":"return_html"}`, ""))
	synctest.Test(t, func(t *testing.T) {
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: withoutElement(routine.CodeElementNotFound, nil)}})
		e, err := s.RunOnce(t.Context(), routine.Principal{}, d, service.Call{Timeout: time.Second, Parameters: json.RawMessage(`{}`)})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), "operation 1 of 2 (click)") || len(e.Result.OperationsMetadata) != 1 {
			t.Errorf("%v, %+v", err, e.Result.OperationsMetadata)
		}
	})
}

// A popup is closed also when the operation that closes it was skipped.
func TestSkippedOperationClosesThePopup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var did []string
		_, err := runOnce(t, withoutElement(routine.CodeElementNotFound, &did), `{"type":"click","selector":"#b","x-optional":true,"x-popup":"close"}`, ``, `{}`)
		if want := []string{"click #b left×1", "close popup"}; err != nil || cmp.Diff(want, did) != "" {
			t.Errorf("%v, %q", err, did)
		}
	})
}
