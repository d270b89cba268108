package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// minRoom is the least room in bytes that a value is shortened to; every value
// can be shortened to that. Where there is less room, members are left out.
const minRoom = 64

// cleanJSON returns page data as compact JSON. Numbers and the order of members
// stay as they are, lone surrogates are replaced, and control characters are
// removed from strings.
func cleanJSON(data json.RawMessage) json.RawMessage {
	v := jsontext.Value(data).Clone()
	if err := v.Format(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		text, _ := json.Marshal(cleanData(string(data))) // a string always encodes
		return text
	}
	out := make([]byte, 0, len(v))
	for rest := []byte(v); len(rest) > 0; {
		n, r := firstChar(rest)
		if !isControl(r) {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}

// firstChar returns the length in bytes of the first character of formatted JSON
// text, and the character. An escape sequence in a string is one character.
func firstChar(text []byte) (int, rune) {
	if text[0] != '\\' {
		r, n := utf8.DecodeRune(text)
		return n, r
	}
	switch text[1] {
	case 'u':
		code, _ := strconv.ParseUint(string(text[2:6]), 16, 32)
		return 6, rune(code)
	case 'b', 'f':
		return 2, '\b'
	case 'n', 'r', 't':
		return 2, '\n'
	}
	return 2, rune(text[1])
}

// truncator shortens JSON and records what it has kept of each shortened value.
type truncator struct {
	cuts []string
	// first is the position of the first part, in the order of the text, that was
	// removed: the index of a member at each level, followed by how many items,
	// members or characters of the value there were kept.
	first []int
}

// summary returns what was kept of each shortened value, in about n bytes at most.
func (c *truncator) summary(n int) []string {
	for i, cut := range c.cuts {
		if n -= len(cut) + 3; n < 0 && i > 0 {
			return append(c.cuts[:i:i], fmt.Sprintf("and %d places more", len(c.cuts)-i))
		}
	}
	return c.cuts
}

func (c *truncator) note(at location, kept int, format string, args ...any) {
	c.cuts = append(c.cuts, at.name+": "+fmt.Sprintf(format, args...))
	if begins := append(slices.Clone(at.indexes), kept); c.first == nil || slices.Compare(begins, c.first) < 0 {
		c.first = begins
	}
}

// location is the place of a value: its name for people, and the index of the
// member at each level.
type location struct {
	name    string
	indexes []int
}

// fit returns v in at most room bytes, at least minRoom: arrays lose
// whole items from their end, strings end at a character, and an object's room
// goes to its small members first. v is a result of cleanJSON.
func (c *truncator) fit(at location, v json.RawMessage, room int) json.RawMessage {
	if len(v) <= room {
		return v
	}
	switch v[0] {
	case '"':
		return c.fitString(at, v, room)
	case '[':
		return c.fitList(at, v, room, "items")
	case '{':
		return c.fitObject(at, v, room)
	}
	c.note(at, 0, "left out, a number of %d digits", len(v))
	return json.RawMessage("null")
}

func (c *truncator) fitString(at location, v []byte, room int) json.RawMessage {
	end, kept, total := 1, 0, 0
	for i := 1; i < len(v)-1; total++ {
		n, _ := firstChar(v[i:])
		if i += n; i < room {
			end, kept = i, total+1
		}
	}
	c.note(at, kept, "the first %d of %d characters", kept, total)
	return append(append(json.RawMessage{}, v[:end]...), '"')
}

// fitList keeps the first members, as many as fit, or else a part of the first.
func (c *truncator) fitList(at location, v []byte, room int, what string) json.RawMessage {
	left := room - 1 // of the two brackets one; each member counts a comma
	kept, total, end := 0, 0, 1
	var first member
	for i, m := range eachMember(v) {
		if i == 0 {
			first = m
		}
		if total == kept && m.size() <= left {
			left -= m.size()
			kept, end = i+1, m.end
		}
		total = i + 1
	}
	inside := left - (first.size() - len(first.value))
	switch {
	case kept > 0:
		c.note(at, kept, "the first %d of %d %s", kept, total, what)
		return withLastByte(v, v[:end])
	case inside < minRoom:
		c.note(at, 0, "none of %d %s", total, what)
		return withLastByte(v, v[:1])
	}
	c.cuts = append(c.cuts, fmt.Sprintf("%s: a part of the first of %d %s", at.name, total, what))
	value := c.fit(first.location(at, 0), first.value, inside)
	return withLastByte(v, slices.Concat(v[:first.end-len(first.value)], value))
}

// withLastByte closes the beginning of an array or object: it appends the closing
// bracket, which is the last byte of v.
func withLastByte(v, beginning []byte) json.RawMessage {
	return slices.Concat(beginning, v[len(v)-1:])
}

func (c *truncator) fitObject(at location, v []byte, room int) json.RawMessage {
	var list []member
	left := room - 1
	for _, m := range eachMember(v) {
		if left -= m.size() - len(m.value); left < 0 {
			return c.fitList(at, v, room, "members")
		}
		list = append(list, m)
	}
	bySize := make([]int, len(list))
	for i := range list {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return len(list[a].value) - len(list[b].value) })
	values := make([]json.RawMessage, len(list))
	for rank, i := range bySize {
		m, share := list[i], left/(len(list)-rank)
		if len(m.value) > share && share < minRoom {
			return c.fitList(at, v, room, "members")
		}
		values[i] = c.fit(m.location(at, i), m.value, share)
		left -= len(values[i])
	}
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), values[i]...)
	}
	return append(out, '}')
}

// location returns the location of the member with index i of parent.
func (m member) location(parent location, i int) location {
	at := append(slices.Clone(parent.indexes), i)
	if m.name == nil {
		return location{fmt.Sprintf("%s[%d]", parent.name, i), at}
	}
	return location{truncate(parent.name+"."+strings.Trim(string(m.name), `"`), 100), at}
}
