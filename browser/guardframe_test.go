package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

// framedSite is guardSite with its frame on another site, which has a process of
// its own.
func framedSite(t *testing.T, s *sink) string {
	t.Helper()
	page := strings.Replace(guardPage, `id=i src="/inner"`, `id=i name=i src="CROSS/inner"`, 1)
	return site(t, map[string]any{
		"/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, port, _ := strings.Cut(r.Host, ":")
			fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><body>`, strings.NewReplacer("SINK", s.url, "CROSS", "http://localhost:"+port).Replace(page))
		},
		"/inner": `<p id=inner>inner</p><a id=go href="/far?1">far</a><button id=set onclick="location = '/far?2'">far</button>`,
		"/far":   `<p id=far>far</p>`, "/pic": pixel,
	})
}

// A script shows no document that it has made, in no frame of the page's,
// whichever process it is in, and not in place of the page.
func TestScriptsShowNoMadeDocument(t *testing.T) {
	t.Parallel()
	const made = `new Blob(['<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>'], { type: 'text/html' })`
	attacks := []attack{
		{name: "a text", body: `document.querySelector('#i').setAttribute('src' + 'doc', '<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>')`},
		{name: "a text with an image", body: `document.querySelector('#i').srcdoc = '<img src="SINK/"><iframe src="SINK/"></iframe>'`},
		{name: "a blob", body: `document.querySelector('#i').src = URL.createObjectURL(` + made + `)`},
		{name: "data", body: `document.querySelector('#i').src = 'data:text/html,<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>'`},
		{name: "a blob in place of the page", body: `location = URL.createObjectURL(` + made + `)`},
		{name: "a link to a blob", body: `const a = document.createElement('a'); a.href = URL.createObjectURL(` + made + `); document.body.append(a); a.click()`},
	}
	for name, page := range map[string]func(*testing.T, *sink) string{"of the same origin": guardSite, "of another site": framedSite} {
		for i, a := range attacks {
			if sampled(shared, i) {
				continue
			}
			t.Run(name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				s := newSink(t)
				p := guardedPage(t, shared, page(t, s)+"/")
				_, err := p.Evaluate(testContext(t), watchedScript(a.script(s)))
				if err == nil { // it may show only after the call
					_, err = p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
				}
				wantCode(t, err, routine.CodeScriptBlocked, "document that it has made")
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		}
	}
}

// A frame of another site can still navigate itself after a script.
func TestFramesNavigateAfterAScript(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"#go", "#set"} {
		t.Run(b, func(t *testing.T) {
			t.Parallel()
			p := guardedPage(t, shared, framedSite(t, newSink(t))+"/")
			eval(t, p, `(() => { document.querySelector('#t').remove() })()`)
			if _, err := p.Click(testContext(t), click(b)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.awaitMatch(testContext(t), "#far"); err != nil {
				t.Fatal(err)
			}
			if w := p.Warnings(); len(w) > 0 {
				t.Error(w)
			}
		})
	}
}
