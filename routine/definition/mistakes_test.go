package definition

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// Routines as a model would get them wrong come back with an answer that
// suffices to mend them without opening any document. Each file's answer is
// beside it.
func TestMistakesAreExplained(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, errors, warnings, failed := sameEachTime(t, func() (*routine.Definition, []routine.Problem, error) { return Parse(text) })
			if failed == nil {
				t.Fatal("was accepted")
			}
			got := answer("error", errors) + answer("warning", warnings)
			golden := strings.TrimSuffix(file, ".json") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got; -update writes it anew)\n%s", diff)
			}
		})
	}
}

// answer is what rote validate shows, without the file's name.
func answer(severity string, ps []routine.Problem) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%d:%d: %s: %s [%s]\n", p.Line, p.Column, severity, p, p.Code)
	}
	return b.String()
}
