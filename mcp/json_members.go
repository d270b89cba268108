package mcp

import (
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// member is an item of an array, or a member of an object with its name as
// JSON. It is a part of the text that it was found in.
type member struct {
	name, value json.RawMessage
	// start and end are where it begins and ends in that text.
	start, end int
}

// size is how many bytes the member takes, a comma included.
func (m member) size() int { return m.end - m.start + 1 }

// key is a member's name as text.
func (m member) key() string {
	var key string
	_ = json.Unmarshal(m.name, &key) // it is a string
	return key
}

// eachMember gives the members of an array or object with their indexes. v is as
// cleanJSON gives it. Nothing is copied, as data can be large.
func eachMember(v []byte) iter.Seq2[int, member] {
	return func(yield func(int, member) bool) {
		for i, at := 0, 1; at < len(v)-1; i++ {
			m := member{start: at}
			if v[0] == '{' {
				end := endOfValue(v, at)
				m.name = v[at:end]
				at = end + 1 // the colon
			}
			m.end = endOfValue(v, at)
			m.value = v[at:m.end]
			if !yield(i, m) {
				return
			}
			at = m.end + 1 // the comma
		}
	}
}

// nthMember is the member with an index.
func nthMember(v []byte, n int) (member, bool) {
	for i, m := range eachMember(v) {
		if i == n {
			return m, true
		}
	}
	return member{}, false
}

// countMembers counts the members of an array or object.
func countMembers(v []byte) int {
	n := 0
	for range eachMember(v) {
		n++
	}
	return n
}

// endOfValue is where the value that begins at an index of compact JSON ends.
func endOfValue(v []byte, at int) int {
	for depth := 0; at < len(v); at++ {
		switch v[at] {
		case '"':
			for at++; v[at] != '"'; at++ {
				if v[at] == '\\' {
					at++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				return at
			}
		case ',', ':':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}

// skipRunes is the index of the byte after the first n characters of a text.
func skipRunes(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}
