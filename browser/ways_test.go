package browser

// way is a way out of a page: what its own script does to reach SINK (an http
// origin), TLS and WS (the same place), or UDP (a host:port). HOME is the page's
// own origin. The script may await what it starts.
type way struct {
	name, script string
	// shows is where the attempt must show as a refusal of the proxy, so that a
	// script that no longer does anything is noticed; nowhere: the browser
	// itself returns it up.
	shows shows
	// top: it takes a page of its own, not a frame.
	top bool
}

type shows int

const (
	everywhere shows = iota
	inShell
	nowhere
)

var ways = []way{
	{name: "fetch", script: `await fetch(SINK, {mode: 'no-cors'})`},
	{name: "fetch with CORS", script: `await fetch(SINK, {method: 'PUT', headers: {'x-a': '1'}})`},
	{name: "XMLHttpRequest", script: `const x = new XMLHttpRequest(); x.open('POST', SINK); x.send('data')`},
	{name: "synchronous XMLHttpRequest", script: `const x = new XMLHttpRequest(); x.open('GET', SINK, false); x.send()`},
	{name: "sendBeacon", script: `navigator.sendBeacon(SINK, 'data')`},
	{name: "fetch that outlives the page", script: `fetch(SINK, {mode: 'no-cors', keepalive: true})`},
	{name: "fetchLater", script: `fetchLater(SINK, {activateAfter: 0})`, top: true},
	{name: "image", script: `new Image().src = SINK`},
	{name: "image set", script: `const i = new Image(); i.srcset = SINK + '/2 2x, ' + SINK + ' 1x'; document.body.append(i)`},
	{name: "script", script: `add('script', {src: SINK})`},
	{name: "module script", script: `add('script', {src: SINK, type: 'module'})`},
	{name: "style sheet", script: `add('link', {rel: 'stylesheet', href: SINK})`},
	{name: "CSS import", script: `add('style', {textContent: '@import url(' + SINK + ')'})`},
	{name: "CSS background", script: `document.body.style.background = 'url(' + SINK + ')'`},
	{name: "font", script: `await new FontFace('f', 'url(' + SINK + ')').load()`},
	{name: "SVG image", script: `document.body.insertAdjacentHTML('beforeend', '<svg width=9 height=9><image href="' + SINK + '" width=9 height=9 /></svg>')`},
	{name: "prefetch", script: `add('link', {rel: 'prefetch', href: SINK})`},
	{name: "preload", script: `add('link', {rel: 'preload', as: 'image', href: SINK})`},
	{name: "module preload", script: `add('link', {rel: 'modulepreload', href: SINK})`},
	{name: "preconnect", script: `add('link', {rel: 'preconnect', href: SINK}); await fetch(HOME)`, shows: nowhere},
	{name: "DNS prefetch", script: `add('link', {rel: 'dns-prefetch', href: SINK}); await fetch(HOME)`, shows: nowhere},
	{name: "speculation rules", script: `add('script', {type: 'speculationrules', textContent: JSON.stringify({
		prefetch: [{source: 'list', urls: [SINK], eagerness: 'immediate'}],
		prerender: [{source: 'list', urls: [HOME + '/to?' + SINK], eagerness: 'immediate'}]})})`, top: true},
	{name: "icon", script: `add('link', {rel: 'icon', href: SINK}); await fetch(HOME)`, shows: nowhere, top: true},
	{name: "manifest", script: `add('link', {rel: 'manifest', href: SINK}); await fetch(HOME)`, shows: nowhere, top: true},
	{name: "WebSocket", script: `new WebSocket(WS)`},
	{name: "WebSocket over TLS", script: `new WebSocket(WS.replace('ws:', 'wss:'))`},
	{name: "EventSource", script: `new EventSource(SINK)`},
	{name: "TLS", script: `await fetch(TLS, {mode: 'no-cors'})`},
	{name: "redirect", script: `await fetch(HOME + '/to?' + SINK, {mode: 'no-cors'})`},
	{name: "redirect of an image", script: `new Image().src = HOME + '/to?' + SINK`},
	{name: "frame", script: `add('iframe', {src: SINK})`},
	{name: "frame that is redirected", script: `add('iframe', {src: HOME + '/to?' + SINK})`},
	{name: "object", script: `add('object', {data: SINK})`},
	{name: "embed", script: `add('embed', {src: SINK})`},
	{name: "video", script: `add('video', {src: SINK}).load()`, top: true},
	{name: "audio", script: `new Audio(SINK).load()`, top: true},
	{name: "text track", script: `const v = add('video', {}); const t = document.createElement('track');
		Object.assign(t, {src: SINK, default: true, kind: 'subtitles'}); document.body.append(v); v.crossOrigin = 'anonymous'; v.append(t);
		t.track.mode = 'showing'`},
	{name: "link with a ping", script: `add('a', {href: '#x', ping: SINK}).click()`, shows: inShell},
	{name: "worker", script: `new Worker(URL.createObjectURL(new Blob(["fetch('" + SINK + "', {mode: 'no-cors'})"])))`},
	{name: "worker that imports", script: `new Worker(URL.createObjectURL(new Blob(["importScripts('" + SINK + "')"])))`},
	{name: "shared worker", script: `new SharedWorker(URL.createObjectURL(new Blob(["fetch('" + SINK + "', {mode: 'no-cors'})"])))`},
	{name: "service worker", script: `await navigator.serviceWorker.register('/worker.js?' + SINK)`},
	{name: "import()", script: `await import(SINK)`},
	{name: "window.open", script: `window.open(SINK)`},
	{name: "form in a new window", script: `add('form', {action: SINK, target: '_blank', method: 'post'}).submit()`},
	{name: "download link", script: `add('a', {href: SINK, download: 'x'}).click()`},
	{name: "report of a policy", script: `add('iframe', {src: '/csp?' + SINK})`},
	{name: "meta refresh in a frame", script: `add('iframe', {srcdoc: '<meta http-equiv=refresh content="0;url=' + SINK + '">'})`},
	{name: "base and a relative URL", script: `add('base', {href: SINK}); new Image().src = '/x'`},
	{name: "XSLT", script: `add('iframe', {src: '/xslt?' + SINK})`, shows: nowhere},
	{name: "WebTransport", script: `const w = new WebTransport('https://' + UDP + '/'); await Promise.allSettled([w.ready, w.closed])`, shows: nowhere},
	{name: "WebRTC, STUN", script: `await gathered(new RTCPeerConnection({iceServers: [{urls: 'stun:' + UDP}]}))`, shows: nowhere},
	{name: "WebRTC, TURN over UDP", script: `await gathered(new RTCPeerConnection({iceTransportPolicy: 'relay', iceServers: [{urls: 'turn:' + UDP, username: 'a', credential: 'b'}]}))`, shows: nowhere},
	{name: "WebRTC, TURN over TCP", script: `await gathered(new RTCPeerConnection({iceTransportPolicy: 'relay',
		iceServers: [{urls: 'turn:' + SINK.slice(7) + '?transport=tcp', username: 'a', credential: 'b'}]}))`},
	{name: "WebRTC, a peer", script: `const p = new RTCPeerConnection(); const failed = new Promise(r => p.oniceconnectionstatechange = () => /checking|failed/.test(p.iceConnectionState) && r());
		p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()); const [host, port] = UDP.split(':');
		await p.setRemoteDescription({type: 'answer', sdp: p.localDescription.sdp.replace('a=setup:actpass', 'a=setup:active')});
		await p.addIceCandidate({candidate: 'candidate:1 1 udp 2113937151 ' + host + ' ' + port + ' typ host', sdpMid: '0'}); await Promise.race([failed, gathered(p)])`, shows: nowhere},
	{name: "location", script: `location = SINK`, top: true},
}

// spellings are ways to write an address of this machine.
var spellings = []string{
	"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.01", "0", "0.0.0.0", "00", "0x0",
	"127.0.0.1.", "127.1.", "localhost", "LOCALHOST", "localhost.", "sub.localhost", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
	"[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "127。0。0。1", "１２７.0.0.1", "①②⑦.⓪.⓪.①",
	"loc%61lhost", "ℒocalhost", "ip6-localhost", "127.0.0.1.nip.io", "user@127.0.0.1", "127.0.0.2", "127.255.255.254",
}
