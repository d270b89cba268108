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
	looked := map[proto.TargetSessionID]bool{}
	everything := -1
	for _, v := range views {
		if looked[v.session] {
			continue
		}
		looked[v.session] = true
		v.Send(proto.DOMEnable{})
		document, err := cdp.Call[struct {
			Nodes []struct {
				ID    proto.DOMNodeID `json:"nodeId"`
				Roots []struct {
					Kind proto.DOMShadowRootType `json:"shadowRootType"`
				} `json:"shadowRoots"`
			} `json:"nodes"`
		}](ctx, v, proto.DOMGetFlattenedDocument{Depth: &everything, Pierce: true})
		if err != nil {
			return err
		}
		for _, n := range document.Nodes { // those inside of others come first
			if len(n.Roots) == 0 || n.Roots[0].Kind != proto.DOMShadowRootTypeClosed {
				continue
			}
			if _, err := cdp.Call[struct{}](ctx, v, proto.DOMRemoveNode{NodeID: n.ID}); err != nil {
				return err
			}
		}
		v.Send(proto.DOMDisable{}) // it would report every change
	}
	return nil
}
