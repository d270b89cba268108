package browser

import (
	"bytes"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// Limits of what a page may write to its console: the bytes, and how many bytes each
// message counts for at least. The events of all pages come through one process and one
// pipe, so a page that writes without end would delay every other run.
const (
	maxConsoleBytes = 64 << 20
	messageCost     = 4 << 10
	// copyCost is how often the bytes of what a page copies count: such a message is
	// decoded, however long it is.
	copyCost = 4
	// longMessage is the length up to which a message is decoded. Of a longer one only the
	// length counts, because decoding is what costs time.
	longMessage = 1 << 20
)

// isConsoleEvent reports whether an event of this method says what a page has written to its
// console.
func isConsoleEvent(method string) bool {
	return method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown"
}

// longConsoleEvent finds the method and the session of such an event that is longer than
// longMessage, without decoding it. Chromium writes the method first and the session last.
func longConsoleEvent(b []byte) (method string, session proto.TargetSessionID, ok bool) {
	rest, found := bytes.CutPrefix(b, []byte(`{"method":"`))
	if len(b) <= longMessage || !found {
		return "", "", false
	}
	name, _, _ := bytes.Cut(rest[:100], []byte(`"`))
	session = sessionAtEnd(b)
	return string(name), session, session != "" && isConsoleEvent(string(name))
}

// sessionAtEnd is the session that a message of Chromium's ends with; empty: the
// browser's own.
func sessionAtEnd(b []byte) proto.TargetSessionID {
	const key = `"sessionId":"`
	at := bytes.LastIndex(b, []byte(key))
	if at < 0 {
		return ""
	}
	id, _, _ := bytes.Cut(b[at+len(key):], []byte(`"`))
	return proto.TargetSessionID(id)
}

// countConsole counts what the page writes to its console and to the run's clipboard, ends
// the run when that is too much, and reports whether the event is to be handled. It runs
// on the reading goroutine.
func (p *page) countConsole(method string, params json.RawMessage) bool {
	copies := method == "Runtime.bindingCalled" // to its clipboard
	if !isConsoleEvent(method) && !copies {
		return true
	}
	first := p.first()
	first.mu.Lock()
	first.console.bytes += len(params) + messageCost
	if copies {
		first.console.bytes += (copyCost - 1) * len(params)
	}
	over := first.console.bytes > maxConsoleBytes
	first.mu.Unlock()
	if over {
		p.block(routine.Errorf(routine.CodeResultTooLarge, "the page was ended: it floods its console or clipboard, which holds up other runs"))
	}
	return !over && (copies || len(params) <= longMessage)
}
