package javascript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// legitimate returns scripts that authors write, by their names.
func legitimate(t testing.TB) map[string]string {
	archive, err := txtar.ParseFile("testdata/legitimate.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, f := range archive.Files {
		scripts[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
	}
	return scripts
}

func TestLegitimateScriptsPass(t *testing.T) {
	scripts := legitimate(t)
	if len(scripts) < 81 {
		t.Fatalf("%d scripts, want at least 81", len(scripts))
	}
	for name, script := range scripts {
		if diff := cmp.Diff([]Problem(nil), Check(script)); diff != "" {
			t.Errorf("%s:\n%s\n%s", name, script, diff)
		}
	}
}
