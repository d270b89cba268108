package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
)

// slice is how long, in ms, one wait inside the page lasts before it reports
// why it has not succeeded yet. The first is short, so that the reason is known
// early; so are all when there are frames to look into as well.
const (
	firstSlice = 100
	slice      = 1000
	frameSlice = 50
)

// spot is where an element can be acted on, or why not.
type spot struct {
	OK      bool    `json:"ok"`
	X       float64 `json:"x"` // in the page's viewport
	Y       float64 `json:"y"`
	Matches int     `json:"matches"`
	Skipped int     `json:"skipped"`
	// Why tells why it cannot be acted on; if OK, why only a click shows whether it
	// can be typed into.
	Why string `json:"why"`
	// Final tells that no match will ever be actionable.
	Final bool `json:"final"`
	// Clicked tells that a click gives the element the focus, for typing.
	Clicked bool  `json:"clicked"`
	view    *view // that the element is in
}

func (s spot) found() routine.Found {
	return routine.Found{Matches: s.Matches, Skipped: s.Skipped, AtOnce: s.Final}
}

// options of a search.
type options struct {
	Typing bool `json:"typing"`
	// Text is what will be typed, which a list must have to choose from.
	Text   string `json:"text"`
	Scroll bool   `json:"scroll"`
	// Press watches where the press that follows lands.
	Press bool `json:"press"`
	// Unsteady: a press has missed the element, so it has to be seen at rest.
	Unsteady bool `json:"unsteady"`
	Slice    int  `json:"slice"`
}

// actionable waits until a match of the selector can be acted on. When ctx ends
// first, the error says what was wrong last.
func (p *page) actionable(ctx context.Context, selector string, o options) (spot, error) {
	var last spot
	o.Slice = firstSlice
	for answered := false; ; answered = true {
		asked := time.Now()
		s, err := p.look(ctx, selector, o)
		switch {
		case err == nil && s.OK && p.now().leaving():
			if err := p.ready(ctx); err != nil {
				return last, err
			}
		case err == nil && s.OK:
			return s, nil
		case err == nil && s.Final:
			return s, notActionable(selector, s)
		case err == nil && (s.Matches > 0 || ctx.Err() == nil):
			last = s
		case err == nil: // cut short
		case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
			if silent := time.Since(asked); !answered || silent > hangTime {
				return last, p.unanswered(silent)
			}
			return last, notActionable(selector, last)
		case errors.Is(err, errGone): // a new document: look there
		default:
			return last, badSelector(selector, p.failure(ctx, err))
		}
		if ctx.Err() != nil {
			return last, notActionable(selector, last)
		}
		o.Slice = slice
	}
}

// look looks for the selector in the page and then in each frame of another
// process, for the length of a slice in all.
func (p *page) look(ctx context.Context, selector string, o options) (spot, error) {
	frames := p.framesNow()
	if len(frames) > 0 {
		o.Slice = min(o.Slice, frameSlice)
	}
	all, err := help[spot](ctx, p, "act", selector, o)
	all.view = p.top
	if err != nil || all.OK {
		return all, err
	}
	o.Slice = 0
	for _, v := range frames {
		s, ok := v.look(ctx, selector, o)
		if !ok {
			continue
		}
		s.Final = (s.Final || s.Matches == 0 && all.Final) && (all.Final || all.Matches == 0)
		s.Skipped += all.Matches
		s.Matches += all.Matches
		if all.Why != "" && !s.OK {
			s.Why = all.Why
		}
		if all = s; s.OK {
			break
		}
	}
	return all, nil
}

// hangTime is how much longer than asked a page may take to answer before it
// counts as hung.
const hangTime = 2 * time.Second

// unanswered is the error of a page that has said nothing until ctx ended, for
// so long.
func (p *page) unanswered(silent time.Duration) error {
	if s := p.now(); s.leaving() {
		return routine.Errorf(routine.CodeTimeout, "the page is on its way to %s, which does not answer", shortURL(s.goingTo))
	}
	if silent <= hangTime { // not long enough to blame the page
		return routine.Errorf(routine.CodeTimeout, "the page did not answer in %d ms, which is too short to find out why: wait longer", silent.Milliseconds())
	}
	return routine.Errorf(routine.CodeTimeout, "the page does not answer: one of its scripts hangs, or keeps it busy")
}

func notActionable(selector string, last spot) error {
	if last.Matches == 0 {
		return routine.Errorf(routine.CodeElementNotFound, "no element matches %q", selector)
	}
	which := ""
	if last.Matches > 1 {
		which = fmt.Sprintf(" (the first of %d matches)", last.Matches)
	}
	return routine.Errorf(routine.CodeElementNotActionable, "%q%s %s", selector, which, last.Why)
}

// badSelector explains an exception of the helper: all that it can throw over
// is a selector that does not parse.
func badSelector(selector string, err error) error {
	var t *thrown
	if errors.As(err, &t) {
		return routine.Errorf(routine.CodeElementNotFound, "%q is no CSS selector: %s", selector, t.text)
	}
	return err
}

// present waits until something matches, visible or not, and says in which
// view.
func (p *page) present(ctx context.Context, selector string) (*view, error) {
	wait := firstSlice
	for answered := false; ; answered = true {
		asked := time.Now()
		v, err := p.match(ctx, selector, wait)
		switch {
		case err == nil && v != nil:
			return v, nil
		case err == nil, errors.Is(err, errGone):
		case ctx.Err() == nil:
			return nil, badSelector(selector, p.failure(ctx, err))
		}
		if ctx.Err() != nil {
			if silent := time.Since(asked); err != nil && (!answered || silent > hangTime) {
				return nil, p.unanswered(silent)
			}
			return nil, notActionable(selector, spot{})
		}
		wait = slice
	}
}

// match is the view that something matches in; nil when nothing does for wait
// ms.
func (p *page) match(ctx context.Context, selector string, wait int) (*view, error) {
	frames := p.framesNow()
	if len(frames) > 0 {
		wait = min(wait, frameSlice)
	}
	found, err := help[bool](ctx, p, "present", selector, wait)
	if err != nil || found {
		return p.top, err
	}
	for _, v := range frames {
		if found, err := inFrame[bool](ctx, v, "present", selector, 0); err == nil && found {
			return v, nil
		}
	}
	return nil, ctx.Err()
}
