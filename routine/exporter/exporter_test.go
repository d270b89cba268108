package exporter

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/importer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What a routine is in each format is held against a golden file, and the secrets are in none.
func TestExport(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no routines: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range Formats {
			x, err := Export(text, to)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, x)
			report, err := json.MarshalIndent(x.Report, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			got := x.Text + "\n" + string(report) + "\n"
			if strings.Contains(got, "planted") {
				t.Errorf("%s to %s has a secret:\n%s", file, to, got)
			}
			golden := strings.TrimSuffix(file, ".json") + "." + to + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		}
	}
}

func checkReport(t *testing.T, x *Exported) {
	t.Helper()
	p := x.Report
	if p.Steps != len(p.Items) || p.Carried+p.Changed+p.Dropped != p.Steps {
		t.Errorf("%s: %s, %d items", x.To, p.Summary(), len(p.Items))
	}
	for i, item := range p.Items {
		if item.Source.Step != i+1 || item.Source.Line < 1 || len(item.Operations) != 1 || item.Operations[0] != i || item.Message == "" && item.What != "carried" {
			t.Errorf("%s: item %d: %+v", x.To, i, item)
		}
	}
}

// What cannot be exported is refused.
func TestNotExported(t *testing.T) {
	for text, to := range map[string]string{`{"name": "a"}`: Recorder, `{}`: Curl, ``: Playwright,
		`{"name":"a","description":"b","operations":[{"type":"navigate","url":"https://shop.example/"}]}`: "tape"} {
		if _, err := Export([]byte(text), to); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("%q to %s: %v", text, to, err)
		}
	}
}

// fataler is a test, or a check of a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// imported is what importing a text gives.
func imported(t fataler, text string) *importer.Imported {
	t.Helper()
	r, err := importer.Import(importer.Request{Source: text})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}
