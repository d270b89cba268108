package browser

import (
	"maps"
	"slices"
	"testing"

	"rote/routine"
)

// Bypasses: code made from strings, natives reached without their names, hooks.
// "seek" finds a global by a name that is not in the text.
func TestScriptBypasses(t *testing.T) {
	t.Parallel()
	const seek = `const seek = (n, o = window) => Object.getOwnPropertyDescriptors(o)[[...n].reverse().join('')]?.value; `
	const ran = `'console.log("RAN")'`
	repel(t, []attack{
		{name: "eval", body: `eval(` + ran + `)`},
		{name: "indirect eval", body: `(0, eval)(` + ran + `)`},
		{name: "eval found", body: seek + `seek('lave')(` + ran + `)`},
		{name: "eval by enumeration", body: `Object.getOwnPropertyNames(window).filter(k => k.length === 4 && k[0] === 'e').map(k => window[k]).forEach(f => f(` + ran + `))`},
		{name: "eval as a callback", body: `[` + ran + `].forEach(eval)`},
		{name: "eval in a promise", body: `await Promise.resolve(` + ran + `).then(eval)`},
		{name: "eval in a timer", body: `setTimeout(eval, 10, ` + ran + `)`},
		{name: "eval as toJSON", body: seek + `JSON.stringify({ 'console.log("RAN")': { toJSON: seek('lave') } })`},
		{name: "eval as Symbol.replace", body: seek + ran + `.replace({ [Symbol.replace]: seek('lave') }, '')`},
		{name: "eval bound", body: `const e = eval.bind(null, ` + ran + `); e()`},
		{name: "eval through Reflect", body: `Reflect.apply(Reflect.get(window, 'ev' + 'al'), null, [` + ran + `])`},
		{name: "eval through a Proxy", body: `new Proxy(window, {})['ev' + 'al'](` + ran + `)`},
		{name: "eval kept in an object", body: `const o = {}; o.w = window; o.w.eval(` + ran + `)`},
		{name: "eval kept in a Map", body: `const s = new Map([['w', window]]); s.get('w').eval(` + ran + `)`},
		{name: "eval in a class field", body: `class A { w = window; go() { this.w.eval(` + ran + `) } } new A().go()`},
		{name: "eval through a promise of the window", body: `await Promise.resolve(window).then(w => w.eval(` + ran + `))`},
		{name: "eval of the arguments", body: `(function () { arguments[0].eval(` + ran + `) })(window)`},
		{name: "eval of a frame", body: `document.querySelector('#i').contentWindow.eval(` + ran + `)`},
		{name: "eval of a frame found", body: `frames[0]['ev' + 'al'](` + ran + `)`},
		{name: "eval of a frame by descriptor", body: seek + `seek('lave', frames[0])(` + ran + `)`},
		{name: "Function", body: `new Function(` + ran + `)()`},
		{name: "Function of a frame", body: `new (document.querySelector('#i').contentWindow.Function)(` + ran + `)()`},
		{name: "the constructor of an arrow", body: `(() => {}).constructor(` + ran + `)()`},
		{name: "a constructor by a built name", body: `const k = ['con', 'structor'].join(''); const f = x => x; f(alert)[k](` + ran + `)()`},
		{name: "constructor by a pushed name", body: `const k = []; k.push('constructor'); const f = () => {}; f[k[0]](` + ran + `)()`},
		{name: "constructor of a constructor", body: `[]['const' + 'ructor']['const' + 'ructor'](` + ran + `)()`},
		{name: "constructor of an error", body: `const k = 'constructor'.slice(0); try { null.x } catch (e) { e[k][k](` + ran + `)() }`},
		{name: "constructor of a frame's array", body: `document.querySelector('#i').contentDocument.defaultView.Array.constructor(` + ran + `)()`},
		{name: "AsyncFunction", body: `await Object.getPrototypeOf(async () => {}).constructor(` + ran + `)()`},
		{name: "GeneratorFunction", body: `Object.getPrototypeOf(function* () {}).constructor(` + ran + `)().next()`},
		{name: "AsyncGeneratorFunction", body: `await Object.getPrototypeOf(async function* () {}).constructor(` + ran + `)().next()`},
		{name: "a species that makes functions", body: `const a = ['x']; a.constructor = { [Symbol.species]: class { constructor() { return Function(` + ran + `) } } }; a.map(x => x)()`},
		{name: "setTimeout of a string", body: `setTimeout(` + ran + `, 1)`},
		{name: "setInterval of a string", body: `const id = setInterval(` + ran + `, 1); setTimeout(() => clearInterval(id), 60)`},
		{name: "setTimeout spread", body: `setTimeout(...[` + ran + `])`},
		{name: "setTimeout through Reflect", body: `Reflect.apply(setTimeout, window, [` + ran + `])`},
		{name: "setTimeout of an object", body: `setTimeout({ toString: () => ` + ran + ` })`},
		{name: "setTimeout in setTimeout", body: `setTimeout(setTimeout, 1, ` + ran + `)`},
		{name: "setTimeout of a frame", body: `frames[0].setTimeout(` + ran + `)`},
		{name: "import of data", body: "await import('data:text/javascript,console.log(`RAN`)')"},
		{name: "import of a blob", body: "await import(URL.createObjectURL(new Blob([" + ran + "], { type: 'text/javascript' })))"},
		{name: "a script element", body: `const s = document.createElement('script'); s.textContent = ` + ran + `; document.body.append(s)`},
		{name: "a script element by a built name", body: `const s = document['create' + 'Element']('scr' + 'ipt'); s.append(` + ran + `); document.body.append(s)`},
		{name: "a module element", body: `const s = document.createElement('script'); s.setAttribute('type', 'module'); s.textContent = ` + ran + `; document.body.append(s)`},
		{name: "a script in a fragment", body: "document.body.append(document.createRange().createContextualFragment('<scr' + 'ipt>' + " + ran + " + '</scr' + 'ipt>'))"},
		{name: "a script by document.write", body: `document.write('<scr' + 'ipt>console.log(1)</scr' + 'ipt>')`},
		{name: "an SVG script", body: `const s = document.createElementNS('http://www.w3.org/2000/svg', 'script'); s.textContent = ` + ran + `; document.querySelector('#out').append(s)`},
		{name: "onerror in HTML", body: `document.querySelector('#out').innerHTML = '<img src="data:," one' + 'rror=\'console.log("RAN")\'>'`},
		{name: "onload in HTML", body: "document.querySelector('#out').innerHTML = '<svg onl' + `oad='console.log(\"RAN\")'>`; " +
			"document.querySelector('#out').innerHTML += '<style onl' + `oad='console.log(\"RAN\")'></style>`"},
		{name: "ontoggle in HTML", body: "document.querySelector('#out').innerHTML = '<details open onto' + `ggle='console.log(\"RAN\")'>x</details>`"},
		{name: "onclick set as an attribute", body: `const b = document.querySelector('#q'); b.setAttribute('on' + 'click', ` + ran + `); b.click()`},
		{name: "onclick set as an attribute node", body: `const a = document.createAttribute('onclick'); a.value = ` + ran + `; const b = document.querySelector('#q'); b.setAttributeNode(a); b.click()`},
		{name: "onclick of the page's button changed", body: `const b = document.querySelector('#b'); b.attributes.onclick.value = ` + ran + `; b.click()`},
		{name: "onfocus", body: `const b = document.querySelector('#q'); b.setAttribute('onfocus', ` + ran + `); b.focus()`},
		{name: "onerror of the body", body: `document.body.setAttribute('onerror', ` + ran + `); setTimeout(() => { throw 1 }, 1)`},
		{name: "a javascript: link", body: `const a = document.createElement('a'); a.href = 'javascript:' + ` + ran + `; document.body.append(a); a.click()`},
		{name: "the page's javascript: link changed", body: `const a = document.querySelector('#j'); a.href = 'javascript:' + ` + ran + `; a.click()`},
		{name: "a javascript: location", body: `location = 'javascript:' + ` + ran},
		{name: "a javascript: frame", body: `document.querySelector('#i').src = 'javascript:' + ` + ran},
		{name: "a javascript: form", body: `const f = document.querySelector('#f'); f.action = 'javascript:' + ` + ran + `; f.submit()`},
		{name: "javascript: in a new window", body: `open('javascript:' + ` + ran + `)`},
		{name: "a frame of a text", body: "const f = document.createElement('iframe'); f.srcdoc = '<scr' + 'ipt>parent.console.log(`RAN`)</scr' + 'ipt>'; document.body.append(f)"},
		{name: "an own empty frame", body: `const f = document.createElement('iframe'); document.body.append(f); frames[frames.length - 1]['ev' + 'al'](` + ran + `)`},
		{name: "a WebSocket of an own empty frame", body: `const f = document.createElement('iframe'); document.body.append(f); new frames[frames.length - 1]['Web' + 'Socket']('ws://HOST/')`},
		{name: "a WebSocket of the page's frame", body: `new frames[0]['Web' + 'Socket']('ws://HOST/')`},
		{name: "a WebSocket found", body: seek + `const W = seek('tekcoSbeW'); new W('ws://HOST/')`},
		{name: "a WebSocket constructed by Reflect", body: seek + `Reflect.construct(seek('tekcoSbeW'), ['ws://HOST/'])`},
		{name: "a WebSocket inherited", body: seek + `class W extends seek('tekcoSbeW') {} new W('ws://HOST/')`},
		{name: "an EventSource found", body: seek + `new (seek('ecruoStnevE'))('SINK/')`},
		{name: "fetch found", body: seek + `seek('hctef')('SINK/')`},
		{name: "fetch in a promise", body: `Promise.resolve('SINK/').then(fetch)`},
		{name: "fetch in a microtask", body: `queueMicrotask(fetch.bind(null, 'SINK/'))`},
		{name: "fetch in a timer", body: `setTimeout(fetch, 20, 'SINK/')`},
		{name: "fetch in a frame request", body: `requestAnimationFrame(() => fetch('SINK/'))`},
		{name: "fetch as a thenable", body: seek + `await { then: seek('hctef').bind(window, 'SINK/') }`},
		{name: "fetch as a late thenable", body: seek + `setTimeout(() => 1, 60); const f = { then: seek('hctef').bind(window, 'SINK/') }; await new Promise(r => setTimeout(r, 20, f))`},
		{name: "fetch as a getter", body: seek + `Object.defineProperty({}, 'x', { get: seek('hctef').bind(window, 'SINK/') }).x`},
		{name: "fetch as a handler that is clicked", body: `const b = document.querySelector('#q'); b.onclick = fetch.bind(window, 'SINK/'); b.click()`},
		{name: "fetch as an iterator", body: seek + `try { [...{ [Symbol.iterator]: seek('hctef').bind(window, 'SINK/') }] } catch {}`},
		{name: "fetch of a frame", body: `frames[0]['fe' + 'tch']('SINK/')`},
		{name: "fetch through a MessageChannel", body: `const c = new MessageChannel(); c.port1.onmessage = () => fetch('SINK/'); c.port2.postMessage(1)`},
		{name: "fetch when idle", body: `requestIdleCallback(() => fetch('SINK/'))`},
		{name: "fetch through a tagged template", body: seek + "seek('hctef')`SINK/`"},
		{name: "WebAssembly", body: `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`},
		{name: "WebAssembly of a frame", body: `new frames[0].WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`},
		{name: "addEventListener", body: `document.body.addEventListener('click', () => 1)`},
		{name: "addEventListener found", body: seek + `seek('renetsiLtnevEdda', EventTarget.prototype).call(document, 'click', () => 1)`},
		{name: "addEventListener of a frame", body: seek + `seek('renetsiLtnevEdda', frames[0].EventTarget.prototype).call(document, 'click', () => 1)`},
		{name: "a native as a listener", body: `document.querySelector('#b')['addEvent' + 'Listener']('click', fetch.bind(window, 'SINK/'))`},
		{name: "MutationObserver", body: `new MutationObserver(() => 1).observe(document, { childList: true })`},
		{name: "IntersectionObserver", body: `new IntersectionObserver(() => 1).observe(document.body)`},
		{name: "ResizeObserver", body: `new ResizeObserver(() => 1).observe(document.body)`},
		{name: "PerformanceObserver", body: `new PerformanceObserver(() => 1).observe({ type: 'mark' })`},
		{name: "customElements.define", body: `customElements.define('x-y', class extends HTMLElement {})`},
		{name: "matchMedia", body: `matchMedia('print').addListener(() => 1)`},
	})
}

// Some hooks need no call of a browser function. Such a function of a script is
// stopped when the page first calls it, and the page continues.
func TestScriptsLeaveNoHook(t *testing.T) {
	t.Parallel()
	hooks := map[string]string{
		"a timer":              `setTimeout(() => mark(), 60)`,
		"an interval":          `setInterval(() => mark(), 20)`,
		"a promise loop":       `(async () => { for (;;) { await new Promise(r => setTimeout(r, 20)); mark() } })()`,
		"a late promise":       `new Promise(r => setTimeout(r, 60)).then(mark)`,
		"onclick":              `document.querySelector('#b').onclick = () => mark()`,
		"window.onclick":       `const w = document.defaultView; w['on' + 'click'] = () => mark()`,
		"a page's emitter":     `app.on('x', () => mark())`,
		"a patched prototype":  `Array.prototype.map = function (f) { mark(); return [] }`,
		"a patched function":   `const k = 'api'; app.load = () => { mark(); return Promise.resolve({ items: [] }) }`,
		"a getter":             `Object.defineProperty(app, 'handlers', { get() { mark(); return [] } })`,
		"a message port":       `const c = new MessageChannel(); c.port1.onmessage = () => mark(); setTimeout(() => c.port2.postMessage(1), 30)`,
		"requestAnimation":     `const f = () => { mark(); requestAnimationFrame(f) }; setTimeout(() => requestAnimationFrame(f), 30)`,
		"an idle callback":     `setTimeout(() => requestIdleCallback(() => mark()), 30)`,
		"an async generator":   `(async () => { async function* g() { for (;;) { await new Promise(r => setTimeout(r, 20)); yield 1 } } for await (const x of g()) mark() })()`,
		"a broadcast":          `const c = new BroadcastChannel('x'); c.onmessage = () => mark(); setTimeout(() => new BroadcastChannel('x').postMessage(1), 30)`,
		"an abort signal":      `const a = AbortSignal.timeout(40); a.onabort = () => mark()`,
		"an animation":         `const a = document.body.animate([], 40); a.onfinish = () => mark()`,
		"a file reader":        `const r = new FileReader(); r.onload = () => mark(); setTimeout(() => r.readAsText(new Blob(['x'])), 30)`,
		"a transition":         `document.body.ontransitionend = () => mark(); setTimeout(() => mark(), 30)`,
		"a function of a page": `app.later(() => new Promise(r => setTimeout(r, 30)).then(mark))`,
	}
	onBoth(t, func(t *testing.T, b *Browser) {
		for i, name := range slices.Sorted(maps.Keys(hooks)) {
			body := hooks[name]
			if sampledWatched(b, i) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newSink(t)
				p := guardedPage(t, b, guardSite(t, s)+"/")
				_, err := p.Evaluate(testContext(t), watchedScript("(() => { const mark = () => { document.title = 'hooked' }; "+body+" })()"))
				if err != nil && routine.CodeOf(err) != routine.CodeScriptBlocked {
					t.Fatal(err)
				}
				if err != nil {
					return // and the page is gone
				}
				eval(t, p, `(() => { document.title = 'page' })()`) // what ran before the call was over is no hook
				if _, err := p.Click(testContext(t), click("#b")); err != nil {
					t.Fatal(err)
				}
				if got := eval(t, p, `(async () => { await new Promise(r => setTimeout(r, 150)); return document.title })()`); got != `"page"` {
					t.Fatal("a hook is left: ", got)
				}
			})
		}
	})
}
