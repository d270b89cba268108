package browser

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// maxFrames bounds the frames of other origins that are searched for elements.
const maxFrames = 100

// frameTime bounds one call in such a frame, so that a frame that hangs does not block
// the page.
const frameTime = time.Second

// frameTree are the views of the page's frames.
type frameTree struct {
	top      *frameView   // the page's own; it is always the same
	isolated []*frameView // those of other origins, parents first
	// reach holds the view that reaches the document of a frame.
	reach map[proto.PageFrameID]*frameView
}

// currentFrames are the views of the page's frames, parents first.
func (p *page) currentFrames() []*frameView {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.frames.isolated)
}

// viewOf is the view whose scripts can access the document of the frame; the page's
// own view if the frame is not known. p.mu is held.
func (p *page) viewOf(frame proto.PageFrameID) *frameView {
	if v, ok := p.frames.reach[frame]; ok {
		return v
	}
	return p.frames.top
}

// frameEvent handles the frame events of a session.
func (p *page) frameEvent(session proto.TargetSessionID, method string, params json.RawMessage) {
	switch method {
	case "Page.frameAttached":
		if e, ok := cdp.Decode[proto.PageFrameAttached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.frames.reach[e.FrameID] = p.viewOf(e.ParentFrameID) // an empty document of its parent's origin
		}
	case "Page.frameDetached":
		if e, ok := cdp.Decode[proto.PageFrameDetached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.dropFrames(func(v *frameView) bool { return v.session == session && v.frame == e.FrameID })
			if p.viewOf(e.FrameID).session == session { // otherwise it moved to a process of its own
				delete(p.frames.reach, e.FrameID)
			}
		}
	case "Page.frameNavigated":
		e, ok := cdp.Decode[proto.PageFrameNavigated](params)
		if !ok {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		frame, parent := e.Frame.ID, p.viewOf(e.Frame.ParentID)
		v := p.viewOf(frame)
		switch {
		case v.frame == frame && v.session == session:
			v.origin = e.Frame.SecurityOrigin
			if v == p.frames.top { // its frames are gone, without an event for each
				p.dropFrames(func(v *frameView) bool { return v.session == session })
				clear(p.frames.reach)
			}
		case e.Frame.SecurityOrigin == parent.origin:
			p.frames.reach[frame] = parent
		default:
			p.addIsolatedFrame(parent, frame, session, e.Frame.SecurityOrigin)
		}
	}
}

// addIsolatedFrame adds a frame whose document its parent cannot access. p.mu is held.
func (p *page) addIsolatedFrame(parent *frameView, frame proto.PageFrameID, session proto.TargetSessionID, origin string) {
	if len(p.frames.isolated) < maxFrames {
		v := &frameView{p: p, parent: parent, frame: frame, session: session, origin: origin}
		p.frames.isolated = append(p.frames.isolated, v)
		p.frames.reach[frame] = v
	}
}

// opaqueOrigin stands for an opaque origin, such as that of a sandboxed frame. Frame events
// carry the origin of the frame's URL; execution contexts carry the true one.
const opaqueOrigin = "://"

// markOpaque records that the frame has an opaque origin, as its own execution context
// reported. p.mu is held.
func (p *page) markOpaque(session proto.TargetSessionID, frame proto.PageFrameID) {
	switch v := p.viewOf(frame); {
	case v.frame != frame:
		p.addIsolatedFrame(v, frame, session, opaqueOrigin)
	case v.session != session: // it has moved back from a process of its own
		p.addIsolatedFrame(v.parent, frame, session, opaqueOrigin)
	default:
		v.origin = opaqueOrigin
	}
}

// frameMoved adds a frame that has moved to a process of its own, and so has a session.
func (p *page) frameMoved(e *proto.TargetAttachedToTarget, around proto.PageFrameID) {
	c := p.i.client
	frame := proto.PageFrameID(e.TargetInfo.TargetID)
	p.mu.Lock()
	v := &frameView{p: p, parent: p.viewOf(around), frame: frame, session: e.SessionID}
	known := len(p.frames.isolated) < maxFrames
	if known {
		p.frames.isolated = append(p.frames.isolated, v)
		p.frames.reach[frame] = v
	}
	p.mu.Unlock()
	c.Listen(e.SessionID, func(method string, params json.RawMessage) {
		if method == "Fetch.requestPaused" && p.answerPaused(e.SessionID, params) {
			return
		}
		if g := p.currentGuard(); g != nil {
			g.PostFrame(e.SessionID, method, params)
		}
		p.logRequests(e.SessionID, method, params)
		if p.countConsole(method, params) {
			p.sessionEvent(e.SessionID, method, params)
		}
	})
	v.Send(proto.PageEnable{})
	v.Send(proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true})
	if p.first().log.Load() != nil {
		enableLog(v).Forget()
	}
	if known {
		v.Send(proto.RuntimeEnable{})
		v.Send(proto.RuntimeAddBinding{Name: tellRun})
		v.Send(helperEverywhere)
		v.Send(clipboardEverywhere)
	}
	p.sendUserAgent(e.SessionID)
	p.pauseSession(e.SessionID)
	if g := p.currentGuard(); g != nil {
		g.PauseFrame(e.SessionID)
	}
	c.ResumeTarget(e)
}

// dropFrames drops the views for which gone reports true. p.mu is held.
func (p *page) dropFrames(gone func(*frameView) bool) {
	p.frames.isolated = slices.DeleteFunc(p.frames.isolated, gone)
	for frame, v := range p.frames.reach {
		if gone(v) {
			delete(p.frames.reach, frame)
		}
	}
}

// helpInFrame calls a function of a frame's helper.
func helpInFrame[R any](ctx context.Context, v *frameView, function string, args ...any) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, frameTime)
	defer cancel()
	return help[R](ctx, v, function, args...)
}

// locate searches the frame once for an element that can be acted on. It reports false
// if the frame does not answer.
func (v *frameView) locate(ctx context.Context, selector string, o options) (actionPoint, bool) {
	s, err := helpInFrame[actionPoint](ctx, v, "act", selector, o)
	if err != nil {
		return s, false
	}
	s.view = v
	for f := v; s.OK && !s.Set && f.parent != nil; f = f.parent {
		bounded, cancel := context.WithTimeout(ctx, frameTime)
		through, err := f.mapToParent(bounded, s, o)
		cancel()
		if err != nil {
			return s, false
		}
		s.OK, s.Why, s.X, s.Y = through.OK, through.Why, through.X, through.Y
	}
	return s, true
}

// mapToParent converts a point in the frame to one in the parent view, where the frame
// itself may be hidden or covered.
func (v *frameView) mapToParent(ctx context.Context, s actionPoint, o options) (actionPoint, error) {
	owner, err := cdp.Call[proto.DOMGetFrameOwnerResult](ctx, v.parent, proto.DOMGetFrameOwner{FrameID: v.frame})
	if err != nil {
		return s, err
	}
	id, err := v.parent.world(ctx)
	if err != nil {
		return s, err
	}
	element, err := cdp.Call[struct {
		Object cdp.RemoteObject `json:"object"`
	}](ctx, v.parent, proto.DOMResolveNode{BackendNodeID: owner.BackendNodeID, ExecutionContextID: id})
	if err != nil {
		return s, err
	}
	args := make([]*proto.RuntimeCallArgument, 3)
	for i, a := range []any{s.X, s.Y, o} {
		args[i] = &proto.RuntimeCallArgument{}
		text, err := json.Marshal(a)
		if err != nil {
			return s, err
		}
		if err := args[i].Value.UnmarshalJSON(text); err != nil {
			return s, err
		}
	}
	value, err := cdp.Evaluate(ctx, v.parent, proto.RuntimeCallFunctionOn{ObjectID: proto.RuntimeRemoteObjectID(element.Object.ObjectID), Arguments: args,
		AwaitPromise: true, ReturnByValue: true, FunctionDeclaration: "function(x, y, o) { return rote.through(this, x, y, o) }"})
	if err != nil {
		return s, err
	}
	v.parent.Send(proto.RuntimeReleaseObject{ObjectID: proto.RuntimeRemoteObjectID(element.Object.ObjectID)})
	var up actionPoint
	return up, json.Unmarshal(value.Value, &up)
}
