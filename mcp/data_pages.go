package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// A result may have more data than an agent can take in one answer. The answer
// then names the call for the first page of the rest, and each page names the call
// for the next one. Pages follow the order of the data's text; together they have
// all of it, and nothing twice. The server keeps no state: the position of a page
// is in the arguments of its call.

// maxPath limits the pointer of a page, in bytes. What only a longer pointer leads
// to is returned as a piece of JSON text.
const maxPath = 200

// position is the start of a page: in the value that a JSON pointer leads to,
// after a number of items, members or characters.
type position struct {
	path   string
	offset int
	// text: the page is a piece of JSON text, and offset counts its characters.
	text bool
}

// pageOf returns what fits into room bytes of v from an offset on, and the position
// of the rest of v, or nil if there is none. path leads to v.
func pageOf(v json.RawMessage, path string, offset, room int) (json.RawMessage, *position) {
	switch v[0] {
	case '"':
		return textPage(stringValue(v), position{path: path, offset: offset}, room)
	case '[', '{':
		return pageOfMembers(v, path, offset, room)
	}
	if len(v) > room {
		return json.RawMessage("null"), &position{path: path, text: true}
	}
	return v, nil
}

// pageOfMembers is pageOf for an array or an object. A page may end within its last
// member.
func pageOfMembers(v json.RawMessage, path string, offset, room int) (json.RawMessage, *position) {
	left := room - 1 // of the two brackets one; each member counts a comma
	start, end := 1, 1
	for i, m := range eachMember(v) {
		if i < offset {
			continue
		}
		if i == offset {
			start, end = m.start, m.start
		}
		if m.size() <= left {
			left -= m.size()
			end = m.end
			continue
		}
		inside := left - (m.size() - len(m.value))
		if pointer, ok := pointerTo(v, i, m, path); ok && inside >= minRoom {
			value, rest := pageOf(m.value, pointer, 0, inside)
			return withLastByte(v, slices.Concat(v[:1], v[start:m.end-len(m.value)], value)), rest
		}
		if i > offset {
			return withLastByte(v, slices.Concat(v[:1], v[start:end])), &position{path: path, offset: i}
		}
		return withLastByte(v, v[:1]), &position{path, utf8.RuneCount(v[:m.start]), true}
	}
	return withLastByte(v, slices.Concat(v[:1], v[start:end])), nil
}

// textPage returns what fits into room bytes of a text from a position on, as a
// JSON string, and the position of the rest, or nil.
func textPage(text []byte, at position, room int) (json.RawMessage, *position) {
	rest := text[skipRunes(text, at.offset):]
	some := rest[:skipRunes(rest, room)] // a character takes a byte at least
	var c truncator
	out := c.fit(location{}, routine.RawJSON(string(some)), room)
	kept := utf8.RuneCount(some)
	if c.first != nil {
		kept = c.first[0]
	} else if len(some) == len(rest) {
		return out, nil
	}
	at.offset += kept
	return out, &at
}

// pointerTo returns the JSON pointer to the member m of v, which path leads to. It
// reports false if the pointer would be longer than maxPath, or would also name
// another member.
func pointerTo(v json.RawMessage, i int, m member, path string) (string, bool) {
	step := strconv.Itoa(i)
	if m.name != nil {
		if len(m.name) > maxPath {
			return "", false
		}
		step = m.key()
		for other, o := range eachMember(v) {
			if other != i && o.key() == step {
				return "", false
			}
		}
	}
	path += "/" + routine.EscapePointer(step)
	return path, len(path) <= maxPath
}

// locate returns the position that a truncator has recorded as indexes in v, to
// which path leads. If no pointer leads there, it is a position before that.
func locate(v json.RawMessage, path string, first []int) position {
	last := len(first) - 1
	for _, i := range first[:last] {
		m, _ := nthMember(v, i) // the truncator has found it
		pointer, ok := pointerTo(v, i, m, path)
		if !ok {
			return position{path: path, offset: i}
		}
		path, v = pointer, m.value
	}
	return position{path: path, offset: first[last]}
}

// positionAfter returns the position of what follows the value at path within the
// value at within, or nil if nothing does.
func positionAfter(data json.RawMessage, path, within string) *position {
	for path != within {
		slash := strings.LastIndexByte(path, '/')
		parent, err := resolvePointer(data, path[:slash])
		if err != nil {
			return nil // path has been resolved before
		}
		i := memberIndex(parent, path[slash+1:])
		if _, more := nthMember(parent, i+1); more {
			return &position{path: path[:slash], offset: i + 1}
		}
		path = path[:slash]
	}
	return nil
}

// takePage reduces the data of the answer to a page.
func (a *answer) takePage(p dataRange) error {
	if p.Path != *p.RestOf && !strings.HasPrefix(p.Path, *p.RestOf+"/") {
		return routine.Errorf(routine.CodeInvalid, "path %q is not within rest_of %q: give both as the answer before did",
			truncate(p.Path, 100), truncate(*p.RestOf, 100))
	}
	data := a.Data
	v, err := resolvePointer(data, p.Path)
	if err != nil {
		return err
	}
	p.setTotal(v)
	// The answer before the first page had the warnings and files.
	a.Part, a.Data, a.Note, a.Warnings, a.Files = &p, nil, pageData, []string{}, nil
	room := maxResult - truncationRoom - len(routine.RawJSON(a))
	var rest *position
	if p.TextOffset != nil {
		a.Data, rest = textPage(v, position{p.Path, *p.TextOffset, true}, room)
	} else {
		a.Data, rest = pageOf(v, p.Path, p.Offset, room)
	}
	if rest == nil {
		rest = positionAfter(data, p.Path, *p.RestOf)
	}
	if rest != nil {
		a.Truncated = &truncation{TotalBytes: len(data), Kept: []string{"data: one page of it"}, Next: a.nextPageCall(*rest, *p.RestOf)}
	}
	return nil
}

// nextPageCall returns the call for the page that starts at a position.
func (a *answer) nextPageCall(at position, within string) *nextCall {
	arguments := map[string]any{"execution_id": a.ExecutionID, "rest_of": within}
	if at.path != "" {
		arguments["path"] = at.path
	}
	switch {
	case at.text:
		arguments["text_offset"] = at.offset
	case at.offset > 0:
		arguments["offset"] = at.offset
	}
	return &nextCall{"get_execution", arguments, "this call gives the next page of the data, in order; or call with arguments that give less"}
}
