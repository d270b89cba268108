package javascript

import (
	"fmt"
	"regexp"
)

// blockReason is why a name is blocked.
type blockReason int

const (
	makesCode blockReason = iota + 1
	network
	hook
	leaves
	realm
)

var reasonTexts = map[blockReason]string{
	makesCode: "a script makes no code from strings",
	network:   "a script reaches no network",
	hook:      "a script leaves nothing behind that runs after it",
	leaves:    "a script does not open, close or navigate the page",
	realm:     "the window of a frame has everything that is blocked here",
}

var reasonHints = map[blockReason]string{
	makesCode: "write the code into the script itself",
	network:   "use a `fetch` operation and read what it stored from sessionStorage",
	hook:      "look again in a loop: while (!done()) await new Promise(r => setTimeout(r, 100))",
	leaves:    "use a `navigate` operation",
	realm:     "read the frame's document through contentDocument, or use a `navigate` operation",
}

// nameHints are hints for names that need another one than that of their
// reason.
var nameHints = map[string]string{
	"window.close":            "leave it out: a run closes its pages by itself",
	"WebSocket":               "read what the page itself received, from its DOM or its globals",
	"WebSocketStream":         "read what the page itself received, from its DOM or its globals",
	"EventSource":             "read what the page itself received, from its DOM or its globals",
	"WebTransport":            "read what the page itself received, from its DOM or its globals",
	"RTCPeerConnection":       "leave it out: there is nothing instead",
	"webkitRTCPeerConnection": "leave it out: there is nothing instead",
	"Worker":                  "do the work in the script itself",
	"SharedWorker":            "do the work in the script itself",
	"navigator.serviceWorker": "leave it out: there is nothing instead",
	"importScripts":           "write the code into the script itself",
	"import()":                "write the code into the script itself",
	"document.write":          "change the document through its elements",
	"document.writeln":        "change the document through its elements",
	"location.reload":         "use a `navigate` operation with the same URL",
}

// blockedGlobals are blocked as free names and as members of the window.
var blockedGlobals = map[string]blockReason{
	"eval": makesCode, "Function": makesCode, "execScript": makesCode,
	"fetch": network, "fetchLater": network, "XMLHttpRequest": network,
	"WebSocket": network, "WebSocketStream": network, "EventSource": network, "WebTransport": network,
	"RTCPeerConnection": network, "webkitRTCPeerConnection": network,
	"Worker": network, "SharedWorker": network, "importScripts": network,
	"addEventListener": hook, "MutationObserver": hook, "WebKitMutationObserver": hook, "IntersectionObserver": hook,
	"open": leaves, "close": leaves,
}

var (
	onDocument   = map[string]blockReason{"write": makesCode, "writeln": makesCode, "open": leaves}
	onNavigator  = map[string]blockReason{"sendBeacon": network, "serviceWorker": network}
	onLocation   = map[string]blockReason{"assign": leaves, "replace": leaves, "reload": leaves}
	onHistory    = map[string]blockReason{"pushState": leaves, "replaceState": leaves, "back": leaves, "forward": leaves, "go": leaves}
	onNavigation = map[string]blockReason{"navigate": leaves, "reload": leaves, "back": leaves, "forward": leaves, "traverseTo": leaves}
)

// blockedOnAllObjects are blocked as members of all objects, because every
// element has them.
var blockedOnAllObjects = map[string]blockReason{"addEventListener": hook, "contentWindow": realm}

// blockedByKind are the blocked members of each kind of object.
var blockedByKind = []struct {
	kind  kind
	owner string // for the message
	names map[string]blockReason
}{
	{kGlobal, "", blockedGlobals},
	{kDocument, "document.", onDocument},
	{kNavigator, "navigator.", onNavigator},
	{kLocation, "location.", onLocation},
	{kHistory, "history.", onHistory},
	{kNavigation, "navigation.", onNavigation},
}

// eventHandlerName matches the names of event handler properties: onclick, but
// not onSuccess.
var eventHandlerName = regexp.MustCompile(`^on[a-z]{3,}$`)

func blocked(at int, name string, f blockReason) Problem {
	p := Problem{
		Offset:  at,
		Code:    CodeBlocked,
		Message: fmt.Sprintf("%s is blocked in js_evaluate: %s", name, reasonTexts[f]),
		Hint:    reasonHints[f],
	}
	if hint, ok := nameHints[name]; ok {
		p.Hint = hint
	}
	return p
}

// memberOf returns the rule for a member of an object of these kinds.
func memberOf(kinds kind, name string) (string, blockReason) {
	for _, k := range blockedByKind {
		if f := k.names[name]; f != 0 && kinds&k.kind != 0 {
			if k.kind == kGlobal && f == leaves {
				return "window." + name, f
			}
			return k.owner + name, f
		}
	}
	return name, blockedOnAllObjects[name]
}

// mayBeBlocked reports whether a name of which only a part is known may be a
// blocked one on objects of these kinds.
func mayBeBlocked(kinds kind, t text) bool {
	if t.exact || t.never {
		return false
	}
	for _, k := range blockedByKind {
		for name := range k.names {
			if kinds&k.kind != 0 && t.may(name) {
				return true
			}
		}
	}
	if kinds&kGlobal != 0 {
		for name := range globals {
			if t.may(name) {
				return true
			}
		}
	}
	return kinds&kDocument != 0 && (t.may("location") || t.may("defaultView"))
}
