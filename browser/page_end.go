package browser

import (
	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// pageEnd says whether and why the page can no longer be used. Why the run was blocked is
// kept by the first page.
type pageEnd struct {
	// dead is closed when the page has crashed, the popup was closed or the run was blocked.
	dead    chan struct{}
	crashed bool // dead is closed
	closed  bool // it is a popup that was closed
	// blocked is why a script or a flood of the console has ended the run; disposing is the
	// answer to the disposal of its browser context.
	blocked   error
	disposing *cdp.Future
}

// usable reports whether the page and its browser can still be used.
func (p *page) usable() bool {
	select {
	case <-p.end.dead:
		return false
	default:
		return p.i.alive()
	}
}

// crash makes the page count as crashed: whatever waits for it fails.
func (p *page) crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.end.crashed {
		p.end.crashed = true
		close(p.end.dead)
	}
}

// isClosed reports whether p is a popup that was closed.
func (p *page) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end.closed
}

// block makes every further call of the run's pages fail with err, and disposes of
// their browser context at once.
func (p *page) block(err error) {
	first := p.first()
	first.mu.Lock()
	before := first.end.blocked
	if before == nil {
		first.end.blocked = err
		first.end.disposing = p.i.client.Send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": p.context})
	}
	first.mu.Unlock()
	if before == nil {
		for _, popup := range first.openPopups() {
			popup.crash()
		}
		first.crash()
	}
}

// errBlocked is the error that the run's pages were blocked with, nil if they were
// not.
func (p *page) errBlocked() error {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return first.end.blocked
}

// stopScripts stops the timers and events of the run's pages and their frames. A task that is
// at work and workers continue.
func (p *page) stopScripts() {
	stop := proto.EmulationSetScriptExecutionDisabled{Value: true}
	for _, own := range append(p.openPopups(), p) {
		own.Send(stop).Forget()
		for _, session := range (guardAdapter{own}).FrameSessions() {
			p.i.client.Send(session, stop.ProtoReq(), stop).Forget()
		}
	}
}
