package exporter

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/lesson/textform"
	"rote/routine/routinetest/seeded"
)

// routineText is a routine whose operations a recording of Chrome's Recorder can express.
func routineText(t *rapid.T) json.RawMessage {
	d := &draft.Draft{Parameters: []routine.Parameter{
		{Name: "query", Type: routine.TypeString, Required: true, Description: "What to look for."},
		{Name: "password", Type: routine.TypeString, Required: true, Description: "", Secret: true}}}
	css := rapid.SampledFrom([]string{"#q", `[name="user"]`, "main .result > a", `[data-testid="buy now"]`, "button.primary"})
	timeout := rapid.SampledFrom([]int{0, 0, 1, 2500, 300_000})
	text := rapid.OneOf(rapid.StringMatching(`[ -z|}~äñ語]{0,20}`), rapid.SampledFrom([]string{"{{query}}", "{{password}}", "lamp {{query}} it's"}))
	url := rapid.SampledFrom([]string{"https://shop.example/", "https://shop.example/a?b=c%20d", "https://shop.example/s?q={{query}}#x"})
	for i := range rapid.IntRange(1, 12).Draw(t, "operations") {
		d.Step(1, 1, "")
		selector, wait := css.Draw(t, "selector"), timeout.Draw(t, "timeout")
		one, two := rapid.IntRange(1, 2000).Draw(t, "x"), rapid.IntRange(0, 2000).Draw(t, "y")
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			d.Navigate(fmt.Sprint(url.Draw(t, "url"), i))
		case 1:
			button := rapid.SampledFrom([]string{"", "right", "middle"}).Draw(t, "button")
			d.Act(draft.Locator{CSS: selector}, draft.Operation{Type: "click", Timeout: wait, Button: button,
				Clicks: rapid.SampledFrom([]int{0, 2}).Draw(t, "clicks"), Hover: rapid.SliceOfN(css, 0, 2).Draw(t, "hover")})
		case 2:
			value := text.Draw(t, "text")
			d.Act(draft.Locator{CSS: selector}, draft.Operation{Type: "input_text", Text: &value, Clear: true, Timeout: wait})
		case 3:
			key := rapid.SampledFrom([]string{"Enter", "Escape", "Control+a", "Control+Shift+ArrowDown", "Alt+F4"}).Draw(t, "key")
			d.Add(draft.Operation{Type: "press", Key: key})
		case 4:
			d.Add(draft.Operation{Type: "click", Selector: selector})
			regex, _ := draft.URLRegex(rapid.SampledFrom([]string{"https://shop.example/a.b", "https://shop.example/s?q=lamp+(x)"}).Draw(t, "to"))
			d.Add(draft.Operation{Type: "wait_for_url", URLRegex: regex})
		case 5:
			d.WaitVisible(draft.Locator{CSS: selector}, float64(wait))
		case 6:
			d.Add(draft.Operation{Type: "scroll", Selector: selector, DeltaX: &one, DeltaY: &two, Timeout: wait})
			d.Add(draft.Operation{Type: "scroll", X: &two, Y: &one})
		default:
			d.Act(draft.Locator{Target: &textform.Target{Role: "button", Name: "Add to cart"}}, draft.Operation{Type: "click", Timeout: wait})
		}
	}
	return d.Definition("round trip", "The same after it has been exported and imported.")
}

// What a recording can express is the same after an export and an import.
func TestRoundTrip(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		text := routineText(t)
		x, err := Export(text, Recorder)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again := imported(t, x.Text)
		for _, item := range append(x.Report.Items, again.Report.Items...) {
			if item.What == draft.Dropped {
				t.Errorf("dropped: %+v", item)
			}
		}
		if diff := cmp.Diff(parts(t, text), parts(t, again.Routine)); diff != "" {
			t.Errorf("-want +got:\n%s\n%s", diff, x.Text)
		}
	})
}

// content is what a recording has of a definition.
type content struct {
	Name                   string
	Parameters, Operations []map[string]any
}

func parts(t fataler, text json.RawMessage) content {
	t.Helper()
	var c content
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

// What a recording can express of the demo's routines is the same after an export and an import.
func TestRoundTripOfDemoRoutines(t *testing.T) {
	files, err := filepath.Glob("../../cmd/rote/practice/routines/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d routines: %v", len(files), err)
	}
	expressed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Export(text, Recorder)
		if err != nil {
			t.Fatal(err)
		}
		want, got := parts(t, text), parts(t, imported(t, x.Text).Routine)
		var kept []map[string]any
		for i, item := range x.Report.Items {
			if item.What == draft.Carried || item.Code == "parameter" {
				kept = append(kept, want.Operations[i])
			}
		}
		expressed += len(kept)
		for _, o := range kept {
			if !hasEqual(got.Operations, o) {
				t.Errorf("%s: %v is not among %v", file, o, got.Operations)
			}
		}
		if want.Name != got.Name || len(want.Parameters) != len(got.Parameters) {
			t.Errorf("%s: %s with %d parameters", file, got.Name, len(got.Parameters))
		}
	}
	if expressed < 10 {
		t.Errorf("only %d operations are the same", expressed)
	}
}

func hasEqual(all []map[string]any, o map[string]any) bool {
	for _, other := range all {
		if cmp.Equal(o, other) {
			return true
		}
	}
	return false
}

// A test of Playwright and commands of cURL are read by the importers of these formats, without a
// literal that was a parameter.
func TestCurlIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	x, err := Export(text, Curl)
	if err != nil {
		t.Fatal(err)
	}
	r := imported(t, x.Text)
	want := []string{"fetch", "fetch", "return"}
	var got []string
	for _, o := range parts(t, r.Routine).Operations {
		got = append(got, o["type"].(string))
	}
	if diff := cmp.Diff(want, got); diff != "" || !r.Valid || r.Report.Dropped > 0 {
		t.Errorf("valid %v, %s:\n%s\n%s", r.Valid, r.Report.Summary(), diff, x.Text)
	}
}

// What a test of Playwright can express is the same after an export and an import.
func TestPlaywrightRoundTrip(t *testing.T) {
	for _, file := range []string{"testdata/shop.json", "testdata/page.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Export(text, Playwright)
		if err != nil {
			t.Fatal(err)
		}
		again := imported(t, x.Text)
		if again.Report.Dropped > 0 || !again.Valid {
			t.Errorf("%s: %+v", file, again.Report.Items)
		}
		want, got := parts(t, text), parts(t, again.Routine)
		var kept []map[string]any
		for i, item := range x.Report.Items {
			if o := want.Operations[i]; item.What != draft.Dropped {
				delete(o, "x-alternatives") // what a test does not have
				delete(o, "x-target")
				delete(o, "x-optional")
				kept = append(kept, o)
			}
		}
		for _, o := range append(slices.Clone(kept), got.Operations...) {
			delete(o, "session_storage_key") // a test names its variables itself
			if o["type"] == "js_evaluate" || o["type"] == "fetch" {
				delete(o, "timeout_seconds")
				if e, ok := o["endpoint"].(map[string]any); ok {
					delete(e, "credentials")
				}
			}
		}
		if diff := cmp.Diff(kept, got.Operations); diff != "" {
			t.Errorf("%s: -want +got:\n%s\n%s", file, diff, x.Text)
		}
	}
}
