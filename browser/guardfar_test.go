package browser

import (
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

// farSite is a page with a frame of another site, x, which says when it is there.
// Of its links, ok leads that frame elsewhere.
func farSite(t *testing.T, sink string) string {
	t.Helper()
	far := func(r *http.Request) string { return "http://localhost:" + r.Host[strings.LastIndex(r.Host, ":")+1:] }
	write := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(text))
	}
	return site(t, map[string]any{
		"/": func(w http.ResponseWriter, r *http.Request) {
			write(w, `<iframe id=x name=x src="`+far(r)+`/in"></iframe><a id=ok target=x href="`+far(r)+`/ok">ok</a> <a id=a target=x href="/in">a</a>
				<div id=out></div><script>var heard = ''; onmessage = e => { heard += e.data }; const send = url => { frames[0].location = url }</script>`)
		},
		"/in":    `<script>parent.postMessage('in ', '*'); onmessage = e => { location = e.data }</script>`,
		"/ok":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) },
		"/there": `<script>parent.postMessage('there ', '*')</script>`,
		"/nested": func(w http.ResponseWriter, r *http.Request) {
			write(w, `<iframe src="`+far(r)+`/middle"></iframe><script>var heard = ''</script>`)
		},
		"/middle": func(w http.ResponseWriter, r *http.Request) {
			write(w, `<iframe src="http://127.0.0.1:`+r.Host[strings.LastIndex(r.Host, ":")+1:]+`/inner"></iframe>`)
		},
		"/inner": `<script>top.heard = 'in '</script>`,
	})
}

// heard waits until the page has heard from its frames.
func heard(t *testing.T, p *page, words string) {
	t.Helper()
	var got string
	if !eventually(t, testTime, "the frame to say "+words, func() bool {
		got = eval(t, p, `(() => heard)()`)
		return strings.Contains(got, words)
	}) {
		t.Fatal("heard ", got)
	}
}

// A frame of another site has a process of its own, and no stack says who navigates
// it.
func TestScriptsCannotNavigateForeignFrames(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, body := range []string{
			`document.querySelector('#x').src = 'SINK/'`,
			`document.querySelector('#x').src = 'FAR/'`,
			`frames[0].location = 'SINK/'`,
			`document.querySelector('#x').contentWindow.location.replace('SINK/')`,
			`setTimeout(Object.getOwnPropertyDescriptor(frames[0].location, 'href').set.bind(frames[0].location, 'SINK/'), 50)`,
			`const a = document.createElement('a'); a.href = 'SINK/'; a.target = 'x'; document.body.append(a); a.click()`,
			`document.querySelector('#a').href = 'SINK/'; document.querySelector('#a').click()`,
			`const f = document.createElement('form'); f.action = 'SINK/'; f.target = 'x'; document.body.append(f); f.submit()`,
			`const f = document.createElement('iframe'); f.src = 'FAR/'; document.body.append(f)`,
		} {
			if sampled(b, i) {
				continue
			}
			t.Run(body, func(t *testing.T) {
				s := newSink(t)
				p := guardedPage(t, b, farSite(t, s.url)+"/")
				heard(t, p, "in")
				body := strings.ReplaceAll(body, "FAR", strings.Replace(s.url, "127.0.0.1", "localhost", 1))
				if _, err := p.Evaluate(testContext(t), watchedScript((attack{body: body}).script(s))); err != nil {
					wantCode(t, err, routine.CodeScriptBlocked, "the script tried to")
				} else { // it may come after the call: then it is refused, or ends the run
					eventually(t, testTime, "a refusal", func() bool {
						return p.errBlocked() != nil || strings.Contains(strings.Join(p.Warnings(), ""), "not loaded")
					})
				}
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		}
	})
}

// Navigations by links of the page and by the frame itself are allowed.
func TestFramesNavigateWhileScriptsAreWatched(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		p := guardedPage(t, b, farSite(t, "")+"/")
		heard(t, p, "in")
		if _, err := p.Evaluate(testContext(t), watchedScript(`(() => { document.querySelector('#out').append('x'); document.querySelector('#ok').click() })()`)); err != nil {
			t.Fatal(err)
		}
		heard(t, p, "there")
		if _, err := p.Click(testContext(t), click("#a")); err != nil {
			t.Fatal(err)
		}
		heard(t, p, "there in")
	})
}

// Where a frame of the page's own origin is out of sight, a script that is not
// proved to read is refused, and one that is runs.
func TestFramesOutOfSight(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		p := guardedPage(t, b, farSite(t, "")+"/nested")
		heard(t, p, "in")
		_, err := p.Evaluate(testContext(t), watchedScript(`(() => frames[0].frames[0].document.title)()`))
		wantCode(t, err, routine.CodeScriptBlocked, "a frame of its own site inside of another site's")
	})
}
