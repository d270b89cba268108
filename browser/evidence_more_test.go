package browser

import (
	"strings"
	"testing"

	"rote/routine"
)

// When the selector matches only elements that a person cannot see, the evidence
// names the visible ones to use instead.
func TestEvidenceNamesVisibleElementsForTraps(t *testing.T) {
	const rest = `<a href=/>Home</a><a href=/help>Help</a>`
	for name, c := range map[string]struct {
		html           string
		use            routine.ElementUse
		selector, want string
	}{
		"a hidden field": {rest + `<form><input name=email style="display:none"><input id=contact placeholder="Your e-mail"><input name=zip></form>`,
			"text", "[name=email]", "#contact"},
		"a field off the screen": {rest + `<form><input name=website style="position:absolute;left:-9999px"><input id=f1 aria-label="Web address"></form>`,
			"text", "input[name=website]", "#f1"},
		"a transparent field": {rest + `<form><input name=phone type=tel style="opacity:0"><input id=tel type=tel></form>`, "text", "[name=phone]", "#tel"},
		"a button without size": {rest + `<button id=send style="width:0;height:0;padding:0;border:0;overflow:hidden"></button>` +
			`<button class=go>Submit it</button>`, "click", "#send", "button.go"},
		"a hidden link": {rest + `<div hidden><a id=buy href=/b>Order now</a></div>` +
			`<button class=purchase>Order now!</button>`, "click", "#buy", "button.purchase"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openPage(t, site(t, map[string]any{"/": c.html})+"/").Evidence(testContext(t), routine.Inspection{Use: c.use, Selector: c.selector})
			var usable []string
			matched := false
			for _, x := range e.Elements {
				matched = matched || x.Matched && x.Problem != ""
				if x.Problem == "" {
					usable = append(usable, x.Selector)
				}
			}
			if !matched || len(usable) == 0 || usable[0] != c.want {
				t.Errorf("elements %+v, want %s first", e.Elements, c.want)
			}
		})
	}
}

// After an operation that needs no element the evidence lists none.
func TestEvidenceListsNoElementsForOtherOperations(t *testing.T) {
	p := openPage(t, site(t, map[string]any{"/": `<header><a href=/>Home</a></header><main>Sold out</main>`})+"/")
	if e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseNone}); e.Elements == nil || len(e.Elements) > 0 || e.Text != "Sold out" {
		t.Errorf("%+v", e)
	}
}

// The text of a page has that of its frames and open shadow roots.
func TestEvidenceTextHasFramesAndShadowRoots(t *testing.T) {
	shadow := func(of, html string) string {
		return `<script>document.querySelector('` + of + `').attachShadow({mode: 'open'}).innerHTML = ` + "`" + html + "`" + `</script>`
	}
	for name, c := range map[string]struct{ html, want string }{
		"a shadow root": {`<p>a</p><x-b></x-b><p>c</p>` + shadow("x-b", `<p>in the shadow</p>`), "a in the shadow c"},
		"nested shadow roots": {`<x-a></x-a>` + shadow("x-a", `<i>1</i><x-b></x-b>`) +
			`<script>document.querySelector('x-a').shadowRoot.querySelector('x-b').attachShadow({mode: 'open'}).innerHTML = '<p>2</p>'</script>`,
			"1 2"},
		"a slot":                    {`<x-b><p>given</p></x-b>` + shadow("x-b", `<p>before</p><slot></slot><p>after</p>`), "before given after"},
		"a slot that nothing fills": {`<x-b></x-b>` + shadow("x-b", `<slot>else</slot>`), "else"},
		"a frame":                   {`<p>a</p><iframe srcdoc="<p>in the frame</p>"></iframe><p>b</p>`, "a b | in the frame"},
		"a frame beside main":       {`<main>shop</main><iframe srcdoc="<p>declined</p>"></iframe>`, "shop | declined"},
		"a hidden frame":            {`<p>a</p><iframe style="display:none" srcdoc="<p>no</p>"></iframe>`, "a"},
		"a frame in a shadow root":  {`<x-b></x-b>` + shadow("x-b", `<iframe srcdoc='<p>deep</p>'></iframe>`), "deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, site(t, map[string]any{"/": c.html})+"/")
			if e := p.Evidence(testContext(t), routine.Inspection{Use: routine.UseNone}); strings.TrimSpace(e.Text) != c.want {
				t.Errorf("got  %q\nwant %q", e.Text, c.want)
			}
		})
	}
}
