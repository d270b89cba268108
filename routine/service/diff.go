package service

import (
	"bytes"
	"context"
	"encoding/json"
	"rote/routine"

	"github.com/wI2L/jsondiff"
)

// Lists within these bounds are compared item by item with all others, so that
// one that was put in between shows as that. Longer ones, for which that takes
// too long, are compared place by place.
const (
	maxMatchedItems = 200
	maxMatchedText  = 256 << 10
)

// DiffVersions gives the JSON Patch (RFC 6902) that makes of one version's
// definition and routine_status those of another. CodeNotFound, CodeForbidden.
func (s *Service) DiffVersions(ctx context.Context, p routine.Principal, id string, from, to int) (json.RawMessage, error) {
	r, err := s.find(ctx, p, toReadHistory, id)
	if err != nil {
		return nil, err
	}
	var texts [2]string
	for i, number := range []int{from, to} {
		v, err := s.version(ctx, p, r, number)
		if err != nil {
			return nil, err
		}
		texts[i] = routine.JSONText(struct {
			*routine.Definition
			Status routine.Status `json:"routine_status"`
		}{v.Definition, v.Status})
	}
	return diff(texts[0], texts[1])
}

// step is one operation of a JSON Patch.
type step struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func diff(from, to string) (json.RawMessage, error) {
	options := []jsondiff.Option{jsondiff.UnmarshalFunc(decodeNumbers)}
	if len(from)+len(to) <= maxMatchedText && longestList([]byte(from)) <= maxMatchedItems && longestList([]byte(to)) <= maxMatchedItems {
		options = append(options, jsondiff.LCS())
	}
	patch, err := jsondiff.CompareJSON([]byte(from), []byte(to), options...)
	if err != nil {
		return nil, routine.Internal("compare versions", err)
	}
	steps := []step{}
	for _, o := range patch {
		s := step{Op: o.Type, Path: o.Path}
		if o.Type != jsondiff.OperationRemove {
			s.Value = routine.RawJSON(o.Value)
		}
		steps = append(steps, s)
	}
	return routine.RawJSON(steps), nil
}

// decodeNumbers keeps numbers as they are spelt: long ones would lose digits.
func decodeNumbers(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// longestList is how many values the longest array or object of a JSON text has,
// the names of an object included.
func longestList(text []byte) int {
	var lengths []int
	longest := 0
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.Token()
		if err != nil { // the end
			return longest
		}
		if n := len(lengths) - 1; t != json.Delim(']') && t != json.Delim('}') && n >= 0 {
			lengths[n]++
			longest = max(longest, lengths[n])
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			lengths = append(lengths, 0)
		case json.Delim(']'), json.Delim('}'):
			lengths = lengths[:len(lengths)-1]
		}
	}
}
