package browser

import (
	"context"
	"errors"
	"strings"

	"rote/routine"
)

// Click clicks with real mouse events: move, then down and up for each click, with
// counts, so that two make a double click. A press that would reach something else,
// because the element has moved or was covered, is hidden from the page and tried
// again. A click that is lost because the element moved while the button was down is
// tried again, too.
//
// If the page navigates when the mouse comes over the element, Click waits for the new
// document. If that is the same page again, it clicks the element there.
func (p *page) Click(ctx context.Context, c routine.Click) (routine.Match, error) {
	defer p.input.acting.Store(false)
	if err := p.awaitRest(ctx); err != nil {
		return routine.Match{}, err
	}
	o := options{Press: true, Scroll: c.EnsureVisible}
	missed, losses, hovers := "", 0, 0
	for {
		if err := p.hoverOver(ctx, c); err != nil {
			return routine.Match{}, err
		}
		s, err := p.actionable(ctx, c.Selector, o)
		if err != nil {
			switch {
			case missed != "" && s.Gone:
				err = removed(c.Selector, beforePress)
			case missed != "" && s.Why == "":
				err = p.missed(c.Selector, missed)
			}
			return s.asFound(), err
		}
		before := p.now()
		p.input.acting.Store(true)
		hit, err := p.pressMouse(ctx, s, c, before)
		if err != nil && ctx.Err() != nil && p.now().requests > before.requests {
			hit, err = "", nil // the click has navigated, so it took effect
		}
		var lost *lostClick
		switch {
		case errors.As(err, &lost):
			if losses++; losses == maxLostClicks {
				return s.asFound(), routine.Errorf(routine.CodeElementNotActionable, "%q %s, %d times in a row", c.Selector, lost, losses)
			}
			hit = "nothing, as it " + lost.how
		case err != nil && missed != "" && ctx.Err() != nil:
			return s.asFound(), p.orRemoved(ctx, c.Selector, beforePress, p.missed(c.Selector, missed))
		case err != nil && ctx.Err() != nil && !errors.Is(err, errCrashed):
			return s.asFound(), p.orRemoved(ctx, c.Selector, "while it was clicked",
				routine.Errorf(routine.CodeElementNotActionable, "%q was found, but the time was over while it was clicked", c.Selector))
		case err != nil:
			return s.asFound(), p.failure(ctx, err)
		case hit == "":
			return s.asFound(), p.failure(ctx, p.follow(ctx, before))
		case hit == anotherPage && p.now().requests > before.requests:
			if err := p.follow(ctx, before); err != nil {
				return s.asFound(), p.failure(ctx, err)
			}
			if hovers++; hovers == maxHovers || withoutFragment(p.now().url) != withoutFragment(before.url) {
				found := s.asFound()
				found.Left = true
				return found, nil
			}
		}
		p.input.acting.Store(false)
		missed, o.Unsteady = hit, true
	}
}

// maxHovers is how many times a page may reload when the mouse comes over an element
// before the operation fails.
const maxHovers = 3

// anotherPage describes what a press has reached if the document was replaced before
// it, or was about to be. The helper uses the same words.
const anotherPage = "another page"

func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

func (p *page) missed(selector, hit string) error {
	return routine.Errorf(routine.CodeElementNotActionable, "%q was not under the mouse any more when the button went down: it reached %s", selector, hit)
}
