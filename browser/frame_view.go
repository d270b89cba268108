package browser

import (
	"context"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// frameView is a frame whose helper can access its document and the documents of the same
// origin in it. The page has one, and so has each frame of another origin, whether it has
// a process (and then a session) of its own or not.
type frameView struct {
	p       *page
	parent  *frameView // nil for the page's own
	frame   proto.PageFrameID
	session proto.TargetSessionID
	origin  string                          // guarded by page.mu, like helper
	helper  proto.RuntimeExecutionContextID // the helper's world in the current document; 0 if there is none yet
}

var (
	_ cdp.Session = (*page)(nil)
	_ cdp.Session = (*frameView)(nil)
)

func (v *frameView) viewed() *frameView { return v }

func (v *frameView) Send(m proto.Request) *cdp.Future {
	return v.p.i.client.Send(v.session, m.ProtoReq(), m)
}

func (v *frameView) SendAll(ms ...proto.Request) []*cdp.Future {
	return v.p.i.client.SendAll(v.session, ms...)
}

func (v *frameView) Await(ctx context.Context, f *cdp.Future) ([]byte, error) {
	return v.p.Await(ctx, f)
}

// world is the helper's world in the current document. The initial document of a new page
// has none yet, and a document that may not run scripts (CSP sandbox) has one without
// the helper.
func (v *frameView) world(ctx context.Context) (proto.RuntimeExecutionContextID, error) {
	id, _, err := v.worldOrNew(ctx)
	return id, err
}

// worldOrNew is world. made reports whether the world was created, without the helper.
func (v *frameView) worldOrNew(ctx context.Context) (id proto.RuntimeExecutionContextID, made bool, err error) {
	v.p.mu.Lock()
	id = v.helper
	v.p.mu.Unlock()
	if id != 0 {
		return id, false, nil
	}
	created, err := cdp.Call[proto.PageCreateIsolatedWorldResult](ctx, v, proto.PageCreateIsolatedWorld{FrameID: v.frame, WorldName: helperName})
	return created.ExecutionContextID, true, err
}

// ask calls a function of the helper that only reads and returns no promise, without
// waiting for its result. The call does not pause the page: a page that pauses while it
// waits for a window that it opens would wait forever. If the page is paused already, it
// answers at once.
func (v *frameView) ask(ctx context.Context, function string, args ...any) (*cdp.Future, error) {
	return v.evaluateHelper(ctx, false, function, args)
}

// askForPromise is ask for a function that returns a promise, for whose value the answer
// waits. The answer never comes if the promise is fulfilled during a pause after which the
// guard terminates the paused code.
func (v *frameView) askForPromise(ctx context.Context, function string, args ...any) (*cdp.Future, error) {
	return v.evaluateHelper(ctx, true, function, args)
}

func (v *frameView) evaluateHelper(ctx context.Context, await bool, function string, args []any) (*cdp.Future, error) {
	id, err := v.world(ctx)
	if err != nil {
		return nil, err
	}
	expression, err := helperCall("rote."+function, args)
	if err != nil {
		return nil, err
	}
	return v.Send(proto.RuntimeEvaluate{ContextID: id, Expression: expression, AwaitPromise: await, ReturnByValue: true, DisableBreaks: true}), nil
}

// forget drops a world that no longer exists.
func (v *frameView) forget(id proto.RuntimeExecutionContextID) {
	v.p.mu.Lock()
	defer v.p.mu.Unlock()
	if v.helper == id {
		v.helper = 0
	}
}

// contexts records the helper's worlds of a session, and the page's realms in the page's
// session. They are created and destroyed with documents.
func (p *page) contexts(session proto.TargetSessionID, method string, params json.RawMessage) {
	var e struct {
		Destroyed proto.RuntimeExecutionContextID `json:"executionContextId"`
		Context   struct {
			ID     proto.RuntimeExecutionContextID `json:"id"`
			Name   string                          `json:"name"`
			Origin string                          `json:"origin"`
			Aux    struct {
				Type  string            `json:"type"`
				Frame proto.PageFrameID `json:"frameId"`
			} `json:"auxData"`
		} `json:"context"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if session == p.session && (e.Context.ID == 0 || e.Context.Aux.Type == "default") {
		p.updateRealms(e.Context.ID, e.Destroyed)
	}
	if e.Context.Aux.Type == "default" && e.Context.Origin == opaqueOrigin {
		p.markOpaque(session, e.Context.Aux.Frame)
	}
	for _, v := range append([]*frameView{p.frames.top}, p.frames.isolated...) {
		switch {
		case v.session != session:
		case e.Context.Name == helperName && e.Context.Aux.Type == "isolated" && e.Context.Aux.Frame == v.frame:
			v.helper = e.Context.ID
		case method == "Runtime.executionContextsCleared", v.helper == e.Destroyed:
			v.helper = 0
		}
	}
}
