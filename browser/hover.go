package browser

import (
	"context"
	"errors"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// hoverOver moves the mouse over the elements of x-hover, in order. If one of them makes
// the page navigate, it starts again with the first. Its errors name x-hover.
func (p *page) hoverOver(ctx context.Context, c routine.Click) error {
	for i := 0; i < len(c.Hover); i++ {
		before := p.now()
		over, err := p.hover(ctx, c.Hover[i], c.EnsureVisible)
		if err != nil {
			return hoverError(p.failure(ctx, err))
		}
		if err := p.follow(ctx, before); err != nil {
			return hoverError(p.failure(ctx, err))
		}
		switch {
		case p.now().loader != before.loader:
			i = -1
		case !over:
			i--
		}
	}
	return nil
}

// hoverError adds to an error about an element that x-hover names the element.
func hoverError(err error) error {
	e := routine.AsError(err)
	if e.Code != routine.CodeElementNotFound && e.Code != routine.CodeElementNotActionable {
		return err
	}
	return routine.Errorf(e.Code, "x-hover: %s", e.Message)
}

// hover waits until a person could point at the element and moves the mouse
// there. It reports whether the mouse came to be over it: the element may have
// moved meanwhile. An element that the page then replaces was reached.
func (p *page) hover(ctx context.Context, selector string, scroll bool) (bool, error) {
	s, err := p.actionable(ctx, selector, options{Scroll: scroll})
	if err != nil {
		return false, err
	}
	move := proto.InputDispatchMouseEvent{Type: proto.InputDispatchMouseEventTypeMouseMoved, X: s.X, Y: s.Y, Button: proto.InputMouseButtonNone}
	if err := cdp.CallAll(ctx, p, move); err != nil {
		return errors.Is(cdp.AsGone(err), cdp.ErrGone), ignoreGone(err)
	}
	over, err := help[bool](ctx, s.view, "hovered")
	if errors.Is(err, cdp.ErrGone) {
		return true, nil
	}
	return over, err
}
