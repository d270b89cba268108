package operation

import (
	"rote/routine"
	"slices"
)

// ResultInfo is what a routine gives, as far as its definition tells.
type ResultInfo struct {
	// Kind is what the data of a completed run is; empty: there is none.
	Kind ResultKind
	// Name is, as it is written, the value's name, the element's selector (empty:
	// the page) or the file's name.
	Name string
}

// ResultOf returns the outcome of the last operation of d that sets the result.
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
