package operation

import (
	"context"
	"time"

	"rote/routine"
)

// opSleep is the operation sleep. Its fields are described in
// schemas/operations/sleep.json.
type opSleep struct {
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

func (o *opSleep) sleeps() time.Duration { return routine.Seconds(o.TimeoutSeconds) }

func (o *opSleep) Do(ctx context.Context, _ *Run) error { return pause(ctx, o.sleeps()) }

// pause waits for d, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
