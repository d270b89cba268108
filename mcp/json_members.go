package mcp

import (
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// member is an item of an array, or a member of an object with its name as JSON.
// Its slices share memory with the text of the array or object.
type member struct {
	name, value json.RawMessage
	// start and end are the offsets of the member in that text.
	start, end int
}

// size returns how many bytes the member takes, with a comma.
func (m member) size() int { return m.end - m.start + 1 }

// key returns the name of a member of an object.
func (m member) key() string {
	var key string
	_ = json.Unmarshal(m.name, &key) // it is a string
	return key
}

// eachMember iterates over the members of an array or object and their indexes. v
// is compact, as cleanJSON returns it. Nothing is copied, because data can be
// large.
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

// nthMember returns the member with the index n, and reports whether there is one.
func nthMember(v []byte, n int) (member, bool) {
	for i, m := range eachMember(v) {
		if i == n {
			return m, true
		}
	}
	return member{}, false
}

// countMembers returns the number of members of an array or object.
func countMembers(v []byte) int {
	n := 0
	for range eachMember(v) {
		n++
	}
	return n
}

// endOfValue returns the offset at which the value that starts at offset at of
// compact JSON ends.
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

// skipRunes returns the offset of the byte after the first n characters of a text.
func skipRunes(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}
