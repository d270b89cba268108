package browser

import (
	"context"
	"sync"
	"time"
)

// startSlots are as many as there are processors. A run holds one from before it gets its
// page, until it has ended or startTime has passed. So short runs, which need the processor
// all the time, come one after the other instead of slowing each other down; runs that wait
// for the network work at the same time nonetheless.
type startSlots chan struct{}

// startTime is how long a run holds its slot at most.
const startTime = 150 * time.Millisecond

// take waits for a slot, first come, first served. The caller may call end repeatedly.
func (s startSlots) take(ctx context.Context) (end func(), _ error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	free := sync.OnceFunc(func() { <-s })
	timer := time.AfterFunc(startTime, free)
	return func() {
		timer.Stop()
		free()
	}, nil
}
