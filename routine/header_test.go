package routine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

// The header of a definition has its session and x-block, also if only the beginning of the text
// is there; a definition without them is complete all the same.
func TestHeaderHasOptionalFields(t *testing.T) {
	t.Parallel()
	for session, want := range map[string][]string{"": nil, "shop": {"image", "font"}} {
		text, err := json.Marshal(routine.Definition{Name: "n", Session: session, Block: want, Tags: []string{}, Parameters: []routine.Parameter{}, Operations: []routine.Operation{}})
		if err != nil {
			t.Fatal(err)
		}
		beginning, _, _ := strings.Cut(string(text), `"parameters"`)
		d, complete := routine.DecodeHeader([]byte(beginning))
		if !complete || d.Session != session || !slices.Equal(d.Block, want) {
			t.Errorf("%s: complete %v, session %q, blocks %q", beginning, complete, d.Session, d.Block)
		}
	}
}
