package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"rote/routine"

	"github.com/wI2L/jsondiff"
)

// Versions lists the versions of a routine of p's organization without their
// definitions, newest first, with the number of all. CodeNotFound,
// CodeForbidden.
func (s *Service) Versions(ctx context.Context, p routine.Principal, id string, limit, offset int) ([]*routine.Version, int, error) {
	if _, err := s.find(ctx, p, toReadHistory, id); err != nil {
		return nil, 0, err
	}
	vs, total, err := s.store.Versions(ctx, id, limit, offset)
	if err != nil {
		return nil, 0, storeError(ctx, "list versions", err)
	}
	return vs, total, nil
}

// Version reads one version of a routine of p's organization. CodeNotFound,
// CodeForbidden.
func (s *Service) Version(ctx context.Context, p routine.Principal, id string, number int) (*routine.Version, error) {
	r, err := s.find(ctx, p, toReadHistory, id)
	if err != nil {
		return nil, err
	}
	return s.version(ctx, p, r, number)
}

func (s *Service) version(ctx context.Context, p routine.Principal, r *routine.Routine, number int) (*routine.Version, error) {
	done, err := s.admitStored(ctx, p, r.ID, number)
	if routine.CodeOf(err) == routine.CodeBusy {
		return nil, err
	}
	var v *routine.Version
	if err == nil {
		v, err = s.store.Version(ctx, r.ID, number)
		done()
	}
	if errors.Is(err, routine.ErrNotFound) {
		return nil, routine.Errorf(routine.CodeNotFound, "the routine has no version %d: it is at version %d", number, r.Version)
	}
	if err != nil {
		return nil, storeError(ctx, "read version", err)
	}
	return v, nil
}

// RestoreRoutine makes the definition of an earlier version the newest one
// again. The status stays. It is checked like a new one: the problems are
// warnings. CodeNotFound for an unknown version too; see PatchRoutine for
// expected and errors.
func (s *Service) RestoreRoutine(ctx context.Context, p routine.Principal, id string, version int, expected []int) (
	*routine.Routine, []routine.Problem, error) {

	r, err := s.find(ctx, p, toChange, id)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.version(ctx, p, r, version)
	if err != nil {
		return nil, nil, err
	}
	r, warnings, err := s.ReplaceRoutine(ctx, p, id, routine.RawJSON(v.Definition), expected)
	clearLines(warnings)
	if err != nil {
		clearLines(routine.AsError(err).Problems)
	}
	if may(p, toRead, nil) != nil {
		warnings, err = withheldProblems(warnings, err, func(found []routine.Problem) []routine.Problem { return withhold(found, nil) })
	}
	return r, warnings, err
}

// clearLines removes the lines and columns of problems in a text that the caller
// did not send.
func clearLines(problems []routine.Problem) {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
}

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
