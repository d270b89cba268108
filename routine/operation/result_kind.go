package operation

import (
	"slices"

	"rote/routine"
)

// ResultInfo describes the result of a routine, as known from its definition.
type ResultInfo struct {
	// Kind is the form of the data of a completed run; empty if there is none.
	Kind ResultKind
	// Name is, as the author wrote it, the name of the session value, the selector of
	// the element (empty for the page), or the name of the file.
	Name string
}

// ResultOf describes the result of d: that of its last operation that sets one.
func ResultOf(d *routine.Definition) ResultInfo {
	for _, o := range slices.Backward(d.Operations) {
		op, err := Decode(o)
		if err != nil {
			continue // an older row; a run of it says why
		}
		if y, ok := op.(yielding); ok {
			k, _ := KindOf(o.Type())
			return ResultInfo{k.Result, y.resultName()}
		}
	}
	return ResultInfo{}
}
