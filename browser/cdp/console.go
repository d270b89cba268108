package cdp

import (
	"bytes"

	"github.com/go-rod/rod/lib/proto"
)

// MaxConsoleEvent is the length up to which an event of a page's console is decoded, in bytes.
// Of a longer one only the length counts, because decoding is what costs time.
const MaxConsoleEvent = 1 << 20

// IsConsoleEvent reports whether an event of this method says what a page has written to its
// console.
func IsConsoleEvent(method string) bool {
	return method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown"
}

// longConsoleEvent finds the method and the session of such an event that is longer than
// MaxConsoleEvent, without decoding it. Chromium writes the method first and the session last.
func longConsoleEvent(b []byte) (method string, session proto.TargetSessionID, ok bool) {
	rest, found := bytes.CutPrefix(b, []byte(`{"method":"`))
	if len(b) <= MaxConsoleEvent || !found {
		return "", "", false
	}
	name, _, _ := bytes.Cut(rest[:100], []byte(`"`))
	session = sessionAtEnd(b)
	return string(name), session, session != "" && IsConsoleEvent(string(name))
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
