package browser

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"rote/routine"
)

// A screenshot of a page that is used afterwards shows no secret, and the page is as before.
func TestCaptureShowsNoSecret(t *testing.T) {
	rows := slices.DeleteFunc(slices.Clone(shownRows), func(r shownRow) bool { return r.name == "one that the page shows again" })
	p, secrets := pageOfRows(t, rows)
	const contents = `(() => document.documentElement.outerHTML)()`
	before := eval(t, p, contents)
	picture, err := p.Capture(testContext(t), secrets)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, rows, picture)
	if after := eval(t, p, contents); after != before {
		t.Errorf("the page was %s and is %s", before, after)
	}
	if left, err := inHelper[bool](testContext(t), p, "(() => 'roteMasks' in globalThis || 'roteSealed' in globalThis)"); err != nil || left {
		t.Errorf("the helper keeps elements: %v", err)
	}
}

// The page keeps running while a screenshot is taken: its timers and the answers to its requests
// are not lost.
func TestCaptureStopsNoScript(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "style-src 'none'")
		fmt.Fprint(w, `<input type=password value=hunter2><p id=n>0</p><script>document.querySelector('input').style.color = 'red';
			let n = 0; const turn = () => { document.getElementById('n').textContent = ++n; setTimeout(turn, 5) }; turn()</script>`)
	}})+"/")
	picture, err := p.Capture(testContext(t), nil)
	if err != nil || picture.Width == 0 || picture.Size != len(picture.Data) {
		t.Fatalf("%+v %v", picture, err)
	}
	const next = `(async () => { const at = n; while (n === at) await new Promise(r => setTimeout(r, 5)); 
		const { color, opacity } = getComputedStyle(document.querySelector('input')); return color + ' ' + opacity })()`
	if got := eval(t, p, next); got != `"rgb(255, 0, 0) 1"` {
		t.Errorf("the field's style is %s", got)
	}
}

// A page that shows a secret again while the screenshot is taken gets none.
func TestCaptureOfAPageThatShowsASecretAgain(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<p id=again>s3cret</p><script>
		setInterval(() => document.getElementById('again').removeAttribute('style'))</script>`})+"/")
	_, err := p.Capture(testContext(t), []string{"s3cret"})
	wantCode(t, err, routine.CodeTimeout, "does not stop showing")
}
