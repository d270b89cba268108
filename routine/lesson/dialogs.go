package lesson

import (
	"bytes"
	"encoding/json"

	"rote/routine"
	"rote/routine/operation"
)

// optionalAdvice says what to do about a dialog that comes only sometimes, such as one that
// asks for consent to cookies.
const optionalAdvice = `If the dialog does not come each time, add "x-optional":true.`

// noteDialog notes whether k is a click on an element in a dialog that has to be there.
func (k *keptOperation) noteDialog() {
	if k.element == nil || k.operation.Type() != "click" {
		return
	}
	var o struct {
		Optional any `json:"x-optional"`
	}
	_ = json.Unmarshal(k.operation.Raw(), &o) // an operation is well-formed
	k.inDialog = k.element.InDialog && o.Optional != true
}

// clicksInDialog reports whether the kept operation with an index, or the other one of its
// text form, is a click in a dialog that has to be there.
func (l *lesson) clicksInDialog(i int) bool {
	k := l.kept[i]
	return k.inDialog || i+1 < len(l.kept) && l.kept[i+1].inDialog && sameTextForm(k.raw, l.kept[i+1].raw)
}

// wasInDialog reports whether the element of an operation that does not find it was in a
// dialog when a kept operation used it.
func (l *lesson) wasInDialog(o routine.Operation, code routine.Code) bool {
	if !isAbsence(code) {
		return false
	}
	for i, k := range l.kept {
		if l.clicksInDialog(i) && sameElement(k.operation, o) {
			return true
		}
	}
	return false
}

// isAbsence reports whether an operation may have failed because its element was not there. The
// script of a text form fails with a script error then.
func isAbsence(code routine.Code) bool {
	return code == routine.CodeElementNotFound || code == routine.CodeElementNotActionable || code == routine.CodeScriptError
}

// sameElement reports whether two operations name the same element, by a selector or by its
// texts.
func sameElement(a, b routine.Operation) bool {
	var one, other struct {
		Selector string          `json:"selector"`
		Target   json.RawMessage `json:"x-target"`
	}
	_, _ = json.Unmarshal(a.Raw(), &one), json.Unmarshal(b.Raw(), &other) // operations are well-formed
	if one.Selector != "" && one.Selector != operation.MarkSelector {
		return one.Selector == other.Selector
	}
	return one.Selector == other.Selector && one.Target != nil && bytes.Equal(one.Target, other.Target)
}
