package operation

import (
	"encoding/json"

	"rote/routine"
	"rote/routine/javascript/facts"
	"rote/routine/placeholder"
)

// maxProvedScript bounds the size of a script that is examined for EffectOf, in bytes. The
// effort grows with the size.
const maxProvedScript = 64 << 10

// EffectOf returns the effect of an operation, as far as its definition tells: that of its
// kind, of the method of its request, or, of a script, whether it provably only reads and
// calls no function of the page, whatever the values of its parameters are.
//
// What a click did once is no proof for the next time: a page may answer the same click with
// another request, and what the selector matches can depend on the values. So a click always
// may change something.
func EffectOf(o routine.Operation) Effect {
	k, known := KindOf(o.Type())
	if !known {
		return EffectChanges
	}
	var fields struct {
		Endpoint struct{ Method string }
		JS       string
	}
	_ = json.Unmarshal(o.Raw(), &fields) // a stored operation is well-formed
	if o.Type() == "js_evaluate" && len(fields.JS) <= maxProvedScript {
		if script, ok := placeholder.WithUnknownValues(fields.JS); ok && facts.Prove(script).NativeOnly {
			return EffectReads
		}
	}
	return k.Effect.With(fields.Endpoint.Method)
}

// ReadOnly reports whether the operations change nothing on a site; see [EffectOf].
func ReadOnly(operations []routine.Operation) bool {
	for _, o := range operations {
		if EffectOf(o) != EffectReads {
			return false
		}
	}
	return true
}

// Acts reports whether a run that has done the operation may not start again from its first
// one: the site may have learned of it, or have sent a file that it sends once.
func Acts(o routine.Operation) bool {
	k, known := KindOf(o.Type())
	var fields struct{ Endpoint struct{ Method string } }
	_ = json.Unmarshal(o.Raw(), &fields) // a stored operation is well-formed
	return !known || k.Effect.With(fields.Endpoint.Method) != EffectReads || k.Result == ResultFile
}
