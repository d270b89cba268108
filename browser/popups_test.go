package browser

import (
	"strings"
	"testing"

	"rote/routine"
)

// popupPage opens a window, and keeps it, when b is clicked.
const popupPage = `<button id=b onclick="window.w = window.open('TO')">x</button>`

// A window that the page has opened and keeps is closed before a script could
// act in it, and one that it opens meanwhile reaches nothing.
func TestScriptsActInNoPopup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, body := range []string{
			`w.location = 'SINK/'`,
			`w.location.replace('SINK/')`,
			`w['ev' + 'al']('fetch("SINK/", { mode: "no-cors" })')`,
			`w['fet' + 'ch']('SINK/', { mode: 'no-cors' })`,
			`new w['Web' + 'Socket']('ws://HOST/')`,
		} {
			if sampled(b, i) {
				continue
			}
			for kind, to := range map[string]string{"same origin": "/next", "another site": "CROSS/next"} {
				t.Run(kind+"/"+body, func(t *testing.T) {
					t.Parallel()
					s := newSink(t)
					other := strings.Replace(site(t, map[string]any{"/next": "next"}), "127.0.0.1", "localhost", 1)
					p := guardedPage(t, b, site(t, map[string]any{"/": strings.Replace(popupPage, "TO", strings.Replace(to, "CROSS", other, 1), 1), "/next": `<script>onbeforeunload = e => e.preventDefault()</script>next`})+"/")
					if _, err := p.Click(testContext(t), click("#b")); err != nil {
						t.Fatal(err)
					}
					_, err := p.Evaluate(testContext(t), watchedScript((attack{body: body}).script(s)))
					if code := routine.CodeOf(err); err != nil && code != routine.CodeScriptBlocked && code != routine.CodeScriptError {
						t.Error(err)
					}
					if w := strings.Join(p.Warnings(), "\n"); !strings.Contains(w, "popups that were closed before the script") {
						t.Errorf("warnings %q", w)
					}
					if n := len(p.popupsNow()); n > 0 {
						t.Errorf("%d popups are left", n)
					}
					p.Close()
					if n := s.hits.Load(); n != 0 {
						t.Errorf("%d connections and requests at the sink", n)
					}
				})
			}
		}
	})
}
