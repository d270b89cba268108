package browser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rote/routine"
)

// redesignedShop is a shop whose buttons were renamed.
const redesignedShop = `<form id=cart><button name=purchase class=cta><i>Buy</i></button><button id=buy-now-2 type=button>Order at once</button>
<button id=gone style="display:none">Buy</button></form>
<table id=items><tr><td>Desk lamp<td><button class=add>Add</button><tr><td>Floor lamp<td><button class=add>Add</button></table>
<label>User <input name=login id=user-name></label><p id=total>19.00</p>`

func TestFindElements(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": redesignedShop})+"/")
	for _, c := range []struct {
		name string
		q    routine.ElementQuery
		want []routine.FoundElement
	}{
		{"nothing", routine.ElementQuery{Use: routine.UseClick, Alternatives: []string{"#none"}, Target: routine.Target{Role: "button", Name: "Sell"}}, nil},
		{"an alternative that matches once", routine.ElementQuery{Use: routine.UseClick, Alternatives: []string{".add", "a[", ".cta i"}}, []routine.FoundElement{
			{Selector: `button[name="purchase"]`, Grade: "A", Role: "button", Name: "Buy", Alternative: 2, Form: "#cart"}}},
		{"the same name", routine.ElementQuery{Use: routine.UseClick, Target: routine.Target{Role: "button", Name: "Buy"}}, []routine.FoundElement{
			{Selector: `button[name="purchase"]`, Grade: "A", Role: "button", Name: "Buy", Alternative: -1, SameTarget: true, Form: "#cart"}}},
		{"the same name in the row", routine.ElementQuery{Use: routine.UseClick, Target: routine.Target{Role: "button", Name: "Add", Near: "Floor lamp"}},
			[]routine.FoundElement{{Selector: `tbody > tr:nth-of-type(2) > td:nth-of-type(2) > button`, Grade: "D", Role: "button", Name: "Add",
				Alternative: -1, SameTarget: true, Form: "#items"}}},
		{"a name that two have", routine.ElementQuery{Use: routine.UseClick, Target: routine.Target{Role: "button", Name: "Add"}}, nil},
		{"a similar id", routine.ElementQuery{Use: routine.UseClick, Lost: "#buy-now"}, []routine.FoundElement{
			{Selector: "#buy-now-2", Grade: "A", Role: "button", Name: "Order at once", Alternative: -1, Resemblance: 7, Why: "similar id", Form: "#cart"}}},
		{"a field", routine.ElementQuery{Use: routine.UseText, Lost: "input[name=user]"}, []routine.FoundElement{
			{Selector: `input[name="login"]`, Grade: "A", Role: "textbox", Name: "User", Alternative: -1, Resemblance: 8, Why: "similar id"}}},
		{"what cannot be typed into", routine.ElementQuery{Use: routine.UseText, Alternatives: []string{".cta"}}, nil},
		{"what is only read", routine.ElementQuery{Use: routine.UseRead, Alternatives: []string{"#total"}}, []routine.FoundElement{
			{Selector: "#total", Grade: "A", Role: "p", Name: "19.00", Alternative: 0}}},
	} {
		found, err := p.FindElements(testContext(t), c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(found) > 1 && c.q.Lost != "" {
			found = found[:1] // the others resemble it less
		}
		if diff := cmp.Diff(c.want, found, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What matches once in each of two views matches twice, and frames of other origins and
// shadow roots are searched.
func TestFindElementsInFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	inner := site(t, map[string]any{"/": `<form id=inner><button class=pay>Pay</button><button class=both>Both</button></form>`})
	other := strings.Replace(inner, "127.0.0.1", "localhost", 1)
	p := openPage(t, site(t, map[string]any{"/": `<button class=both>Both</button><iframe src="` + other + `/"></iframe><x-a></x-a>
		<script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML = '<button class=go>Go</button>'</script>`})+"/")
	if _, err := p.HTML(testContext(t), "#inner"); err != nil { // the frame is there
		t.Fatal(err)
	}
	found, err := p.FindElements(testContext(t), routine.ElementQuery{Use: routine.UseClick, Alternatives: []string{".both", ".pay", ".go"},
		Target: routine.Target{Role: "button", Name: "Both"}})
	want := []routine.FoundElement{{Selector: "button.pay", Grade: "B", Role: "button", Name: "Pay", Alternative: 1, Form: "#inner"},
		{Selector: "button.go", Grade: "B", Role: "button", Name: "Go", Alternative: 2}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Secrets are in no candidate.
func TestFindElementsMasksSecrets(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<button id=buy-s3cret class=buy aria-label="Buy s3cret">x</button>`})+"/")
	found, err := p.FindElements(testContext(t), routine.ElementQuery{Use: routine.UseClick, Lost: "#buy", Secrets: []string{"s3cret"}})
	if err != nil || len(found) != 1 || found[0].Selector != "button.buy" || found[0].Name != "Buy ***" {
		t.Errorf("%+v %v", found, err)
	}
}
