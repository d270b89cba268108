package browser

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// outside is a coordinate outside of every page: a mouse button that is released there
// clicks nothing.
const outside = -1

// pressure is the pressure of pointer events of a mouse whose button is down.
const pressure = 0.5

// reportTime is how long the helper's report of a press is waited for after the press was
// answered. Usually it comes within a millisecond; otherwise the helper is asked.
const reportTime = 5 * time.Millisecond

// pressMouse moves the mouse to the spot and clicks. If the first press reaches something
// else, press returns its description and clicks nothing.
func (p *page) pressMouse(ctx context.Context, s actionPoint, c routine.Click, before navState) (string, error) {
	at := func(kind proto.InputDispatchMouseEventType, n int) proto.InputDispatchMouseEvent {
		e := proto.InputDispatchMouseEvent{Type: kind, X: s.X, Y: s.Y, Button: proto.InputMouseButton(c.Button), ClickCount: n}
		if kind == proto.InputDispatchMouseEventTypeMousePressed {
			e.Force = pressure
		}
		return e
	}
	down, up := proto.InputDispatchMouseEventTypeMousePressed, proto.InputDispatchMouseEventTypeMouseReleased
	move := at(proto.InputDispatchMouseEventTypeMouseMoved, 0)
	move.Button = proto.InputMouseButtonNone
	judged, err := s.view.askForPromise(ctx, "pressed")
	if errors.Is(cdp.AsGone(err), cdp.ErrGone) {
		return anotherPage, nil
	}
	if err != nil {
		return "", err
	}
	defer judged.Forget()
	sent := p.SendAll(move, at(down, 1))
	moved, pressed := sent[0], sent[1]
	defer moved.Forget()
	defer pressed.Forget()
	hit, seen, err := p.landed(ctx, s, before, judged, pressed)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		release := at(up, n)
		gone := p.now().loader != before.loader
		if gone || hit != "" && !seen { // nothing would hide the release from the current page
			release.X, release.Y = outside, outside
		}
		switch err := cdp.CallAll(ctx, p, release); {
		case err != nil:
			return hit, ignoreGone(err)
		case hit == "" && n == 1:
			if err := p.checkClick(ctx, s, before); err != nil {
				return "", err
			}
		}
		if hit != "" || n == c.Count || gone {
			return hit, nil
		}
		if err := cdp.CallAll(ctx, p, at(down, n+1)); err != nil {
			return "", ignoreGone(err)
		}
	}
}

// landed describes what the press reached if that was not the element, and reports
// whether the helper has seen the press and hidden it from the page. The helper reports
// before the page's handlers run, which may be long before the press is answered: a page
// that starts to navigate answers late.
func (p *page) landed(ctx context.Context, s actionPoint, before navState, judged, pressed *cdp.Future) (hit string, seen bool, err error) {
	select {
	case a := <-judged.Answer():
		return judgement(a)
	case a := <-pressed.Answer():
		if ignoreGone(a.Err) != nil {
			return "", false, a.Err
		}
		select { // the report may be on the way
		case a := <-judged.Answer():
			return judgement(a)
		case <-time.After(reportTime):
		}
	case <-p.end.dead:
		return "", false, errCrashed
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
	// The helper has not seen the press, or has not reported it yet. A page that is
	// navigating answers no new requests but still delivers that report.
	asked, err := s.view.ask(ctx, "landed", s.X, s.Y)
	if err != nil && !errors.Is(cdp.AsGone(err), cdp.ErrGone) {
		return "", false, err
	}
	if err == nil && p.now().loader == before.loader {
		defer asked.Forget()
		select {
		case a := <-judged.Answer():
			return judgement(a)
		case a := <-asked.Answer():
			var r evaluated[struct {
				Armed bool    `json:"armed"`
				Hit   *string `json:"hit"`
			}]
			if err := json.Unmarshal(a.Result, &r); a.Err == nil && err == nil && r.Result.Value.Armed {
				if r.Result.Value.Hit == nil { // no document with a helper saw it
					return "another frame", false, nil
				}
				return *r.Result.Value.Hit, true, nil
			}
		case <-p.end.dead:
			return "", false, errCrashed
		case <-ctx.Done():
			return "", false, context.Cause(ctx)
		}
	}
	// The document has been replaced, before or after it has seen the press.
	b, err := p.Await(ctx, judged)
	if errors.Is(err, errCrashed) || ctx.Err() != nil {
		return "", false, err
	}
	return judgement(cdp.Answer{Result: b, Err: err})
}

// evaluated is the answer to a Runtime.evaluate request.
type evaluated[V any] struct {
	Result struct {
		Value V `json:"value"`
	} `json:"result"`
}

// judgement decodes the report of the helper in the pressed document. It fails if the
// document was replaced before it saw the press.
func judgement(a cdp.Answer) (hit string, seen bool, err error) {
	var r evaluated[*string]
	if a.Err != nil {
		if err := cdp.AsGone(a.Err); !errors.Is(err, cdp.ErrGone) {
			return "", false, err
		}
		return anotherPage, false, nil
	}
	if err := json.Unmarshal(a.Result, &r); err != nil || r.Result.Value == nil {
		return anotherPage, false, err
	}
	return *r.Result.Value, true, nil
}
