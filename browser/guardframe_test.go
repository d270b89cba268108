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

// A script sends no frame of the page's anywhere, whichever process it is in,
// and shows no document that it has made.
func TestScriptsSendNoFrameAway(t *testing.T) {
	const made = `new Blob(['<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>'], { type: 'text/html' })`
	attacks := []attack{
		{name: "a text", body: `document.querySelector('#i').setAttribute('src' + 'doc', '<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>')`},
		{name: "a text with an image", body: `document.querySelector('#i').srcdoc = '<img src="SINK/"><iframe src="SINK/"></iframe>'`},
		{name: "a blob", body: `document.querySelector('#i').src = URL.createObjectURL(` + made + `)`},
		{name: "data", body: `document.querySelector('#i').src = 'data:text/html,<scr' + 'ipt>fetch("SINK/", { mode: "no-cors" })</scr' + 'ipt>'`},
		{name: "a blob in place of the page", body: `location = URL.createObjectURL(` + made + `)`},
		{name: "a link to a blob", body: `const a = document.createElement('a'); a.href = URL.createObjectURL(` + made + `); document.body.append(a); a.click()`},
	}
	away := []attack{
		{name: "its address", body: `document.querySelector('#i').src = 'SINK/'`, quiet: true},
		{name: "its location", body: `frames[0].location = 'SINK/'`, quiet: true},
		{name: "its location replaced", body: `frames[0].location.replace('SINK/')`, quiet: true},
		{name: "a link", body: `const a = document.createElement('a'); a.href = 'SINK/'; a.target = 'i'; document.body.append(a); a.click()`, quiet: true},
		{name: "a form", body: `const f = document.createElement('form'); f.action = 'SINK/'; f.target = 'i'; document.body.append(f); f.submit()`, quiet: true},
	}
	for name, c := range map[string]struct {
		site    func(*testing.T, *sink) string
		attacks []attack
	}{"of the same origin": {guardSite, attacks}, "of another site": {framedSite, append(away, attacks...)}} {
		for _, a := range c.attacks {
			t.Run(name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				s := newSink(t)
				p := guardedPage(t, shared, c.site(t, s)+"/")
				_, err := p.Evaluate(testContext(t), watchedScript(a.script(s)))
				if a.quiet {
					if !eventually(t, testTime, "the warning", func() bool { return strings.Contains(strings.Join(p.Warnings(), ""), "were not loaded") }) || err != nil {
						t.Error(err)
					}
				} else if err == nil {
					_, err = p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
				}
				if !a.quiet {
					wantCode(t, err, routine.CodeScriptBlocked, "document that it has made")
				}
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		}
	}
}

// A frame of another site goes on its own ways, also after a script.
func TestFramesGoTheirWayAfterAScript(t *testing.T) {
	for _, b := range []string{"#go", "#set"} {
		t.Run(b, func(t *testing.T) {
			t.Parallel()
			p := guardedPage(t, shared, framedSite(t, newSink(t))+"/")
			eval(t, p, `(() => { document.querySelector('#t').remove() })()`)
			if _, err := p.Click(testContext(t), click(b)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.present(testContext(t), "#far"); err != nil {
				t.Fatal(err)
			}
			if w := p.Warnings(); len(w) > 0 {
				t.Error(w)
			}
		})
	}
}
