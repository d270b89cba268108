package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// leastRoom is the least room worth giving to a value, and enough for what is
// left of any. Where there is less, members are dropped instead.
const leastRoom = 64

// cleanJSON writes page data compactly, with numbers and order as they are,
// lone surrogates replaced and control characters taken out of its strings.
func cleanJSON(data json.RawMessage) json.RawMessage {
	v := jsontext.Value(data).Clone()
	if err := v.Format(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		text, _ := json.Marshal(cleanData(string(data))) // a string always encodes
		return text
	}
	out := make([]byte, 0, len(v))
	for rest := []byte(v); len(rest) > 0; {
		n, r := unit(rest)
		if !isControl(r) {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}

// unit is the first character of formatted JSON text, an escape sequence of a
// string being one character: its length and what it stands for.
func unit(text []byte) (int, rune) {
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

// cutter shortens JSON and remembers what it kept of what.
type cutter struct {
	cuts []string
	// rest is where the first thing begins that was cut away.
	rest *place
}

// place is a part of data: what a JSON pointer leads to, from an offset on.
type place struct {
	Path   string `json:"path,omitempty"`
	Offset int    `json:"offset,omitempty"`
}

// kept tells what is left at each place that was cut, in at most about n bytes.
func (c *cutter) kept(n int) []string {
	for i, cut := range c.cuts {
		if n -= len(cut) + 3; n < 0 && i > 0 {
			return append(c.cuts[:i:i], fmt.Sprintf("and %d places more", len(c.cuts)-i))
		}
	}
	return c.cuts
}

func (c *cutter) cut(at spot, kept int, format string, args ...any) {
	c.cuts = append(c.cuts, at.name+": "+fmt.Sprintf(format, args...))
	if c.rest == nil {
		c.rest = &place{at.pointer, kept}
	}
}

// spot is where a value stands, for people and as a JSON pointer.
type spot struct{ name, pointer string }

// fit gives v in at most room bytes, of which there are leastRoom: arrays lose
// whole items from their end, strings end at a character, and an object's room
// goes to its small members first. v is as cleanJSON gives it.
func (c *cutter) fit(at spot, v json.RawMessage, room int) json.RawMessage {
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
	c.cut(at, 0, "left out, a number of %d digits", len(v))
	return json.RawMessage("null")
}

func (c *cutter) fitString(at spot, v []byte, room int) json.RawMessage {
	end, kept, total := 1, 0, 0
	for i := 1; i < len(v)-1; total++ {
		n, _ := unit(v[i:])
		if i += n; i < room {
			end, kept = i, total+1
		}
	}
	c.cut(at, kept, "the first %d of %d characters", kept, total)
	return append(append(json.RawMessage{}, v[:end]...), '"')
}

// member is an item of an array, or a member of an object with its name as
// JSON.
type member struct{ name, value json.RawMessage }

func (m member) size() int {
	if m.name == nil {
		return len(m.value) + 1
	}
	return len(m.name) + len(m.value) + 2
}

// members splits an array or object.
func members(v []byte) []member {
	d := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	open, err := d.ReadToken()
	var list []member
	for err == nil && d.PeekKind() != ']' && d.PeekKind() != '}' {
		var m member
		var value jsontext.Value
		if open.Kind() == '{' {
			if value, err = d.ReadValue(); err != nil {
				break
			}
			m.name = json.RawMessage(value.Clone())
		}
		if value, err = d.ReadValue(); err != nil {
			break
		}
		m.value = json.RawMessage(value.Clone())
		list = append(list, m)
	}
	return list // v is valid JSON, so err is nil
}

// join puts members together again, as the same kind as v.
func join(v []byte, list []member) json.RawMessage {
	out := json.RawMessage{v[0]}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if m.name != nil {
			out = append(append(out, m.name...), ':')
		}
		out = append(out, m.value...)
	}
	return append(out, v[len(v)-1])
}

// fitList keeps as many members as fit from the start, or a part of the first.
func (c *cutter) fitList(at spot, v []byte, room int, what string) json.RawMessage {
	list := members(v)
	left, n := room-1, 0 // of the two brackets one; each member counts a comma
	for n < len(list) && list[n].size() <= left {
		left -= list[n].size()
		n++
	}
	first := list[0]
	inside := left - (first.size() - len(first.value))
	switch {
	case n > 0:
		c.cut(at, n, "the first %d of %d %s", n, len(list), what)
	case inside < leastRoom:
		c.cut(at, 0, "none of %d %s", len(list), what)
	default:
		c.cuts = append(c.cuts, fmt.Sprintf("%s: a part of the first of %d %s", at.name, len(list), what))
		first.value = c.fit(first.spot(at, 0), first.value, inside)
		return join(v, []member{first})
	}
	return join(v, list[:n])
}

func (c *cutter) fitObject(at spot, v []byte, room int) json.RawMessage {
	list := members(v)
	left := room - 1
	bySize := make([]int, len(list))
	for i, m := range list {
		bySize[i] = i
		left -= m.size() - len(m.value)
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return len(list[a].value) - len(list[b].value) })
	for rank, i := range bySize {
		m, share := &list[i], left/(len(list)-rank)
		if len(m.value) > share && share < leastRoom {
			return c.fitList(at, v, room, "members")
		}
		m.value = c.fit(m.spot(at, i), m.value, share)
		left -= len(m.value)
	}
	return join(v, list)
}

// spot is where a member stands, i being its index.
func (m member) spot(parent spot, i int) spot {
	if m.name == nil {
		return spot{fmt.Sprintf("%s[%d]", parent.name, i), fmt.Sprintf("%s/%d", parent.pointer, i)}
	}
	name := clip(parent.name+"."+strings.Trim(string(m.name), `"`), 100)
	return spot{name, parent.pointer + "/" + escapePointer.Replace(m.key())}
}

// key is a member's name as text.
func (m member) key() string {
	var key string
	_ = json.Unmarshal(m.name, &key) // it is a string
	return key
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")
