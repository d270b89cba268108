package lesson

import (
	"encoding/json"
	"fmt"
	"slices"

	"rote/routine"
	"rote/routine/lesson/jsonobject"
	"rote/routine/lesson/textform"
)

// withTextForms replaces each click and input_text that has an "x-target" instead of a
// selector by the two operations of its text form. CodeInvalid if a target names no element.
func (l *lesson) withTextForms(operations []json.RawMessage) ([]json.RawMessage, error) {
	used := map[string]bool{}
	for _, k := range slices.Concat(l.kept, l.remaining) {
		used[bridgeOf(k.raw)] = true
	}
	var all []json.RawMessage
	for i, o := range operations {
		var action struct {
			Type     string          `json:"type"`
			Selector json.RawMessage `json:"selector"`
			Target   json.RawMessage `json:"x-target"`
		}
		if json.Unmarshal(o, &action) != nil || action.Selector != nil || action.Target == nil || action.Type != "click" && action.Type != "input_text" {
			all = append(all, o)
			continue
		}
		n := 1
		for used[fmt.Sprint("b", n)] {
			n++
		}
		bridge := fmt.Sprint("b", n)
		used[bridge] = true
		var target textform.Target
		if err := json.Unmarshal(action.Target, &target); err != nil {
			return nil, routine.Errorf(routine.CodeInvalid, "operation %d: x-target must be an object of texts, as in {\"role\":\"button\",\"name\":\"Buy\"}", i+1)
		}
		form, err := textform.Operations(target, jsonobject.Replace(o, []string{"x-target"}), bridge)
		if err != nil {
			return nil, err
		}
		all = append(all, form...)
	}
	return all, nil
}

// sameTextForm reports whether two operations next to each other belong to one text form.
func sameTextForm(a, b json.RawMessage) bool {
	bridge := bridgeOf(a)
	return bridge != "" && bridge == bridgeOf(b)
}

// bridgeOf returns the "x-bridge" of an operation; empty if it has none.
func bridgeOf(raw json.RawMessage) string {
	var o struct {
		Bridge any `json:"x-bridge"`
	}
	_ = json.Unmarshal(raw, &o)
	text, _ := o.Bridge.(string)
	return text
}
