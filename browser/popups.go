package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// maxPopups is how many popups of a run may be open at once. Further ones are
// closed before they load anything.
const maxPopups = 10

// popupTime bounds the wait for popups to close.
const popupTime = 5 * time.Second

// attached takes a new page of the run's context: its own first, then popups.
func (p *page) attached(e *proto.TargetAttachedToTarget) {
	p.mu.Lock()
	first := p.target == ""
	if first {
		p.target, p.session = e.TargetInfo.TargetID, e.SessionID
		p.top.frame, p.top.session = proto.PageFrameID(p.target), p.session
	}
	p.mu.Unlock()
	if first {
		p.i.client.listen(e.SessionID, p.event)
		close(p.attachedTo)
		return
	}
	p.popup(e)
}

// popup takes a window that the page has opened. Its opener waits for it, so
// that one that is closed at once has to be let go first.
func (p *page) popup(e *proto.TargetAttachedToTarget) {
	c := p.i.client
	p.mu.Lock()
	tooMany := len(p.popups) >= maxPopups
	first := tooMany && !p.popupsRefused
	p.popupsRefused = p.popupsRefused || tooMany
	if !tooMany {
		p.popups[e.SessionID] = e.TargetInfo.TargetID
	}
	p.mu.Unlock()
	if first {
		p.warn(fmt.Sprintf("the page opened more than %d popups at once: those beyond were closed before they loaded", maxPopups))
	}
	if tooMany {
		c.refusePopup(e)
		return
	}
	p.warn("the page opened a popup, which is closed with the run")
	// Its dialogs are dismissed as the page's own are.
	c.listen(e.SessionID, func(method string, params json.RawMessage) {
		if method == "Page.javascriptDialogOpening" {
			c.send(e.SessionID, "Page.handleJavaScriptDialog", proto.PageHandleJavaScriptDialog{Accept: isLeaving(params)})
		}
	})
	c.send(e.SessionID, "Page.enable", nil)
	if g := p.guarding(); g != nil && e.WaitingForDebugger {
		g.holdPopup(e.SessionID)
		return
	}
	c.letGo(e)
}

// refusePopup closes a popup that has not loaded anything. Its opener waits until
// it is let go, so it is cut off from the network first. (Requests that Fetch has
// paused would go out when the popup closes.)
func (c *client) refusePopup(e *proto.TargetAttachedToTarget) {
	c.send(e.SessionID, "Network.enable", networkEnable{})
	c.send(e.SessionID, "Network.emulateNetworkConditions", proto.NetworkEmulateNetworkConditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	c.letGo(e)
	c.send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: e.TargetInfo.TargetID})
}

// isLeaving tells the dialog of a document that wants to be asked before it is
// left: declined, the popup would not close.
func isLeaving(params json.RawMessage) bool {
	e, ok := decode[proto.PageJavascriptDialogOpening](params)
	return ok && e.Type == proto.PageDialogTypeBeforeunload
}

// popupGone forgets a popup that is closed.
func (p *page) popupGone(session proto.TargetSessionID) {
	p.mu.Lock()
	_, known := p.popups[session]
	delete(p.popups, session)
	p.mu.Unlock()
	if known {
		p.update(func(*state) {})
	}
}

// closePopup begins to close one of the popups.
func (p *page) closePopup(session proto.TargetSessionID) {
	p.mu.Lock()
	target, known := p.popups[session]
	p.mu.Unlock()
	if known {
		p.i.client.send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: target})
	}
}

func (p *page) popupsNow() []proto.TargetSessionID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.popups))
}

// closePopups closes the popups, in which a script could act unseen if the page
// has kept them.
func (p *page) closePopups(ctx context.Context) error {
	sessions := p.popupsNow()
	if len(sessions) == 0 {
		return nil
	}
	for _, s := range sessions {
		p.closePopup(s)
	}
	p.warn(fmt.Sprintf("popups that were closed before the script, as it is not proved to only read: %d", len(sessions)))
	bounded, cancel := context.WithTimeoutCause(ctx, popupTime, routine.Errorf(routine.CodeScriptBlocked, "a popup of the page's does not close, and a script could act in it unseen"))
	defer cancel()
	return p.waitFor(bounded, func(state) (bool, error) { return len(p.popupsNow()) == 0, nil })
}
