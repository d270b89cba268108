package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"rote/routine"

	"github.com/wI2L/jsondiff"
)

// Versions lists at most limit versions of a routine of p's organization after the first
// offset, newest first and without their definitions. It also returns the number of all
// versions. CodeNotFound, CodeForbidden.
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

// Version returns one version of a routine of p's organization. CodeNotFound,
// CodeForbidden, CodeBusy.
func (s *Service) Version(ctx context.Context, p routine.Principal, id string, number int) (*routine.Version, error) {
	r, err := s.find(ctx, p, toReadHistory, id)
	if err != nil {
		return nil, err
	}
	return s.version(ctx, p, r, number)
}

// version reads a version of r for p.
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

// RestoreRoutine saves the definition of an earlier version as the newest version. It is
// checked like a new definition: the problems are warnings. The status of the routine
// stays. CodeNotFound also for an unknown version; see PatchRoutine for expected and the
// other errors.
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

// clearLines removes the lines and columns of problems, because they refer to a text that
// the caller did not send.
func clearLines(problems []routine.Problem) {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
}

// Limits for finding the longest common subsequence of lists, with which an item that was
// inserted shows as one insertion. For larger texts that takes too long: their lists are
// compared index by index.
const (
	maxMatchedItems = 200
	maxMatchedText  = 256 << 10
)

// DiffVersions returns the JSON Patch (RFC 6902) that changes the definition and
// routine_status of one version to those of another. CodeNotFound, CodeForbidden,
// CodeBusy.
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

// diff returns the JSON Patch from one JSON text to another.
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

// decodeNumbers decodes JSON and keeps numbers as they are written, because a float64
// would lose digits of long ones.
func decodeNumbers(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// longestList returns the length of the longest array or object of a JSON text. The names
// of an object count like its values.
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
