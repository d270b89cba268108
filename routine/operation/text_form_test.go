package operation

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// The operations of a text form are shown with the text by which their element is found.
func TestDescribeTextForms(t *testing.T) {
	script := func(target string) string {
		return `{"type":"js_evaluate","js":"(() => 1)()","x-bridge":"b1","x-target":` + target + `}`
	}
	const marked = `{"type":"click","selector":"[data-rote-mark=\"1\"]","x-bridge":"b1"}`
	for _, row := range []struct {
		name       string
		operations []string
		want       []string
	}{
		{"a role and a name", []string{script(`{"role":"button","name":"Buy {{item}}"}`), marked},
			[]string{`js_evaluate finds button "Buy {{item}}"`, `click button "Buy {{item}}" (by its text)`}},
		{"a label", []string{script(`{"label":"E-mail"}`), `{"type":"input_text","selector":"[data-rote-mark=\"1\"]","text":"a","x-bridge":"b1"}`},
			[]string{`js_evaluate finds field "E-mail"`, `input_text field "E-mail" (by its text)`}},
		{"a text", []string{script(`{"text":"Next\nweek"}`), marked}, []string{`js_evaluate finds "Next week"`, `click "Next week" (by its text)`}},
		{"an XPath", []string{script(`{"xpath":"//a"}`), marked}, []string{`js_evaluate finds XPath "//a"`, `click XPath "//a" (by its text)`}},
		{"as it was saved", []string{`{"type":"click","selector":"[data-rote-mark=\"1\"]","x-bridge":"b1","x-target":{"role":"link","name":"More"}}`},
			[]string{`click link "More" (by its text)`}},
		{"another script after it", []string{script(`{"text":"A"}`), `{"type":"js_evaluate","js":"(() => 1)()"}`, marked},
			[]string{`js_evaluate finds "A"`, `js_evaluate`, `click [data-rote-mark="1"]`}},
		{"no text form", []string{`{"type":"click","selector":"#go","x-target":{"role":"link","name":"More"}}`, `{"type":"press","key":"Tab"}`},
			[]string{`click #go`, `press Tab`}},
		{"a target of another kind", []string{script(`7`), script(`{"name":7}`), marked},
			[]string{`js_evaluate`, `js_evaluate`, `click [data-rote-mark="1"]`}},
	} {
		var all []routine.Operation
		for _, text := range row.operations {
			var o routine.Operation
			if err := json.Unmarshal([]byte(text), &o); err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
		}
		if diff := cmp.Diff(row.want, DescribeAll(all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
