package javascript

import (
	"fmt"
	"regexp"
)

// family is why a name is blocked.
type family int

const (
	makesCode family = iota + 1
	network
	hook
	leaves
	realm
)

var why = map[family]string{
	makesCode: "a script makes no code from strings",
	network:   "a script reaches no network",
	hook:      "a script leaves nothing behind that runs after it",
	leaves:    "a script does not open, close or navigate the page",
	realm:     "the window of a frame has everything that is blocked here",
}

var instead = map[family]string{
	makesCode: "write the code into the script itself",
	network:   "use a `fetch` operation and read what it stored from sessionStorage",
	hook:      "look again in a loop: while (!done()) await new Promise(r => setTimeout(r, 100))",
	leaves:    "use a `navigate` operation",
	realm:     "read the frame's document through contentDocument, or use a `navigate` operation",
}

// better is advice for names whose family's advice does not fit.
var better = map[string]string{
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

// onWindow is blocked as a free name and as a member of the window.
var onWindow = map[string]family{
	"eval": makesCode, "Function": makesCode, "execScript": makesCode,
	"fetch": network, "fetchLater": network, "XMLHttpRequest": network,
	"WebSocket": network, "WebSocketStream": network, "EventSource": network, "WebTransport": network,
	"RTCPeerConnection": network, "webkitRTCPeerConnection": network,
	"Worker": network, "SharedWorker": network, "importScripts": network,
	"addEventListener": hook, "MutationObserver": hook, "WebKitMutationObserver": hook, "IntersectionObserver": hook,
	"open": leaves, "close": leaves,
}

var (
	onDocument   = map[string]family{"write": makesCode, "writeln": makesCode, "open": leaves}
	onNavigator  = map[string]family{"sendBeacon": network, "serviceWorker": network}
	onLocation   = map[string]family{"assign": leaves, "replace": leaves, "reload": leaves}
	onHistory    = map[string]family{"pushState": leaves, "replaceState": leaves, "back": leaves, "forward": leaves, "go": leaves}
	onNavigation = map[string]family{"navigate": leaves, "reload": leaves, "back": leaves, "forward": leaves, "traverseTo": leaves}
)

// onAnything is blocked as a member of whatever object, because every element
// has it.
var onAnything = map[string]family{"addEventListener": hook, "contentWindow": realm}

// byKind says which objects have which blocked members.
var byKind = []struct {
	kind  kind
	owner string // for the message
	names map[string]family
}{
	{kGlobal, "", onWindow},
	{kDocument, "document.", onDocument},
	{kNavigator, "navigator.", onNavigator},
	{kLocation, "location.", onLocation},
	{kHistory, "history.", onHistory},
	{kNavigation, "navigation.", onNavigation},
}

// handler is the name of an event handler property: onclick, not onSuccess.
var handler = regexp.MustCompile(`^on[a-z]{3,}$`)

func blocked(at int, name string, f family) Problem {
	p := Problem{
		Offset:  at,
		Code:    CodeBlocked,
		Message: fmt.Sprintf("%s is blocked in js_evaluate: %s", name, why[f]),
		Hint:    instead[f],
	}
	if hint, ok := better[name]; ok {
		p.Hint = hint
	}
	return p
}

// memberOf finds the rule for a member of something of these kinds.
func memberOf(kinds kind, name string) (string, family) {
	for _, k := range byKind {
		if f := k.names[name]; f != 0 && kinds&k.kind != 0 {
			if k.kind == kGlobal && f == leaves {
				return "window." + name, f
			}
			return k.owner + name, f
		}
	}
	return name, onAnything[name]
}

// mayMatter tells whether a name that is only partly known could be one that
// matters on objects of these kinds.
func mayMatter(kinds kind, t text) bool {
	if t.exact || t.never {
		return false
	}
	for _, k := range byKind {
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
