package browser

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A run waits for a slot until another one ends or has had its time.
func TestStartSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots, start := make(startSlots, 2), time.Now()
		var ends []func()
		take := func(want time.Duration) {
			t.Helper()
			end, err := slots.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != want {
				t.Fatalf("got a slot after %v, want %v", took, want)
			}
			ends = append(ends, end)
		}
		take(0)
		<-time.After(50 * time.Millisecond)
		take(50 * time.Millisecond)
		go func() {
			<-time.After(20 * time.Millisecond)
			ends[1]() // its run is short
			ends[1]()
		}()
		take(70 * time.Millisecond)
		take(startTime)                       // the first run is long
		take(70*time.Millisecond + startTime) // and the third
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gave up"))
		if _, err := slots.take(ctx); err == nil || err.Error() != "gave up" {
			t.Fatal(err)
		}
		for _, end := range ends {
			end()
		}
		if len(slots) != 0 {
			t.Fatalf("%d slots are held", len(slots))
		}
	})
}
