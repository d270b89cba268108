package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rote/routine"
)

// dataRange is the part of data that a call asks for: of the value at Path, Limit
// items, members or characters after the first Offset; with Limit 0, all of them.
type dataRange struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit,omitempty"`
	// RestOf makes the answer a page: it starts at Path and Offset and follows the
	// order of the text up to the end of the value at RestOf, which contains Path.
	RestOf *string `json:"rest_of,omitempty"`
	// TextOffset asks for the JSON text of the value at Path, from this character
	// on, instead of the value.
	TextOffset *int `json:"text_offset,omitempty"`
	// Total is how many items, members or characters the value at Path has.
	Total int `json:"total"`
}

// extract returns the part of data, and sets the total. data is compact, as
// cleanJSON returns it.
func (p *dataRange) extract(data json.RawMessage) (json.RawMessage, error) {
	v, err := resolvePointer(data, p.Path)
	if err != nil {
		return nil, err
	}
	text := p.setTotal(v)
	from := min(p.Offset, p.Total)
	to := p.Total
	if p.Limit > 0 {
		to = min(from+p.Limit, to)
	}
	switch v[0] {
	case '"':
		start := skipRunes(text, from)
		return routine.RawJSON(string(text[start : start+skipRunes(text[start:], to-from)])), nil
	case '[', '{':
		return sliceMembers(v, from, to), nil
	}
	return v, nil
}

// setTotal sets the total of v, and returns the text if v is a string.
func (p *dataRange) setTotal(v json.RawMessage) (text []byte) {
	switch v[0] {
	case '"':
		text = stringValue(v)
		p.Total = utf8.RuneCount(text)
	case '[', '{':
		p.Total = countMembers(v)
	}
	return text
}

// stringValue returns the text of a JSON string.
func stringValue(v json.RawMessage) []byte {
	var s string
	_ = json.Unmarshal(v, &s) // v is a string
	return []byte(s)
}

// sliceMembers returns an array or object with the members of v from index from
// up to, and without, to.
func sliceMembers(v json.RawMessage, from, to int) json.RawMessage {
	start, end := 1, 1
	for i, m := range eachMember(v) {
		if i == from {
			start, end = m.start, m.start
		}
		if i >= to {
			break
		}
		if i >= from {
			end = m.end
		}
	}
	return withLastByte(v, slices.Concat(v[:1], v[start:end]))
}

// resolvePointer returns the value that a JSON pointer leads to.
func resolvePointer(v json.RawMessage, pointer string) (json.RawMessage, error) {
	if pointer == "" {
		return v, nil
	}
	if pointer[0] != '/' {
		return nil, routine.Errorf(routine.CodeInvalid, "path %q is no JSON pointer: it begins with /, as in /items", truncate(pointer, 100))
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		m, ok := nthMember(v, memberIndex(v, step))
		if !ok {
			return nil, routine.Errorf(routine.CodeInvalid, "path %q leads nowhere in data", truncate(pointer, 100))
		}
		v = m.value
	}
	return v, nil
}

// memberIndex returns the index of the member that a step of a JSON pointer names,
// or -1. If several members have that name, it is the last one.
func memberIndex(v json.RawMessage, step string) int {
	found := -1
	if v[0] != '[' && v[0] != '{' {
		return found
	}
	step = routine.UnescapePointer(step)
	for i, m := range eachMember(v) {
		if m.name == nil && strconv.Itoa(i) == step || m.name != nil && m.key() == step {
			found = i
		}
	}
	return found
}
