package browser

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-rod/rod/lib/proto"

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
					p := guardedPage(t, b, site(t, map[string]any{"/": strings.Replace(popupPage, "TO", strings.Replace(to, "CROSS", other, 1), 1),
						"/next": `<script>onbeforeunload = e => e.preventDefault()</script>next`})+"/")
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
					if n := len(p.openPopups()); n > 0 {
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

// Ten popups load. Those beyond are closed before they request anything,
// whichever way they are opened.
func TestPopupsBeyondTheLimitLoadNothing(t *testing.T) {
	t.Parallel()
	const all = 20
	loop := func(each string) string { return fmt.Sprintf(`for (let i = 0; i < %d; i++) { %s }`, all, each) }
	kinds := []struct {
		name, open string
		popup      string // what each popup holds
	}{
		{"window.open", loop(`window.open('/p?' + i)`), ``},
		{"named windows", loop(`window.open('/p?' + i, 'w' + i, 'width=100,height=100')`), ``},
		{"without opener", loop(`window.open('/p?' + i, '_blank', 'noopener')`), ``},
		{"links", loop(`const a = document.createElement('a'); a.href = '/p?' + i; a.target = '_blank'; document.body.append(a); a.click()`), ``},
		{"links with an opener",
			loop(`const a = document.createElement('a'); a.href = '/p?' + i; a.target = '_blank'; a.rel = 'opener'; document.body.append(a); a.click()`),
			``},
		{"forms", loop(`const f = document.createElement('form'); f.action = '/p'; f.target = 'f' + i; document.body.append(f); f.submit()`), ``},
		{"windows that are sent somewhere later", loop(`const w = window.open(''); if (w) w.location = '/p?' + i`), ``},
		{"popups of popups", `window.open('/p')`, `<script>for (let i = 0; i < 3; i++) window.open('/p?' + Math.random())</script>`},
		{"popups that hold on to themselves", loop(`window.open('/p?' + i)`), `<script>onbeforeunload = e => e.preventDefault(); alert(1)</script>`},
	}
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, k := range kinds {
			if sampled(b, i) {
				continue
			}
			t.Run(k.name, func(t *testing.T) {
				var loaded atomic.Int64
				p := guardedPage(t, b, site(t, map[string]any{
					"/": `<button id=b>b</button><script>document.querySelector('#b').onclick = () => { ` + k.open + ` }</script>`,
					"/p": func(w http.ResponseWriter, _ *http.Request) {
						loaded.Add(1)
						w.Header().Set("Content-Type", "text/html")
						fmt.Fprint(w, k.popup)
					},
				})+"/")
				if _, err := p.Click(testContext(t), click("#b")); err != nil {
					t.Fatal(err)
				}
				warnings := ""
				eventually(t, testTime, "ten popups alone", func() bool {
					targets, err := proto.TargetGetTargets{}.Call(p.i.client.Browser(testContext(t)))
					if err != nil {
						t.Fatal(err)
					}
					open := 0
					for _, info := range targets.TargetInfos {
						if info.BrowserContextID == p.context && info.Type == proto.TargetTargetInfoTypePage {
							open++
						}
					}
					warnings += strings.Join(p.Warnings(), "\n")
					return open == maxPopups+1 && loaded.Load() >= maxPopups && strings.Contains(warnings, "more than 10 popups at once")
				})
				if _, err := p.HTML(testContext(t), "#b"); err != nil {
					t.Errorf("the page does not answer any more: %v", err)
				}
				p.Close()
				if n := loaded.Load(); n != maxPopups {
					t.Errorf("%d popups have loaded, want %d", n, maxPopups)
				}
			})
		}
	})
}

// A script in a popup that the run follows obeys the same rules. While the popup can
// reach its opener, which the guard does not watch, only a script that is proved to
// only read runs.
func TestScriptsInFollowedPopups(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		i := -1
		for how, features := range map[string]string{"with opener": ``, "without opener": `, '_blank', 'noopener'`} {
			for _, body := range []string{
				`fetch('SINK/', { mode: 'no-cors' })`,
				`location = 'SINK/'`,
				`new WebSocket('ws://HOST/')`,
				`window['ev' + 'al']('fetch("SINK/", { mode: "no-cors" })')`,
				`opener.location = 'SINK/'`,
				`window['open' + 'er']['fet' + 'ch']('SINK/', { mode: 'no-cors' })`,
				`kept['ev' + 'al']('fetch("SINK/", { mode: "no-cors" })')`,
				`kept.setTimeout('fetch("SINK/", { mode: "no-cors" })')`,
				`kept.document.body.innerHTML = '<img src="SINK/">'`,
				`window.open('SINK/')`,
			} {
				if i++; sampled(b, i) {
					continue
				}
				t.Run(how+"/"+body, func(t *testing.T) {
					t.Parallel()
					s := newSink(t)
					first := guardedPage(t, b, site(t, map[string]any{"/": `<button id=b onclick="window.open('/next'` + features + `)">x</button>`,
						"/next": `<script>window.kept = opener</script>next`})+"/")
					a := &attempt{t: t, p: first, ctx: testContext(t)}
					if err := a.popup("#b"); err != nil {
						t.Fatal(err)
					}
					_, err := first.tabs.Evaluate(testContext(t), watchedScript((attack{body: body}).script(s)))
					code := routine.CodeOf(err)
					if how == "with opener" && code != routine.CodeScriptBlocked || err != nil && code != routine.CodeScriptBlocked && code != routine.CodeScriptError {
						t.Error(err)
					}
					first.tabs.Close()
					if n := s.hits.Load(); n != 0 {
						t.Errorf("%d connections and requests at the sink", n)
					}
				})
			}
		}
	})
}

// Scripts that do no harm run in a popup: those that only read in any, others in
// one that cannot reach its opener.
func TestScriptsRunInFollowedPopups(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		for features, text := range map[string]string{
			``:                       `(() => document.querySelector('#p').textContent)()`,
			`, '_blank', 'noopener'`: `(async () => { const p = document.querySelector('#p'); p.textContent += '!'; await null; return p.textContent })()`,
		} {
			first := guardedPage(t, b, site(t, map[string]any{"/": `<button id=b onclick="window.open('/next'` + features + `)">x</button>`,
				"/next": `<p id=p>next</p>`})+"/")
			a := &attempt{t: t, p: first, ctx: testContext(t)}
			if err := a.popup("#b"); err != nil {
				t.Fatal(err)
			}
			e, err := first.tabs.Evaluate(testContext(t), script(text, testTime))
			if err != nil || !strings.HasPrefix(string(e.JSON), `"next`) {
				t.Errorf("%s %v", e.JSON, err)
			}
		}
	})
}

// A window that is refused uses up the permit that was for it: a window that a script
// opens later would otherwise be resumed before it is judged.
func TestNoPermitIsLeft(t *testing.T) {
	t.Parallel()
	p := guardedPage(t, shared, site(t, map[string]any{"/p": `<p>popup`,
		"/": `<button id=b onclick="for (let i = 0; i < 20; i++) window.open('/p?' + i)">b</button>`})+"/")
	if _, err := p.Evaluate(testContext(t), watchedScript(`(() => { document.title = 'x' })()`)); err != nil {
		t.Fatal(err)
	}
	g := p.currentGuard()
	if g == nil {
		t.Fatal("the page has no guard")
	}
	if _, err := p.Click(testContext(t), click("#b")); err != nil {
		t.Fatal(err)
	}
	eventually(t, testTime, "ten popups, each with its permit", func() bool {
		waiting, permits := g.Popups()
		return len(p.openPopups()) == maxPopups && waiting == 0 && permits == 0
	})
}
