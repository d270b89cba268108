package javascript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// legitimate are scripts that authors write and that must never be refused.
var legitimate = map[string]string{
	"table": `(() => {
		const rows = [...document.querySelectorAll('table#prices tr')].slice(1);
		return rows.map(tr => [...tr.cells].map(td => td.textContent.trim()));
	})()`,
	"table with headers": `(function () {
		var heads = Array.prototype.map.call(document.querySelectorAll('th'), function (th) { return th.innerText; });
		return Array.from(document.querySelectorAll('tbody tr')).map(function (tr) {
			var o = {};
			for (var i = 0; i < tr.children.length; i++) o[heads[i]] = tr.children[i].innerText;
			return o;
		});
	})();`,
	"virtual grid": `(async () => {
		const rows = new Map(), view = document.querySelector('.viewport');
		for (let y = 0; y < view.scrollHeight; y += 300) {
			view.scrollTop = y;
			await new Promise(done => setTimeout(done, 50));
			for (const row of document.querySelectorAll('.row')) {
				const o = {};
				for (const cell of row.querySelectorAll('[col-id]')) o[cell.getAttribute('col-id')] = cell.textContent;
				rows.set(row.getAttribute('row-index'), o);
			}
		}
		return [...rows.values()];
	})()`,
	"using": `(async () => {
		const made = [];
		const open = name => ({ name, [Symbol.dispose]() { made.push('closed ' + this.name) }, async [Symbol.asyncDispose]() { made.push('closed ' + this.name) } });
		{
			using a = open('a'), b = open('b');
			await using c = open('c');
			for (using d of [open('d')]) made.push(d.name);
			for (await using e of [open('e')]) made.push(e.name);
			for (using f = open('f'); made.length < 0;) made.push(f.name);
		}
		const using = 1, x = { using: 2 };
		for (const using of [using]) made.push(x.using, using
			in x);
		return made;
	})()`,
	"groups of rows": `(() => {
		const groups = {};
		let total = 0;
		for (const tr of document.querySelectorAll('tr')) {
			const key = tr.cells[0].innerText;
			(groups[key] = groups[key] || []).push(tr.cells[1].innerText);
			total += Number(tr.cells[1].innerText);
		}
		return { groups, total };
	})()`,
	"links without script ones": `(() => [...document.links].filter(a => !a.href.startsWith('javascript:') &&
		a.getAttribute('href') !== 'javascript:void(0)').map(a => a.href))()`,
	"selector with javascript:": `(() => document.querySelectorAll('a[href^="javascript:"], link[rel=prefetch], script[type="speculationrules"]').length)()`,
	"poll with a timeout promise": `(async () => {
		const sleep = ms => new Promise(r => setTimeout(r, ms));
		for (let i = 0; i < 50; i++) {
			const el = document.querySelector('.result');
			if (el) return el.textContent;
			await sleep(100);
		}
		throw new Error('no result');
	})()`,
	"poll with setInterval": `(function () {
		return new Promise(function (resolve, reject) {
			var n = 0, t = setInterval(function () {
				if (window.ready) { clearInterval(t); resolve(window.ready); }
				else if (++n > 30) { clearInterval(t); reject(new Error('late')); }
			}, 100);
		});
	})()`,
	"timer with a bound function": `(() => new Promise(r => setTimeout(r.bind(null, 1), 10)))()`,
	"timer with a method":         `(() => { const app = { tick() {} }; setTimeout(app.tick, 5); window.setTimeout(app.tick.bind(app)); })()`,
	"timer with a named function": `(() => new Promise(done => { function step() { done(1) } setTimeout(step, 1); }))()`,
	"race against a timeout":      `(async () => Promise.race([window.loaded, new Promise((_, no) => setTimeout(() => no(new Error('timeout')), 4000))]))()`,
	"requestAnimationFrame":       `(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(document.body.offsetHeight)))))()`,
	"page state":                  `(() => window.__NEXT_DATA__.props.pageProps)()`,
	"initial state":               `(() => JSON.stringify(window.__INITIAL_STATE__ || globalThis.__NUXT__ || self.__APOLLO_STATE__))()`,
	"data layer":                  `(() => (window.dataLayer || []).filter(e => e.event === 'purchase'))()`,
	"computed page global":        `(() => window['my-app-state'])()`,
	"computed with known start":   `(() => { const id = document.body.dataset.id; return window['__state_' + id] })()`,
	"globals from a list":         "(() => { const names = ['__NEXT_DATA__', '__NUXT__', `__STATE__`]; return names.map(n => window[n]).find(Boolean) })()",
	"globals in a loop":           `(() => { for (const k of ['dataLayer', 'utag_data']) { if (window[k]) return window[k] } return null })()`,
	"symbols and frames as keys":  `(() => [window[Symbol.for('app')], frames[frames.length - 1].document.title])()`,
	"which globals there are":     `(() => Object.keys(window).filter(k => k.startsWith('__')))()`,
	"is there a fetch":            `(() => ({ has: 'fetch' in window, type: typeof fetch, t2: typeof window.WebSocket }))()`,
	"is it a function":            `(() => window.app.start instanceof Function && window.app.constructor === Object)()`,
	"deep get": `(() => { const get = (o, p) => p.split('.').reduce((a, k) => a?.[k], o);
		return get(window, 'app.state.user.name') })()`,
	"helper for the window and others": `(() => { const pick = (o, k) => o[k]; const d = pick(window, '__STATE__');
		return pick(d, document.body.id) })()`,
	"no semicolons": "(() => {\n  const f = x => {\n    return x\n  }\n\n  [1, 2].forEach(f)\n" +
		"  const g = () => { return 1 } // one\n  (() => { f() })()\n  const h = () => {}\n  `x`.trim()\n  return g()\n})()",
	"page function":              `(async () => { const token = await grecaptcha.execute('6Lc-key', { action: 'login' }); return token })()`,
	"page function that fetches": `(async () => { const r = await app.search.fetch({ q: 'shoes' }); return r.items })()`,
	"own object with fetch":      `(() => { const store = { fetch() { return 1 }, eval: x => x, open: true }; return store.fetch() + store.eval(2) })()`,
	"page store": `(() => { const store = window.app.store; store.dispatch({ type: 'open' }); store.close();
		return cache.eval('x'), api.fetch('/x') })()`,
	"jquery":                 `(() => { $('#q').val('x').trigger('change'); return $('li').map((i, e) => $(e).text()).get() })()`,
	"click":                  `(() => { document.querySelector('button.more').click() })()`,
	"submit the page's form": `(() => { document.forms[0].submit(); document.querySelector('form').requestSubmit() })()`,
	"fill in and tell the page": `(() => {
		const i = document.querySelector('input');
		Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(i, 'x');
		i.dispatchEvent(new Event('input', { bubbles: true }));
		i.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
	})()`,
	"session storage as JSON": `(() => JSON.parse(sessionStorage.getItem('products') || '[]').map(({ id, name }) => ({ id, name })))()`,
	"local storage": `(() => { for (let i = 0; i < localStorage.length; i++) { const k = localStorage.key(i);
		sessionStorage[k] = localStorage[k] } })()`,
	"cookie": `(() => Object.fromEntries(document.cookie.split('; ').map(c => c.split('='))))()`,
	"location read": `(() => { const u = new URL(location.href); return [
		u.searchParams.get('id'), window.location.pathname.replace(/\/$/, ''), document.location.host, history.length, history.state] })()`,
	"location parts":        `(() => ['href', 'host'].map(k => location[k]))()`,
	"own variable location": `(() => { let location = {}; location.href = 'x'; location = null; const history = []; history.go = 1; history.back })()`,
	"class with private fields": `(() => {
		class Counter {
			#n = 0; static #made = 0; static { this.#made++ }
			get value() { return this.#n } set value(v) { this.#n = v }
			#bump() { this.#n++ } fetch() { this.#bump(); return this }
			has(o) { return #n in o } clone() { return new this.constructor() }
		}
		return new Counter().fetch().value;
	})()`,
	"class with inheritance": `(() => { class A { constructor(w) { this.w = w } open() {} } class B extends A { constructor() { super(1);
		super.open() } } return new B().w })()`,
	"generator inside":        `(() => { function* pages(n) { for (let i = 1; i <= n; i++) yield i; return yield* [] } return [...pages(3)] })()`,
	"async iteration":         `(async () => { const out = []; async function* g() { yield 1 } for await (const x of g()) out.push(x); return out })()`,
	"regex named fetch":       `(() => { const fetch = /fetch|eval\(/g; return fetch.test(document.title) })()`,
	"regex after parenthesis": `(() => { const s = document.title; if (s) /['"]/.test(s) && s.split(/[/"]+/); return s.length / 2 / 1 })()`,
	"division and regex":      "(() => { let i = 4, a = [1]; const r = a[0] / i++ / (1 + 2) / 3; return `${r / 2}` + /}`/.source })()",
	"words in comments":       "(() => { // fetch(x), eval(y) and addEventListener\n /* new WebSocket(window.close()) */ return 1 })()",
	"words in strings":        "(() => ['fetch', \"eval('x')\", `XMLHttpRequest ${1}`, 'window.close()'].join(' '))()",
	"words as keys":           `(() => ({ fetch: 1, eval: 2, 'WebSocket': 3, ['close']: 4, open: { addEventListener: 5 } }))()`,
	"words as members":        `(() => { const r = {}; r.fetch = 1; r.Worker = 2; r['eval'] = 3; return r.fetch + r.Worker })()`,
	"own names": `(() => { function fetch(u) { return u } const open = 1, close = 2; var eval2 = fetch(open + close);
		return ((WebSocket) => WebSocket)(eval2) })()`,
	"own names by destructuring": `(() => { const { fetch, close } = { fetch: 1, close: 2 }; const [Worker] = [3];
		try { throw 4 } catch (EventSource) { return fetch + close + Worker + EventSource } })()`,
	"function hoisted":          `(() => { return fetch(2); function fetch(n) { return n * 2 } })()`,
	"labels":                    `(() => { fetch: for (const a of [1, 2]) { for (const b of [3]) { if (b) continue fetch; break fetch } } })()`,
	"optional chaining":         `(() => document.querySelector('x')?.dataset?.['id'] ?? window.app?.user?.name?.toString() ?? null)()`,
	"getters and computed keys": `(() => { const k = 'a'; return { get fetch() { return 1 }, set open(v) {}, [k]: 2, async *it() {}, async load() {} } })()`,
	"dates and Intl":            `(() => new Intl.DateTimeFormat('de', { dateStyle: 'long' }).format(new Date(Date.UTC(2024, 1, 29))))()`,
	"numbers":                   `(() => [1_000, 0xff, 0b11, 0o17, 1e3, .5, 10n ** 3n, -1 >>> 0])()`,
	"templates":                 "(() => { const f = (s, ...v) => s.raw.join('|') + v; return f`a${1}b${`c${2}`}\\n` })()",
	"constructor name": `(() => { const x = new Map(); return [
		x.constructor.name, x.constructor === Map, Object.getPrototypeOf(x).constructor.name] })()`,
	"DOM building": "(() => { const d = document.createElement('div'); d.innerHTML = `<p class=\"x\">${1}</p>`; " +
		"d.setAttribute('data-on', '1'); d.id = 'x'; document.body.append(d); d.remove() })()",
	"DOM building with a link": `(() => { const a = document.createElement('a'); a.href = 'https://example.com/' + location.search;
		a.textContent = 'x'; return a.hostname })()`,
	"parse HTML": `(() => new DOMParser().parseFromString(sessionStorage.getItem('html'), 'text/html').querySelectorAll('tr').length)()`,
	"canvas": `(() => { const c = document.createElement('canvas'), i = new Image(); i.src = c.toDataURL('image/png');
		c.getContext('2d').drawImage(i, 0, 0); const j = new Image(); j.src = 'data:image/gif;base64,R0l'; return c.width })()`,
	"file reader": `(() => new Promise((ok, no) => { const r = new FileReader(); r.onload = () => ok(r.result); r.onerror = no;
		r.readAsText(new Blob(['x'])) }))()`,
	"indexed db": `(() => new Promise(ok => { const q = indexedDB.open('db'); q.onsuccess = e => { const db = e.target.result;
		ok([...db.objectStoreNames]); db.close() } }))()`,
	"frame's document": `(() => document.querySelector('iframe').contentDocument.querySelector('table').innerText)()`,
	"shadow root":      `(() => document.querySelector('x-app').shadowRoot.querySelector('button').innerText)()`,
	"sort and group": `(() => { const g = {}; for (const { k, v } of [{ k: 'a', v: 1 }]) (g[k] ||= []).push(v);
		return Object.entries(g).sort(([a], [b]) => a.localeCompare(b)) })()`,
	"switch and try": `(() => { switch (document.readyState) { case 'complete': return 1;
		default: try { return app() } catch { return 0 } finally { console.log('x') } } })()`,
	"this of the page": `(function () { return this.document.title + this.dataLayer.length })()`,
	"argument window":  `(function (w, d) { return w.dataLayer.length + d.title })(window, document);`,
	"named and async":  `/* c */ ;(async function main() { return await Promise.all([1, 2]) })() ; // end`,
	"xpath":            `(() => document.evaluate('//a', document, null, XPathResult.STRING_TYPE, null).stringValue)()`,
	"hash of text": `(async () => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x')))].map(
		b => b.toString(16).padStart(2, '0')).join(''))()`,
	"base64": `(() => atob(document.body.dataset.x) + btoa('fetch'))()`,
	"react fiber": `(() => { const el = document.querySelector('#root');
		const key = Object.keys(el).find(k => k.startsWith('__reactFiber$')); return el[key].memoizedProps })()`,
	"array of functions": `(() => { const steps = [() => 1, () => 2]; return steps.map(f => f()) })()`,
}

func TestLegitimateScriptsPass(t *testing.T) {
	if len(legitimate) < 42 {
		t.Fatalf("%d scripts, want at least 42", len(legitimate))
	}
	for name, script := range legitimate {
		if diff := cmp.Diff([]Problem(nil), Check(script)); diff != "" {
			t.Errorf("%s:\n%s\n%s", name, script, diff)
		}
	}
}
