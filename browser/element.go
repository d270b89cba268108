package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rote/browser/cdp"
	"rote/routine"
)

// slice is how long, in ms, one wait inside the page lasts before it returns the reason
// why it has not succeeded yet. The first wait is short, so that a reason is known
// early. So are all waits if there are frames to search as well.
const (
	firstSlice = 100
	slice      = 1000
	frameSlice = 50
)

// actionPoint is the result of the actionability check: where in the viewport the element can
// be acted on, or the reason why it cannot be.
type actionPoint struct {
	OK      bool    `json:"ok"`
	X       float64 `json:"x"` // in the page's viewport
	Y       float64 `json:"y"`
	Matches int     `json:"matches"`
	Skipped int     `json:"skipped"`
	// Why is the reason why it cannot be acted on. If OK is set, it is the reason why
	// only a click shows whether the element can be typed into.
	Why string `json:"why"`
	// Seen is the last reason; it is also given when nothing matches any more.
	Seen string `json:"seen"`
	// Final reports whether no match will ever be actionable.
	Final bool `json:"final"`
	// Options are the choices of a list that does not have the wanted one; nil otherwise.
	Options []string `json:"options"`
	// Unchanged is for how many ms the choices of all matching lists have been the same. It is 0
	// if a match is no list without the wanted option, or may still be filled.
	Unchanged float64 `json:"unchanged"`
	// Gone reports whether the time is over and nothing matches any more.
	Gone bool `json:"-"`
	// Set reports whether the element takes files as it is, without a click.
	Set bool `json:"set"`
	// Clicked reports whether a click gives the element the focus for typing.
	Clicked bool `json:"clicked"`
	// Watched reports whether the helper watches if the click reaches the element.
	Watched bool       `json:"watched"`
	view    *frameView // the view of the element's frame
}

func (s actionPoint) asFound() routine.Match {
	return routine.Match{Matches: s.Matches, Skipped: s.Skipped, Final: s.Final, Options: s.Options}
}

// options are those of a search for an element.
type options struct {
	Typing bool `json:"typing"`
	// Files are the files to hand in, if there are any.
	Files []carriedFile `json:"files,omitempty"`
	// Text is the text that will be typed. A list must have an option of that text. If it is
	// nil, the text is not told, and a list may have any options.
	Text   *string `json:"text,omitempty"`
	Scroll bool    `json:"scroll"`
	// Press makes the helper observe where the next press lands.
	Press bool `json:"press"`
	// Unsteady reports whether a press has missed the element, so that it has to be
	// seen at rest.
	Unsteady bool `json:"unsteady"`
	Slice    int  `json:"slice"`
}

// actionable waits until a match of the selector can be acted on. If ctx ends first, the
// error contains the latest reason why it cannot be.
func (p *page) actionable(ctx context.Context, selector string, o options) (actionPoint, error) {
	s, err := p.awaitActionable(ctx, selector, o)
	if exposed := p.checkSelector(ctx, selector); exposed != nil {
		return actionPoint{}, exposed
	}
	return s, err
}

func (p *page) awaitActionable(ctx context.Context, selector string, o options) (actionPoint, error) {
	var last actionPoint
	var seen sighting
	lists := newListWatch(p)
	o.Slice = firstSlice
	for answered := false; ; answered = true {
		asked := time.Now()
		s, err := p.locate(ctx, selector, o)
		s.Final = s.Final || err == nil && lists.isComplete(s)
		switch {
		case err == nil && s.OK && p.now().navigating():
			if err := p.awaitRest(ctx); err != nil {
				return last, err
			}
		case err == nil && s.OK:
			return s, nil
		case err == nil && s.Final:
			return s, notActionable(selector, s)
		case err == nil && (s.Matches > 0 || ctx.Err() == nil):
			last = s
			seen.note(p, s)
		case err == nil: // the wait was interrupted
		case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
			if silent := time.Since(asked); !answered || silent > hangTime {
				return last, p.unansweredError(silent)
			}
			return p.givenUp(ctx, selector, last, seen)
		case errors.Is(err, cdp.ErrGone): // search the new document
		default:
			return last, selectorError(selector, p.failure(ctx, err))
		}
		if ctx.Err() != nil {
			return p.givenUp(ctx, selector, last, seen)
		}
		o.Slice = slice
	}
}

// locate searches the page, and then each frame with a view of its own, for one slice of
// time in all.
func (p *page) locate(ctx context.Context, selector string, o options) (actionPoint, error) {
	frames := p.currentFrames()
	if len(frames) > 0 {
		o.Slice = min(o.Slice, frameSlice)
	}
	all, err := help[actionPoint](ctx, p, "act", selector, o)
	all.view = p.frames.top
	if err != nil || all.OK {
		return all, err
	}
	o.Slice = 0
	for _, v := range frames {
		s, ok := v.locate(ctx, selector, o)
		if !ok {
			continue
		}
		s.Final = (s.Final || s.Matches == 0 && all.Final) && (all.Final || all.Matches == 0)
		s.Unchanged = 0 // the requests of its scripts are not seen
		if s.Matches == 0 {
			s.Unchanged = all.Unchanged
		}
		if s.Matches == 0 || all.Matches > 0 {
			s.Options = all.Options
		}
		s.Skipped += all.Matches
		s.Matches += all.Matches
		if all.Why != "" && !s.OK {
			s.Why = all.Why
		}
		s.Seen = cmp.Or(all.Seen, s.Seen)
		if all = s; s.OK {
			break
		}
	}
	return all, nil
}

// hangTime is how much later than requested a page may answer before it counts as hung.
const hangTime = 2 * time.Second

// unansweredError is the error for a page that has not answered for that long when ctx
// ended.
func (p *page) unansweredError(silent time.Duration) error {
	if s := p.now(); s.navigating() {
		return routine.Errorf(routine.CodeTimeout, "the page is on its way to %s, which does not answer", routine.ShownURL(s.currentURL))
	}
	if silent <= hangTime { // not long enough to blame the page
		return routine.Errorf(routine.CodeTimeout, "the page did not answer in %d ms, which is too short to find out why: wait longer", silent.Milliseconds())
	}
	return routine.Errorf(routine.CodeTimeout, "the page does not answer: one of its scripts hangs, or keeps it busy")
}

func notActionable(selector string, last actionPoint) error {
	if last.Matches == 0 {
		return routine.Errorf(routine.CodeElementNotFound, "no element matches %q", selector)
	}
	which := ""
	if last.Matches > 1 {
		which = fmt.Sprintf(" (the first of %d matches)", last.Matches)
	}
	return routine.Errorf(routine.CodeElementNotActionable, "%q%s %s", selector, which, last.Why)
}

// sighting is what a search has seen of an element that may be gone by now.
type sighting struct {
	why         string // it could not be acted on; empty: nothing has matched yet
	loader, url string // of the document that the page had then
}

func (g *sighting) note(p *page, s actionPoint) {
	if s.Seen != "" {
		now := p.now()
		*g = sighting{why: s.Seen, loader: now.loader, url: now.url}
	}
}

// lastLook bounds the question whether a selector still matches when the time for
// an element is over.
const lastLook = 200 * time.Millisecond

// absent reports whether nothing matches the selector any more, now that the time
// for an element is over.
func (p *page) absent(ctx context.Context, selector string) bool {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	v, err := p.match(bounded, selector, 0)
	return err == nil && v == nil
}

// orRemoved is err, the outcome of an operation on an element whose time is over,
// unless the element was removed: that says more.
func (p *page) orRemoved(ctx context.Context, selector, when string, err error) error {
	if p.absent(ctx, selector) {
		return removed(selector, when)
	}
	return err
}

// givenUp is the outcome of a search whose time is over: an element that was seen
// and is gone is not found, whatever was wrong with it before.
func (p *page) givenUp(ctx context.Context, selector string, last actionPoint, seen sighting) (actionPoint, error) {
	if (last.Matches > 0 || seen.why == "") && !p.absent(ctx, selector) {
		return last, notActionable(selector, last)
	}
	last = actionPoint{Gone: true}
	now := p.now()
	switch {
	case seen.why == "":
		return last, notActionable(selector, last)
	case now.loader != seen.loader:
		return last, routine.Errorf(routine.CodeElementNotFound, "the page left for %s while %q was waited for (last seen: %s), and no element matches it there",
			routine.ShownURL(now.url), selector, seen.why)
	}
	return last, removed(selector, fmt.Sprintf("while it was waited for (last seen: %s)", seen.why))
}

// removed is the error of an element that was gone after a part of the operation.
func removed(selector, when string) error {
	return routine.Errorf(routine.CodeElementNotFound, "%q was removed from the page %s, and no element matches it any more", selector, when)
}

// selectorError explains an exception of the helper about a selector that does not
// parse.
func selectorError(selector string, err error) error {
	var t *cdp.ExceptionError
	if errors.As(err, &t) && strings.HasPrefix(t.Error(), "SyntaxError") {
		return routine.Errorf(routine.CodeElementNotFound, "%q is no CSS selector: %s", selector, exceptionText(t.ExceptionDetails))
	}
	return err
}

// awaitMatch waits until an element matches, visible or not, and returns its view.
func (p *page) awaitMatch(ctx context.Context, selector string) (*frameView, error) {
	wait := firstSlice
	for answered := false; ; answered = true {
		asked := time.Now()
		v, err := p.match(ctx, selector, wait)
		switch {
		case err == nil && v != nil:
			return v, nil
		case routine.CodeOf(err) == routine.CodeSecretExposed:
			return nil, err
		case err == nil, errors.Is(err, cdp.ErrGone):
		case ctx.Err() == nil:
			return nil, selectorError(selector, p.failure(ctx, err))
		}
		if ctx.Err() != nil {
			if silent := time.Since(asked); err != nil && (!answered || silent > hangTime) {
				return nil, p.unansweredError(silent)
			}
			return nil, notActionable(selector, actionPoint{})
		}
		wait = slice
	}
}

// match is the view of the first match; nil if nothing matches within wait ms.
// CodeSecretExposed.
func (p *page) match(ctx context.Context, selector string, wait int) (*frameView, error) {
	frames := p.currentFrames()
	if len(frames) > 0 {
		wait = min(wait, frameSlice)
	}
	found, err := help[bool](ctx, p, "present", selector, wait)
	if exposed := p.checkSelector(ctx, selector); exposed != nil {
		return nil, exposed
	}
	if err != nil || found {
		return p.frames.top, err
	}
	for _, v := range frames {
		if found, err := helpInFrame[bool](ctx, v, "present", selector, 0); err == nil && found {
			return v, nil
		}
	}
	return nil, ctx.Err()
}
