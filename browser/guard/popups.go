package guard

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// popupState is what the guard knows about the windows that the document opens.
type popupState struct {
	// windowsOpening counts windows that page code is about to open. popupPermits counts
	// windows that were allowed and have not appeared yet; waitingPopups wait for a permit.
	windowsOpening, popupPermits int
	waitingPopups                []proto.TargetSessionID
}

// windowOpened decides about a window that is about to open. A script may open one
// by clicking a link that the document had before, but not a link of its own.
func (g *Guard) windowOpened(url string) {
	g.mu.Lock()
	byPage := g.windowsOpening > 0
	if byPage {
		g.windowsOpening--
	}
	bad := g.scriptRunning && g.documentChanged && !byPage && !g.baseline.linksTo(url)
	g.mu.Unlock()
	if bad {
		g.block("open a window for " + url)
		return
	}
	g.permit()
}

// Events about popups that the guard posts to itself.
const (
	popupAttached = "popup attached"
	popupTooLong  = "popup waited too long"
)

// HoldPopup keeps a popup waiting until windowOpened has decided about it. It runs
// on the reading goroutine.
func (g *Guard) HoldPopup(session proto.TargetSessionID) {
	g.Post(popupAttached, json.RawMessage(session))
	time.AfterFunc(holdTime, func() { g.Post(popupTooLong, json.RawMessage(session)) })
}

// popupAttached handles a popup that has appeared. It is released if it has a permit, and
// waits for one otherwise.
func (g *Guard) popupAttached(session proto.TargetSessionID) {
	g.mu.Lock()
	if g.popupPermits == 0 {
		g.waitingPopups = append(g.waitingPopups, session)
		g.mu.Unlock()
		return
	}
	g.popupPermits--
	g.mu.Unlock()
	g.release(session)
}

// Popups returns how many popups wait until they are judged, and how many popups that were
// allowed have not appeared yet.
func (g *Guard) Popups() (waiting, permits int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waitingPopups), g.popupPermits
}

// popupTooLong releases a popup that is still waiting, because no Page.windowOpen
// event has come for it.
func (g *Guard) popupTooLong(session proto.TargetSessionID) {
	g.mu.Lock()
	i := slices.Index(g.waitingPopups, session)
	if i >= 0 {
		g.waitingPopups = slices.Delete(g.waitingPopups, i, i+1)
	}
	g.mu.Unlock()
	if i >= 0 {
		g.release(session)
	}
}

// permit releases the oldest waiting popup, or the next one to appear.
func (g *Guard) permit() {
	g.mu.Lock()
	if len(g.waitingPopups) == 0 {
		g.popupPermits++
		g.mu.Unlock()
		return
	}
	session := g.waitingPopups[0]
	g.waitingPopups = g.waitingPopups[1:]
	g.mu.Unlock()
	g.release(session)
}

// release resumes a popup. One that appears while a script runs is closed at once,
// because the script could act in it unseen.
func (g *Guard) release(session proto.TargetSessionID) {
	g.mu.Lock()
	during := g.scriptRunning
	g.mu.Unlock()
	g.page.SendTo(session, proto.RuntimeRunIfWaitingForDebugger{})
	if during {
		g.page.ClosePopup(session)
	}
}
