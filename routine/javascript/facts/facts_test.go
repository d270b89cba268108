package facts

import (
	"slices"
	"strconv"
	"testing"

	"rote/routine/javascript"
	"rote/routine/routinetest/scripts"
)

// acting are the legitimate scripts that do more than read. All others must be
// proved to read only.
var acting = map[string]string{
	"DOM building": "draws", "DOM building with a link": "draws", "canvas": "draws", "file reader": "draws", "indexed db": "draws",
	"fill in and tell the page": "draws", "local storage": "draws", "own variable location": "draws", "class with inheritance": "draws",
	"class with private fields": "draws",
	"using":                     "draws",
	"virtual grid":              "acts",
	"array of functions":        "acts", "click": "acts", "dates and Intl": "acts", "jquery": "acts", "location read": "acts",
	"own object with fetch": "acts", "page function": "acts", "page function that fetches": "acts", "page store": "acts",
	"submit the page's form": "acts", "switch and try": "acts", "templates": "acts", "timer with a method": "acts",
}

func TestLegitimateScriptsAreProved(t *testing.T) {
	for name, script := range scripts.Legitimate() {
		f := Prove(script)
		if got, want := f.Reads, acting[name] == ""; got != want {
			t.Errorf("%s: reads %v, want %v", name, got, want)
		}
		if got, want := f.Draws(), acting[name] == "draws"; got != want {
			t.Errorf("%s: draws %v, want %v", name, got, want)
		}
	}
}

// abuses are bodies of functions that seem to only read and do more.
var abuses = []string{
	// the mark attribute, and what looks like it
	`document.images[0].setAttribute('src', 'http://evil.example/x')`,
	`document.images[0].setAttribute('data-rote-mark2', 'x')`,
	`document.images[0].setAttribute(document.title, 'http://evil.example/x')`,
	`document.images[0].setAttribute(...['src', 'http://evil.example/x'])`,
	`document.images[0].setAttribute('data-rote-mark' && 'src', 'http://evil.example/x')`,
	`let k = 'data-rote-mark'; k = 'src'; document.images[0].setAttribute(k, 'http://evil.example/x')`,
	`document.images[0].setAttribute(1 ? 'src' : 'data-rote-mark', 'http://evil.example/x')`,
	`document.images[0].removeAttribute('sandbox')`,
	`document.images[0].setAttribute('data-rote-mark', Object.values(window)[7])`,
	`document.images[0].setAttribute('data-rote-mark', { toString: Object.values(window)[7] })`,
	`const o = { setAttribute: Object.values(window)[7] }; o.setAttribute('data-rote-mark', 'x')`,
	`const o = {}; o.removeAttribute = Object.values(window)[7]; o.removeAttribute('data-rote-mark')`,
	`document.images[0].setAttributeNS(null, 'data-rote-mark', 'x')`,
	`document.images[0].toggleAttribute('data-rote-mark')`,
	// a value without a name in the text is called by the script or by the language
	`const f = Object.values(window)[7]; f('x')`,
	`const f = Object.values(window)[7]; return ['x'].map(f)`,
	`const f = Object.values(window)[7]; return Array.from(['x'], f)`,
	`const f = Object.values(window)[7]; return Promise.resolve('x').then(f)`,
	`const f = Object.values(window)[7]; setTimeout(f, 1, 'x')`,
	`const f = Object.values(window)[7]; new Promise(f)`,
	`const f = Object.values(window)[7]; return 'x'.replace(/x/, f)`,
	`const f = Object.values(window)[7]; return JSON.stringify({ x: { toJSON: f } })`,
	`const f = Object.values(window)[7]; return { toJSON: f }`,
	`const f = Object.values(window)[7], k = 'toJ' + 'SON'; return JSON.stringify({ [k]: f })`,
	`const f = Object.values(window)[7], o = {}; o[document.title] = f; return o`,
	`const f = Object.values(window)[7], o = {}; o.then = f; return o`,
	`const f = Object.values(window)[7], o = {}, k = document.title; o[k] = o[k] || f; return o`,
	`const o = {}, k = document.title; o[k] = window[k] || []; return o`,
	`const o = {}, k = document.title, l = document.URL; o[k] = o[l] || []; return o`,
	`let k = ''; for (const c of document.title) k += c; window[k]('x')`,
	`let k = ''; for (let i = 0; i < 9; i += 2) k += document.title[i]; const f = window[k]; return ['x'].map(f)`,
	`const f = Object.values(window)[7]; return { then: f }`,
	`const f = Object.values(window)[7]; return Object.fromEntries([['toJSON', f]])`,
	`const f = Object.values(window)[7]; return Object.fromEntries(['x'].map(k => [k, f]))`,
	`const f = Object.values(window)[7]; return { __proto__: f }`,
	`const f = Object.values(window)[7]; return '' + { toString: f }`,
	`const f = Object.values(window)[7]; return 'x'.replace({ [Symbol.replace]: f }, '')`,
	`const f = Object.values(window)[7]; return [...{ [Symbol.iterator]: f }]`,
	`const f = Object.values(window)[7], a = []; a.constructor = { [Symbol.species]: f }; return a.map(x => x)`,
	`const f = Object.values(window)[7]; const o = { map: f }; return o.map('x')`,
	`const f = Object.values(window)[7]; const o = { textContent: f }; return ['x'].map(o.textContent)`,
	`const f = Object.values(window)[7], o = {}; [o.textContent] = [f]; return ['x'].map(o.textContent)`,
	`const o = JSON.parse('{"id":1}', () => Object.values(window)[7]); return ['x'].map(o.id)`,
	`const f = Object.values(window)[7]; class A extends f {} new A('x')`,
	`const f = Object.values(window)[7]; return f` + "`x`",
	`(g => g('x'))(Object.values(window)[7])`,
	`using x = Object.values(window)[7]`, `await using x = window.x`, `for (using x of Object.values(window));`,
	`const g = h => h('x'); g(Object.values(window)[7])`,
	`function g(h) { arguments[0] = Object.values(window)[7]; h('x') } g(x => x)`,
	`let g = x => x; for (g of Object.values(window)) g('x')`,
	`let g = x => x; [g] = Object.values(window); g('x')`,
	`let g = x => x; ({ g } = window); g('x')`,
	`let g = x => x; try { throw Object.values(window)[7] } catch (e) { g = e } g('x')`,
	`new Promise(function r(f) { f('x'); r(Object.values(window)[7]) })`,
	`new Promise(f => { f = Object.values(window)[7]; f('x') })`,
	`new Promise(({ x }) => x('y'))`,
	`const g = a => b => b('x'); g(1)(Object.values(window)[7])`,
	// a method that only reads on one object and does more on another
	`Object.values(document)[0].replace('https://x/')`,
	`const l = Object.values(document)[0]; l.replace(/x/, 'y')`,
	`const o = { trim() { return Object.values(document)[0] } }; o.trim().replace('https://x/')`,
	`caches.match('x').then(c => c.add('/x'))`,
	`document.querySelector('link').relList.add(x)`,
	`navigator.credentials.get({ identity: {} })`,
	`Array.prototype.map.call(['x'], Object.values(window)[7])`,
	`[].map.apply(['x'], [Object.values(window)[7]])`,
	`Function.prototype.call.call(Object.values(window)[7], null, 'x')`,
	// writes
	`document.title = 'x'`, `x = 1`, `window.x = 1`, `delete window.x`, `document.body.dataset.x++`,
	`for (document.title of ['x']);`, `[document.title] = ['x']`, `({ a: document.title } = { a: 'x' })`,
	`const o = window; o.x = 1`, `const a = [window]; a[0].x = 1`, `Object.assign(window, { x: 1 })`, `this.x = 1`,
	`String.prototype.trim = () => 1`, `[].map.x = 1`, `Object.defineProperty(window, 'x', {})`,
	// calls of functions that are not known to only read
	`app()`, `app.start()`, `new App()`, `document.querySelector('a').click()`, `document.body.append('x')`, `console['l' + x]('y')`,
	"app`x`", `import.meta`, `super.x()`,
	// scripts that Check rejects
	`fetch('/x')`, `eval('x')`, `syntax error`, ``,
}

func TestAbusesAreNotProvedToOnlyRead(t *testing.T) {
	for _, body := range slices.Concat(abuses, scripts.Undetected()) {
		if Prove("(() => { "+body+" })()").Reads && body != "" {
			t.Errorf("%s: is proved to only read", body)
		}
	}
	for _, script := range []string{"", "x", "1 + 1", "(() => 1)(); fetch('/x')"} {
		if f := Prove(script); f.Reads || !f.Draws() || !f.MayName("eval") {
			t.Errorf("%q: %+v", script, f)
		}
	}
}

// A script that calls a value without a name in its text may name anything. Any
// other script may only name what its text names.
func TestNamesThatScriptsCanUse(t *testing.T) {
	for body, want := range map[string]bool{
		`document.querySelector('a').click()`:       false,
		`app.observe(1)`:                            true,
		`const { observe } = app; observe(1)`:       true,
		`const { observe: o } = app; o(1)`:          true,
		`app['obs' + 'erve'](1)`:                    true,
		`const k = 'observe'; app[k](1)`:            true,
		"app[`observe`](1)":                         true,
		`const k = document.title; app[k](1)`:       true,
		`const f = app[document.title]; f(1)`:       true,
		`const f = app[document.title]; app.run(f)`: true,
		`Object.values(app).forEach(f => f(1))`:     true,
		`const o = {}; o[document.title] = app[document.title]; app.run(JSON.stringify(o))`:    true,
		`const v = app[document.title]; app.run(String(v))`:                                    false,
		`const rows = [...document.querySelectorAll('tr')]; rows[0].cells[1].click()`:          false,
		`for (let i = 0; i < 3; i++) document.links[i].click()`:                                false,
		`const a = app[document.title]; if (a) document.querySelector('a').click(); return 1`:  false,
		`const f = x => x.constructor; f(document.querySelector('a').click())('x')`:            true,
		`Reflect.ownKeys(app).map(k => app.go(k)); const f = app[document.title]; f()`:         true,
		`const i = app.n; app.list[i].click()`:                                                 false,
		`const o = { a: 1 }; for (const k in o) app.go(o[k])`:                                  false,
		`document.querySelectorAll('button').forEach(b => b.click())`:                          false,
		`Object.defineProperty(app, 'x', { get: () => app[document.title] }); app.x('y')`:      true,
		`let g; for (g of Object.values(app)); app.each(g)`:                                    true,
		`const [f] = Object.values(app); app.each(() => f('x'))`:                               true,
		`let k = ''; for (const c of document.title) k += c; app[k]('x')`:                      true,
		`let k = 'ob'; for (let i = 0; i < 2; i += 1) k += 'serve'; const f = app[k]; f('x')`:  true,
		`for (let y = 0; y < 9000; y += 300) document.body.scrollTop = y`:                      false,
		`let s = ''; for (const a of document.links) s += a.text; app.show(s)`:                 false,
		`const o = {}, k = document.title; o[k] = o[k] || []; app.show(o)`:                     false,
		`const w = document.querySelector('iframe').contentDocument; w.querySelector('a').x()`: false,
	} {
		if got := Prove("(() => { " + body + " })()").MayName("observe"); got != want {
			t.Errorf("%s: may name observe: %v, want %v", body, got, want)
		}
	}
}

// A long chain of functions is not followed to its end, so that nothing is proved
// about what it passes on.
func TestNothingIsProvedBehindLongChains(t *testing.T) {
	for _, n := range []int{2, 5, 30} {
		if Prove(chained(n)).Reads {
			t.Errorf("a chain of %d functions: is proved to only read", n)
		}
	}
}

// chained returns a script that passes a function through n others.
func chained(n int) string {
	s := "(() => { const f0 = g => g('x');"
	for i := 1; i < n; i++ {
		s += " const f" + strconv.Itoa(i) + " = g => f" + strconv.Itoa(i-1) + "(g);"
	}
	return s + " f0(x => x); f" + strconv.Itoa(n-1) + "(Object.values(window)[7]) })()"
}

// Variables that are assigned to each other are proved together, and only the
// sound ones: replace only reads on strings.
func TestVariablesThatDependOnEachOther(t *testing.T) {
	for _, row := range []struct {
		name, body string
		reads      bool
	}{
		{"a circle of strings", `let a = 'x', b = a; a = b; return a.replace('x', 'y')`, true},
		{"a string made of an unknown value", `let b = window.f, s = b + ''; b = s; return s.replace('x', 'y')`, true},
		{"an unknown value that is also a string", `let b = window.f, s = b + ''; b = s; return b.replace('x', 'y')`, false},
		{"a circle with an unknown value", `let a = 'x', b = a; a = b; b = window.f; return a.replace('x', 'y')`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Prove("(() => { " + row.body + " })()").Reads; got != row.reads {
				t.Errorf("reads: %v, want %v", got, row.reads)
			}
		})
	}
}

func FuzzProve(f *testing.F) {
	for _, s := range scripts.Legitimate() {
		f.Add(s)
	}
	for _, s := range abuses {
		f.Add("(() => { " + s + " })()")
	}
	f.Fuzz(func(t *testing.T, script string) {
		if Prove(script).Reads && len(javascript.Check(script)) > 0 {
			t.Fatal("proved to only read, and yet rejected")
		}
	})
}
