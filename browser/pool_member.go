package browser

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// endpointState says whether a browser of a pool can get runs.
type endpointState int

const (
	// endpointReady: it gets runs. The local browser is started with the first one.
	endpointReady endpointState = iota
	// endpointConnecting: it is being connected to, or does not answer at the moment.
	endpointConnecting
	// endpointBusy: it has no room for another connection now.
	endpointBusy
	// endpointDown: it has failed, and is tried again later.
	endpointDown
)

// retryDelay is the shortest time between two attempts to connect.
const retryDelay = time.Second

// newMember creates the Browser of an endpoint. changed gets a value when its state may have
// changed.
func newMember(c Config, e Endpoint, changed chan<- struct{}) *Browser {
	c.Log = c.Log.With("browser", e.Name)
	if e.address != nil {
		c.Warm = min(e.Slots, defaultSlots)
		c.MaxContexts = max(2*e.Slots, 3*c.Warm)
	}
	b := New(c)
	b.breaker = &breaker{}
	b.changed = func() {
		select {
		case changed <- struct{}{}:
		default: // the one that waits is not handled yet
		}
	}
	if e.address == nil {
		return b
	}
	b.remote = true
	b.launcher = &remoteLauncher{endpoint: e}
	// Another connection would reach the same browser.
	b.lifetime.runs, b.lifetime.age = math.MaxInt, math.MaxInt64
	b.starts, b.processors = make(startSlots, e.Slots), e.Slots
	return b
}

// CheckEndpoint connects once to a browser elsewhere and verifies it. It returns the name and
// version of the browser, as in "HeadlessChrome/156.0.8078.79", and whether it is verified. With
// [Config.Unverified] one that is not is no error.
func CheckEndpoint(ctx context.Context, c Config, e Endpoint) (product string, verified bool, err error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := newMember(c, e, make(chan struct{}, 1))
	i, err := b.launch(ctx, e.Name, b.startBounds.next) // there is no second attempt
	if err != nil {
		return "", false, err
	}
	defer i.process.Close()
	version, err := proto.BrowserGetVersion{}.Call(i.client.Browser(ctx))
	if err != nil {
		return "", false, err
	}
	return version.Product, !i.unverified.Load(), nil
}

// connect starts to connect to a browser elsewhere if that is due. It returns after which time
// the browser may become usable by itself, or an attempt to connect is due; 0 if there is nothing
// to wait for.
func (b *Browser) connect() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0
	}
	now := time.Now()
	if b.remote {
		b.replaceDead()
	}
	if !b.remote || b.current != nil || b.starting != nil {
		return b.breaker.wait(now)
	}
	if wait := max(b.breaker.wait(now), b.busyUntil.Sub(now), b.lastStart.Add(retryDelay).Sub(now)); wait > 0 {
		return wait
	}
	_, _ = b.startInstance()
	return 0
}

// state returns the state of a browser of a pool.
func (b *Browser) state() endpointState {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case b.closed:
		return endpointDown
	case b.breaker.wait(now) > 0:
		return endpointDown
	case !b.remote || b.current != nil && b.current.alive() && !b.current.silent:
		return endpointReady
	case b.starting == nil && now.Before(b.busyUntil):
		return endpointBusy
	}
	return endpointConnecting
}

// whyDown is why a browser of a pool gets no runs.
func (b *Browser) whyDown(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.startFailure != nil:
		return fmt.Errorf("%s: %w", name, b.startFailure)
	case b.current != nil && b.current.alive() && b.current.silent:
		return fmt.Errorf("%s: it does not answer", name)
	case b.current != nil && b.current.alive():
		return fmt.Errorf("%s: it could not open a page", name)
	}
	return fmt.Errorf("%s: there is no connection to it", name)
}

// pageFailed notes that a page could not be opened on a browser that seemed to be ready, and
// pageOpened that one was.
func (b *Browser) pageFailed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && b.current.alive() { // else it was noted as a lost connection
		b.noteFailure()
	}
}

func (b *Browser) pageOpened() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.breaker.succeeded(time.Now())
}

// notify wakes the pool, if there is one, because the state may have changed. b.mu is held.
func (b *Browser) notify() {
	if b.changed != nil {
		b.changed()
	}
}
