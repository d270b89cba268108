package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/javascript/facts"
)

// Using the page's own links and forms is no navigation of the script's.
func TestScriptsMayUseThePage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, c := range []struct{ name, script, want string }{
			{"a link", `document.querySelector('#a').click()`, "/next"},
			{"a link, by a mouse event", `document.querySelector('#a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))`, "/next"},
			{"a form", `document.querySelector('#f').submit()`, "/next?x=1"},
			{"a form, asked", `document.querySelector('#f').requestSubmit()`, "/next?x=1"},
			{"a form's button", `document.querySelector('#s').click()`, "/next?x=1"},
			{"a form, filled in", `document.querySelector('#f input').value = 'a b'; document.querySelector('#s').click()`, "/next?x=a+b"},
			{"a form, filled in by setting", `document.querySelector('#f input').setAttribute('value', '2'); document.forms[0].submit()`, "/next?x=2"},
		} {
			if sampled(b, i) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				for _, proved := range []facts.Facts{facts.Prove("(() => { " + c.script + " })()"), {}} {
					url := guardSite(t, newSink(t))
					p := guardedPage(t, b, url+"/")
					_, err := p.Evaluate(testContext(t), routine.Script{Text: "(() => { " + c.script + " })()", Limit: testTime, Facts: proved})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := p.WaitURL(testContext(t), func(u string) (bool, error) { return u == url+c.want, nil }); err != nil {
						t.Fatal(err, p.now().url)
					}
				}
			})
		}
		t.Run("a link to a new window", func(t *testing.T) {
			p := guardedPage(t, b, guardSite(t, newSink(t))+"/")
			if _, err := p.Evaluate(testContext(t), routine.Script{Text: `(() => document.querySelector('#blank').click())()`, Limit: testTime}); err != nil {
				t.Fatal(err)
			}
			eventually(t, testTime, "a popup", func() bool { return strings.Contains(strings.Join(p.Warnings(), ""), "opened a popup") })
		})
	})
}

// If a callback that a script has left breaks the rules, the next operation of the
// run fails with that error.
func TestLateViolationFailsTheNextOperation(t *testing.T) {
	s := newSink(t)
	p := guardedPage(t, shared, guardSite(t, s)+"/")
	if _, err := p.Evaluate(testContext(t), watchedScript(strings.ReplaceAll(`(() => { setTimeout(fetch, 50, 'SINK/') })()`, "SINK", s.url))); err != nil {
		t.Fatal(err)
	}
	_, err := p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
	wantCode(t, err, routine.CodeScriptBlocked, "the script tried to reach GET "+s.url)
	_, err = p.HTML(testContext(t), "")
	wantCode(t, err, routine.CodeScriptBlocked, "reach GET")
	if n := s.hits.Load(); n != 0 {
		t.Fatalf("%d connections and requests at the sink", n)
	}
}

// A document that is left takes its watch with it: the next is as fast as ever.
func TestTheWatchEndsWithItsDocument(t *testing.T) {
	url := guardSite(t, newSink(t))
	p := guardedPage(t, shared, url+"/")
	for range 2 {
		for range 2 {
			if _, err := p.Evaluate(testContext(t), watchedScript(`(() => { setInterval(() => 1, 5) })()`)); err != nil {
				t.Fatal(err)
			}
		}
		if !p.guarding.guard.IsArmed() {
			t.Fatal("nothing is watched")
		}
		if _, err := p.Navigate(testContext(t), url+"/"); err != nil {
			t.Fatal(err)
		}
		if p.guarding.guard.IsArmed() {
			t.Fatal("the new document is watched for what it did not run")
		}
	}
	if _, err := p.Fetch(testContext(t), routine.Fetch{URL: "/api", Method: "GET"}, 1000); err != nil {
		t.Fatal(err)
	}
}

// The page's own requests go on under the watch, those without a stack too, and
// so do the run's.
func TestThePageGoesOnUnderTheWatch(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{
		"/": `<div id=d></div><style>.on { background: url(/pic?css) }</style><script>
window.got = [];
document.onclick = () => {
  const es = new EventSource('/events'); es.onmessage = e => { got.push(e.data); es.close() };
  const w = new Worker('/w.js'); w.onmessage = e => { got.push(e.data); w.terminate() };
  const i = new Image(); i.onload = () => got.push('image'); i.src = '/pic';
  const x = new XMLHttpRequest(); x.open('GET', '/api'); x.onload = () => got.push(x.responseText); x.send();
  import('/m.js').then(m => got.push(m.default));
  const s = document.createElement('script'); s.src = '/s.js'; document.body.append(s);
  const f = document.createElement('iframe'); f.src = '/frame'; document.body.append(f);
  new Function('got.push("function")')(); setTimeout('got.push("timer")', 5);
  addEventListener('x', () => got.push('event')); dispatchEvent(new Event('x'));
};</script>`,
		"/events": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: sse\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"/w.js": func(w http.ResponseWriter, _ *http.Request) {
			jsFile(w, `fetch('/api').then(r => r.text()).then(t => postMessage('worker ' + t))`)
		},
		"/m.js": func(w http.ResponseWriter, _ *http.Request) { jsFile(w, `export default 'module'`) },
		"/s.js": func(w http.ResponseWriter, _ *http.Request) { jsFile(w, `got.push('script')`) },
		"/pic": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, pixel)
		},
		"/api": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "api") }, "/frame": `<script>parent.got.push('frame')</script>`,
	})
	const want = `["api","event","frame","function","image","module","script","sse","timer","worker api"]`
	onBoth(t, func(t *testing.T, b *Browser) {
		p := guardedPage(t, b, url+"/")
		e, err := p.Evaluate(testContext(t), routine.Script{Limit: testTime, Text: `(async () => { document.body.click();
			document.body.dataset.x = '1'; while (got.length < 10) await new Promise(r => setTimeout(r, 10)); return got.sort() })()`})
		if err != nil || string(e.JSON) != want {
			t.Fatal(string(e.JSON), err, eval(t, p, `(() => got)()`))
		}
	})
}

func jsFile(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/javascript")
	fmt.Fprint(w, text)
}

// A script that is only slow, or that throws, is no violation, and what it left
// dies with it.
func TestWatchedScriptsEndAsOthersDo(t *testing.T) {
	url := guardSite(t, newSink(t)) + "/"
	p := guardedPage(t, shared, url)
	_, err := p.Evaluate(testContext(t), routine.Script{Limit: 300 * time.Millisecond, Text: `(async () => { setInterval(() => { document.title = 'x' }, 5); for (;;) await 1 })()`})
	wantCode(t, err, routine.CodeTimeout, "timeout_seconds of 0.3")
	_, err = p.Evaluate(testContext(t), routine.Script{Limit: time.Second, Text: "(() => {\n  missing()\n})()"})
	wantCode(t, err, routine.CodeScriptError, "missing is not defined (line 2, column 3 of the script)")
	_, err = p.Evaluate(testContext(t), routine.Script{Limit: time.Second, Text: "(() => { syntax error })()"})
	wantCode(t, err, routine.CodeScriptError, "SyntaxError")
	if got := eval(t, p, `(() => 1 + 1)()`); got != "2" {
		t.Fatal(got)
	}
	_, err = p.Evaluate(testContext(t), routine.Script{Limit: 5 * time.Second, Text: `(() => { debugger; location.href = '/next'; return new Promise(() => 1) })()`})
	wantCode(t, err, routine.CodeScriptBlocked, "navigate to "+url+"next")
}

// A script that has changed the document is no reason to refuse what the run
// does with it afterwards.
func TestFormsAfterAScript(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{
		"/": `<p id=over>over</p><form action=/post method=post><button id=post>x</button></form><form action=/csv method=post><button id=csv>x</button></form>
			<button id=more onclick="d.innerHTML = '<form action=/home><input id=q><button id=late>x</button></form>'">x</button><div id=d></div>`,
		"/post": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/home", http.StatusFound) },
		"/csv": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprint(w, "a,b")
		},
		"/home": `home`,
	})
	on := func(selectors ...string) func(p *page) error {
		return func(p *page) error {
			for _, s := range selectors {
				if _, err := p.Click(testContext(t), click(s)); err != nil {
					return fmt.Errorf("%s: %w", s, err)
				}
			}
			return nil
		}
	}
	for name, do := range map[string]func(p *page) error{
		"that the server sends on":   on("#post"),
		"that came after the script": on("#more", "#late"),
		"that is sent by a key": func(p *page) error {
			if err := on("#more", "#q")(p); err != nil {
				return err
			}
			return p.Press(testContext(t), "Enter")
		},
		"that brought no page, and a navigation": func(p *page) error {
			if err := on("#csv")(p); err != nil {
				return err
			}
			_, err := p.Navigate(testContext(t), url+"/home")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, url+"/")
			eval(t, p, `(() => { document.querySelector('#over').remove() })()`)
			if err := do(p); err != nil {
				t.Fatal(err)
			}
			if got := p.now().url; !strings.HasPrefix(got, url+"/home") {
				t.Fatal(got)
			}
		})
	}
}
