package mcp

import (
	"encoding/json"
	"strconv"
	"strings"

	"rote/routine"
)

// part is what a call wants of data: what Path leads to, without the first
// Offset items, members or characters, and at most Limit of them; 0: all.
type part struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit,omitempty"`
	// Total is how many there are.
	Total int `json:"total"`
}

// take gives the part of data, and fills in the total. data is as cleanJSON
// gives it.
func (p *part) take(data json.RawMessage) (json.RawMessage, error) {
	v, err := follow(data, p.Path)
	if err != nil {
		return nil, err
	}
	if v[0] == '"' {
		return p.takeText(v)
	}
	if v[0] != '[' && v[0] != '{' {
		return v, nil
	}
	list := members(v)
	p.Total = len(list)
	from := min(p.Offset, len(list))
	to := len(list)
	if p.Limit > 0 {
		to = min(from+p.Limit, to)
	}
	return join(v, list[from:to]), nil
}

func (p *part) takeText(v json.RawMessage) (json.RawMessage, error) {
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return nil, err
	}
	r := []rune(text)
	p.Total = len(r)
	r = r[min(p.Offset, len(r)):]
	if p.Limit > 0 {
		r = r[:min(p.Limit, len(r))]
	}
	return compact(string(r)), nil
}

// follow is what a JSON pointer leads to.
func follow(v json.RawMessage, pointer string) (json.RawMessage, error) {
	if pointer == "" {
		return v, nil
	}
	if pointer[0] != '/' {
		return nil, routine.Errorf(routine.CodeInvalid, "path %q is no JSON pointer: it begins with /, as in /items", clip(pointer, 100))
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var next json.RawMessage
		for i, m := range members(v) {
			if m.name == nil && strconv.Itoa(i) == step || m.name != nil && m.key() == step {
				next = m.value
			}
		}
		if next == nil {
			return nil, routine.Errorf(routine.CodeInvalid, "path %q leads nowhere in data", clip(pointer, 100))
		}
		v = next
	}
	return v, nil
}
