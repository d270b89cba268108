package browser

import (
	"context"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// Click clicks with real mouse events: move, then down and up for each click,
// counted, so that two make a double click.
func (p *page) Click(ctx context.Context, c routine.Click) (routine.Found, error) {
	s, err := p.actionable(ctx, c.Selector, options{Scroll: c.EnsureVisible})
	if err != nil {
		return s.found(), err
	}
	before := p.now()
	mouse := func(kind proto.InputDispatchMouseEventType, button proto.InputMouseButton, count int) proto.Request {
		return proto.InputDispatchMouseEvent{Type: kind, X: s.X, Y: s.Y, Button: button, ClickCount: count}
	}
	events := []proto.Request{mouse(proto.InputDispatchMouseEventTypeMouseMoved, proto.InputMouseButtonNone, 0)}
	for n := 1; n <= c.Count; n++ {
		events = append(events,
			mouse(proto.InputDispatchMouseEventTypeMousePressed, proto.InputMouseButton(c.Button), n),
			mouse(proto.InputDispatchMouseEventTypeMouseReleased, proto.InputMouseButton(c.Button), n))
	}
	if err := p.all(ctx, events...); err != nil {
		return s.found(), p.failure(ctx, err)
	}
	return s.found(), p.failure(ctx, p.follow(ctx, before))
}
