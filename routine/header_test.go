package routine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

// The header of a definition has its x-block, also if only the beginning of the text is
// there; a definition without one is complete all the same.
func TestHeaderHasBlockedResources(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{nil, {"image", "font"}} {
		text, err := json.Marshal(routine.Definition{Name: "n", Block: want, Tags: []string{}, Parameters: []routine.Parameter{}, Operations: []routine.Operation{}})
		if err != nil {
			t.Fatal(err)
		}
		beginning, _, _ := strings.Cut(string(text), `"parameters"`)
		d, complete := routine.DecodeHeader([]byte(beginning))
		if !complete || !slices.Equal(d.Block, want) {
			t.Errorf("%s: complete %v, blocks %q", beginning, complete, d.Block)
		}
	}
}
