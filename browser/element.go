package browser

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
)

// slice is how long, in ms, one wait inside the page lasts before it reports
// why it has not succeeded yet. The first is short, so that the reason is known
// early.
const (
	firstSlice = 100
	slice      = 1000
)

// spot is where an element can be acted on, or why not.
type spot struct {
	OK      bool    `json:"ok"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Matches int     `json:"matches"`
	Skipped int     `json:"skipped"`
	Why     string  `json:"why"`
}

func (s spot) found() routine.Found { return routine.Found{Matches: s.Matches, Skipped: s.Skipped} }

// options of a search.
type options struct {
	Typing bool `json:"typing"`
	Scroll bool `json:"scroll"`
	Slice  int  `json:"slice"`
}

// actionable waits until a match of the selector can be acted on. When ctx ends
// first, the error says what was wrong last.
func (p *page) actionable(ctx context.Context, selector string, o options) (spot, error) {
	last := spot{}
	o.Slice = firstSlice
	for {
		s, err := help[spot](ctx, p, "act", selector, o)
		switch {
		case err == nil && s.OK:
			return s, nil
		case err == nil:
			last = s
		case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
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

// present waits until something matches, visible or not.
func (p *page) present(ctx context.Context, selector string) error {
	wait := firstSlice
	for {
		found, err := help[bool](ctx, p, "present", selector, wait)
		switch {
		case err == nil && found:
			return nil
		case err == nil, errors.Is(err, errGone):
		case ctx.Err() == nil:
			return badSelector(selector, p.failure(ctx, err))
		}
		if ctx.Err() != nil {
			return routine.Errorf(routine.CodeElementNotFound, "no element matches %q", selector)
		}
		wait = slice
	}
}
