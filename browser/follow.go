package browser

import (
	"context"

	"rote/routine"
)

// Click clicks on the current page. If the click follows a popup, operations act on the
// window that it opens afterwards.
func (t *tabs) Click(ctx context.Context, c routine.Click) (routine.Found, error) {
	return onCurrent(ctx, t, func(p *page) (routine.Found, error) {
		before := p.windowsNow()
		found, err := p.Click(ctx, c)
		if err != nil || !c.FollowPopup {
			return found, err
		}
		return found, t.follow(ctx, c.Selector, before)
	})
}

// openWindows are the popups before a click, so that later ones can be recognised.
type openWindows struct {
	opened, refused int
	asked           map[*page]int // the number of navigations of each popup
}

func (p *page) windowsNow() openWindows {
	w := openWindows{asked: map[*page]int{}}
	for _, popup := range p.popupsNow() {
		w.asked[popup] = popup.now().asked
	}
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	w.opened, w.refused = first.windows.opened, first.windows.refused
	return w
}

// follow waits for the window that a click has opened, or has navigated by its name, and
// for its document. If the window closes by itself, like that of a download, operations
// stay on its opener.
func (t *tabs) follow(ctx context.Context, selector string, before openWindows) error {
	var popup *page
	err := t.first.waitFor(ctx, func(state) (bool, error) {
		w := t.first.windowsNow()
		popup = t.first.openedSince(before)
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
	if popup == nil || popup.isClosed() {
		return nil
	}
	popup.mu.Lock()
	popup.isTab = true
	popup.visit(popup.state.url)
	popup.mu.Unlock()
	err = popup.opened(ctx)
	if popup.isClosed() {
		return nil
	}
	t.followed, t.seen = append(t.followed, popup), append(t.seen, popup)
	return popup.failure(ctx, err)
}

// openedSince is the first popup that was opened since then, or else an earlier one that is
// not followed and has navigated since then; nil if there is none.
func (p *page) openedSince(before openWindows) *page {
	var again *page
	for _, popup := range p.popupsNow() {
		asked, known := before.asked[popup]
		switch {
		case !known && popup.number > before.opened:
			return popup
		case known && again == nil && !popup.isFollowed() && popup.now().asked > asked:
			again = popup
		}
	}
	return again
}

// opened waits for the first document of a window.
func (p *page) opened(ctx context.Context) error {
	if err := p.waitFor(ctx, func(s state) (bool, error) { return s.asked > 0, nil }); err != nil {
		return err
	}
	if err := p.arrive(ctx); err != nil {
		return err
	}
	if s := p.now(); s.went != "" && s.loader != s.went {
		return nil // a download, or an answer without a document
	}
	return p.arrived(ctx)
}

// ClosePopup closes the popup that operations act on, so that they act on its opener. It
// does nothing if they act on the first page.
func (t *tabs) ClosePopup(ctx context.Context) error {
	popup := t.current(ctx)
	if popup.opener == nil {
		return nil
	}
	popup.closePopup(popup.session)
	bounded, cancel := context.WithTimeoutCause(ctx, popupTime, routine.Errorf(routine.CodeNavigationFailed, "the popup does not close"))
	defer cancel()
	err := t.first.waitFor(bounded, func(state) (bool, error) { return popup.isClosed(), nil })
	if err == nil {
		t.leave()
	}
	return err
}
