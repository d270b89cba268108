package browser

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// Click clicks with real mouse events: move, then down and up for each click,
// counted, so that two make a double click. A press that reaches something else,
// because the page moved or covered the element meanwhile, is kept from the page
// and tried again. So is a click that is lost because the element moved while the
// button was down.
func (p *page) Click(ctx context.Context, c routine.Click) (routine.Found, error) {
	defer p.acting.Store(false)
	o := options{Press: true, Scroll: c.EnsureVisible}
	missed, losses := "", 0
	for {
		if err := p.passOver(ctx, c); err != nil {
			return routine.Found{}, err
		}
		s, err := p.actionable(ctx, c.Selector, o)
		if err != nil {
			if missed != "" && s.Why == "" {
				err = p.missed(c.Selector, missed)
			}
			return s.found(), err
		}
		before := p.now()
		p.acting.Store(true)
		hit, err := p.press(ctx, s, c, before)
		if err != nil && ctx.Err() != nil && p.now().asked > before.asked {
			hit, err = "", nil // it has led somewhere, which says more
		}
		var lost *lostClick
		switch {
		case errors.As(err, &lost):
			if losses++; losses == maxLost {
				return s.found(), routine.Errorf(routine.CodeElementNotActionable, "%q %s, %d times in a row", c.Selector, lost, losses)
			}
			hit = "nothing, as it " + lost.how
		case err != nil && missed != "" && ctx.Err() != nil:
			return s.found(), p.missed(c.Selector, missed)
		case err != nil && ctx.Err() != nil && !errors.Is(err, errCrashed):
			return s.found(), routine.Errorf(routine.CodeElementNotActionable, "%q was found, but the time was over while it was clicked", c.Selector)
		case err != nil:
			return s.found(), p.failure(ctx, err)
		case hit == "":
			return s.found(), p.failure(ctx, p.follow(ctx, before))
		}
		p.acting.Store(false)
		missed, o.Unsteady = hit, true
	}
}

func (p *page) missed(selector, hit string) error {
	return routine.Errorf(routine.CodeElementNotActionable, "%q was not under the mouse any more when the button went down: it reached %s", selector, hit)
}

// outside is a point that no page is at: a button that is let go there clicks
// nothing.
const outside = -1

// press moves the mouse to the spot and clicks. When the first press reaches
// something else, it names that, and nothing is clicked.
func (p *page) press(ctx context.Context, s spot, c routine.Click, before state) (string, error) {
	at := func(kind proto.InputDispatchMouseEventType, n int) proto.InputDispatchMouseEvent {
		return proto.InputDispatchMouseEvent{Type: kind, X: s.X, Y: s.Y, Button: proto.InputMouseButton(c.Button), ClickCount: n}
	}
	down, up := proto.InputDispatchMouseEventTypeMousePressed, proto.InputDispatchMouseEventTypeMouseReleased
	move := at(proto.InputDispatchMouseEventTypeMouseMoved, 0)
	move.Button = proto.InputMouseButtonNone
	judged, err := s.view.ask(ctx, "pressed")
	if err != nil {
		return "", err
	}
	defer judged.forget()
	if err := p.all(ctx, move, at(down, 1)); err != nil {
		return "", err
	}
	hit, seen, err := p.landed(ctx, s, before, judged)
	if err != nil {
		return "", err
	}
	release := at(up, 1)
	if hit != "" {
		if !seen { // nor will the release be kept from the page
			release.X, release.Y = outside, outside
		}
		return hit, p.all(ctx, release)
	}
	if err := p.all(ctx, release); err != nil {
		return "", err
	}
	if err := p.checkClick(ctx, s, before); err != nil || c.Count < 2 {
		return "", err
	}
	var rest []proto.Request
	for n := 2; n <= c.Count; n++ {
		rest = append(rest, at(down, n), at(up, n))
	}
	return "", p.all(ctx, rest...)
}

// landed names what the press reached, if that was not the element, and tells
// whether the helper has seen the press and kept it from the page.
func (p *page) landed(ctx context.Context, s spot, before state, judged *future) (hit string, seen bool, err error) {
	if p.now().loader != before.loader {
		// A document that the press itself asks for comes later than its answer.
		return "another page", false, nil
	}
	select { // mostly it is here already
	case a := <-judged.ch:
		var r struct {
			Result struct {
				Value *string `json:"value"`
			} `json:"result"`
		}
		if a.err == nil && json.Unmarshal(a.result, &r) == nil && r.Result.Value != nil {
			return *r.Result.Value, true, nil
		}
	default:
	}
	name, err := help[*string](ctx, s.view, "landed", s.X, s.Y)
	switch {
	case errors.Is(err, errGone):
		return "", false, nil // the press has ended the page or the frame
	case err != nil:
		return "", false, err
	case name == nil: // no document that we reach saw it
		return "another frame", false, nil
	}
	return *name, true, nil
}
