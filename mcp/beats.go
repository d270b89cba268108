package mcp

import (
	"sync"
	"time"
)

// beatInterval is after how long without a byte a stream has got a comment, so
// that no proxy takes it for dead.
const beatInterval = 15 * time.Second

// beats has comments written on streams on which nothing else is. All share one
// clock: to set one for each request costs more than the rest of a short answer.
type beats struct {
	interval time.Duration

	mu    sync.Mutex
	open  map[*stream]struct{}
	timer *time.Timer // nil before the first stream
	armed bool
}

func newBeats(interval time.Duration) *beats {
	return &beats{interval: interval, open: map[*stream]struct{}{}}
}

func (b *beats) add(s *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[s] = struct{}{}
	switch {
	case b.armed:
		return
	case b.timer == nil:
		b.timer = time.AfterFunc(b.interval/2, b.tick)
	default:
		b.timer.Reset(b.interval / 2)
	}
	b.armed = true
}

func (b *beats) remove(s *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, s)
}

// tick has a comment written on each stream that was silent since the last one.
// A client that does not read holds up only its own.
func (b *beats) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed = len(b.open) > 0; !b.armed {
		return
	}
	for s := range b.open {
		if !s.spoke.Swap(false) {
			go s.comment()
		}
	}
	b.timer.Reset(b.interval / 2)
}
