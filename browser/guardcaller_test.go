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

// seekHook finds addEventListener by a name that is not in the text.
const seekHook = `const seek = (n, o) => Object.getOwnPropertyDescriptors(o)[[...n].reverse().join('')]?.value;
	const hook = seek('renetsiLtnevEdda', EventTarget.prototype); `

// A script that calls what registers hooks is found out whatever it has done
// before to the functions that could tell.
func TestScriptsCannotHideThatTheyHook(t *testing.T) {
	t.Parallel()
	const call = `; hook.call(document.body, 'click', () => console.log('RAN')); document.body.click()`
	attacks := []attack{{name: "nothing", body: seekHook + call}}
	for _, before := range []string{
		`Error.stackTraceLimit = 0`,
		`Object.defineProperty(Error, 'stackTraceLimit', { get: () => 0, configurable: true })`,
		`Object.defineProperty(Error, 'stackTraceLimit', { value: 0, writable: false, configurable: false })`,
		`Error.prepareStackTrace = () => []`,
		`Object.defineProperty(Error, 'prepareStackTrace', { value: () => [], writable: false, configurable: false })`,
		`Object.defineProperty(Error, 'prepareStackTrace', { get: () => () => [], set() { hook.call(document, 'x', () => 1) } })`,
		`Object.freeze(Error)`,
		`Error.captureStackTrace = o => { o.stack = [] }`,
		`for (const k of ['get', 'set', 'value', 'writable', 'configurable', 'enumerable'])
			Object.defineProperty(Object.prototype, k, { __proto__: null, get() { return undefined }, set() {} })`,
		`Object.defineProperty(Object.prototype, 'stack', { get: () => [], set() {} })`,
		`Object.defineProperty(Array.prototype, '0', { get: () => ({}), set() {} })`,
		`String.prototype.startsWith = () => false`,
		`Error.prepareStackTrace = (_, s) => s; const p = Object.getPrototypeOf(new Error('x').stack[0]);
			Error.prepareStackTrace = undefined; p.getScriptNameOrSourceURL = () => 'https://page/'; p.getLineNumber = () => null`,
		`Reflect.apply = () => 'https://page/'; Object.hasOwn = () => false; Reflect.defineProperty = () => true`,
		`Function.prototype.call = function () { return 'https://page/' }; Function.prototype.apply = Function.prototype.call`,
		`try { window.Error = class {} } catch {}`,
		`Array.prototype[Symbol.iterator] = function* () {}`,
	} {
		attacks = append(attacks, attack{name: before, body: strings.Replace(seekHook, "const seek", "var seek", 1) + before +
			`; Reflect.construct(class { constructor() { const f = hook.bind(document.body); f('click', () => console.log('RAN')) } }, []); document.body.click()`})
	}
	for name, body := range map[string]string{
		"called by a page function": `app.each([1], () => hook.call(document.body, 'click', () => 1))`,
		"called by the language":    `[1].forEach(hook.bind(document.body, 'click', () => 1))`,
		"of a frame":                `seek('renetsiLtnevEdda', frames[0].EventTarget.prototype).call(document.body, 'click', () => 1)`,
		"of a frame, on it":         `seek('renetsiLtnevEdda', frames[0].EventTarget.prototype).call(frames[0], 'click', () => 1)`,
	} {
		attacks = append(attacks, attack{name: name, body: seekHook + body})
	}
	repel(t, attacks)
}

// The page may forbid code from strings: what judges calls is none.
func TestHooksOnPagesWithAPolicy(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'self'; require-trusted-types-for 'script'")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<button id=b>b</button>`)
	}})
	onBoth(t, func(t *testing.T, b *Browser) {
		p := guardedPage(t, b, url+"/")
		_, err := p.Evaluate(testContext(t), watchedScript("(() => { "+seekHook+"hook.call(document.body, 'click', () => 1) })()"))
		wantCode(t, err, routine.CodeScriptBlocked, "call EventTarget.prototype.addEventListener")
	})
}

// The page's own registrations of event listeners do not pause, neither during a
// script nor after it, also if the page has replaced the browser's function by its
// own.
func TestPagesRegisterListenersAtFullSpeed(t *testing.T) {
	const draw = `window.draw = () => { let n = 0; const o = new ResizeObserver(() => 1);
		for (let i = 0; i < 200; i++) {
			const e = document.createElement('p');
			e.addEventListener('click', () => n++); o.observe(e);
			document.body.append(e); e.click();
		}
		return n };`
	url := site(t, map[string]any{
		"/":        `<button id=b onclick="this.textContent = draw()">b</button><script src=/draw.js></script>`,
		"/wrapped": `<button id=b onclick="this.textContent = draw()">b</button><script src=/wrap.js></script><script src=/draw.js></script>`,
		"/draw.js": func(w http.ResponseWriter, _ *http.Request) { jsFile(w, draw) },
		"/wrap.js": func(w http.ResponseWriter, _ *http.Request) {
			jsFile(w, `const native = EventTarget.prototype.addEventListener;
				EventTarget.prototype.addEventListener = function (...a) { return native.apply(this, a) }`)
		},
	})
	b := own(t)
	for _, path := range []string{"/", "/wrapped"} {
		p := mustOpen(t, b)
		var pauses atomic.Int64
		p.i.client.Observe(func(session proto.TargetSessionID, _, event string) {
			if session == p.session && event == "Debugger.paused" {
				pauses.Add(1)
			}
		})
		if _, err := p.Navigate(testContext(t), url+path); err != nil {
			t.Fatal(err)
		}
		e, err := p.Evaluate(testContext(t), watchedScript(`(() => { const k = document.title; return [window['dr' + k + 'aw'](), k] })()`))
		if err != nil || string(e.JSON) != `[200,""]` {
			t.Fatal(string(e.JSON), err)
		}
		if _, err := p.Click(testContext(t), click("#b")); err != nil {
			t.Fatal(err)
		}
		if got, err := p.HTML(testContext(t), "#b"); err != nil || !strings.Contains(got, ">200<") {
			t.Fatal(got, err)
		}
		if n := pauses.Load(); n == 0 || n > 40 {
			t.Errorf("%s: %d pauses", path, n)
		}
		p.Close()
	}
}
