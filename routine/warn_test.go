package routine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// A value that is stored and is not what it seems is warned of; one that nobody
// stores is not.
func TestWarningOfAScriptValue(t *testing.T) {
	page := fakePage{evaluate: func(context.Context) (routine.Evaluation, error) {
		return routine.Evaluation{JSON: json.RawMessage("{}"), Lost: "of type Map, whose JSON is {}: return data"}, nil
	}}
	e, err := runOnce(t, page, `{"type":"js_evaluate","js":"(() => new Map())()"},{"type":"js_evaluate","js":"(() => new Map())()","session_storage_key":"k"}`, "", `{}`)
	if diff := cmp.Diff([]string{`what the script returns for "k" is of type Map, whose JSON is {}: return data`}, e.Result.Warnings); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
