package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
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
