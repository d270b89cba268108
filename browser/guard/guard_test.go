package guard

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
	"rote/routine/javascript"
)

// anyScript may do anything, because nothing is proved about it.
var anyScript = routine.Script{Text: "(() => 1)()", Limit: time.Second}

// The guard is called with the lock of the page held and without it, by several
// goroutines. If it called the page under a lock where Page does not allow that, runs would
// stand still for ever, and only now and then.
func TestPageIsCalledUnderTheAllowedLocksOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newFakePage(t)
		p.frames = []proto.TargetSessionID{"frame"}
		if err := g.Arm(t.Context(), anyScript); err != nil {
			t.Fatal(err)
		}
		g.StartCall(anyScript, "about:script", []javascript.Span{})
		for _, e := range []struct{ method, params string }{
			{"Debugger.scriptParsed", `{"scriptId":"1","url":"about:script"}`},
			{"Debugger.paused", `{"reason":"instrumentation","data":{"scriptId":"1"}}`}, // the script starts
			{"Debugger.scriptParsed", `{"scriptId":"2","url":""}`},
			{"Debugger.paused", `{"reason":"instrumentation","data":{"scriptId":"2"},"callFrames":[{"functionName":"onclick"}]}`}, // a handler
			{"Page.windowOpen", `{"url":"http://a.test/"}`},
			{"Page.frameRequestedNavigation", `{"frameId":"main","reason":"scriptInitiated","url":"blob:x","disposition":"currentTab"}`},
			{"Network.requestWillBeSent", `{"requestId":"3","type":"Fetch","request":{"url":"http://a.test/"},"initiator":{"stack":{"callFrames":[{"scriptId":"1"}]}}}`},
			{"Network.requestWillBeSent", `{"requestId":"4","type":"Image","request":{"url":"http://a.test/"},"initiator":{}}`},
			{"Fetch.requestPaused", `{"requestId":"p4","networkId":"4","resourceType":"Image","request":{"url":"http://a.test/"}}`},
			{"Fetch.requestPaused", `{"requestId":"p5","networkId":"5","resourceType":"Document","frameId":"main","request":{"url":"http://a.test/"}}`},
			{"Network.webSocketCreated", `{"url":"ws://a.test/","initiator":{"stack":{"callFrames":[{"scriptId":"1"}]}}}`},
			{"Page.frameAttached", `{"frameId":"new","stack":{"callFrames":[{"scriptId":"1"}]}}`},
		} {
			p.post(e.method, e.params)
		}
		g.PostFrame("frame", "Fetch.requestPaused", []byte(`{"requestId":"p6","frameId":"f","resourceType":"Document","request":{"url":"http://a.test/"}}`))
		g.HoldPopup("popup")
		time.Sleep(2 * holdTime) // of the bubble: what was held is decided
		synctest.Wait()
		g.WarnOfRefused()
		p.blocked = nil
		g.EndCall(t.Context())

		p.mu.Lock()
		g.DocumentReplaced()
		p.mu.Unlock()

		for method := range reflect.TypeFor[Page]().Methods() {
			under := []string{"Send", "SendAll", "SendTo", "MainFrame", "Acting", "FetchAhead", "PausePatterns", "BypassWorker"}
			if !p.called[method.Name] && !slices.Contains(under, method.Name) {
				t.Errorf("%s was not called: call the guard so that it is", method.Name)
			}
		}
	})
}

// Each popup uses up one permit, and one that has waited too long takes none: a window
// that a script opens later would otherwise be resumed before it is judged.
func TestEachPopupUsesUpOnePermit(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps string // O: a window is opened, A: a popup has appeared, T: time passes
		waits int
		left  int
		// resumed is how many popups have been resumed.
		resumed int
	}{
		{"none appears", "OO", 0, 2, 0},
		{"opened, then appeared", "OAOA", 0, 0, 2},
		{"appeared, then opened", "AAOO", 0, 0, 2},
		{"one has no permit yet", "OAA", 1, 0, 1},
		{"one has waited too long", "AT", 0, 0, 1},
		{"time passes after the permit", "OAT", 0, 0, 1},
		{"the permit comes after one has waited too long", "ATO", 0, 1, 1},
		{"many", "OOOOOAAAAAAAOO", 0, 0, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, g := newFakePage(t)
				for i, step := range c.steps {
					switch step {
					case 'O':
						p.post("Page.windowOpen", `{"url":"http://a.test/"}`)
					case 'A':
						g.HoldPopup(proto.TargetSessionID('a' + rune(i)))
						synctest.Wait()
					case 'T':
						time.Sleep(2 * holdTime) // of the bubble
						synctest.Wait()
					}
				}
				if waiting, permits := g.Popups(); waiting != c.waits || permits != c.left {
					t.Errorf("%d popups wait and %d permits are left, want %d and %d", waiting, permits, c.waits, c.left)
				}
				seen := map[proto.TargetSessionID]int{}
				for _, m := range p.sent {
					if m.method == "Runtime.runIfWaitingForDebugger" {
						seen[m.session]++
					}
				}
				for session, n := range seen {
					if n != 1 {
						t.Errorf("the popup %s was resumed %d times", session, n)
					}
				}
				if len(seen) != c.resumed {
					t.Errorf("%d popups were resumed, want %d", len(seen), c.resumed)
				}
			})
		})
	}
}
