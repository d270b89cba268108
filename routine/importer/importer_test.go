package importer

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// planted are the secrets in the recordings of testdata. None may be in an answer.
var planted = []string{"planted-Secret", "Zk3v9Q1mX8bT7rW2"}

// recordings returns the recordings of testdata by their paths.
func recordings(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(text)
	}
	return all
}

// What a recording becomes is held against a golden file.
func TestRecordings(t *testing.T) {
	for file, source := range recordings(t) {
		t.Run(file, func(t *testing.T) {
			r, err := Import(Request{Source: source, Test: strings.TrimSuffix(filepath.Base(file), ".side")})
			if err != nil {
				t.Fatal(err)
			}
			checkAccount(t, r)
			if kind := filepath.Base(filepath.Dir(file)); r.Kind != kind || !r.Valid {
				t.Errorf("kind %s, valid %v: %v", r.Kind, r.Valid, r.Errors)
			}
			text, err := json.MarshalIndent(r, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range planted {
				if strings.Contains(string(text), secret) {
					t.Errorf("the answer has the secret %s", secret)
				}
			}
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// checkAccount checks that each operation belongs to a step, and that the sums are right.
func checkAccount(t *testing.T, r *Imported) {
	t.Helper()
	var d struct{ Operations []json.RawMessage }
	if err := json.Unmarshal(r.Routine, &d); err != nil {
		t.Fatal(err)
	}
	owned := map[int]bool{}
	for i, item := range r.Report.Items {
		if item.Source.Step != i+1 || item.Source.Line < 1 {
			t.Errorf("item %d: %+v", i, item)
		}
		if (item.What == draft.Carried) == (item.Message != "") && item.Code != "in_value" {
			t.Errorf("item %d is %s, with the message %q", i, item.What, item.Message)
		}
		for _, o := range item.Operations {
			if o < 0 || o >= len(d.Operations) {
				t.Errorf("item %d became operation %d of %d", i, o, len(d.Operations))
			}
			owned[o] = true
		}
	}
	p := r.Report
	if len(owned) != len(d.Operations) || p.Steps != len(p.Items) || p.Carried+p.Changed+p.Dropped != p.Steps {
		t.Errorf("%d of %d operations belong to a step; %s, %d items", len(owned), len(d.Operations), p.Summary(), len(p.Items))
	}
}

// What cannot be read is refused with the place.
func TestUnreadable(t *testing.T) {
	for source, want := range map[string]string{
		"":                                      "this is no recording that can be imported",
		"await page.goto('https://x.test/');":   "this is no recording that can be imported",
		`{"log": {"entries": []}}`:              "copy one of them as cURL",
		"{\"steps\": [\n {\"type\": \"click\"":  "line 2, column 18: a comma",
		`{"steps": [tru]}`:                      "line 1, column 12: this is no JSON value",
		`{"steps": "x"}`:                        "is an object with the list steps",
		`{"steps": []} x`:                       "line 1, column 15: there is text after",
		`{"steps": ["a` + "\n" + `"]}`:          "line 2, column 1: a string has no end",
		`{"steps": ` + strings.Repeat("[", 200): "nested more than",
		`{"steps": [` + strings.Repeat("{},\n", 501) + `]}`: "line 501: the recording has 501 steps, the limit is 500",
	} {
		if _, err := Import(Request{Source: source}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", source, err, want)
		}
	}
	if _, err := Import(Request{Source: strings.Repeat(" ", MaxSource+1)}); routine.CodeOf(err) != routine.CodeTooLarge {
		t.Errorf("a large recording: %v", err)
	}
	if _, err := Import(Request{Source: `{"steps": []}`, Kind: "tape"}); routine.CodeOf(err) != routine.CodeInvalid {
		t.Errorf("an unknown kind: %v", err)
	}
}

// A project with several tests needs the name of one.
func TestWhichTest(t *testing.T) {
	source := recordings(t)["testdata/side/Shop.side"]
	for test, want := range map[string]string{"": `name one of the tests: "Shop", "Part"`, "Other": `there is no test "Other": there are "Shop", "Part"`} {
		if _, err := Import(Request{Source: source, Test: test}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", test, err)
		}
	}
}

// Ordinary recordings, which have nothing that rote lacks, are carried.
func TestOrdinaryRecordings(t *testing.T) {
	for file, least := range map[string]float64{"testdata/recorder/ordinary.json": 0.95, "testdata/side/Search.side": 0.85, "testdata/curl/api.txt": 0.95,
		"testdata/curl/query.txt": 0.95} {
		r, err := Import(Request{Source: recordings(t)[file]})
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Report; float64(p.Carried+p.Changed) < least*float64(p.Steps) || !r.Valid {
			t.Errorf("%s: %s", file, p.Summary())
		}
	}
}

// A recording of the most steps takes less than a second. Under the race detector it would take ten times as long.
func TestLargestRecording(t *testing.T) {
	optional.OneGoroutine(t)
	var b strings.Builder
	b.WriteString(`{"steps": [`)
	for i := range draft.MaxSteps {
		fmt.Fprintf(&b, `{"type": "change", "value": "value number %d", "selectors": [["#field%d"]]},`, i, i)
	}
	b.WriteString("]}")
	var r *Imported
	var err error
	if took := stopwatch.Time(func() { r, err = Import(Request{Source: b.String()}) }); took > time.Second {
		t.Errorf("took %v", took)
	}
	if err != nil || !r.Valid || r.Report.Carried != draft.MaxSteps {
		t.Errorf("%v: %+v", err, r)
	}
}

// FuzzImport: any text gives an import whose account is complete, or an error with a place; soon.
func FuzzImport(f *testing.F) {
	for _, source := range recordings(f) {
		for cut := len(source); cut > 0; cut -= 1 + len(source)/20 {
			f.Add(source[:cut])
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		var r *Imported
		var err error
		if took := stopwatch.Time(func() { r, err = Import(Request{Source: source, Test: "Shop"}) }); took > time.Second {
			t.Errorf("took %v", took)
		}
		if err == nil {
			checkAccount(t, r)
			return
		}
		if code := routine.CodeOf(err); code != routine.CodeInvalid && code != routine.CodeTooLarge {
			t.Errorf("%v [%s]", err, code)
		}
	})
}
