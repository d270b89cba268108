package browser

import (
	"context"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// removeClosedRoots removes the elements of the views that have a closed shadow
// root, as no script can look into it. Hiding them would not do: style rules in the
// root override the element's own style, and elements in the top layer stay visible
// when their parent is hidden. No script of the page can notice, as they are stopped.
func removeClosedRoots(ctx context.Context, views []*frameView) error {
	return eachClosedRoot(ctx, views, func(v *frameView, host closedRoot) error {
		_, err := cdp.Call[struct{}](ctx, v, proto.DOMRemoveNode{NodeID: host.ID})
		return err
	})
}

// markClosedRoots tells the helper of each view which elements have a closed shadow root. It
// fails if there is one whose frame's helper cannot be told.
func markClosedRoots(ctx context.Context, views []*frameView) error {
	return eachClosedRoot(ctx, views, func(v *frameView, host closedRoot) error {
		id, err := v.world(ctx)
		if err != nil {
			return err
		}
		element, err := cdp.Call[struct {
			Object cdp.RemoteObject `json:"object"`
		}](ctx, v, proto.DOMResolveNode{NodeID: host.ID, ExecutionContextID: id})
		if err != nil {
			return err
		}
		object := proto.RuntimeRemoteObjectID(element.Object.ObjectID)
		defer v.Send(proto.RuntimeReleaseObject{ObjectID: object})
		_, err = cdp.Evaluate(ctx, v, proto.RuntimeCallFunctionOn{ObjectID: object, ReturnByValue: true,
			FunctionDeclaration: "function() { (globalThis.roteSealed ??= new Set()).add(this) }"})
		return err
	})
}

// closedRoot is an element with its shadow roots.
type closedRoot struct {
	ID    proto.DOMNodeID `json:"nodeId"`
	Roots []struct {
		Kind proto.DOMShadowRootType `json:"shadowRootType"`
	} `json:"shadowRoots"`
}

// eachClosedRoot calls do with each element of the views' processes that has a closed shadow
// root, those that contain others first. do may be called with a view of another frame of
// the same process.
func eachClosedRoot(ctx context.Context, views []*frameView, do func(*frameView, closedRoot) error) error {
	looked := map[proto.TargetSessionID]bool{}
	everything := -1
	for _, v := range views {
		if looked[v.session] {
			continue
		}
		looked[v.session] = true
		v.Send(proto.DOMEnable{})
		document, err := cdp.Call[struct {
			Nodes []closedRoot `json:"nodes"`
		}](ctx, v, proto.DOMGetFlattenedDocument{Depth: &everything, Pierce: true})
		if err != nil {
			return err
		}
		for _, n := range document.Nodes {
			if len(n.Roots) == 0 || n.Roots[0].Kind != proto.DOMShadowRootTypeClosed {
				continue
			}
			if err := do(v, n); err != nil {
				return err
			}
		}
		v.Send(proto.DOMDisable{}) // it would report every change
	}
	return nil
}
