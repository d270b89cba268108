package importer

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
			test, isSide := strings.CutSuffix(filepath.Base(file), ".side")
			if !isSide {
				test = ""
			}
			r, err := Import(Request{Source: source, Test: test})
			if err != nil {
				t.Fatal(err)
			}
			checkAccount(t, r)
			if kind := filepath.Base(filepath.Dir(file)); r.Kind != kind && kind != "shop" || !r.Valid {
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
		"":                                                  "this is no recording that can be imported",
		"await page.route('https://x.test/');":              "this is no recording that can be imported",
		`{"log": {"entries": []}}`:                          "there is no data request in the file: none of its 0 requests",
		`{"log": {"entries": [{"request": 1`:                "line 1, column 35: a comma",
		"{\"steps\": [\n {\"type\": \"click\"":              "line 2, column 18: a comma",
		`{"steps": [tru]}`:                                  "line 1, column 12: this is no JSON value",
		`{"steps": "x"}`:                                    "is an object with the list steps",
		`{"steps": []} x`:                                   "line 1, column 15: there is text after",
		`{"steps": ["a` + "\n" + `"]}`:                      "line 2, column 1: a string has no end",
		`{"steps": ` + strings.Repeat("[", 200):             "nested more than",
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
		"testdata/curl/query.txt":        0.95,
		"testdata/playwright/codegen.py": 0.95, "testdata/playwright/checkout.spec.ts": 0.95, "testdata/puppeteer/recorder.js": 0.95} {
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

// The file with the most bytes takes less than a second: of many small answers, of large ones, and of one in
// which every value asks for an earlier answer.
func TestLargestRequests(t *testing.T) {
	optional.OneGoroutine(t)
	for name, answer := range map[string]string{"small": largeAnswer(1 << 10), "large": largeAnswer(200 << 10), "usual": largeAnswer(8 << 10)} {
		var b strings.Builder
		b.WriteString(`{"log": {"entries": [`)
		text := routine.JSONText(answer)
		for i := 0; b.Len() < MaxRequests-2*len(text)-1000 && i < 10_000; i++ {
			fmt.Fprintf(&b, `{"request": {"method": "POST", "url": "https://shop.example/api/%d?key=k%d-value", "headers": [{"name": "x-id", "value": "abc%d-token"},
				{"name": "cookie", "value": "a=v%d; b=c"}], "postData": {"mimeType": "application/json", "text": "{\"id\":\"r%d-value\"}"}},
				"response": {"status": 200, "headers": [{"name": "set-cookie", "value": "a=v%d; path=/"}],
				"content": {"mimeType": "application/json", "text": %s}}},`, i, i, i, i, i, i+1, text)
		}
		b.WriteString("]}}")
		if b.Len() < MaxRequests/3 {
			t.Fatalf("%s: only %d bytes", name, b.Len())
		}
		var r *Imported
		var err error
		if took := stopwatch.Time(func() { r, err = Import(Request{Source: b.String(), Large: true}) }); took > time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if err != nil || !r.Valid || len(r.Report.Candidates) != 20 {
			t.Errorf("%s: %v: %+v", name, err, r)
		}
		if _, err = Import(Request{Source: b.String()}); routine.CodeOf(err) != routine.CodeTooLarge || !strings.Contains(err.Error(), "rote import") {
			t.Errorf("%s: without the permission: %v", name, err)
		}
	}
}

// largeAnswer is a list of objects with about as many bytes.
func largeAnswer(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, `,{"id":"r%d-value","token":"abc%d-token","price":%d}`, i, i, i)
	}
	return "[" + b.String()[1:] + "]"
}

// A request of a HAR file can be picked by its number, or by a part of its method and URL.
func TestWhichRequest(t *testing.T) {
	source := recordings(t)["testdata/har/search.har"]
	for pick, want := range map[string]string{"": "POST https://shop.example/api/search", "4": "GET https://shop.example/api/session",
		"SUGGEST": "GET https://shop.example/api/search/suggest", "get https://shop.example/search": "GET https://shop.example/search"} {
		r, err := Import(Request{Source: source, Test: pick})
		if err != nil {
			t.Fatal(err)
		}
		taken := slices.DeleteFunc(r.Report.Candidates, func(c draft.Candidate) bool { return !c.Taken })
		if len(taken) != 1 || taken[0].Request != want || !r.Valid {
			t.Errorf("%q: %+v, valid %v", pick, taken, r.Valid)
		}
	}
	for pick, want := range map[string]string{"orders": `no request of the file has "orders" in its method and URL: the best are 7 (POST `,
		"10": "has no answer", "99": `has "99" in its method and URL`} {
		if _, err := Import(Request{Source: source, Test: pick}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", pick, err)
		}
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
