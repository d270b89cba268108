package operation

import (
	"rote/routine"
	"slices"
)

// Outcome is what a routine gives, as far as its definition tells.
type Outcome struct {
	// Is is what the data of a completed run is; empty: there is none.
	Is OutcomeKind
	// Of is, as it is written, the value's name, the element's selector (empty:
	// the page) or the file's name.
	Of string
}

// OutcomeKind is what data is.
type OutcomeKind string

const (
	// OutcomeValue is any JSON value.
	OutcomeValue OutcomeKind = "value"
	// OutcomeHTML is a text.
	OutcomeHTML OutcomeKind = "html"
	// OutcomeFile is a text too, base64.
	OutcomeFile OutcomeKind = "file"
)

// OutcomeOf returns the outcome of the last operation of d that sets the result.
func OutcomeOf(d *routine.Definition) Outcome {
	for _, o := range slices.Backward(d.Operations) {
		op, err := Decode(o)
		if err != nil {
			continue // an older row; a run of it says why
		}
		if y, ok := op.(yielding); ok {
			k, _ := KindOf(o.Type())
			return Outcome{k.Result, y.resultName()}
		}
	}
	return Outcome{}
}
