package guard

import (
	"context"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Page is what the guard needs of the page that it watches.
//
// The guard calls the first group of methods also with its own lock held, and in
// DocumentReplaced with the lock of the page held as well: these methods must not take the
// page's lock, must not call the guard and must not wait. It calls all others, and Await,
// with no lock held.
type Page interface {
	cdp.Session // the page's own session

	// SendTo sends a request to a session of a frame or a popup, and ignores the answer.
	SendTo(session proto.TargetSessionID, m proto.Request)
	// MainFrame is the id of the main frame, which does not change.
	MainFrame() proto.PageFrameID
	// Acting reports whether the run is sending mouse or key events: a form that is
	// submitted then is submitted by the run.
	Acting() bool
	// FetchAhead sets whether the run's proxy may connect before a request is made.
	FetchAhead(on bool)
	// BypassWorker makes the requests of the page go past its service worker, or through it
	// again if nothing else needs them to go past it.
	BypassWorker(on bool)
	// PausePatterns are the requests that a session of the page or of a frame pauses whether
	// the page is guarded or not: when it pauses others it must pause them as well. Empty is
	// the page's own session.
	PausePatterns(session proto.TargetSessionID) []*proto.FetchRequestPattern

	// Block ends the run with err: no page of it is resumed any more. It must not wait,
	// because it is also called by the goroutine that reads the browser's messages.
	Block(err error)
	// Blocked is the error of Block; nil if it was not called.
	Blocked() error
	// Warn adds a warning to the result of the run.
	Warn(text string)
	// Realms are the execution contexts of the page's own scripts: those of its document
	// and of the frames in the same process.
	Realms() []proto.RuntimeExecutionContextID
	// HelperWorld is the execution context of our own code in the page's document.
	HelperWorld(ctx context.Context) (proto.RuntimeExecutionContextID, error)
	// FrameSessions are the sessions of the frames with a process of their own. One with
	// several frames may be listed more than once.
	FrameSessions() []proto.TargetSessionID
	// IsOutermost reports whether the frame is the outermost one of its process.
	IsOutermost(session proto.TargetSessionID, frame proto.PageFrameID) bool
	// CheckFrames fails if a script could act where the guard does not see it.
	CheckFrames() error
	// ClosePopups closes all popups of the run in which a script of the page could act
	// unseen, and waits until they are closed.
	ClosePopups(ctx context.Context) error
	// ClosePopup asks the browser to close the popup with this session.
	ClosePopup(session proto.TargetSessionID)
}
