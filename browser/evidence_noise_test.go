package browser

import (
	"strings"
	"testing"

	"rote/routine"
)

// When the element exists, the evidence lists only elements that have to do with it.
func TestEvidenceOfAnElementThatIsThere(t *testing.T) {
	t.Parallel()
	const rest = `<a href=/>Home</a><button>Share</button><button>Wish</button>`
	url := site(t, map[string]any{
		"/disabled": rest + `<button id=b disabled>Order</button>`,
		"/several":  rest + `<button class=b disabled>A</button><button class=b>B</button>`,
		"/covered":  rest + `<button id=b>Order</button><div style="position:fixed;inset:0;background:#fff"><button class=ok>OK</button></div>`,
		"/alike":    rest + `<button id=b disabled>Order</button><a class=other href=#o>Order</a>`,
	})
	for _, r := range []struct{ at, selector, want string }{
		{"/disabled", "#b", "#b"},
		{"/several", ".b", "body > button:nth-of-type(4) body > button:nth-of-type(3)"},
		{"/covered", "#b", "#b button.ok"},
		{"/alike", "#b", "#b a.other"},
	} {
		var got []string
		for _, x := range openPage(t, url+r.at).Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: r.selector}).Elements {
			got = append(got, x.Selector)
		}
		if strings.Join(got, " ") != r.want {
			t.Errorf("%s: %s", r.at, got)
		}
	}
}

// A button that submits its form without saying so is one to submit with, and
// a list's options are not run together.
func TestEvidenceLabels(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<form><input type=checkbox name=ok>
		<label>Colour <select name=c><option>Red<option>Green</select></label><select name=d><option>One<option>Two</select>
		<button>Go</button></form>`})+"/")
	e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#submit"})
	texts := map[string]string{}
	for _, x := range e.Elements {
		texts[x.Selector] = x.Text
	}
	if e.Elements[0].Selector != "button" || texts[`select[name="c"]`] != "Colour" || texts[`select[name="d"]`] != "One, Two" {
		t.Errorf("%+v", e.Elements)
	}
}

// A request that the policy refused, or whose host is not known, says so.
func TestEvidenceOfRequestsWithoutAnswer(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<script>Promise.allSettled([fetch('http://169.254.169.254/x'), fetch('http://nowhere.invalid/x')]).then(() => document.title = 'done')</script>`})
	p := openPage(t, url+"/")
	eval(t, p, `(async () => { while (document.title !== 'done') await new Promise(r => setTimeout(r, 5)) })()`)
	said := map[string]string{}
	for _, f := range p.Evidence(testContext(t), routine.Inspection{Use: routine.UseClick, Selector: "#b"}).FailedRequests {
		said[f.URL] = f.Error
	}
	if e := said["http://169.254.169.254/x"]; !strings.Contains(e, "169.254.169.254") {
		t.Errorf("refused: %q", e)
	}
	if e := said["http://nowhere.invalid/x"]; !strings.Contains(e, "name") {
		t.Errorf("unknown: %q", e)
	}
}
