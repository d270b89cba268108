package browser

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"rote/browser/cdp"
	"rote/routine"
)

// tabs are the pages of a run: the first, and the popups that it follows, each opened by
// the one before. Operations act on the last one. When that closes, they act on its
// opener again.
type tabs struct {
	first    *page
	followed []*page
	// seen are all popups that were followed, including closed ones.
	seen []*page
	// shown is the page that current has returned last; nil: none.
	shown atomic.Pointer[page] // picture.go; needs no lock
}

var _ routine.Page = (*tabs)(nil)

// current is the page that operations act on.
func (t *tabs) current(ctx context.Context) *page {
	for len(t.followed) > 0 {
		last := t.followed[len(t.followed)-1]
		if !last.isClosing(ctx) {
			t.shown.Store(last)
			return last
		}
		t.leave()
	}
	t.shown.Store(t.first)
	return t.first
}

// leave makes operations act on the opener of the last popup.
func (t *tabs) leave() { t.followed = t.followed[:len(t.followed)-1] }

// closingTime bounds the question whether a popup is being closed.
const closingTime = time.Second

// isClosing reports whether p is a popup that is closed or closing. The popup's scripts
// see that at once, the browser a moment later; isClosing waits for the latter.
func (p *page) isClosing(ctx context.Context) bool {
	if p.asPopup.opener == nil || p.isClosed() {
		return p.asPopup.opener != nil
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	closing, err := inHelperWithoutTimer[bool](asking, p, "(() => closed)")
	if err == nil && !closing || p.isClosed() {
		return p.isClosed()
	}
	if !closing && asking.Err() != nil { // the popup hangs
		return false
	}
	return p.first().waitFor(asking, func(navState) (bool, error) { return p.isClosed(), nil }) == nil
}

// onCurrent calls do with the page that operations act on. If that is a popup that closes
// meanwhile, either mouse or key events have closed it and the operation is complete, or
// nothing was done yet and do is called with its opener.
func onCurrent[R any](ctx context.Context, t *tabs, do func(*page) (R, error)) (R, error) {
	for {
		p := t.current(ctx)
		inputs := p.input.sent.Load()
		r, err := do(p)
		switch {
		case err == nil || !p.isClosing(ctx):
			return r, err
		case p.input.sent.Load() > inputs:
			return r, nil
		case ctx.Err() != nil:
			return r, context.Cause(ctx)
		}
	}
}

// alone adapts a function that returns only an error for onCurrent.
func alone(do func(*page) error) func(*page) (struct{}, error) {
	return func(p *page) (struct{}, error) { return struct{}{}, do(p) }
}

func (t *tabs) Navigate(ctx context.Context, url string) (routine.Navigation, error) {
	return onCurrent(ctx, t, func(p *page) (routine.Navigation, error) { return p.Navigate(ctx, url) })
}

func (t *tabs) URL(ctx context.Context) (string, error) { return t.current(ctx).URL(ctx) }

func (t *tabs) Usable(ctx context.Context) error {
	p := t.current(ctx)
	switch {
	case p.usable():
		return nil
	case !p.i.alive():
		return p.failure(context.WithoutCancel(ctx), cdp.ErrClosed)
	}
	return p.failure(context.WithoutCancel(ctx), errCrashed)
}

func (t *tabs) Present(ctx context.Context, selector string) (bool, error) {
	return onCurrent(ctx, t, func(p *page) (bool, error) { return p.Present(ctx, selector) })
}

func (t *tabs) WaitURL(ctx context.Context, match func(url string) (bool, error)) (string, error) {
	return onCurrent(ctx, t, func(p *page) (string, error) { return p.WaitURL(ctx, match) })
}

func (t *tabs) Type(ctx context.Context, typing routine.Typing) (routine.Match, error) {
	return onCurrent(ctx, t, func(p *page) (routine.Match, error) { return p.Type(ctx, typing) })
}

func (t *tabs) Press(ctx context.Context, key string) error {
	_, err := onCurrent(ctx, t, alone(func(p *page) error { return p.Press(ctx, key) }))
	return err
}

func (t *tabs) Scroll(ctx context.Context, s routine.Scroll) error {
	_, err := onCurrent(ctx, t, alone(func(p *page) error { return p.Scroll(ctx, s) }))
	return err
}

func (t *tabs) OuterHTML(ctx context.Context, selector string) (string, int, error) {
	type found struct {
		html    string
		matches int
	}
	f, err := onCurrent(ctx, t, func(p *page) (found, error) {
		html, matches, err := p.OuterHTML(ctx, selector)
		return found{html, matches}, err
	})
	return f.html, f.matches, err
}

func (t *tabs) Cookies(ctx context.Context) ([]routine.Cookie, error) { return t.first.Cookies(ctx) }

func (t *tabs) SentCookies(ctx context.Context) ([]routine.Cookie, error) {
	return onCurrent(ctx, t, func(p *page) ([]routine.Cookie, error) { return p.SentCookies(ctx) })
}

// Fetch and Evaluate are not repeated in the opener of a popup that closes, because they
// may have taken effect.
func (t *tabs) Fetch(ctx context.Context, f routine.Fetch, max int64) (routine.Response, error) {
	return t.current(ctx).Fetch(ctx, f, max)
}

func (t *tabs) Evaluate(ctx context.Context, s routine.Script) (routine.Evaluation, error) {
	return t.current(ctx).Evaluate(ctx, s)
}

func (t *tabs) Lookup(ctx context.Context, from routine.Source, name string) (string, bool, error) {
	type found struct {
		text string
		ok   bool
	}
	f, err := onCurrent(ctx, t, func(p *page) (found, error) {
		text, ok, err := p.Lookup(ctx, from, name)
		return found{text, ok}, err
	})
	return f.text, f.ok, err
}

func (t *tabs) StorageKeys(ctx context.Context) ([]string, error) {
	return onCurrent(ctx, t, func(p *page) ([]string, error) { return p.StorageKeys(ctx) })
}

func (t *tabs) Mirror(ctx context.Context, key, text string) error {
	_, err := onCurrent(ctx, t, alone(func(p *page) error { return p.Mirror(ctx, key, text) }))
	return err
}

func (t *tabs) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	return t.current(ctx).Evidence(ctx, i)
}

func (t *tabs) Warnings() []string {
	w := t.first.Warnings()
	for _, p := range t.seen {
		w = append(w, p.Warnings()...)
	}
	return w
}

func (t *tabs) Requests(ctx context.Context, after int) (routine.RequestLog, error) {
	l := t.first.log.Load()
	if l == nil {
		return routine.RequestLog{}, errors.New("the page was opened without PageOptions.Watch, which records its requests")
	}
	return l.list(ctx, after)
}

func (t *tabs) ConsoleErrors(since time.Time) []string {
	lines := t.first.trace.errorsSince(since)
	for _, p := range t.seen {
		lines = append(lines, p.trace.errorsSince(since)...)
	}
	return lines
}

func (t *tabs) Denials() []routine.Denial { return t.first.Denials() }

func (t *tabs) BlockedRequests() map[string]int { return t.first.BlockedRequests() }

func (t *tabs) Unverified() bool { return t.first.i.unverified.Load() }

func (t *tabs) State(ctx context.Context) ([]byte, error) { return t.first.State(ctx) }

func (t *tabs) Close() { t.first.Close() }
