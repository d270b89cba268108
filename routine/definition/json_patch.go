package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"rote/routine"
)

// maxPatchSteps limits the steps of a JSON Patch. The time of each grows with the size of
// the definition.
const maxPatchSteps = 500

// ApplyJSONPatch applies a JSON Patch (RFC 6902) to a definition together with its
// routine_status and checks the result like [Parse]. Problems of the patch have pointers
// into it. Those of the result have pointers into the result, and no positions, because
// nobody has written its text. Warnings are returned even with an error.
func ApplyJSONPatch(old *routine.Definition, status routine.Status, text []byte) (*Merged, []routine.Problem, error) {
	read, err := readJSONPatch(text)
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(read, patchStep.setsSession) && !slices.ContainsFunc(read, func(s patchStep) bool { return s.names(incognitoField) }) {
		read = append(read, patchStep{Op: new("remove"), Path: new("/" + incognitoField)}) // it follows from the session
	}
	steps, err := jsonpatch.DecodePatch(routine.RawJSON(read)) // not text: the library panics at a test without a value
	if err != nil {
		return nil, nil, patchProblem("", "json_patch", fmt.Sprintf("is no JSON Patch: %v", err))
	}
	before := *old
	keepsTags := !slices.ContainsFunc(read, func(s patchStep) bool { return s.names(tagsField) })
	if keepsTags { // tags stored before they had limits must not prevent a change of other fields
		before.Tags = []string{}
	}
	was := routine.RawJSON(struct {
		*routine.Definition
		Status routine.Status `json:"routine_status"`
	}{&before, status})
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.AccumulatedCopySizeLimit = routine.MaxDefinitionBytes
	patched, err := steps.ApplyWithOptions(was, options)
	if err != nil {
		first := sort.Search(len(steps)-1, func(i int) bool {
			_, err := steps[:i+1].ApplyWithOptions(was, options)
			return err != nil
		})
		return nil, nil, patchProblem(fmt.Sprintf("/%d", first), "json_patch", fmt.Sprintf("the step does not apply: %v", err))
	}
	if err := CheckSize(patched); err != nil {
		return nil, nil, err
	}
	doc := readDocument(patched, false)
	doc.own = -1 // nobody has written the text, so no problem has a position
	m, warnings, err := doc.parseMerged()
	if err == nil && keepsTags {
		m.Definition.Tags = old.Tags
	}
	return m, warnings, err
}

// patchStep is one step of a JSON Patch. Members that are left out are nil.
type patchStep struct {
	Op    *string         `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// names reports whether the step reads or changes a field.
func (s patchStep) names(field string) bool {
	for _, pointer := range []*string{s.Path, s.From} {
		if pointer != nil && strings.HasPrefix(*pointer, "/"+field) {
			return true
		}
	}
	return false
}

// setsSession reports whether the step sets or removes the session.
func (s patchStep) setsSession() bool {
	return *s.Path == "/"+sessionField && *s.Op != "test" || *s.Op == "move" && *s.From == "/"+sessionField
}

// readJSONPatch reads a JSON Patch and checks its shape. Paths must lead into the
// definition: to replace all of it, a new definition is sent.
func readJSONPatch(text []byte) ([]patchStep, error) {
	var steps []patchStep
	if err := json.Unmarshal(text, &steps); err != nil {
		return nil, patchProblem("", "json_patch", `must be a list of steps, as in [{"op": "replace", "path": "/operations/1/selector", "value": "#buy"}]`)
	}
	if len(steps) > maxPatchSteps {
		return nil, patchProblem("", "json_patch", fmt.Sprintf("has %d steps, the limit is %d", len(steps), maxPatchSteps))
	}
	for i, s := range steps {
		at := func(member string) string { return fmt.Sprintf("/%d/%s", i, member) }
		leads := func(pointer *string) bool {
			return pointer != nil && len(*pointer) > 1 && strings.HasPrefix(*pointer, "/")
		}
		switch {
		case s.Op == nil || !slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, *s.Op):
			return nil, patchProblem(at("op"), "enum", "must be add, remove, replace, move, copy or test")
		case !leads(s.Path):
			return nil, patchProblem(at("path"), "json_pointer", "must be a JSON pointer into the definition, as in /operations/1/selector")
		case (*s.Op == "move" || *s.Op == "copy") && !leads(s.From):
			return nil, patchProblem(at("from"), "json_pointer", "must be a JSON pointer into the definition, as in /operations/1")
		case (*s.Op == "add" || *s.Op == "replace" || *s.Op == "test") && s.Value == nil:
			return nil, patchProblem(at("value"), "required", "is required for "+*s.Op)
		}
	}
	return steps, nil
}

// patchProblem returns the error of a JSON Patch with one problem.
func patchProblem(pointer, code, message string) error {
	return routine.Invalid("JSON Patch", []routine.Problem{{Pointer: pointer, Code: code, Message: message}})
}
