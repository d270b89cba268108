package routine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

const (
	statusField = "routine_status"
	tagsField   = "tags"
)

// PatchRoutine applies a JSON Merge Patch (RFC 7396) to a routine: its
// definition's fields and routine_status. The result is checked like a new
// definition. Pointers of problems are relative to the result, lines count in
// the patch; a problem with what the patch leaves alone has none. The problems
// returned are warnings. The name can change, the tool name does not.
//
// expected, where it is not nil, are the versions that the caller knows: at
// another one CodePreconditionFailed. A patch that changes nothing makes no
// version. A caller who may not read routines gets a routine that is withheld,
// and of the problems only those of the patch itself.
//
// CodeUnauthenticated, CodeForbidden, CodeNotFound, CodeInvalid,
// CodeTooLarge; CodeConflict for a change of status that there is not, and for
// any other change to an archived routine.
func (s *Service) PatchRoutine(ctx context.Context, p Principal, id string, text []byte, expected []int) (*Routine, []Problem, error) {
	if err := checkSize(text); err != nil {
		return nil, nil, err
	}
	var warnings []Problem
	r, err := s.change(ctx, p, id, expected, func(r *Routine) error {
		status := r.Status
		done, err := s.admission.admit(ctx, p, len(text)+r.size())
		if err != nil {
			return err
		}
		defer done()
		warnings, err = r.patch(text)
		if may(p, toRead, nil) != nil {
			warnings, err = withheldProblems(warnings, err, func(found []Problem) []Problem { return problemsOfPatch(text, status, found) })
		}
		return err
	})
	return r, warnings, err
}

// patch gives r what a merge patch says. The warnings are there beside an error
// too.
func (r *Routine) patch(text []byte) ([]Problem, error) {
	patch := readDocument(text, false)
	if patch.broken || patch.root.kind != '{' {
		_, warnings, err := parse(patch, &patch.root)
		return warnings, err
	}
	merged, own, err := patch.mergedInto(&r.Definition)
	if err != nil {
		return nil, err
	}
	if err := checkSize(merged); err != nil {
		return nil, err
	}
	doc := readDocument(merged, false)
	doc.own = own
	doc.found = patch.found // of a text that had to be mended, too
	status := r.Status
	if n := patch.root.member(statusField); n != nil {
		var ok bool
		if status, ok = statusNamed(n); !ok {
			doc.found.add(finding{offset: int(n.start), Problem: Problem{Pointer: "/" + statusField, Code: "enum",
				Message: "must be draft, active or archived, not " + patch.show(n)}})
		}
	}
	d, warnings, err := parse(doc, &doc.root)
	if err != nil {
		return warnings, err
	}
	was := *r
	r.Definition = *d
	if patch.root.member(tagsField) == nil {
		r.Tags = was.Tags
	}
	if err := setStatus(r, status); err != nil || was.Status != StatusArchived || sameContent(&was, r) {
		return warnings, err
	}
	return warnings, requireNotArchived(r)
}

// statusNamed is the status that a value names.
func statusNamed(n *node) (Status, bool) {
	status := Status(n.text)
	return status, n.kind == '"' && transitions[status] != nil
}

// mergedInto is a definition with the patch d applied, as text: what d sets,
// where it stands in d, and behind it the fields that d does not name. own is
// how far d's own text goes. No field of a definition is an object, so there is
// nothing to merge deeper than fields. Tags that d leaves alone are left out:
// what was stored before they had limits can be changed in other fields.
func (d *document) mergedInto(was *Definition) (text []byte, own int, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(RawJSON(was), &fields); err != nil {
		return nil, 0, Internal("decode definition", err)
	}
	if d.root.member(tagsField) == nil {
		delete(fields, tagsField)
	}
	own = int(d.root.end) - 1
	text = []byte(d.src[:own])
	values, kept := d.root.items(), false
	for i, k := range d.root.keys() {
		_, known := fields[k.name]
		delete(fields, k.name)
		removed := known && values[i].kind == 'n'
		if i > 0 && (removed || !kept) {
			blank(text[values[i-1].end:k.start]) // the comma
		}
		if removed {
			blank(text[k.start:values[i].end])
		} else {
			kept = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if kept {
			text = append(text, ',')
		}
		kept = true
		text = append(append(append(text, '"'), name...), `":`...)
		text = append(text, fields[name]...)
	}
	return append(text, '}'), own, nil
}

// blank writes over text, so that all that comes behind stays at its place.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

func sameContent(a, b *Routine) bool {
	return a.Status == b.Status && JSONText(a.Definition) == JSONText(b.Definition)
}
