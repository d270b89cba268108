package javascript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine/routinetest/scripts"
)

func TestLegitimateScriptsPass(t *testing.T) {
	samples := scripts.Legitimate()
	if len(samples) < 81 || len(scripts.Undetected()) < 37 {
		t.Fatalf("%d and %d samples, want at least 81 and 37", len(samples), len(scripts.Undetected()))
	}
	for name, script := range samples {
		if diff := cmp.Diff([]Problem(nil), Check(script)); diff != "" {
			t.Errorf("%s:\n%s\n%s", name, script, diff)
		}
	}
}
