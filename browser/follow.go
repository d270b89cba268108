package browser

import (
	"context"

	"rote/routine"
)

// Click clicks on the current page. If the click follows a popup, operations act on the
// window that it opens afterwards.
func (t *tabs) Click(ctx context.Context, c routine.Click) (routine.Match, error) {
	return onCurrent(ctx, t, func(p *page) (routine.Match, error) {
		before := p.currentWindows()
		found, err := p.Click(ctx, c)
		if err != nil || !c.FollowPopup {
			return found, err
		}
		return found, t.followPopup(ctx, c.Selector, before)
	})
}

// openWindows are the popups before a click, so that later ones can be recognised.
type openWindows struct {
	opened, refused int
	asked           map[*page]int // the number of navigations of each popup
}

func (p *page) currentWindows() openWindows {
	w := openWindows{asked: map[*page]int{}}
	for _, popup := range p.openPopups() {
		w.asked[popup] = popup.now().requests
	}
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	w.opened, w.refused = first.windows.opened, first.windows.refused
	return w
}

// followPopup waits for the window that a click has opened, or has navigated by its name, and
// for its document. If the window closes by itself, like that of a download, operations
// stay on its opener.
func (t *tabs) followPopup(ctx context.Context, selector string, before openWindows) error {
	var popup *page
	err := t.first.waitFor(ctx, func(navState) (bool, error) {
		w := t.first.currentWindows()
		popup = t.first.popupSince(before)
		switch {
		case popup == nil && w.refused > before.refused:
			return false, routine.Errorf(routine.CodeNavigationFailed,
				"the window that %q opened was closed before it loaded: a run has %d popups at most", selector, maxPopups)
		case popup == nil && w.opened == before.opened:
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return routine.Errorf(routine.CodeTimeout, "%q was clicked and opened no window: leave out x-popup if it opens none, or raise timeout_ms", selector)
		}
		return err
	}
	if popup == nil {
		return nil
	}
	popup.mu.Lock()
	popup.asPopup.followed = true
	popup.recordVisit(popup.nav.state.url)
	popup.mu.Unlock()
	if popup.isClosed() {
		return nil
	}
	err = popup.awaitFirstDocument(ctx)
	if popup.isClosed() {
		return nil
	}
	t.followed, t.seen = append(t.followed, popup), append(t.seen, popup)
	return popup.failure(ctx, err)
}

// popupSince is the first popup that was opened since then, or else an earlier one that is
// not followed and has navigated since then, or else one that was opened since then and is
// closed again; nil if there is none.
func (p *page) popupSince(before openWindows) *page {
	var again *page
	for _, popup := range p.openPopups() {
		asked, known := before.asked[popup]
		switch {
		case !known && popup.asPopup.number > before.opened:
			return popup
		case known && again == nil && !popup.isFollowed() && popup.now().requests > asked:
			again = popup
		}
	}
	if again != nil {
		return again
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, popup := range p.windows.unwarned {
		if popup.asPopup.number > before.opened {
			return popup
		}
	}
	return nil
}

// awaitFirstDocument waits for the first document of a window.
func (p *page) awaitFirstDocument(ctx context.Context) error {
	if err := p.waitFor(ctx, func(s navState) (bool, error) { return s.requests > 0, nil }); err != nil {
		return err
	}
	if err := p.awaitNavigation(ctx); err != nil {
		return err
	}
	if s := p.now(); s.lastStarted != "" && s.loader != s.lastStarted {
		return nil // a download, or an answer without a document
	}
	return p.awaitArrival(ctx)
}

// ClosePopup closes the popup that operations act on, so that they act on its opener. It
// does nothing if they act on the first page.
func (t *tabs) ClosePopup(ctx context.Context) error {
	popup := t.current(ctx)
	if popup.asPopup.opener == nil {
		return nil
	}
	popup.closePopup(popup.session)
	bounded, cancel := context.WithTimeoutCause(ctx, popupTime, routine.Errorf(routine.CodeNavigationFailed, "the popup does not close"))
	defer cancel()
	err := t.first.waitFor(bounded, func(navState) (bool, error) { return popup.isClosed(), nil })
	if err == nil {
		t.leave()
	}
	return err
}
