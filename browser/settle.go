package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Bounds of the wait for a page that navigates.
const (
	// answerBound is how long the server may take to answer.
	answerBound = 20 * time.Second
	// beginBound is how long a navigation that was requested may take to start.
	beginBound = time.Second
	// loadBound is how long a document may take to load before it is used as it is.
	loadBound = 10 * time.Second
	// maxFollowed is how many documents in a row are waited for, because a page may
	// navigate again and again.
	maxFollowed = 20
)

// errLoadBound is the cause of contexts that end because of one of these bounds.
var errLoadBound = errors.New("load bound")

// follow waits until the page is at rest after an action: it has handled the action's
// events and has loaded every document that it has navigated to since. before is the state
// before the action.
//
// It fails if a page could not be reached or does not answer.
func (p *page) follow(ctx context.Context, before navState) error {
	for asked, n := before, 0; n < maxFollowed; asked, n = p.now(), n+1 {
		if err := p.awaitHandlers(ctx, asked); err != nil {
			return err
		}
		if p.atRest(p.now()) {
			break
		}
		if err := p.awaitArrival(ctx); err != nil {
			return err
		}
		if p.now().loader != before.loader {
			break
		}
		// The navigation was cancelled, maybe for another one that the page has not
		// requested yet.
	}
	if s := p.now(); s.loader == before.loader && s.statusOf == s.lastStarted && s.lastStarted != before.lastStarted && !s.withoutDocument() {
		return p.awaitDownloadStart(ctx, requestTime) // the answer was not a document
	}
	return nil
}

// awaitArrival waits until the page is at rest, and warns if the new document has not finished
// loading or is an HTTP error. It fails if the document could not be reached.
func (p *page) awaitArrival(ctx context.Context) error {
	before := p.nav.settled
	finished, err := p.settle(ctx)
	if err != nil || p.nav.settled == before {
		return err
	}
	if s := p.now(); s.unreachable != "" {
		_, err = p.unreachableError(s.unreachable, cmp.Or(s.failure, "net::ERR_FAILED"))
		return err
	}
	p.warnOfDocument(finished)
	return nil
}

// awaitRest brings the page to the front and waits until it is at rest before an operation
// starts. A timer or the answer to a request may have made it navigate since the last
// operation.
func (p *page) awaitRest(ctx context.Context) error {
	if err := p.closeLoadedPopups(ctx); err != nil {
		return err
	}
	p.comeToFront()
	if s := p.now(); s.url == "about:blank" && !s.navigating() || p.atRest(s) {
		return nil
	}
	switch err := p.awaitArrival(ctx); {
	case err == nil:
		return nil
	case ctx.Err() != nil || !p.usable():
		return p.failure(ctx, err)
	default: // no operation has caused it
		p.warn("the page navigated by itself: " + err.Error())
		return nil
	}
}

// warnOfDocument warns of a document that has not finished loading, or that is
// an HTTP error.
func (p *page) warnOfDocument(finished bool) {
	switch s := p.now(); {
	case !finished:
		p.warn(routine.ShownURL(s.url) + " did not finish loading; went on with what was there")
	case s.statusOf == s.loader && s.status >= 400:
		p.warn(routine.DescribeStatus(s.url, s.status))
	}
}

// atRest reports whether no navigation is under way and the document was waited for.
func (p *page) atRest(s navState) bool { return !s.navigating() && s.loader == p.nav.settled }

// settle waits until the page is at rest. It reports whether the last document that it
// waited for has finished loading.
func (p *page) settle(ctx context.Context) (finished bool, err error) {
	finished = true
	for range maxFollowed {
		if err := p.awaitNavigation(ctx); err != nil {
			return finished, err
		}
		s := p.now()
		if p.atRest(s) {
			return finished, nil
		}
		stays := false
		if finished, stays, err = p.awaitLoad(ctx, s.loader); err != nil {
			return finished, err
		}
		if !stays {
			continue
		}
		p.nav.settled = s.loader
		if err := p.awaitLoadHandlers(ctx, s); err != nil {
			return finished, err
		}
	}
	p.warn(fmt.Sprintf("the page went on to another document %d times in a row; went on with the one that was there", maxFollowed))
	return finished, nil
}

// awaitNavigation waits until no navigation is under way, whether that brought a new document or
// not.
func (p *page) awaitNavigation(ctx context.Context) error {
	for {
		beginning, cancel := context.WithTimeoutCause(ctx, beginBound, errLoadBound)
		err := p.waitFor(beginning, func(s navState) (bool, error) { return s.pending == 0 || s.current != "", nil })
		cancel()
		if errors.Is(err, errLoadBound) {
			p.update(func(s *navState) { s.pending = 0 }) // the page has cancelled it
		} else if err != nil {
			return err
		}
		bounded, cancel := context.WithTimeoutCause(ctx, p.b.answerBound, errLoadBound)
		err = p.waitFor(bounded, func(s navState) (bool, error) { return s.current == "", nil })
		over := bounded.Err() != nil
		cancel()
		switch {
		case err == nil && p.now().navigating(): // another one has replaced it
		case err == nil || !over:
			return err
		default:
			// Without this, the session stays blocked while a server does not answer.
			p.Send(proto.PageStopLoading{})
			return routine.Errorf(routine.CodeTimeout, "the page was on its way to %s, which did not answer", routine.ShownURL(p.now().currentURL))
		}
	}
}

// awaitLoad waits until the document with this loader has fired its load event. finished
// reports whether it has: not if that took too long or the document's body broke off.
// stays is false if another navigation has ended the wait.
func (p *page) awaitLoad(ctx context.Context, loader string) (finished, stays bool, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, p.b.loadBound, errLoadBound)
	defer cancel()
	gone := func(s navState) bool { return s.navigating() || s.loader != loader }
	err = p.waitFor(bounded, func(s navState) (bool, error) { return s.loaded || s.bodyBroke || gone(s), nil })
	if errors.Is(err, errLoadBound) {
		err = nil
	}
	s := p.now()
	return s.loaded && s.loader == loader, !gone(s), err
}

// awaitHandlers waits until the page has handled the events that were sent to it, and has
// requested the navigations that result from them. It returns early when a navigation is
// under way.
func (p *page) awaitHandlers(ctx context.Context, before navState) error {
	for range maxFollowed {
		requested, err := p.awaitTasks(ctx, before)
		if !requested || err != nil {
			return err
		}
		now := p.now()
		if now.navigating() || now.loader != before.loader {
			return nil
		}
		// The navigation is already cancelled, maybe for another one that the page has not
		// requested yet: a form whose handler sets location.
		before = now
	}
	return nil
}

// awaitTasks waits until the page has run the tasks that are due. It reports whether the page
// has requested a navigation, and returns early when it has.
func (p *page) awaitTasks(ctx context.Context, before navState) (requested bool, err error) {
	// By the time that an evaluation is answered, the page has requested its navigations.
	// The browser process starts steps in the history, so it is asked as well.
	for _, settled := range p.SendAll(p.nextTask(), proto.PageGetNavigationHistory{}) {
		defer settled.Forget()
		requested, err := p.awaitRequestedNavigation(ctx, before, settled)
		if requested || err != nil {
			return requested, err
		}
	}
	return false, nil
}

// awaitLoadHandlers waits until the handlers of a document's load event have run, which may navigate.
// It does not wait for a document that hangs afterwards.
func (p *page) awaitLoadHandlers(ctx context.Context, before navState) error {
	bounded, cancel := context.WithTimeoutCause(ctx, beginBound, errLoadBound)
	defer cancel()
	err := p.awaitHandlers(bounded, before)
	if errors.Is(err, errLoadBound) {
		return nil
	}
	return err
}

// nextTask is the evaluation of a promise that is fulfilled after the timers that are due, because
// handlers often defer their work with a timer. Like [frameView.ask], it does not pause the
// page.
func (p *page) nextTask() proto.Request { return p.afterTimer(0) }

// afterTimer is the evaluation of a promise that is fulfilled by a timer of the page.
func (p *page) afterTimer(d time.Duration) proto.Request {
	p.mu.Lock()
	id := p.frames.top.helper
	p.mu.Unlock()
	if id == 0 {
		return proto.RuntimeEvaluate{Expression: "0", DisableBreaks: true}
	}
	return proto.RuntimeEvaluate{ContextID: id, Expression: fmt.Sprintf("new Promise(done => setTimeout(done, %d))", d.Milliseconds()),
		AwaitPromise: true, DisableBreaks: true}
}

// awaitRequestedNavigation reports whether the page has requested a navigation by the time that settled is
// answered.
func (p *page) awaitRequestedNavigation(ctx context.Context, before navState, settled *cdp.Future) (bool, error) {
	for {
		p.mu.Lock()
		changed := p.nav.changed
		p.mu.Unlock()
		if s := p.now(); s.requests > before.requests || s.loader != before.loader {
			return true, nil
		}
		select {
		case <-settled.Answer():
			s := p.now()
			return s.requests > before.requests || s.loader != before.loader, nil
		case <-changed:
		case <-p.end.dead:
			return false, errCrashed
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
