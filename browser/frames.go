package browser

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// maxFrames of other origins are looked into.
const maxFrames = 100

// frameTime bounds one question to such a frame: one that hangs must not hold
// up what the page itself could do.
const frameTime = time.Second

// framesNow are the views of frames, parents first.
func (p *page) framesNow() []*view {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.frames)
}

// reaching is the view that reaches the document of a frame; the page's own when
// the frame is not known. The lock is held.
func (p *page) reaching(frame proto.PageFrameID) *view {
	if v, ok := p.reach[frame]; ok {
		return v
	}
	return p.top
}

// framed takes what the browser tells of the frames of a session.
func (p *page) framed(session proto.TargetSessionID, method string, params json.RawMessage) {
	switch method {
	case "Page.frameAttached":
		if e, ok := decode[proto.PageFrameAttached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reach[e.FrameID] = p.reaching(e.ParentFrameID) // empty, and of its parent's origin
		}
	case "Page.frameDetached":
		if e, ok := decode[proto.PageFrameDetached](params); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.abandon(func(v *view) bool { return v.session == session && v.frame == e.FrameID })
			if p.reaching(e.FrameID).session == session { // else it goes on in a process of its own
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
			if v == p.top { // what was in it is gone, and not told of
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

// apartFrom notes a frame that its parent does not reach into. The lock is held.
func (p *page) apartFrom(parent *view, frame proto.PageFrameID, session proto.TargetSessionID, origin string) {
	if len(p.frames) < maxFrames {
		v := &view{p: p, parent: parent, frame: frame, session: session, origin: origin}
		p.frames = append(p.frames, v)
		p.reach[frame] = v
	}
}

// opaque is the origin of a document that is like no other, as in a sandboxed
// frame. What the browser tells of frames is the origin of their URLs; what it
// tells of their worlds is the true one.
const opaque = "://"

// sealed takes the word of a frame's own world that nothing outside of it reaches
// in. The lock is held.
func (p *page) sealed(session proto.TargetSessionID, frame proto.PageFrameID) {
	switch v := p.reaching(frame); {
	case v.frame != frame:
		p.apartFrom(v, frame, session, opaque)
	case v.session != session: // it has come back from a process of its own
		p.apartFrom(v.parent, frame, session, opaque)
	default:
		v.origin = opaque
	}
}

// adopt takes a frame that has got a process of its own, and so a session.
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
		v.send(helperEverywhere)
	}
	if g := p.guarding(); g != nil && g.isArmed() {
		v.watch()
	}
	c.letGo(e)
}

// abandon drops the views of frames that are gone. The lock is held.
func (p *page) abandon(gone func(*view) bool) {
	p.frames = slices.DeleteFunc(p.frames, gone)
	for frame, v := range p.reach {
		if gone(v) {
			delete(p.reach, frame)
		}
	}
}

// inFrame asks the helper of a frame.
func inFrame[R any](ctx context.Context, v *view, function string, args ...any) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, frameTime)
	defer cancel()
	return help[R](ctx, v, function, args...)
}

// look judges the frame's matches once; false when the frame does not answer.
func (v *view) look(ctx context.Context, selector string, o options) (spot, bool) {
	s, err := inFrame[spot](ctx, v, "act", selector, o)
	if err != nil {
		return s, false
	}
	s.view = v
	for f := v; s.OK && f.parent != nil; f = f.parent {
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

// through takes a spot in the frame to the view that the frame is in, where the
// frame itself may be hidden or covered.
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
