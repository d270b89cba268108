package browser

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

var (
	//go:embed quiet.js
	quietSource string
	quietScript = "(" + quietSource + ")"
)

// Bounds of the wait for a page that has reacted to an operation.
const (
	quietRequests = 300 * time.Millisecond // without a request of the page
	quietDOM      = 150 * time.Millisecond // without a change of its documents
	maxQuietWait  = 3 * time.Second
	quietPoll     = 50 * time.Millisecond
	// maxQuietFrames is how many frames of other origins are watched for changes.
	maxQuietFrames = 10
)

func (t *tabs) WaitQuiet(ctx context.Context) (time.Duration, error) {
	return onCurrent(ctx, t, func(p *page) (time.Duration, error) { return p.WaitQuiet(ctx) })
}

// WaitQuiet waits until the page has made no request and has not changed for a while, and
// returns how long that took. A page that does not come to rest, or hangs, is waited for until
// the time is over, which is no error.
func (p *page) WaitQuiet(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, maxQuietWait)
	defer cancel()
	requests := newListWatch(p)
	defer p.stopWatching()
	for {
		quiet, err := p.sinceChange(bounded)
		switch {
		case err == nil || errors.Is(err, cdp.ErrGone):
		case ctx.Err() == nil && bounded.Err() != nil:
			return time.Since(start), nil
		default:
			return time.Since(start), p.failure(ctx, err)
		}
		if err == nil && quiet >= quietDOM && requests.quietFor() >= quietRequests {
			return time.Since(start), nil
		}
		select {
		case <-time.After(quietPoll):
		case <-bounded.Done():
			if ctx.Err() != nil {
				return time.Since(start), context.Cause(ctx)
			}
			return time.Since(start), nil
		}
	}
}

// sinceChange is for how long the documents of the page have not changed. The first call
// begins to watch them.
func (p *page) sinceChange(ctx context.Context) (time.Duration, error) {
	ms, err := inHelper[float64](ctx, p, quietScript, false)
	if err != nil {
		return 0, err
	}
	for n, v := range p.currentFrames() {
		if n == maxQuietFrames {
			break
		}
		bounded, cancel := context.WithTimeout(ctx, quietDOM)
		if inside, err := inHelper[float64](bounded, v, quietScript, false); err == nil {
			ms = min(ms, inside)
		}
		cancel()
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

// stopWatching ends what sinceChange has begun, without waiting for it.
func (p *page) stopWatching() {
	p.mu.Lock()
	worlds := map[*frameView]proto.RuntimeExecutionContextID{p.frames.top: p.frames.top.helper}
	for _, v := range p.frames.isolated {
		worlds[v] = v.helper
	}
	p.mu.Unlock()
	for v, world := range worlds {
		if world != 0 {
			v.Send(proto.RuntimeEvaluate{ContextID: world, Expression: "globalThis.roteQuiet && " + quietScript + "(true)", DisableBreaks: true}).Forget()
		}
	}
}
