package wire

import (
	"bytes"
	"encoding/json"
)

// maxExactLength is up to how many characters a number survives that is read as a
// float64 and written again.
const maxExactLength = 15

// longIDPrefix begins the text that stands for a number of many digits.
const longIDPrefix = "rote-number:"

// requestID is the id of a request whose message goes through mcp-go, which
// reads numbers as float64 and would answer another id than it was asked with,
// or cancel another request. A number that would not survive that travels as a
// text instead, and is put back into the answer.
type requestID struct{ given, text []byte }

// exactToken returns a progress token if mcp-go would not write it back unchanged,
// or nil.
func exactToken(token json.RawMessage) json.RawMessage {
	if len(token) <= maxExactLength {
		return nil
	}
	return token
}

// newRequestID takes an id as it is written; empty: there is none.
func newRequestID(given json.RawMessage) requestID {
	if len(given) <= maxExactLength || given[0] != '-' && (given[0] < '0' || given[0] > '9') {
		return requestID{}
	}
	return requestID{given: given, text: []byte(`"` + longIDPrefix + string(given) + `"`)}
}

// hide puts the text in place of the number that the path leads to in a message.
func (r requestID) hide(message []byte, path ...string) []byte {
	if r.given == nil {
		return message
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(message, &members) != nil || members == nil {
		return message // mcp-go refuses it
	}
	if inner := path[1:]; len(inner) > 0 {
		members[path[0]] = r.hide(members[path[0]], inner...)
	} else {
		members[path[0]] = r.text
	}
	hidden, err := json.Marshal(members)
	if err != nil {
		return message // what was read is written
	}
	return hidden
}

// restore puts the number back into a message to the client, in which the id
// stands before all else.
func (r requestID) restore(message []byte) []byte {
	if r.given == nil {
		return message
	}
	return bytes.Replace(message, r.text, r.given, 1)
}
