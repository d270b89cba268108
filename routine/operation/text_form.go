package operation

import (
	"encoding/json"
	"strings"

	"rote/routine"
)

// MarkSelector matches the element that the script of a text form has found and marked.
const MarkSelector = `[data-rote-mark="1"]`

// ActingField is the field of a saved operation with the requests that it made in its lesson
// and that may have changed something on the site. A click with an "x-target" is from a
// lesson too: without this field it made none.
const ActingField = "x-acting"

// A text form is two operations that have the same x-bridge: a script that finds and marks
// an element by its texts, and the operation that acts on the marked element.

// textFormField is in both operations of a text form.
const textFormField = "x-bridge"

// IsTextForm reports whether an operation is one of the two of a text form.
func IsTextForm(o routine.Operation) bool {
	var fields struct {
		Bridge any `json:"x-bridge"`
	}
	if !strings.Contains(string(o.Raw()), textFormField) {
		return false
	}
	_ = json.Unmarshal(o.Raw(), &fields) // an operation is well-formed
	text, _ := fields.Bridge.(string)
	return text != ""
}

// maxTargetText bounds the text by which a short description names an element, in characters.
const maxTargetText = 60

// textTarget names the element of an operation of a text form, as in: button "Buy". It is
// empty if the operation does not say it.
func textTarget(o routine.Operation) string {
	if !IsTextForm(o) {
		return ""
	}
	var fields struct {
		Target json.RawMessage `json:"x-target"`
	}
	var target struct{ Role, Name, Text, Label, XPath string }
	_ = json.Unmarshal(o.Raw(), &fields) // an operation is well-formed
	if json.Unmarshal(fields.Target, &target) != nil {
		return ""
	}
	quoted := func(kind, text string) string {
		return strings.TrimSpace(kind + " " + routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(text)), maxTargetText)))
	}
	switch {
	case target.Name != "":
		return quoted(routine.Truncate(routine.OneLine(routine.PlainText(target.Role)), maxTargetText), target.Name)
	case target.Label != "":
		return quoted("field", target.Label)
	case target.Text != "":
		return quoted("", target.Text)
	case target.XPath != "":
		return quoted("XPath", target.XPath)
	}
	return ""
}
