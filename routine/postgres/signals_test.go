package postgres

import (
	"context"
	"testing"
	"time"

	"rote/routine"
)

// A request to cancel whose notification was lost is found by the next look.
func TestSignalsLookForThemselves(t *testing.T) {
	s := open(t, emptyDatabase(t), func(c *Config) { c.lookInterval = 20 * time.Millisecond })
	e := create(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun, heard := make(chan struct{}, 1), make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Signals(ctx, func(signal routine.Signal) {
			select {
			case begun <- struct{}{}:
			default:
			}
			if signal.Cancel != "" {
				heard <- signal.Cancel
				stop()
			}
		})
	}()
	<-begun
	_, err := s.pool.Exec(t.Context(), `UPDATE executions SET cancel_requested_at = 1 WHERE id = $1`, e.ID)
	must(t, err)
	must(t, <-ended)
	if id := <-heard; id != e.ID {
		t.Errorf("heard %s, want %s", id, e.ID)
	}
}
