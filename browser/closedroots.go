package browser

import (
	"context"

	"github.com/go-rod/rod/lib/proto"
)

// hideFunction is called on an element that is not to be seen.
const hideFunction = `function() {
	for (const name of ['transition', 'animation', 'background-image']) this.style.setProperty(name, 'none', 'important');
	this.style.setProperty('visibility', 'hidden', 'important');
	this.style.setProperty('opacity', '0', 'important');
	if (getComputedStyle(this).display === 'contents') this.style.setProperty('display', 'none', 'important');
}`

// hideClosedRoots hides the elements of the views that have a closed shadow root:
// scripts cannot look into it.
func hideClosedRoots(ctx context.Context, views []*view) error {
	looked := map[proto.TargetSessionID]bool{}
	everything := -1
	for _, v := range views {
		if looked[v.session] {
			continue
		}
		looked[v.session] = true
		v.send(proto.DOMEnable{})
		document, err := call[struct {
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
		for _, n := range document.Nodes {
			if len(n.Roots) == 0 || n.Roots[0].Kind != proto.DOMShadowRootTypeClosed {
				continue
			}
			host, err := call[proto.DOMResolveNodeResult](ctx, v, proto.DOMResolveNode{NodeID: n.ID})
			if err != nil {
				return err
			}
			if _, err := evaluate(ctx, v, proto.RuntimeCallFunctionOn{ObjectID: host.Object.ObjectID, FunctionDeclaration: hideFunction}); err != nil {
				return err
			}
		}
		v.send(proto.DOMDisable{}) // it would tell of every change
	}
	return nil
}
