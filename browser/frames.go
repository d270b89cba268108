package browser

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// maxFrames bounds the frames of other origins that are searched for elements.
const maxFrames = 100

// frameTime bounds one call in such a frame, so that a frame that hangs does not block
// the page.
const frameTime = time.Second

// framesNow are the views of the page's frames, parents first.
func (p *page) framesNow() []*view {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.frames)
}

// reaching is the view whose scripts can access the document of the frame; the page's
// own view if the frame is not known. p.mu is held.
func (p *page) reaching(frame proto.PageFrameID) *view {
	if v, ok := p.reach[frame]; ok {
		return v
	}
	return p.top
}

// framed handles the frame events of a session.
func (p *page) framed(session proto.TargetSessionID, method string, params json.RawMessage) {
	switch method {
	case "Page.frameAttached":
		if e, ok := decode[proto.PageFrameAttached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reach[e.FrameID] = p.reaching(e.ParentFrameID) // an empty document of its parent's origin
		}
	case "Page.frameDetached":
		if e, ok := decode[proto.PageFrameDetached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.abandon(func(v *view) bool { return v.session == session && v.frame == e.FrameID })
			if p.reaching(e.FrameID).session == session { // otherwise it moved to a process of its own
				delete(p.reach, e.FrameID)
			}
		}
	case "Page.frameNavigated":
		e, ok := decode[proto.PageFrameNavigated](params)
		if !ok {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		frame, parent := e.Frame.ID, p.reaching(e.Frame.ParentID)
		v := p.reaching(frame)
		switch {
		case v.frame == frame && v.session == session:
			v.origin = e.Frame.SecurityOrigin
			if v == p.top { // its frames are gone, without an event for each
				p.abandon(func(v *view) bool { return v.session == session })
				clear(p.reach)
			}
		case e.Frame.SecurityOrigin == parent.origin:
			p.reach[frame] = parent
		default:
			p.apartFrom(parent, frame, session, e.Frame.SecurityOrigin)
		}
	}
}

// apartFrom adds a frame whose document its parent cannot access. p.mu is held.
func (p *page) apartFrom(parent *view, frame proto.PageFrameID, session proto.TargetSessionID, origin string) {
	if len(p.frames) < maxFrames {
		v := &view{p: p, parent: parent, frame: frame, session: session, origin: origin}
		p.frames = append(p.frames, v)
		p.reach[frame] = v
	}
}

// opaque stands for an opaque origin, such as that of a sandboxed frame. Frame events
// carry the origin of the frame's URL; execution contexts carry the true one.
const opaque = "://"

// sealed records that the frame has an opaque origin, as its own execution context
// reported. p.mu is held.
func (p *page) sealed(session proto.TargetSessionID, frame proto.PageFrameID) {
	switch v := p.reaching(frame); {
	case v.frame != frame:
		p.apartFrom(v, frame, session, opaque)
	case v.session != session: // it has moved back from a process of its own
		p.apartFrom(v.parent, frame, session, opaque)
	default:
		v.origin = opaque
	}
}

// adopt adds a frame that has moved to a process of its own, and so has a session.
func (p *page) adopt(e *proto.TargetAttachedToTarget, around proto.PageFrameID) {
	c := p.i.client
	frame := proto.PageFrameID(e.TargetInfo.TargetID)
	p.mu.Lock()
	v := &view{p: p, parent: p.reaching(around), frame: frame, session: e.SessionID}
	known := len(p.frames) < maxFrames
	if known {
		p.frames = append(p.frames, v)
		p.reach[frame] = v
	}
	p.mu.Unlock()
	c.listen(e.SessionID, func(method string, params json.RawMessage) {
		if g := p.guarding(); g != nil && (method == "Fetch.requestPaused" || method == "Page.frameRequestedNavigation") {
			g.postFrom(e.SessionID, method, params)
		}
		if p.mayWrite(method, params) {
			p.attendant(e.SessionID, method, params)
		}
	})
	v.send(proto.PageEnable{})
	v.send(proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true})
	if known {
		v.send(proto.RuntimeEnable{})
		v.send(proto.RuntimeAddBinding{Name: tellRun})
		v.send(helperEverywhere)
		v.send(clipboardEverywhere)
	}
	if g := p.guarding(); g != nil && g.isArmed() {
		v.watch()
	}
	c.letGo(e)
}

// abandon drops the views for which gone reports true. p.mu is held.
func (p *page) abandon(gone func(*view) bool) {
	p.frames = slices.DeleteFunc(p.frames, gone)
	for frame, v := range p.reach {
		if gone(v) {
			delete(p.reach, frame)
		}
	}
}

// inFrame calls a function of a frame's helper.
func inFrame[R any](ctx context.Context, v *view, function string, args ...any) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, frameTime)
	defer cancel()
	return help[R](ctx, v, function, args...)
}

// look searches the frame once for an element that can be acted on. It reports false
// if the frame does not answer.
func (v *view) look(ctx context.Context, selector string, o options) (spot, bool) {
	s, err := inFrame[spot](ctx, v, "act", selector, o)
	if err != nil {
		return s, false
	}
	s.view = v
	for f := v; s.OK && !s.Set && f.parent != nil; f = f.parent {
		bounded, cancel := context.WithTimeout(ctx, frameTime)
		through, err := f.through(bounded, s, o)
		cancel()
		if err != nil {
			return s, false
		}
		s.OK, s.Why, s.X, s.Y = through.OK, through.Why, through.X, through.Y
	}
	return s, true
}

// through converts a point in the frame to one in the parent view, where the frame
// itself may be hidden or covered.
func (v *view) through(ctx context.Context, s spot, o options) (spot, error) {
	owner, err := call[proto.DOMGetFrameOwnerResult](ctx, v.parent, proto.DOMGetFrameOwner{FrameID: v.frame})
	if err != nil {
		return s, err
	}
	id, err := v.parent.world(ctx)
	if err != nil {
		return s, err
	}
	element, err := call[struct {
		Object remote `json:"object"`
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
	value, err := evaluate(ctx, v.parent, proto.RuntimeCallFunctionOn{ObjectID: proto.RuntimeRemoteObjectID(element.Object.ObjectID), Arguments: args,
		AwaitPromise: true, ReturnByValue: true, FunctionDeclaration: "function(x, y, o) { return rote.through(this, x, y, o) }"})
	if err != nil {
		return s, err
	}
	v.parent.send(proto.RuntimeReleaseObject{ObjectID: proto.RuntimeRemoteObjectID(element.Object.ObjectID)})
	var up spot
	return up, json.Unmarshal(value.Value, &up)
}
