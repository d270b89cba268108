package javascript

import (
	"strings"
	"testing"

	"rote/routine/routinetest/scripts"
)

// bypasses are bodies of a function that reach for something blocked in a
// roundabout way, and what the first problem must name.
var bypasses = []struct{ body, names string }{
	// code from strings
	{`eval('x')`, "eval is"},
	{`(0, eval)('x')`, "eval is"},
	{`window.eval('x')`, "eval is"},
	{`window['ev' + 'al']('x')`, "eval is"},
	{"window[`ev${'al'}`]('x')", "eval is"},
	{`const e = 'eval'; globalThis[e]('x')`, "eval is"},
	{`let e = 'ev'; e += 'al'; self[e]('x')`, "a computed member of window"},
	{`window[['ev', 'al'].join('')]('x')`, "eval is"},
	{`window[['eval']]('x')`, "eval is"},
	{`window['lave'.split('').reverse().join('')]('x')`, "eval is"},
	{`window[[...'lave'].reverse().join('')]('x')`, "eval is"},
	{`window[String.fromCharCode(101, 0x76, 97, 108)]('x')`, "eval is"},
	{`window[atob('ZXZhbA==')]('x')`, "eval is"},
	{`window[decodeURIComponent('%65val')]('x')`, "eval is"},
	{`window['EVAL'.toLowerCase()]('x')`, "eval is"},
	{`window['xeval'.slice(1)]('x')`, "eval is"},
	{`window['e-v-a-l'.replaceAll('-', '')]('x')`, "eval is"},
	{`window['ev'.concat('al')]('x')`, "eval is"},
	{`using e = window; e.eval('x')`, "eval is"},
	{`for (using e of [window]) e.eval('x')`, "eval is"},
	{`window['\x65v\u0061\u{6c}']('x')`, "eval is"},
	{"window[String.raw`eval`]('x')", "eval is"},
	{`\u0065val('x')`, "eval is"},
	{`window.\u{65}val('x')`, "eval is"},
	{`const k = { n: 'eval' }; window[k.n]('x')`, "eval is"},
	{`const k = ['a', 'eval']; window[k[1]]('x')`, "eval is"},
	{`const k = ['a', 'eval']; window[k[i - 1]]('x')`, "eval is"},
	{`const { eval: e } = window; e('x')`, "eval is"},
	{`let e; ({ eval: e } = globalThis); e('x')`, "eval is"},
	{`const { ['ev' + 'al']: e } = window; e('x')`, "eval is"},
	{`const { window: { self: { eval: e } } } = window; e('x')`, "eval is"},
	{`const [w] = [window]; w.eval('x')`, "eval is"},
	{`const { ...w } = window; w.eval('x')`, "eval is"},
	{`({ ...window }).eval('x')`, "eval is"},
	{`(({ eval: e }) => e('x'))(window)`, "eval is"},
	{`const w = window; const v = w; v.eval('x')`, "eval is"},
	{`let w; if (a) w = b || window; w?.eval?.('x')`, "eval is"},
	{`const o = { w: window }; o.w.eval('x')`, "eval is"},
	{`for (const w of [window]) w.eval('x')`, "eval is"},
	{`[window].forEach(w => w.eval('x'))`, "eval is"},
	{`[window][0].eval('x')`, "eval is"},
	{`function f(w) { w.eval('x') } f(window)`, "eval is"},
	{`const f = (w, k) => w[k]('x'); f(window, 'eval')`, "eval is"},
	{`const g = () => window; g().eval('x')`, "eval is"},
	{`(function () { return this })().eval('x')`, "eval is"},
	{`(function () { this.eval('x') }).call(window)`, "eval is"},
	{`window.window.self.frames.eval('x')`, "eval is"},
	{`document.defaultView.eval('x')`, "eval is"},
	{`document.body.ownerDocument.defaultView.eval('x')`, "eval is"},
	{`frames[0].eval('x')`, "eval is"},
	{`for (let i = 0; i < frames.length; i++) frames[i].eval('x')`, "eval is"},
	{`Reflect.get(window, 'eval')('x')`, "eval is"},
	{`Reflect.get(Reflect.get(window, 'self'), 'ev' + 'al')('x')`, "eval is"},
	{`Object.getOwnPropertyDescriptor(window, 'eval').value('x')`, "eval is"},
	{`Object(window).eval('x')`, "eval is"},
	{`window.valueOf().eval('x')`, "eval is"},
	{`{ async function eval() {} } eval('x')`, "eval is"},
	{`((a = eval('x')) => { var eval })()`, "eval is"},
	{`with (window) { f('x') }`, "with is"},
	{`window[name]('x')`, "a computed member of window"},
	{`window['e' + rest]('x')`, "a computed member of window"},
	{`const { [name]: e } = window; e('x')`, "a computed member of window"},
	{`new Function('x')()`, "Function is"},
	{`Function.prototype.constructor('x')()`, "Function is"},
	{`(() => {}).constructor('x')()`, "the constructor of a function"},
	{`(() => {})['const' + 'ructor']('x')()`, "the constructor of a function"},
	{`const f = function () {}; f.constructor('x')()`, "the constructor of a function"},
	{`[].constructor.constructor('x')()`, ".constructor.constructor"},
	{`''['constructor']['constructor']('x')()`, ".constructor.constructor"},
	{`const C = [].constructor; C.constructor('x')()`, ".constructor.constructor"},
	{`alert.constructor('x')()`, "calling .constructor"},
	{`new alert.constructor('x')`, "calling .constructor"},
	{"alert.constructor`x`", "calling .constructor"},
	{`alert.constructor.call(null, 'x')()`, "calling .constructor"},
	{`const { constructor: C } = alert; C('x')()`, "calling .constructor"},
	{`Reflect.construct(alert.constructor, ['x'])()`, "calling .constructor"},
	{`const A = Object.getPrototypeOf(async function () {}).constructor; new A('x')()`, "the constructor of a function"},
	{`(async () => {}).__proto__.constructor('x')()`, "the constructor of a function"},
	{`setTimeout('x', 1)`, "a timer with a string"},
	{"window.setInterval(`x${y}`, 1)", "a timer with a string"},
	{`setTimeout(y + 'x', 1)`, "a timer with a string"},
	{`const c = 'x'; setTimeout(c)`, "a timer with a string"},
	{`const t = setTimeout; t('x')`, "a timer with a string"},
	{`const t = setTimeout.bind(window); t('x')`, "a timer with a string"},
	{`setTimeout.call(window, 'x')`, "a timer with a string"},
	{`window['set' + 'Timeout']('x')`, "a timer with a string"},
	{`setTimeout(['x'].join(''))`, "a timer with a string"},
	{`setTimeout(['x'])`, "a timer with a string"},
	{"setTimeout`x`", "a timer with a string"},
	{`import('data:text/javascript,x')`, "import() is"},
	{`document.createElement('script').text = 'x'`, "making a script element"},
	{`document['create' + 'Element']('SCRIPT')`, "making a script element"},
	{`document.createElementNS('http://www.w3.org/1999/xhtml', 'script')`, "making a script element"},
	{`const t = 'scr' + 'ipt'; d.createElement(t)`, "making a script element"},
	{`document.createElement('iframe').srcdoc = 'x'`, "making an iframe element"},
	{`document.write('x')`, "document.write is"},
	{`el.setAttribute('onclick', 'x')`, "the attribute onclick"},
	{`el.setAttribute('on' + 'error', 'x')`, "the attribute onerror"},
	{`el.innerHTML = '<img src=x onerror=' + y + '>'`, "an event handler in HTML"},
	{"el.insertAdjacentHTML('beforeend', `<b onclick=\"${x}\">`)", "an event handler in HTML"},
	{`document.createRange().createContextualFragment('<script>x</script>')`, "a script element in HTML"},
	{`el.innerHTML = '<im' + 'g sr' + 'c=x one' + 'rror=x>'`, "an event handler in HTML"},
	{`el.outerHTML = '<iframe srcdoc=x>'`, "a frame in HTML"},
	{`a.href = 'javascript:x'; a.click()`, "a javascript: URL"},
	{`a.href = ' java\nscript:' + x`, "a javascript: URL"},
	{`a.setAttribute('href', 'JavaScript:x')`, "a javascript: URL"},
	{`Object.assign(a, { href: 'javascript:x' })`, "a javascript: URL"},
	{`frame.contentWindow.eval('x')`, "contentWindow is"},
	{`frame['content' + 'Window'].eval('x')`, "contentWindow is"},
	{`const { contentWindow: w } = frame; w.eval('x')`, "contentWindow is"},
	{`frame.contentDocument.defaultView.eval('x')`, "eval is"},

	// the network
	{`fetch('/x')`, "fetch is"},
	{`const f = fetch.bind(null, '/x'); f()`, "fetch is"},
	{`Promise.resolve('/x').then(fetch)`, "fetch is"},
	{`const o = { fetch }; o.fetch('/x')`, "fetch is"},
	{`{ let fetch = 1 } fetch('/x')`, "fetch is"},
	{`try { } catch (fetch) { } fetch('/x')`, "fetch is"},
	{`const f = function fetch() {}; fetch('/x')`, "fetch is"},
	{`(x => { const fetch = x })(); fetch('/x')`, "fetch is"},
	{`(fetch, function () { fetch('/x') })()`, "fetch is"},
	{`x <!-- y
	fetch('/x')`, "fetch is"},
	{`new XMLHttpRequest().open('GET', '/x')`, "XMLHttpRequest is"},
	{`new window.WebSocket('wss://x')`, "WebSocket is"},
	{`Reflect.construct(WebSocket, ['wss://x'])`, "WebSocket is"},
	{`class S extends WebSocket {} new S('wss://x')`, "WebSocket is"},
	{`new EventSource('/x')`, "EventSource is"},
	{`new Worker('/x')`, "Worker is"},
	{`new SharedWorker('/x')`, "SharedWorker is"},
	{`navigator.sendBeacon('/x')`, "navigator.sendBeacon is"},
	{`const { sendBeacon: b } = navigator; b.call(navigator, '/x')`, "navigator.sendBeacon is"},
	{`const { navigator: { sendBeacon: b } } = window`, "navigator.sendBeacon is"},
	{`navigator['send' + x]('/x')`, "a computed member of navigator"},
	{`navigator.serviceWorker.register('/x')`, "navigator.serviceWorker is"},
	{`new RTCPeerConnection()`, "RTCPeerConnection is"},
	{`new WebTransport('https://x')`, "WebTransport is"},
	{`new Image().src = 'https://x/?' + document.cookie`, "loading an image"},
	{`const i = new window.Image; i.src = '/x'`, "loading an image"},
	{`const i = document.createElement('img'); i.setAttribute('src', '/x')`, "loading an image"},
	{`link.rel = 'pre' + 'fetch'`, "rel=prefetch is"},
	{`link.relList.add('prerender')`, "rel=prerender is"},
	{`link.setAttribute('rel', 'prefetch')`, "rel=prefetch is"},
	{`s.type = 'speculationrules'`, "a speculationrules script is"},

	// hooks
	{`el.addEventListener('click', f)`, "addEventListener is"},
	{`addEventListener('click', f)`, "addEventListener is"},
	{`document['add' + 'EventListener']('click', f)`, "addEventListener is"},
	{`EventTarget.prototype.addEventListener.call(el, 'click', f)`, "addEventListener is"},
	{`const { addEventListener: on } = el; on.call(el, 'click', f)`, "addEventListener is"},
	{`(({ addEventListener: on }) => on)(el)`, "addEventListener is"},
	{`new MutationObserver(f).observe(document, {})`, "MutationObserver is"},
	{`new (window.IntersectionObserver)(f)`, "IntersectionObserver is"},
	{`window.onerror = f`, "setting onerror is"},
	{`document.onclick = f`, "setting onclick is"},
	{`onmessage = f`, "setting onmessage is"},

	// the page's life
	{`window.close()`, "window.close is"},
	{`close()`, "window.close is"},
	{`open('/x')`, "window.open is"},
	{`document.open('/x', 'n', '')`, "document.open is"},
	{`location = '/x'`, "setting location is"},
	{`window.location = '/x'`, "setting location is"},
	{`top.location.href = '/x'`, "setting location.href is"},
	{`location['hr' + 'ef'] = '/x'`, "setting location.href is"},
	{`location[x] = '/x'`, "a computed member of location"},
	{`const l = location; l.search = '?x'`, "setting location.search is"},
	{`[location.href] = ['/x']`, "setting location.href is"},
	{`({ a: document.location.hash } = { a: 'x' })`, "setting location.hash is"},
	{`({ location } = { location: '/x' })`, "setting location is"},
	{`for (location.href of ['/x']);`, "setting location.href is"},
	{`Reflect.set(location, 'href', '/x')`, "setting location.href is"},
	{`Object.assign(location, { href: '/x' })`, "setting location.href is"},
	{`location.assign('/x')`, "location.assign is"},
	{`location['re' + 'load']()`, "location.reload is"},
	{`location[x]('/x')`, "a computed member of location"},
	{`history.back()`, "history.back is"},
	{`history.pushState({}, '', '/x')`, "history.pushState is"},
	{`navigation.navigate('/x')`, "navigation.navigate is"},
	{`meta.httpEquiv = 'refresh'`, "a refresh of the page is"},
}

func TestBypassesAreDetected(t *testing.T) {
	if len(bypasses) < 60 {
		t.Fatalf("%d bypasses, want at least 60", len(bypasses))
	}
	for _, b := range bypasses {
		for _, script := range []string{"(() => { " + b.body + " })()", "(async function () {\n" + b.body + "\n})();"} {
			got := Check(script)
			if len(got) == 0 {
				t.Errorf("not seen: %s", script)
				continue
			}
			if p := got[0]; p.Code != CodeBlocked || !strings.HasPrefix(p.Message, b.names) || p.Hint == "" {
				t.Errorf("%s:\n got %+v\nwant a problem that names %q", script, p, b.names)
			}
		}
	}
}

func TestLimitsOfStaticCheck(t *testing.T) {
	for _, body := range scripts.Undetected() {
		if got := Check("(() => { " + body + " })()"); len(got) > 0 {
			t.Errorf("Check detects %s, so move it to the bypasses: %+v", body, got)
		}
	}
}
