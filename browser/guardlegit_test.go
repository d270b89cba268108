package browser

import (
	"testing"

	"rote/routine"
	"rote/routine/javascript/facts"
)

// harmless are scripts as authors write them, on guardPage, and their values.
var harmless = []struct{ name, script, want string }{
	{"a table", `(() => [...document.querySelectorAll('#t tr')].slice(1).map(tr => [...tr.cells].map(td => td.textContent.trim())))()`, `[["a","1"],["b","2"]]`},
	{"a table with heads", `(function () { var h = Array.prototype.map.call(document.querySelectorAll('th'), function (th) { return th.innerText });
		return Array.from(document.querySelectorAll('#t tr')).slice(1).map(function (tr) {
			var o = {}; for (var i = 0; i < h.length; i++) o[h[i]] = tr.children[i].innerText; return o }) })();`,
		`[{"name":"a","price":"1"},{"name":"b","price":"2"}]`},
	{"links", `(() => [...document.links].map(a => a.pathname))()`, `["/next","void(window.jumped = 1)","/next"]`},
	{"a form's fields", `(() => Object.fromEntries(new FormData(document.querySelector('#f'))))()`, `{"x":"1"}`},
	{"page state", `(() => window.__STATE__.user)()`, `{"name":"Ada"}`},
	{"page state by a path", `(() => { const get = (o, p) => p.split('.').reduce((a, k) => a?.[k], o); return get(window, '__STATE__.user.name') })()`, `"Ada"`},
	{"the data layer", `(() => dataLayer.filter(e => e.event === 'purchase').map(e => e.value))()`, `[3]`},
	{"session storage", `(() => JSON.parse(sessionStorage.getItem('products')).map(({ id, name }) => ({ id, name })))()`, `[{"id":1,"name":"lamp"}]`},
	{"writing session storage", `(() => { sessionStorage.setItem('k', JSON.stringify([1])); return sessionStorage.k })()`, `"[1]"`},
	{"cookies", `(() => Object.fromEntries(document.cookie.split('; ').map(c => c.split('='))))()`, `{"c":"1"}`},
	{"polling for what comes late", `(async () => { for (let i = 0; i < 100; i++) { if (window.late) return window.late; await new Promise(r => setTimeout(r, 10)) } })()`, `"came"`},
	{"polling with an interval", `(() => new Promise((ok, no) => { let n = 0;
		const t = setInterval(() => { if (window.late) { clearInterval(t); ok(window.late) } else if (++n > 100) no(new Error('late')) }, 10)
		}))()`, `"came"`},
	{"a race", `(async () => Promise.race([new Promise(r => setTimeout(r, 10, 'first')), new Promise(r => setTimeout(r, 500, 'second'))]))()`, `"first"`},
	{"frames", `(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(document.body.offsetHeight > 0)))))()`, `true`},
	{"async functions", `(async () => { const f = async i => i * 2; const out = []; for (const i of [1, 2]) out.push(await f(i)); return Promise.all(out.map(f)) })()`, `[4,8]`},
	{"generators", `(() => { function* g(n) { for (let i = 0; i < n; i++) yield i } return [...g(3)] })()`, `[0,1,2]`},
	{"a class", `(() => { class C { #n = 0; add(k) { this.#n += k; return this } get n() { return this.#n } } return new C().add(2).add(3).n })()`, `5`},
	{"sorting and groups", `(() => { const g = {}; for (const { k, v } of [{ k: 'b', v: 1 }, { k: 'a', v: 2 }]) (g[k] ||= []).push(v);
		return Object.entries(g).sort(([a], [b]) => a.localeCompare(b)) })()`, `[["a",[2]],["b",[1]]]`},
	{"dates and numbers", `(() => [new Date(Date.UTC(2024, 1, 29)).toISOString(), new Intl.NumberFormat('de').format(1234.5),
		(0.1 + 0.2).toFixed(2)])()`, `["2024-02-29T00:00:00.000Z","1.234,5","0.30"]`},
	{"regular expressions", `(() => document.body.innerText.match(/\bn\w+t\b/)?.[0].replace(/x/, 'X'))()`, `"neXt"`},
	{"parsing HTML", `(() => new DOMParser().parseFromString('<ul><li>a<li>b</ul>', 'text/html').querySelectorAll('li').length)()`, `2`},
	{"a hash", `(async () => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x')))].length)()`, `32`},
	{"XPath", `(() => document.evaluate('count(//tr)', document, null, XPathResult.NUMBER_TYPE, null).numberValue)()`, `3`},
	{"a frame's document", `(() => document.querySelector('#i').contentDocument.querySelector('p').textContent)()`, `"inner"`},
	{"styles", `(() => getComputedStyle(document.querySelector('#b')).display)()`, `"inline-block"`},
	{"canvas", `(() => { const c = document.createElement('canvas'); c.width = 2; const x = c.getContext('2d'); x.fillRect(0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data] })()`, `[0,0,0,255]`},
	{"scrolling", `(async () => { window.scrollTo(0, document.body.scrollHeight); await new Promise(r => setTimeout(r, 20)); return 'scrolled' })()`, `"scrolled"`},
	{"clicking the page's button, which fetches", `(async () => { document.querySelector('#b').click();
		for (let i = 0; i < 100; i++) { const t = document.querySelector('#out').textContent; if (t) return [t, window.clicks];
		await new Promise(r => setTimeout(r, 10)) } })()`, `["1,2",1]`},
	{"a mouse event", `(async () => { document.querySelector('#b').dispatchEvent(new MouseEvent('click', { bubbles: true }));
		while (!document.querySelector('#out').textContent) await new Promise(r => setTimeout(r, 10)); return window.clicks })()`, `1`},
	{"a page function that fetches", `(async () => (await app.load()).items)()`, `[1,2]`},
	{"a page function by a computed name", `(async () => { const name = ['lo', 'ad'].join(''); return (await app[name]()).items.length })()`, `2`},
	{"a page function with a callback", `(() => app.each([1, 2], x => x + 1))()`, `[2,3]`},
	{"a page function that calls back later", `(async () => app.later(() => 'back'))()`, `"back"`},
	{"jQuery-like", `(() => { $('#q').val('x').trigger('input'); return document.querySelector('#out').textContent })()`, `"typed x"`},
	{"filling in a field", `(() => { const i = document.querySelector('#q'); i.value = 'y';
		i.dispatchEvent(new Event('input', { bubbles: true })); return document.querySelector('#out').textContent })()`, `"typed y"`},
	{"filling in as React wants it",
		`(() => { const i = document.querySelector('#q'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(i, 'z');
		i.dispatchEvent(new Event('input', { bubbles: true })); return document.querySelector('#out').textContent })()`, `"typed z"`},
	{"a route change", `(() => { route(); return [location.search, document.querySelector('#out').textContent] })()`, `["?route=2","route"]`},
	{"the page's javascript: link", `(async () => { document.querySelector('#j').click(); while (!window.jumped) await new Promise(r => setTimeout(r, 10)); return window.jumped })()`, `1`},
	{"building DOM",
		"(() => { const d = document.createElement('div'); d.innerHTML = `<p class=\"x\">${1 + 1}</p>`; d.setAttribute('data-x', '1'); " +
			"document.body.append(d); const t = d.textContent; d.remove(); return t })()", `"2"`},
	{"building a link", `(() => { const a = document.createElement('a'); a.href = '/x?y=1'; return a.pathname + a.search })()`, `"/x?y=1"`},
	{"hiding an element", `(() => { document.querySelector('#t').style.display = 'none'; return document.querySelector('#t').offsetHeight })()`, `0`},
	{"removing an overlay", `(() => { document.querySelectorAll('iframe').forEach(e => e.remove()); return frames.length })()`, `0`},
	{"a file reader", `(() => new Promise(ok => { const r = new FileReader(); r.onload = () => ok(r.result); r.readAsText(new Blob(['x'])) }))()`, `"x"`},
	{"IndexedDB", `(() => new Promise(ok => { const q = indexedDB.open('db'); q.onsuccess = () => { const n = q.result.objectStoreNames.length; q.result.close(); ok(n) } }))()`, `0`},
	{"an image's pixels from data", `(() => new Promise((ok, no) => { const i = new Image(); i.onload = () => ok(i.width); i.onerror = no;
		i.src = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="3" height="1"/>' }))()`, `3`},
	{"structured data", `(() => { const seen = new Map(), set = new Set([1, 1]); seen.set('a', set.size); return [...seen.entries()] })()`, `[["a",1]]`},
	{"a thrown error that is caught", `(() => { try { missing() } catch (e) { return e.name } })()`, `"ReferenceError"`},
}

func TestHarmlessScriptsRunUnchanged(t *testing.T) {
	t.Parallel()
	if len(harmless) < 40 {
		t.Fatalf("%d scripts, want at least 40", len(harmless))
	}
	onBoth(t, func(t *testing.T, b *Browser) {
		url := guardSite(t, newSink(t)) + "/"
		p := guardedPage(t, b, url)
		run := func(t *testing.T, script, want string, proved facts.Facts) {
			t.Helper()
			if _, err := p.Navigate(testContext(t), url); err != nil {
				t.Fatal(err)
			}
			e, err := p.Evaluate(testContext(t), routine.Script{Text: script, Limit: testTime, Facts: proved})
			if err != nil || string(e.JSON) != want {
				t.Fatalf("%s %v, want %s", e.JSON, err, want)
			}
			if w := p.Warnings(); len(w) > 0 {
				t.Error(w)
			}
			if got := eval(t, p, `(() => 1 + 1)()`); got != "2" {
				t.Fatal("the page is not usable any more: ", got)
			}
		}
		for i, h := range harmless {
			if sampledWatched(b, i) {
				continue
			}
			t.Run(h.name, func(t *testing.T) {
				run(t, h.script, h.want, facts.Facts{}) // all of it watched
				if b == shared {
					run(t, h.script, h.want, facts.Prove(h.script))
				}
			})
		}
	})
}
