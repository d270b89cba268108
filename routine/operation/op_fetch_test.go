package operation

import (
	"bytes"
	"context"
	"testing"

	"rote/routine"
)

// Only sanitizers that work on a large text wait for a turn, and give it back.
func TestLargeTextsTakeTurns(t *testing.T) {
	const truncate = `[{"type":"truncate","max_chars":5}]`
	large, small := bytes.Repeat([]byte("x"), maxLightText+1), bytes.Repeat([]byte("x"), maxLightText)
	for _, row := range []struct {
		name, sanitizer string
		body            []byte
		turns           int
	}{
		{"a large text", truncate, large, 1},
		{"a small text", truncate, small, 0},
		{"a large text without sanitizer", ``, large, 0},
		{"a large text with an empty sanitizer", `[]`, large, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			taken, released := 0, 0
			turn := func(context.Context) (func(), error) {
				taken++
				return func() { released++ }, nil
			}
			r := &Run{LargeText: turn, Secrets: noSecrets{}, Result: &routine.Result{}}
			if text, err := r.sanitize(t.Context(), []byte(row.sanitizer), row.body); err != nil || text == "" {
				t.Errorf("%d bytes, %v", len(text), err)
			}
			if taken != row.turns || released != row.turns {
				t.Errorf("%d turns taken and %d given back, want %d", taken, released, row.turns)
			}
		})
	}
}

// A run whose time ends while it waits for its turn ends with that reason.
func TestWaitForATurnEndsWithTheRun(t *testing.T) {
	over := &routine.Error{Code: routine.CodeTimeout, Message: "the run's time"}
	r := &Run{Result: &routine.Result{}, LargeText: func(context.Context) (func(), error) { return nil, over }}
	text, err := r.sanitize(t.Context(), []byte(`[{"type":"truncate","max_chars":5}]`), bytes.Repeat([]byte("x"), maxLightText+1))
	if text != "" || routine.CodeOf(err) != routine.CodeTimeout {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// noSecrets are the secrets of a run that has none.
type noSecrets struct{ Secrets }

func (noSecrets) Conceal(text string) string { return text }
