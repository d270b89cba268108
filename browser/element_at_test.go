package browser

import (
	"strings"
	"testing"

	"rote/routine"
)

// A point of the picture leads to what a person sees there.
func TestElementAtAPoint(t *testing.T) {
	t.Parallel()
	const fill = "<style>body { margin: 0 } a, iframe { display: block; border: 0; width: 100vw; height: 100vh }</style>"
	p := openPage(t, site(t, map[string]any{"/inner": fill + `<a href="/x" id=inside>in</a>`, "/": `<style>body { margin: 0 }
#g { position: absolute; inset: 0; display: grid; grid: 20% 20% 20% 20% 20% / 100% }
#g > * { box-sizing: border-box; width: 100%; height: 100%; margin: 0; border: 0; padding: 0 }</style>
<div id=g><button id=go><b>Go <i>now</i></b></button><input id=q aria-label=Search><label>City <input name=city style="width: 1px"></label>
<rote-box></rote-box><iframe src="/inner"></iframe></div>
<script>customElements.define("rote-box", class extends HTMLElement {
	constructor() { super(); this.attachShadow({mode: "open"}).innerHTML =
		"<style>button { width: 100%; height: 100% }</style><button data-testid=deep>x</button>" }
})</script>`})+"/")
	for _, row := range []struct {
		y              float64
		selector, role string
	}{{0.1, "#go", "button"}, {0.3, "#q", "textbox"}, {0.5, `input[name="city"]`, "textbox"}, {0.7, `[data-testid="deep"]`, "button"},
		{0.9, "#inside", "link"}} {
		d, err := p.ElementAt(testContext(t), 0.5, row.y, nil)
		if err != nil || d.Selector != row.selector || d.Target.Role != row.role || d.Grade == "" {
			t.Errorf("at %v: %+v, %v, want %s", row.y, d, err, row.selector)
		}
	}
	_, err := p.ElementAt(testContext(t), 2, 2, nil)
	wantCode(t, err, routine.CodeElementNotFound, "no element")

	other := strings.Replace(site(t, map[string]any{"/": "<button>far</button>"}), "127.0.0.1", "localhost", 1)
	far := openPage(t, site(t, map[string]any{"/": fill + `<iframe src="` + other + `/"></iframe>`})+"/")
	_, err = far.ElementAt(testContext(t), 0.5, 0.5, nil)
	wantCode(t, err, routine.CodeElementNotFound, "another site")
}
