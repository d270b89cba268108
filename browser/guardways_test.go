package browser

import (
	"slices"
	"testing"
)

func TestWaysOutOfAScript(t *testing.T) {
	t.Parallel()
	repel(t, waysOut)
}

// open are ways that lead to the sink without the guard. They prove that the sink of
// the other tests counts.
var open = []string{"fetch", "XMLHttpRequest", "sendBeacon", "WebSocket", "EventSource", "cache.add", "an image", "an image in HTML", "a script element",
	"a stylesheet", "prefetch", "a background", "@import", "video", "an iframe", "location", "an own link", "an own form", "window.open"}

func TestWaysReachTheSinkWithoutTheGuard(t *testing.T) {
	t.Parallel()
	for i, a := range waysOut {
		if !slices.Contains(open, a.name) || sampled(shared, i) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := newSink(t)
			p := guardedPage(t, shared, guardSite(t, s)+"/")
			_, _ = p.run(testContext(t), watchedScript(a.script(s)), "about:test") // some leave the page
			if !eventually(t, testTime, "a request at the sink", func() bool { return s.hits.Load() > 0 }) {
				t.Fatal("nothing came")
			}
		})
	}
}

// waysOut are ways out of a script: each starts a request, a connection or a
// navigation.
var waysOut = []attack{
	{name: "fetch", body: `fetch('SINK/')`},
	{name: "fetch keepalive", body: `fetch('SINK/', { keepalive: true, mode: 'no-cors', method: 'POST', body: 'x' })`},
	{name: "fetchLater", body: `fetchLater('SINK/', { activateAfter: 0 })`},
	{name: "XMLHttpRequest", body: `const x = new XMLHttpRequest(); x.open('GET', 'SINK/'); x.send()`},
	{name: "a synchronous XMLHttpRequest", body: `const x = new XMLHttpRequest(); x.open('GET', 'SINK/', false); x.send()`},
	{name: "sendBeacon", body: `navigator.sendBeacon('SINK/', 'x')`},
	{name: "WebSocket", body: `new WebSocket('ws://HOST/')`},
	{name: "EventSource", body: `new EventSource('SINK/')`},
	{name: "WebTransport", body: `new WebTransport('https://HOST/')`},
	{name: "RTCPeerConnection", body: `const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:HOST' }] }); c.createDataChannel('x'); c.setLocalDescription(await c.createOffer())`},
	{name: "Worker", body: `new Worker('/w.js')`},
	{name: "Worker of a blob", body: "new Worker(URL.createObjectURL(new Blob([`fetch('SINK/')`])))"},
	{name: "SharedWorker", body: "new SharedWorker('/w.js')"},
	{name: "service worker", body: `navigator.serviceWorker.register('/w.js')`},
	{name: "AudioWorklet", body: `new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule('SINK/')`},
	{name: "cache.add", body: `const c = await caches.open('x'); await c.add('SINK/')`},
	{name: "an image", body: `new Image().src = 'SINK/'`},
	{name: "an image of the page", body: `document.querySelector('#img').src = 'SINK/'`},
	{name: "srcset", body: `document.querySelector('#img').srcset = 'SINK/ 1x'`},
	{name: "an image in HTML", body: `document.querySelector('#out').innerHTML = '<img src="SINK/">'`},
	{name: "an SVG image", body: `document.querySelector('#out').innerHTML = '<svg><image href="SINK/"/></svg>'`},
	{name: "an input image", body: `document.querySelector('#out').innerHTML = '<input type=image src="SINK/">'`},
	{name: "a lazy image", body: `document.querySelector('#out').innerHTML = '<img loading=lazy src="SINK/">'; document.querySelector('#out').scrollIntoView()`, quiet: true},
	{name: "a script element", body: `const s = document.createElement('script'); s.src = 'SINK/'; document.body.append(s)`},
	{name: "a stylesheet", body: `const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'SINK/'; document.body.append(l)`},
	{name: "the page's stylesheet elsewhere", body: `document.querySelector('#l').href = 'SINK/'`},
	{name: "prefetch", body: `const l = document.createElement('link'); l.rel = 'prefetch'; l.href = 'SINK/'; document.head.append(l)`},
	{name: "preload", body: `const l = document.createElement('link'); l.relList.add('preload'); l.as = 'image'; l.href = 'SINK/'; document.head.append(l)`},
	{name: "prefetch in HTML", body: `document.head.insertAdjacentHTML('beforeend', '<link rel=pre' + 'fetch href="SINK/">')`},
	{name: "prefetch by setAttribute", body: `const l = document.createElement('link'); l.setAttribute('rel', 'pre' + 'fetch'); l.setAttribute('href', 'SINK/'); document.head.append(l)`},
	{name: "speculation rules by setAttribute", body: `const s = document.createElement('script'); s.setAttribute('type', 'speculationrules');
		s.textContent = '{"prefetch":[{"source":"list","urls":["SINK/"],"eagerness":"immediate"}]}'; document.head.append(s)`, quiet: true},
	{name: "speculation rules", body: `const s = document.createElement('script'); s.type = 'speculationrules';
		s.textContent = '{"prefetch":[{"source":"list","urls":["SINK/"]}]}'; document.head.append(s)`},
	{name: "a background", body: `document.body.style.backgroundImage = 'url(SINK/)'`, quiet: true},
	{name: "cssText", body: `document.body.style.cssText = 'background: url(SINK/)'`, quiet: true},
	{name: "the text of a style element", body: `document.querySelector('#css').textContent = 'body { background: url(SINK/) }'`, quiet: true},
	{name: "@import", body: `document.querySelector('#css').textContent = '@import "SINK/";'`, quiet: true},
	{name: "@font-face", body: `document.querySelector('#css').textContent = '@font-face { font-family: x; src: url(SINK/) } body { font-family: x }'`, quiet: true},
	{name: "an adopted style sheet", body: `const s = new CSSStyleSheet(); s.replaceSync('body { background: url(SINK/) }'); document.adoptedStyleSheets = [s]`, quiet: true},
	{name: "FontFace", body: `new FontFace('x', 'url(SINK/)').load()`},
	{name: "video", body: `document.querySelector('#out').innerHTML = '<video autoplay src="SINK/"></video>'`, quiet: true},
	{name: "audio", body: `new Audio('SINK/').play().catch(() => 0)`, quiet: true},
	{name: "poster", body: `document.querySelector('#out').innerHTML = '<video poster="SINK/"></video>'`, quiet: true},
	{name: "object", body: `document.querySelector('#out').innerHTML = '<object data="SINK/"></object>'`, quiet: true},
	{name: "embed", body: `document.querySelector('#out').innerHTML = '<embed src="SINK/">'`, quiet: true},
	{name: "an iframe", body: `const f = document.createElement('iframe'); f.src = 'SINK/'; document.body.append(f)`},
	{name: "an iframe of a text", body: `const f = document.createElement('iframe'); f.srcdoc = '<img src="SINK/">'; document.body.append(f)`},
	{name: "the page's iframe elsewhere", body: `document.querySelector('#i').src = 'SINK/'`},
	{name: "location", body: `location = 'SINK/'`},
	{name: "location.assign later", body: `setTimeout(location.assign.bind(location, 'SINK/'), 20)`},
	{name: "navigation.navigate", body: `navigation.navigate('SINK/')`},
	{name: "history.back", body: `history.back()`},
	{name: "history.pushState", body: `history.pushState(null, '', '/x')`},
	{name: "window.open", body: `window.open('SINK/')`},
	{name: "window.close", body: `window.close()`},
	{name: "document.write", body: `document.write('<img src="SINK/">')`},
	{name: "meta refresh", body: `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=SINK/'; document.head.append(m)`},
	{name: "an own link", body: `const a = document.createElement('a'); a.href = 'SINK/'; document.body.append(a); a.click()`},
	{name: "an own link in a new window", body: `const a = document.createElement('a'); a.href = 'SINK/'; a.target = '_blank'; document.body.append(a); a.click()`},
	{name: "an own link in the page's frame", body: `const a = document.createElement('a'); a.href = 'SINK/'; a.target = 'i';
		document.querySelector('#i').name = 'i'; document.body.append(a); a.click()`},
	{name: "the page's link elsewhere", body: `const a = document.querySelector('#a'); a.href = 'SINK/'; a.click()`},
	{name: "a ping", body: `const a = document.querySelector('#a'); a.ping = 'SINK/'; a.click()`},
	{name: "an own form", body: `const f = document.createElement('form'); f.action = 'SINK/'; document.body.append(f); f.submit()`},
	{name: "the page's form elsewhere", body: `document.querySelector('#f').action = 'SINK/'; document.querySelector('#s').click()`},
	{name: "the page's button elsewhere", body: `document.querySelector('#s').formAction = 'SINK/'; document.querySelector('#s').click()`},
	{name: "an own form in a new window", body: `const f = document.createElement('form'); f.action = 'SINK/'; f.target = '_blank'; document.body.append(f); f.submit()`},
}
