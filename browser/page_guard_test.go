package browser

import (
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// The guard calls these methods in DocumentReplaced, while the page's own lock is held. If
// one of them took it, no event of any page of the browser would be handled any more.
func TestGuardMayCallPageUnderItsLock(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, shared)
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, call := range map[string]func(guardAdapter){
		"Send":       func(g guardAdapter) { g.Send(proto.RuntimeEvaluate{Expression: "1"}) },
		"SendAll":    func(g guardAdapter) { g.SendAll(proto.RuntimeEvaluate{Expression: "1"}) },
		"SendTo":     func(g guardAdapter) { g.SendTo(p.session, proto.RuntimeEvaluate{Expression: "1"}) },
		"MainFrame":  func(g guardAdapter) { g.MainFrame() },
		"Acting":     func(g guardAdapter) { g.Acting() },
		"FetchAhead": func(g guardAdapter) { g.FetchAhead(true) },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			call(guardAdapter{p})
		}()
		select {
		case <-done:
		case <-time.After(testTime):
			t.Fatalf("%s waits for the lock of the page", name)
		}
	}
}
