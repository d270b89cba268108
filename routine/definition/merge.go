package definition

import (
	"encoding/json"
	"maps"
	"slices"

	"rote/routine"
)

const (
	statusField = "routine_status"
	tagsField   = "tags"
	blockField  = "x-block"
)

// Merged is a definition to which a patch was applied.
type Merged struct {
	Definition routine.Definition
	// Status is the one that the patch names; empty: none.
	Status routine.Status
}

// Merge applies a JSON Merge Patch (RFC 7396) to a definition and checks the result
// like [Parse]. Pointers of problems are relative to the result and lines count in the
// patch; a problem in a field that the patch does not set has no line. Warnings are
// returned even with an error.
func Merge(old *routine.Definition, text []byte) (*Merged, []routine.Problem, error) {
	patch := readDocument(text, false)
	if patch.broken || patch.root.kind != '{' {
		_, warnings, err := parse(patch, &patch.root)
		return nil, warnings, err
	}
	merged, own, err := patch.mergedInto(old)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckSize(merged); err != nil {
		return nil, nil, err
	}
	doc := readDocument(merged, false)
	doc.own = own
	doc.found = patch.found // of a text that had to be mended, too
	m, warnings, err := doc.parseMerged()
	if err != nil {
		return nil, warnings, err
	}
	if patch.root.member(tagsField) == nil {
		m.Definition.Tags = old.Tags
	}
	return m, warnings, nil
}

// parseMerged checks the text of a definition to which a patch was applied, together with
// its routine_status if it has one.
func (d *document) parseMerged() (*Merged, []routine.Problem, error) {
	m := &Merged{}
	if n := d.root.member(statusField); n != nil {
		m.Status = routine.Status(n.text)
		if n.kind != '"' || !m.Status.Valid() {
			d.found.add(finding{offset: int(n.start), Problem: routine.Problem{Pointer: "/" + statusField, Code: "enum",
				Message: "must be draft, active or archived, not " + d.show(n)}})
		}
	}
	definition, warnings, err := parse(d, &d.root)
	if err != nil {
		return nil, warnings, err
	}
	m.Definition = *definition
	return m, warnings, nil
}

// mergedInto returns the definition was with the patch d applied, as text. The patch's
// own text comes first, with positions unchanged: removed fields are overwritten with
// blanks. The fields that the patch does not name follow. own is the length of the
// patch's part.
//
//	{"name": "new", "description": null}    the patch
//	{"name": "new"                     ,"incognito":true,…}    the result
//
// No field of a definition is an object, so only top-level fields need merging. Tags
// that the patch does not set are left out, because tags stored before they had limits
// must not prevent a change of other fields.
func (d *document) mergedInto(was *routine.Definition) (text []byte, own int, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(routine.RawJSON(was), &fields); err != nil {
		return nil, 0, routine.Internal("decode definition", err)
	}
	if d.root.member(tagsField) == nil {
		delete(fields, tagsField)
	}
	if session := d.root.member(sessionField); session != nil && (session.kind != 'n' || was.Session != "") {
		delete(fields, incognitoField) // it follows from the session
	}
	own = int(d.root.end) - 1
	text = []byte(d.src[:own])
	values, kept := d.root.items(), false
	for i, k := range d.root.keys() {
		_, known := fields[k.name]
		delete(fields, k.name)
		removed := values[i].kind == 'n' && (known || k.name == blockField || k.name == sessionField || k.name == incognitoField)
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

// blank overwrites text with spaces but keeps its line breaks, so that the positions
// of all that follows stay the same.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
