package wire

import (
	"sync"
	"time"
)

// keepAliveInterval is the default of Options.KeepAlive: proxies close streams that
// are silent for longer than they allow.
const keepAliveInterval = 15 * time.Second

// keepAlives writes comments on streams on which nothing else is written. All
// streams share one timer: setting one for each request would cost more than the
// rest of a short answer.
type keepAlives struct {
	interval time.Duration

	mu    sync.Mutex
	open  map[*stream]struct{}
	timer *time.Timer // nil before the first stream was added
	armed bool
}

func newKeepAlives(interval time.Duration) *keepAlives {
	return &keepAlives{interval: interval, open: map[*stream]struct{}{}}
}

func (k *keepAlives) add(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[s] = struct{}{}
	switch {
	case k.armed:
		return
	case k.timer == nil:
		k.timer = time.AfterFunc(k.interval/2, k.tick)
	default:
		k.timer.Reset(k.interval / 2)
	}
	k.armed = true
}

func (k *keepAlives) remove(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, s)
}

// tick writes a comment on each stream that was silent since the last tick. A
// client that does not read delays only its own stream.
func (k *keepAlives) tick() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.armed = len(k.open) > 0; !k.armed {
		return
	}
	for s := range k.open {
		if !s.written.Swap(false) {
			go s.comment()
		}
	}
	k.timer.Reset(k.interval / 2)
}
