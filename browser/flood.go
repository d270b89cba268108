package browser

import (
	"bytes"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// A page may write so much to its console, of which each message costs as much
// as so many bytes. What all pages say comes through one process and one pipe:
// one that writes without end holds up every other run.
const (
	maxWritten  = 64 << 20
	messageCost = 4 << 10
	// longMessage is how long one may be to be looked at; of a longer one only
	// the length counts, as decoding it is what costs.
	longMessage = 1 << 20
)

// isWriting tells the events of what a page writes to its console.
func isWriting(method string) bool {
	return method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown"
}

// longWriting finds, without decoding it, what such an event is and whose, when it
// is longer than longMessage. Chromium puts the method first and the session last.
func longWriting(b []byte) (method string, session proto.TargetSessionID, ok bool) {
	const first, last = `{"method":"`, `"sessionId":"`
	rest, found := bytes.CutPrefix(b, []byte(first))
	if len(b) <= longMessage || !found {
		return "", "", false
	}
	name, _, _ := bytes.Cut(rest[:100], []byte(`"`))
	at := bytes.LastIndex(b, []byte(last))
	if at < 0 || !isWriting(string(name)) {
		return "", "", false
	}
	id, _, _ := bytes.Cut(b[at+len(last):], []byte(`"`))
	return string(name), proto.TargetSessionID(id), true
}

// mayWrite counts what the page writes to its console and ends the page when it
// is too much. It runs on the reading goroutine.
func (p *page) mayWrite(method string, params json.RawMessage) bool {
	if !isWriting(method) {
		return true
	}
	first := p.first()
	first.mu.Lock()
	first.written += len(params) + messageCost
	over := first.written > maxWritten
	first.mu.Unlock()
	if over {
		p.block(routine.Errorf(routine.CodeResultTooLarge, "the page was ended: it floods its console, which holds up other runs"))
	}
	return !over && len(params) <= longMessage
}
