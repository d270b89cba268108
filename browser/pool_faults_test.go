package browser

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/routine"
)

// faultyLink is a TCP proxy in front of a browser, with a fault that a test turns on and off.
type faultyLink struct {
	l     net.Listener
	to    string
	fault atomic.Pointer[linkFault]
	work  sync.WaitGroup

	mu    sync.Mutex
	conns []*net.TCPConn
}

// linkFault is what happens on a faulty link, to connections that are open and to new ones.
type linkFault struct {
	latency   time.Duration // of each piece of data
	blackHole bool          // data vanishes
	reset     bool          // connections are reset
	halfClose bool          // the browser's side ends
}

// newFaultyLink returns a link to the browser at a URL, and the URL through the link.
func newFaultyLink(t *testing.T, browserURL string) (*faultyLink, string) {
	t.Helper()
	u, err := url.Parse(browserURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &faultyLink{l: listener, to: u.Host}
	l.fault.Store(&linkFault{})
	l.work.Go(l.accept)
	t.Cleanup(func() { _ = listener.Close(); l.closeAll(false); l.work.Wait() })
	u.Host = listener.Addr().String()
	return l, u.String()
}

func (l *faultyLink) accept() {
	for {
		in, err := l.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", l.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, in.(*net.TCPConn), out.(*net.TCPConn))
		l.mu.Unlock()
		l.work.Go(func() { l.carry(in, out) })
		l.work.Go(func() { l.carry(out, in) })
		l.begin()
	}
}

// set turns a fault on. Without one, what the fault has left is closed.
func (l *faultyLink) set(f linkFault) {
	l.fault.Store(&f)
	l.begin()
	if f == (linkFault{}) {
		l.closeAll(true)
	}
}

// begin does what a fault does to connections that are open.
func (l *faultyLink) begin() {
	switch f := l.fault.Load(); {
	case f.reset:
		l.closeAll(true)
	case f.halfClose:
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := 0; i < len(l.conns); i += 2 {
			_ = l.conns[i].CloseWrite()
		}
	}
}

func (l *faultyLink) closeAll(reset bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		if reset {
			_ = c.SetLinger(0)
		}
		_ = c.Close()
	}
	l.conns = nil
}

func (l *faultyLink) carry(from, to net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		f := l.fault.Load()
		if f.latency > 0 {
			<-time.After(f.latency)
		}
		if n > 0 && !f.blackHole {
			_, _ = to.Write(b[:n])
		}
		if err != nil {
			if !f.blackHole {
				_ = to.Close()
			}
			return
		}
	}
}

// otherClient is another program that is connected to the browser at a URL.
func otherClient(t *testing.T, at string) proto.Client {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cdp.DialSocket(testContext(t), u, cdp.SocketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := cdp.NewClient(s)
	t.Cleanup(c.Close)
	return c.Browser(testContext(t))
}

// setStartBounds sets how long attempts to connect may take.
func setStartBounds(p *Pool, d time.Duration) {
	for _, m := range p.members {
		m.browser.mu.Lock()
		m.browser.startBounds = startBounds{d, d}
		m.browser.mu.Unlock()
	}
}

// tryAgain lets the breakers of a pool's members close at once.
func tryAgain(p *Pool) {
	for _, m := range p.members {
		m.browser.mu.Lock()
		m.browser.breaker.until, m.browser.lastStart = time.Time{}, time.Now().Add(-retryDelay)
		m.browser.notify()
		m.browser.mu.Unlock()
	}
}

func awaitReady(t *testing.T, p *Pool, n int) {
	t.Helper()
	soon(t, "the browsers are connected", func() bool { return p.BrowserStatistics().Endpoints.Ready == n })
}

// slotsInUse are the users of each member.
func slotsInUse(p *Pool) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var n []int
	for _, m := range p.members {
		n = append(n, m.users)
	}
	return n
}

// failing starts an operation that waits, and returns its error.
func failing(t *testing.T, p *page) <-chan error {
	t.Helper()
	if _, err := p.Navigate(testContext(t), site(t, map[string]any{"/": "x"})+"/"); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	ctx := testContext(t)
	go func() {
		_, err := p.Click(ctx, click("#never"))
		failed <- err
	}()
	return failed
}

// When the connection to a browser fails in whatever way, its run fails soon, no attempt is made
// for a while, other browsers serve, and no slot is lost.
func TestPoolOutlivesFaultyConnections(t *testing.T) {
	t.Parallel()
	first := listening(t, "", chromium.FlagsElsewhere("127.0.0.1"))
	second := remoteEndpoint(t, "", "slots=1")
	pages := site(t, map[string]any{"/form": form})
	for name, fault := range map[string]linkFault{
		"black hole": {blackHole: true}, "reset": {reset: true}, "half closed": {halfClose: true}, "latency": {latency: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if !fault.blackHole {
				onlyWhole(t)
			}
			link, at := newFaultyLink(t, first)
			p := testPool(t, endpointAt(t, at, "slots=1"), second)
			awaitReady(t, p, 2)
			lost, other := openIn(t, p), openIn(t, p)
			if lost.b != p.members[0].browser || other.b != p.members[1].browser {
				t.Fatal("the runs are on the wrong browsers")
			}
			failed := failing(t, lost)
			began := time.Now()
			setStartBounds(p, 300*time.Millisecond)
			link.set(fault)
			wantCode(t, <-failed, routine.CodeBrowserCrashed, "the browser ended")
			if took := time.Since(began); took > 7*time.Second {
				t.Errorf("it failed after %v", took)
			}
			if fault.reset {
				awaitNoContexts(t, first)
			}
			soon(t, "the breaker opens", func() bool { return p.BrowserStatistics().Endpoints.Down == 1 && p.members[0].browser.breakerOpen() })
			formTask(t, other, pages+"/form")
			other.Close()
			formTask(t, openIn(t, p), pages+"/form") // on the other one, while the lost page is still open
			link.set(linkFault{})
			lost.Close()
			setStartBounds(p, testTime)
			tryAgain(p)
			awaitReady(t, p, 2)
			if again := openIn(t, p); again.b != p.members[0].browser {
				t.Error("the browser that is back gets no run")
			} else {
				formTask(t, again, pages+"/form")
			}
			if used := slotsInUse(p); !slices.Equal(used, []int{1, 1}) {
				t.Errorf("slots in use: %v", used)
			}
		})
	}
}

func (b *Browser) breakerOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.breaker.wait(time.Now()) > 0
}

// awaitNoContexts waits until a browser whose client has vanished has no context left.
func awaitNoContexts(t *testing.T, at string) {
	t.Helper()
	other := otherClient(t, at)
	soon(t, "the contexts are gone", func() bool {
		left, err := proto.TargetGetBrowserContexts{}.Call(other)
		return err == nil && len(left.BrowserContextIDs) == 0
	})
}

// The run of a browser that is killed fails, and the next one is elsewhere. Contexts do not
// outlive the pool that has made them.
func TestPoolOutlivesKilledBrowser(t *testing.T) {
	onlyWhole(t)
	t.Parallel()
	killed, left := listening(t, "", chromium.FlagsElsewhere("127.0.0.1")), listening(t, "", chromium.FlagsElsewhere("127.0.0.1"))
	p := testPool(t, endpointAt(t, killed, ""), endpointAt(t, left, ""))
	awaitReady(t, p, 2)
	lost := openIn(t, p)
	failed := failing(t, lost)
	info, err := cdp.Decode[struct {
		Processes []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}](await(t, lost.i.client.Send("", "SystemInfo.getProcessInfo", nil)))
	if !err || len(info.Processes) == 0 || info.Processes[0].Type != "browser" {
		t.Fatal(info)
	}
	if err := syscall.Kill(info.Processes[0].ID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, routine.CodeBrowserCrashed, "the browser ended")
	next := openIn(t, p)
	if next.b != p.members[1].browser {
		t.Fatal("on the browser that was killed")
	}
	formTask(t, next, site(t, map[string]any{"/form": form})+"/form")
	slow := openIn(t, p)
	slow.b.mu.Lock()
	slow.i.users++
	slow.b.mu.Unlock()
	slow.b.release(slow.i, true) // as after a context that was not disposed of in time
	formTask(t, next, site(t, map[string]any{"/form": form})+"/form")
	if again := openIn(t, p); again.i != next.i {
		t.Error("there is a second connection to the same browser")
	}
	p.Close()
	awaitNoContexts(t, left)
	wantCode(t, p.Ready(testContext(t)), routine.CodeShuttingDown, "closed")
	_, opening := p.Open(testContext(t), routine.PageOptions{})
	wantCode(t, opening, routine.CodeShuttingDown, "closed")
}

// A browser that is connected and opens no pages gets no more runs after three of them, which the
// other one serves. While a browser does not answer, runs wait for it.
func TestPoolLeavesBrowserWithoutPages(t *testing.T) {
	onlyWhole(t)
	t.Parallel()
	p := testPool(t, remoteEndpoint(t, "", ""), remoteEndpoint(t, "", ""))
	awaitReady(t, p, 2)
	broken, good := p.members[0].browser, p.members[1].browser
	broken.mu.Lock()
	broken.config.Warm, broken.openBound = -1, time.Nanosecond // no page is ready
	broken.mu.Unlock()
	for range breakerFailures {
		page := openIn(t, p)
		if page.b != good {
			t.Fatal("opened by the broken one")
		}
		page.Close()
	}
	if broken.state() != endpointDown {
		t.Fatal("the broken browser still gets runs")
	}
	broken.openBound = openBound
	tryAgain(p)
	if page := openIn(t, p); page.b != broken || broken.breaker.tripped {
		t.Error("the browser that works again gets no runs")
	}
	i := broken.current
	broken.setSilent(i, true)
	if broken.state() != endpointConnecting || !strings.Contains(broken.whyDown("x").Error(), "does not answer") {
		t.Error(broken.whyDown("x"))
	}
	broken.setSilent(i, false)
	if broken.state() != endpointReady {
		t.Error(broken.whyDown("x"))
	}
}

func await(t *testing.T, f *cdp.Future) []byte {
	t.Helper()
	b, err := f.Wait(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
