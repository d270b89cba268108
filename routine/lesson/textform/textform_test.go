package textform

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/javascript/facts"
)

// maxTextFormScript is the most bytes that the script of a text form may have, without the
// texts that it looks for. One within another element has the finders of both.
const maxTextFormScript = 1229 // 1.2 KB

// textTargets is one of each kind.
var textTargets = map[string]Target{
	"role":            {Role: "button", Name: "Buy"},
	"role and near":   {Role: "textbox", Name: "Pieces", Near: "{{item}}"},
	"another role":    {Role: "menuitem", Name: "Close"},
	"text":            {Text: "Next {{item}}"},
	"label":           {Label: "Customer number"},
	"xpath":           {XPath: `//button[contains(., "Buy")]`},
	"hostile":         {Role: "button", Name: "\"); alert(1) //\u2028 </script> \\"},
	"shortened":       {Role: "link", Name: strings.Repeat("long ", 15) + "…"},
	"only a template": {Role: "link", Name: "{{item}}"},
	"a part":          {Role: "button", Name: "buy", Match: Contains},
	"a pattern":       {Label: "/^Customer (no|number)$/i", Match: Regex},
	"a part of it":    {Text: "next", Match: Contains},
	"the last one":    {CSS: "li", Nth: new(-1)},
	"a part in it":    {CSS: "li", HasText: "Buy", HasRegex: "/[0-9]+/"},
	"a state":         {Role: "checkbox", Name: "Gift", CSS: ":checked"},
	"either":          {Text: "Yes", Or: &Target{Text: "Ja"}},
	"within": {Role: "button", Name: "Buy", Within: &Target{CSS: "li", HasText: "Lamp", Has: &Target{Role: "heading", Name: "Lamp",
		Match: Contains}}},
}

// A text form is valid, small and one thing.
func TestTextForm(t *testing.T) {
	for name, target := range textTargets {
		form, err := Operations(target, json.RawMessage(`{"type":"click","selector":"","timeout_ms":7000}`), "b1")
		if err != nil || len(form) != 2 {
			t.Fatalf("%s: %s %v", name, form, err)
		}
		text := fmt.Sprintf(`{"name":"n","description":"d","parameters":[{"name":"item"}],"operations":[{"type":"navigate","url":"https://shop.example"},%s,%s]}`,
			form[0], form[1])
		d, _, err := definition.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v %+v", name, err, err.(*routine.Error).Problems)
		}
		if got := string(d.Operations[2].Raw()); got != `{"type":"click","selector":"[data-rote-mark=\"1\"]","timeout_ms":7000,"x-bridge":"b1"}` {
			t.Errorf("%s: %s", name, got)
		}
		var find struct {
			Script string `json:"js"`
			Bridge string `json:"x-bridge"`
			Target Target `json:"x-target"`
		}
		if err := json.Unmarshal(form[0], &find); err != nil || find.Bridge != "b1" || !cmp.Equal(find.Target, target) {
			t.Errorf("%s: %+v %v", name, find, err)
		}
		if f := facts.Prove(find.Script); !f.Reads || !f.NativeOnly {
			t.Errorf("%s: the script is not proved to only read and mark: %+v", name, f)
		}
		t.Logf("%s: %d bytes", name, len(find.Script))
		if len(find.Script) > maxTextFormScript && target.Within == nil {
			t.Errorf("%s: the script has %d bytes", name, len(find.Script))
		}
	}
	for name, target := range map[string]Target{
		"nothing": {}, "two": {Text: "x", Label: "y"}, "a role without a name": {Role: "button"}, "a name without a role": {Name: "x"},
		"a selector": {Role: "button],*", Name: "x"}, "a broken role": {Role: `b"`, Name: "x"},
		"a way to compare": {Text: "x", Match: "like"}, "a broken pattern": {Text: "x", Match: Regex}, "a broken other": {CSS: "a", Has: &Target{}},
		"flags": {CSS: "a", HasRegex: "/x/g"},
	} {
		if form, err := Operations(target, json.RawMessage(`{"type":"click"}`), "b1"); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("%s: %s %v", name, form, err)
		}
	}
	if form, err := Operations(textTargets["role"], json.RawMessage(`[]`), "b1"); routine.CodeOf(err) != routine.CodeInvalid {
		t.Errorf("%s %v", form, err)
	}
}
