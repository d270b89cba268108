package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Every kind of document has the helper, and has it when its load event fires.
func TestHelperIsThereWithTheDocument(t *testing.T) {
	t.Parallel()
	typed := func(mime, body string, headers ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime)
			for _, h := range headers {
				name, value, _ := strings.Cut(h, ": ")
				w.Header().Set(name, value)
			}
			fmt.Fprint(w, body)
		}
	}
	rows := map[string]any{
		"/html":    `<b>x</b>`,
		"/sandbox": typed("text/html", `<b>x</b>`, "Content-Security-Policy: sandbox"),
		"/strict":  typed("text/html", `<b>x</b>`, "Content-Security-Policy: default-src 'none'"),
		"/xml":     typed("text/xml", `<a><b>x</b></a>`),
		"/svg":     typed("image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><b>x</b></svg>`),
		"/text":    typed("text/plain", `<b>x</b>`),
		"/hostile": `<b>x</b><script>Document.prototype.querySelectorAll = () => []; globalThis.rote = {html: () => 'bent'}</script>`,
	}
	url := site(t, rows)
	for path := range rows {
		t.Run(path, func(t *testing.T) {
			p := openPage(t, url+path)
			p.mu.Lock()
			world := p.frames.top.helper
			p.mu.Unlock()
			if world == 0 {
				t.Error("the helper's world is not known")
			}
			if html, err := p.HTML(testContext(t), ""); err != nil || !strings.Contains(html, "x") {
				t.Errorf("%q %v", html, err)
			}
		})
	}
	t.Run("a blank page has it when it is needed", func(t *testing.T) {
		if html, err := openPage(t, "").HTML(testContext(t), ""); err != nil || html != "<html><head></head><body></body></html>" {
			t.Fatalf("%q %v", html, err)
		}
	})
	t.Run("the page's own scripts do not see it", func(t *testing.T) {
		if got := eval(t, openPage(t, url+"/html"), `(() => typeof rote)()`); got != `"undefined"` {
			t.Fatal(got)
		}
	})
}

// The helper without its comments is the same program.
func TestScriptsKeepTheirCodeWithoutComments(t *testing.T) {
	for name, source := range map[string]string{"helper": helperSource(), "clipboard": clipboardAPISource,
		"stringify": "const f = " + stringifyScript, "request": "const f = " + requestSource} {
		short := withoutComments(source)
		if len(short) > len(source)*4/5 || strings.Contains(short, "\n ") || strings.Contains(short, "\n//") {
			t.Errorf("%s: %d bytes of %d are left", name, len(short), len(source))
		}
		if program(t, short) != program(t, source) {
			t.Errorf("%s has changed", name)
		}
	}
	if got, want := withoutComments("// a\n\n  x = 1 // b\n\ty()\n"), "x = 1 // b\ny()"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// program is the syntax tree of a script, written out.
func program(t *testing.T, source string) string {
	t.Helper()
	tree, err := js.Parse(parse.NewInputString(source), js.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tree.JSString()
}
