package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// remoteLauncher connects to a browser that another program has started.
type remoteLauncher struct {
	endpoint Endpoint
	options  cdp.SocketOptions
}

// Find returns the name of the endpoint.
func (l *remoteLauncher) Find() (string, error) { return l.endpoint.Name, nil }

// Start connects to the browser.
func (l *remoteLauncher) Start(ctx context.Context, _ string) (process, error) {
	s, err := cdp.DialSocket(ctx, l.endpoint.address, l.options)
	if err != nil {
		return nil, fmt.Errorf("connect to it: %w", explainDial(err))
	}
	p := &remoteProcess{client: cdp.NewClient(s), downloads: l.endpoint.downloads}
	p.address = s.RemoteAddr()
	if tcp, ok := p.address.(*net.TCPAddr); ok {
		p.loopback = tcp.IP.IsLoopback()
	}
	if _, err := (proto.BrowserGetVersion{}).Call(p.client.Browser(ctx)); err != nil {
		p.Close()
		return nil, fmt.Errorf("it does not answer as Chromium does: %w", err)
	}
	return p, nil
}

// explainDial adds to the error of a connection what to do about it.
func explainDial(err error) error {
	var status *cdp.StatusError
	switch {
	case !errors.As(err, &status) || status.Busy():
		return err
	case status.Status/100 == 4:
		return fmt.Errorf("%w: check the path and the token of --browser-url", err)
	}
	return err
}

// busyTime returns for how long a browser that refused a connection has no room for it. It
// reports false if it was refused for another reason.
func busyTime(err error) (time.Duration, bool) {
	var status *cdp.StatusError
	if !errors.As(err, &status) || !status.Busy() {
		return 0, false
	}
	const least, most = time.Second, time.Minute
	return min(max(status.RetryAfter, least), most), true
}

// remoteProcess is a connection to a browser that another program has started.
type remoteProcess struct {
	client    *cdp.Client
	downloads string
	address   net.Addr
	loopback  bool
	closed    atomic.Bool // whether Close ended the connection
}

func (p *remoteProcess) Client() *cdp.Client { return p.client }

// Home is the directory that rote and the browser share; empty if they share none.
func (p *remoteProcess) Home() string { return p.downloads }

// MemoryUse is not known: the limit for the memory of the browser is set where it was started.
func (p *remoteProcess) MemoryUse() int64               { return 0 }
func (p *remoteProcess) AvailableMemory() (int64, bool) { return 0, false }

// LowerPriorities does nothing: the processes may be on another machine.
func (p *remoteProcess) LowerPriorities(_ context.Context, already map[int]bool) map[int]bool {
	return already
}

func (p *remoteProcess) Output() string { return "" }

func (p *remoteProcess) EndReason(time.Duration) string {
	if p.closed.Load() {
		return ""
	}
	return "the connection to it was lost"
}

// SharesLoopback reports whether the browser was reached through the loopback interface.
func (p *remoteProcess) SharesLoopback() bool { return p.loopback }

// RemoteAddr is where the browser listens for rote.
func (p *remoteProcess) RemoteAddr() net.Addr { return p.address }

// Close ends the connection. The browser then disposes of the contexts that were created through
// it, and continues to run.
func (p *remoteProcess) Close() {
	p.closed.CompareAndSwap(false, p.client.Err() == nil)
	p.client.Close()
}
