package browser

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// maxPopups is how many popups of a run may be open at once. Further ones are
// closed before they load anything.
const maxPopups = 10

// popupTime bounds the wait for popups to close.
const popupTime = 5 * time.Second

// windows are the popups of a run.
type windows struct {
	open map[proto.TargetSessionID]*page
	// opened and refused count those that have come so far.
	opened, refused int
	// unwarned are those for which there was no warning yet.
	unwarned []*page
}

// popupState is what a page is as a popup; zero for the run's first page.
type popupState struct {
	// opener is the page that has opened it, and number its place among the popups of
	// the run, from 1. They do not change. reachesOpener reports whether its scripts can act
	// in its opener.
	opener        *page
	number        int
	reachesOpener bool
	// followed reports whether the run follows it or has.
	followed bool
	// ofLoaded reports whether a document that may hold a secret has opened it.
	ofLoaded bool
}

// first is the run's first page.
func (p *page) first() *page {
	for p.asPopup.opener != nil {
		p = p.asPopup.opener
	}
	return p
}

// targetAttached handles a new page of the run's context: the first is p itself, the others
// are popups.
func (p *page) targetAttached(e *proto.TargetAttachedToTarget) {
	p.mu.Lock()
	first := p.target == ""
	if first {
		p.target, p.session = e.TargetInfo.TargetID, e.SessionID
		p.frames.top.frame, p.frames.top.session = proto.PageFrameID(p.target), p.session
	}
	p.mu.Unlock()
	if first {
		p.i.client.Listen(e.SessionID, p.event)
		close(p.attachedTo)
		return
	}
	p.popupAttached(e)
}

// popupAttached handles a window that a page of the run has opened; p is the first page. The
// opener waits until the window is resumed, so even one that is closed at once must be.
func (p *page) popupAttached(e *proto.TargetAttachedToTarget) {
	p.mu.Lock()
	w := &p.windows
	tooMany := len(w.open) >= maxPopups
	if tooMany {
		w.refused++
	}
	refused := w.refused
	p.mu.Unlock()
	opener := p.openerOf(e.TargetInfo.OpenerID)
	g := opener.currentGuard()
	if g != nil && e.WaitingForDebugger {
		defer g.HoldPopup(e.SessionID) // also if it is refused, because it uses up its permit
	}
	if tooMany {
		if refused == 1 {
			p.warn(fmt.Sprintf("the page opened more than %d popups at once: those beyond were closed before they loaded", maxPopups))
		}
		p.i.targets.refusePopup(e)
		p.update(func(*navState) {})
		return
	}
	popup := opener.newPopup(e)
	popup.asPopup.ofLoaded = opener.isLoaded()
	p.update(func(*navState) {
		if w.open == nil {
			w.open = map[proto.TargetSessionID]*page{}
		}
		w.open[e.SessionID] = popup
		w.opened++
		popup.asPopup.number = w.opened
		w.unwarned = append(w.unwarned, popup)
	})
	for _, m := range eachPage {
		popup.Send(m)
	}
	if p.log.Load() != nil {
		enableLog(popup).Forget()
	}
	popup.sendUserAgent(popup.session)
	popup.pauseSession(popup.session)
	if p.isWatched() {
		popup.Send(proto.NetworkSetBypassServiceWorker{Bypass: true}).Forget()
	}
	if g == nil {
		p.i.client.ResumeTarget(e)
	}
	opener.Send(proto.PageBringToFront{})
}

// comeToFront puts the page before the other windows of the run. In full Chromium a
// new window hides its opener, and a page that is hidden draws nothing after a key.
func (p *page) comeToFront() {
	if len(p.openPopups()) > 0 {
		p.Send(proto.PageBringToFront{})
	}
}

// newPopup creates the page of a popup that p has opened.
func (p *page) newPopup(e *proto.TargetAttachedToTarget) *page {
	popup := blankPage(p.b, p.i, p.proxy)
	popup.context, popup.asPopup.opener, popup.input.acting, popup.tabs = p.context, p, p.input.acting, nil
	popup.target, popup.session, popup.asPopup.reachesOpener = e.TargetInfo.TargetID, e.SessionID, e.TargetInfo.CanAccessOpener
	popup.frames.top.frame, popup.frames.top.session = proto.PageFrameID(popup.target), popup.session
	p.i.client.Listen(e.SessionID, popup.event)
	return popup
}

// openerOf is the page with this target; the first page if it is not known.
func (p *page) openerOf(target proto.TargetTargetID) *page {
	for _, popup := range p.openPopups() {
		if popup.target == target {
			return popup
		}
	}
	return p
}

// warnOfUnfollowedPopups warns the run of the popups that it does not follow.
func (p *page) warnOfUnfollowedPopups() {
	p.mu.Lock()
	popups := p.windows.unwarned
	p.windows.unwarned = nil
	p.mu.Unlock()
	for _, popup := range popups {
		if !popup.isFollowed() {
			p.warn(`the page opened a popup, which is closed with the run: ` +
				`"x-popup": "follow" on the click that opens it makes it the page of the following operations`)
		}
	}
}

// refusePopup closes a popup before it loads anything. Its opener waits until it is
// resumed, so it is taken offline first.
//
// Requests that Fetch has paused would be sent when the popup closes. So if the browser
// pauses requests, answerPaused fails the first one of the popup and then closes it. A
// popup that makes none is closed after refusedTime.
func (t *targets) refusePopup(e *proto.TargetAttachedToTarget) {
	id, c := e.TargetInfo.TargetID, t.client
	c.Send(e.SessionID, "Network.enable", networkEnable{})
	c.Send(e.SessionID, "Network.emulateNetworkConditions", proto.NetworkEmulateNetworkConditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	pauses := t.pausesRequests.Load()
	if pauses {
		t.mu.Lock()
		t.refused[id] = true
		t.mu.Unlock()
	}
	c.ResumeTarget(e)
	if pauses {
		time.AfterFunc(refusedTime, func() { t.closeTarget(id) })
	} else {
		t.closeTarget(id)
	}
}

// refusedTime is how long a refused popup may stay open without a request.
const refusedTime = 200 * time.Millisecond

// closeTarget asks the browser to close a target and does not wait.
func (t *targets) closeTarget(id proto.TargetTargetID) {
	t.client.Send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: id}).Forget()
}

// isRefused reports whether the frame is that of a refused popup.
func (t *targets) isRefused(frame proto.PageFrameID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused[proto.TargetTargetID(frame)]
}

// popupClosed handles the end of a popup.
func (p *page) popupClosed(session proto.TargetSessionID) {
	p.mu.Lock()
	popup, known := p.windows.open[session]
	p.mu.Unlock()
	if !known {
		return
	}
	for _, f := range popup.currentFrames() {
		p.i.client.Unlisten(f.session)
	}
	if l := p.log.Load(); l != nil {
		l.abandon(func(r *loggedRequest) bool { return r.page == popup })
	}
	popup.mu.Lock()
	popup.end.closed = true
	popup.mu.Unlock()
	popup.crash()
	p.update(func(*navState) { delete(p.windows.open, session) })
}

// isFollowed reports whether p is a popup that the run follows, or has followed.
func (p *page) isFollowed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asPopup.followed
}

// closePopup asks the browser to close a popup and does not wait.
func (p *page) closePopup(session proto.TargetSessionID) {
	first := p.first()
	first.mu.Lock()
	popup, known := first.windows.open[session]
	first.mu.Unlock()
	if known {
		p.i.client.Send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: popup.target})
	}
}

// openPopups are the open popups of the run, in the order in which they were opened.
func (p *page) openPopups() []*page {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	popups := make([]*page, 0, len(first.windows.open))
	for _, popup := range first.windows.open {
		popups = append(popups, popup)
	}
	slices.SortFunc(popups, func(a, b *page) int { return a.asPopup.number - b.asPopup.number })
	return popups
}

// closePopups closes all popups but p and its openers, because a script could act in them
// unseen if the page has kept references to them.
func (p *page) closePopups(ctx context.Context) error {
	return p.closeThose(ctx, func(popup *page) bool {
		for own := p; own != nil; own = own.asPopup.opener {
			if own == popup {
				return false
			}
		}
		return true
	}, "popups that were closed before the script, as it is not proved to only read: %d",
		routine.Errorf(routine.CodeScriptBlocked, "a popup of the page's does not close, and a script could act in it unseen"))
}

// closeLoadedPopups closes the popups that were opened by documents that may have held a
// secret, except those that the run follows.
func (p *page) closeLoadedPopups(ctx context.Context) error {
	return p.closeThose(ctx, func(popup *page) bool { return popup.asPopup.ofLoaded && !popup.isFollowed() },
		"popups that were closed because a page with a secret had opened them: %d",
		routine.Errorf(routine.CodeSecretExposed, "a popup of a page with a secret does not close, and it could have the secret: leave the page first"))
}

// closeThose closes the popups for which chosen reports true and waits for that. warning has
// their number; unclosed is the error if one stays open.
func (p *page) closeThose(ctx context.Context, chosen func(*page) bool, warning string, unclosed error) error {
	others := func() []*page {
		return slices.DeleteFunc(p.openPopups(), func(popup *page) bool { return !chosen(popup) })
	}
	popups := others()
	if len(popups) == 0 {
		return nil
	}
	for _, popup := range popups {
		p.closePopup(popup.session)
	}
	p.warn(fmt.Sprintf(warning, len(popups)))
	bounded, cancel := context.WithTimeoutCause(ctx, popupTime, unclosed)
	defer cancel()
	return p.first().waitFor(bounded, func(navState) (bool, error) { return len(others()) == 0, nil })
}
