// Package operation has the kinds of operations. For each kind it has what is known
// about it (the table in kinds.go), and how an operation of the kind is decoded,
// checked, described and run on a page.
package operation

import (
	"cmp"
	"encoding/json"

	"rote/routine"
)

// The values of x-popup: a click follows the window that it opens, and any
// operation closes it when it has ended.
const (
	FollowPopup = "follow"
	ClosePopup  = "close"
)

// PopupOf returns the x-popup field of the operation, or an empty string.
func PopupOf(o routine.Operation) string {
	var field struct {
		Popup any `json:"x-popup"`
	}
	_ = json.Unmarshal(o.Raw(), &field)
	text, _ := field.Popup.(string)
	return text
}

// Decode returns a new action of the operation's kind. Each run decodes again, so that
// filled placeholders never change the definition.
func Decode(o routine.Operation) (Action, error) {
	i := indexOfKind(o.Type())
	if i < 0 {
		return nil, routine.Errorf(routine.CodeInvalid, "this version of rote has no operation %s: update rote, or replace the operation",
			routine.Quote(routine.Truncate(o.Type(), 60)))
	}
	op := kinds[i].new()
	err := routine.DecodeJSON(o.Raw(), op)
	if s, ok := op.(skippable); ok && s.isOptional() {
		s.setTimeout(optionalTimeoutMS)
		err = routine.DecodeJSON(o.Raw(), op) // a timeout_ms of the author replaces the default
	}
	return op, err
}

// optionalTimeoutMS is the default of timeout_ms with "x-optional". It is short because
// a run without the element waits that long.
const optionalTimeoutMS = 2000

// Describe returns a short description of the operation for progress reports and logs,
// as in "click #search". Placeholders are shown as written. An operation of a text form is
// shown with the text, if it has it.
func Describe(o routine.Operation) string { return describe(o, textTarget(o)) }

// DescribeAll returns the short descriptions of operations in order. The second operation of
// a text form is shown with the text that the script before it looks for.
func DescribeAll(operations []routine.Operation) []string {
	list := make([]string, len(operations))
	before := ""
	for i, o := range operations {
		target := textTarget(o)
		if o.Type() == "js_evaluate" {
			list[i], before = describe(o, target), target
			continue
		}
		list[i], before = describe(o, cmp.Or(before, target)), ""
	}
	return list
}

// describe describes an operation. target names the element of its text form; empty if it
// is not known.
func describe(o routine.Operation, target string) string {
	op, err := Decode(o)
	if err != nil {
		return o.Type()
	}
	d, ok := op.(described)
	switch {
	case target != "" && o.Type() == "js_evaluate":
		return o.Type() + " finds " + target
	case !ok || d.subject() == "":
		return o.Type()
	case target != "" && d.subject() == MarkSelector:
		return o.Type() + " " + target + " (by its text)"
	}
	return o.Type() + " " + d.subject()
}
