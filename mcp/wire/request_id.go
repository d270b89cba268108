package wire

import (
	"bytes"
	"encoding/json"
)

// maxExactLength is the length in characters up to which every number stays the
// same when it is read as a float64 and written again.
const maxExactLength = 15

// longIDPrefix starts the string that replaces a longer number.
const longIDPrefix = "rote-number:"

// requestID is the id of a request whose message goes through mcp-go. mcp-go
// reads numbers as float64, so that a long id would be answered with another id,
// or cancel another request. Such a number is replaced by a string in the
// message, and put back into the answer: 9007199254740993 travels as
// "rote-number:9007199254740993". The zero value changes nothing.
type requestID struct{ given, text []byte }

// exactToken returns a progress token if mcp-go would not write it back unchanged,
// or nil.
func exactToken(token json.RawMessage) json.RawMessage {
	if len(token) <= maxExactLength {
		return nil
	}
	return token
}

// newRequestID returns the requestID of an id as the client wrote it. given is
// empty if the message has none.
func newRequestID(given json.RawMessage) requestID {
	if len(given) <= maxExactLength || given[0] != '-' && (given[0] < '0' || given[0] > '9') {
		return requestID{}
	}
	return requestID{given: given, text: []byte(`"` + longIDPrefix + string(given) + `"`)}
}

// hide replaces the number in a message by the string. path leads to the number.
func (r requestID) hide(message []byte, path ...string) []byte {
	if r.given == nil {
		return message
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil || members == nil {
		return message // mcp-go refuses the message
	}
	if inner := path[1:]; len(inner) > 0 {
		members[path[0]] = r.hide(members[path[0]], inner...)
	} else {
		members[path[0]] = r.text
	}
	hidden, err := json.Marshal(members)
	if err != nil {
		return message // what could be decoded can be encoded
	}
	return hidden
}

// restore puts the number back into a message to the client. The id is the first
// place in it where the string occurs.
func (r requestID) restore(message []byte) []byte {
	if r.given == nil {
		return message
	}
	return bytes.Replace(message, r.text, r.given, 1)
}
