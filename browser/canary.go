package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/egress"
)

// A browser that rote has not started may say of itself what it wants. So a page tries to get
// out of it, before any run uses it: it sends requests and packets to places of rote's own, while
// its proxy denies everything. One of these places is the address at which the browser reaches
// its proxies, whatever firewalls there are. A page without a proxy sends the same requests there.
// Unless they arrive, it proves nothing that those of the first page did not.

// canaryOrigin is the origin of both pages. Pages of localhost may use what needs a secure
// connection, and may request http URLs.
const canaryOrigin = "http://canary.localhost"

// canaryRequests makes requests below an http URL in the ways of requestWays, and waits for them
// no longer than two seconds.
const canaryRequests = `(async base => {
	if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done))
	const ended = (target, ...events) => new Promise(done => events.forEach(e => target.addEventListener(e, done)))
	const ways = [
		() => fetch(base + 'fetch', {mode: 'no-cors'}),
		() => ended(new WebSocket(base.replace('http', 'ws') + 'socket'), 'open', 'error'),
		() => ended(Object.assign(new Image(), {src: base + 'image'}), 'load', 'error'),
		() => {
			const link = Object.assign(document.createElement('link'), {rel: 'prefetch', href: base + 'prefetch'})
			document.head.append(link)
			return ended(link, 'load', 'error')
		},
	]
	const all = Promise.all(ways.map(way => new Promise(done => done(way())).catch(() => {})))
	await Promise.race([all, new Promise(done => setTimeout(done, 2000))])
})`

// requestWays are the names of the ways of canaryRequests.
var requestWays = []string{"fetch", "socket", "image", "prefetch"}

// canaryPackets tries the other ways out to a host and port, and returns the addresses of this
// page that WebRTC offers to others. It waits for them no longer than two seconds, because no
// answer comes from the other side.
const canaryPackets = `(async sink => {
	const offered = []
	const gather = server => new Promise(done => {
		const peer = new RTCPeerConnection({iceServers: [{urls: server, username: 'a', credential: 'b'}]})
		peer.onicecandidate = e => e.candidate ? offered.push(e.candidate.candidate) : done()
		peer.createDataChannel('x')
		peer.setLocalDescription().catch(done)
	})
	const ways = [
		() => gather('stun:' + sink), () => gather('turn:' + sink), () => gather('turn:' + sink + '?transport=tcp'),
		() => fetch('https://' + sink, {mode: 'no-cors'}),
		() => new WebTransport('https://' + sink).ready,
		() => {
			for (const rel of ['dns-prefetch', 'preconnect'])
				document.head.append(Object.assign(document.createElement('link'), {rel, href: 'http://' + sink}))
		},
	]
	const all = Promise.all(ways.map(way => new Promise(done => done(way())).catch(() => {})))
	await Promise.race([all, new Promise(done => setTimeout(done, 2000))])
	return offered
})`

// leaks are the ways on which a browser lets pages past their proxy.
type leaks struct {
	// arrived counts the connections, requests and packets that have come past the proxy.
	arrived int64
	// udp reports whether WebRTC offers addresses for UDP, which no proxy carries; lookups
	// whether the browser looks up names itself.
	udp, lookups bool
	// unseen are the requests of a page without a proxy that did not arrive. If requests of other
	// pages got past their proxy on these ways, rote would not see it.
	unseen []string
}

func (l leaks) String() string {
	var ways []string
	if l.arrived > 0 {
		ways = append(ways, fmt.Sprintf("%d connections or packets of a page came past its proxy", l.arrived))
	}
	if l.udp {
		ways = append(ways, "WebRTC sends packets past the proxy")
	}
	if l.lookups {
		ways = append(ways, "it looks up names itself")
	}
	if len(l.unseen) > 0 {
		ways = append(ways, fmt.Sprintf("requests of a page without a proxy (%s) did not reach rote, so those that get past a proxy would not be noticed",
			strings.Join(l.unseen, ", ")))
	}
	return strings.Join(ways, ", and ")
}

// findLeaks tries to get out of the browser. It fails if that could not be tried.
func (b *Browser) findLeaks(ctx context.Context, i *instance) (leaks, error) {
	var l leaks
	listen, host := "127.0.0.1", "127.0.0.1"
	if i.throughGateway {
		listen, host = b.config.Gateway.Hosts()
	}
	s, err := newCanarySink(listen)
	if err != nil {
		return l, err
	}
	defer s.close()
	if err = b.tryWaysOut(ctx, i, s, net.JoinHostPort(host, s.port), &l); err != nil {
		return l, err
	}
	return l, b.tryWithoutProxy(ctx, i, s.port, &l)
}

// tryWaysOut sends requests and packets from a page behind a proxy that denies everything, and
// sets what came past it. The browser sees the sink at an address.
func (b *Browser) tryWaysOut(ctx context.Context, i *instance, s *canarySink, sink string, l *leaks) error {
	nothing, err := egress.NewPolicy(egress.Listed, nil, nil)
	if err != nil {
		return err
	}
	p, err := newPage(b, i, nothing)
	if err != nil {
		return err
	}
	defer func() { _ = p.disposeContext() }()
	if err := p.requestDirectly(ctx); err != nil {
		return err
	}
	offered, err := p.runCanary(ctx, canaryPackets, sink)
	if err != nil {
		return err
	}
	l.udp = strings.Contains(strings.ToLower(offered), " udp ")
	l.arrived = s.arrived.Load() + int64(len(p.proxy.DirectRequests()))
	for _, url := range []string{p.proxy.DirectURL(), "https://" + sink} {
		if _, denied := p.proxy.Denied(url); !denied && l.arrived == 0 {
			return fmt.Errorf("requests of a page do not reach its proxy: %s", url)
		}
	}
	return nil
}

// requestDirectly makes requests to the address of the page's own proxy. Chromium lets pages
// of localhost request private addresses only with permissions; it knows some of their names.
func (p *page) requestDirectly(ctx context.Context) error {
	for _, name := range []string{"local-network-access", "local-network", "loopback-network"} {
		p.i.client.Send("", "Browser.setPermission", proto.BrowserSetPermission{Permission: &proto.BrowserPermissionDescriptor{Name: name},
			Setting: proto.BrowserPermissionSettingGranted, BrowserContextID: p.context}).Forget()
	}
	if err := p.startEmpty(ctx, canaryOrigin); err != nil {
		return err
	}
	_, err := p.runCanary(ctx, canaryRequests, p.proxy.DirectURL())
	return err
}

// runCanary calls a script with a text, and returns the JSON of its result.
func (p *page) runCanary(ctx context.Context, script, argument string) (string, error) {
	text, err := json.Marshal(argument)
	if err != nil {
		return "", err
	}
	v, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: script + "(" + string(text) + ")", AwaitPromise: true, ReturnByValue: true})
	return string(v.Value), err
}

// tryWithoutProxy sets whether the browser itself looks up the name of a page that has no
// proxy, and which of the page's requests do not arrive. The name is one of the browser's own
// machine, so that nobody else is asked for it.
func (b *Browser) tryWithoutProxy(ctx context.Context, i *instance, port string, l *leaks) error {
	nothing, err := egress.NewPolicy(egress.Listed, nil, nil)
	if err != nil {
		return err
	}
	proxy, err := b.openProxy(i, nothing) // each page has one; this page only sends requests to its address
	if err != nil {
		return err
	}
	p := blankPage(b, i, proxy)
	defer func() { _ = p.disposeContext() }()
	if err := p.open(ctx, "direct://"); err != nil {
		return err
	}
	gone, err := cdp.Call[proto.PageNavigateResult](ctx, p, proto.PageNavigate{URL: canaryOrigin + ":" + port + "/"})
	if err != nil {
		return err
	}
	l.lookups = gone.ErrorText != "net::ERR_NAME_NOT_RESOLVED"
	if err := p.requestDirectly(ctx); err != nil {
		return err
	}
	arrived := proxy.DirectRequests()
	l.unseen = slices.DeleteFunc(slices.Clone(requestWays), func(way string) bool { return slices.Contains(arrived, way) })
	return nil
}

// canarySink is a place that nothing may reach. It counts the connections and packets that do.
type canarySink struct {
	port    string
	arrived atomic.Int64
	tcp     net.Listener
	udp     net.PacketConn
	serving sync.WaitGroup
}

// newCanarySink listens on a port of a host for TCP and for UDP.
func newCanarySink(host string) (*canarySink, error) {
	const attempts = 10 // until a port is free for both
	var err error
	for range attempts {
		s := &canarySink{}
		if s.tcp, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
			return nil, err
		}
		_, s.port, _ = net.SplitHostPort(s.tcp.Addr().String())
		if s.udp, err = new(net.ListenConfig).ListenPacket(context.Background(), "udp", net.JoinHostPort(host, s.port)); err != nil {
			_ = s.tcp.Close()
			continue
		}
		s.serving.Go(s.countConnections)
		s.serving.Go(s.countPackets)
		return s, nil
	}
	return nil, err
}

func (s *canarySink) countConnections() {
	for {
		c, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.arrived.Add(1)
		_ = c.Close()
	}
}

func (s *canarySink) countPackets() {
	for b := make([]byte, 1); ; s.arrived.Add(1) {
		if _, _, err := s.udp.ReadFrom(b); err != nil {
			return
		}
	}
}

func (s *canarySink) close() {
	_, _ = s.tcp.Close(), s.udp.Close()
	s.serving.Wait()
}
