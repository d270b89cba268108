package browser

import (
	"context"
	"errors"
	"fmt"
	"net"

	"rote/browser/cdp"
	"rote/browser/chromium"
)

// foreign is a browser that rote has not started. It is verified before it is used.
type foreign interface {
	process
	// SharesLoopback reports whether the browser seems to have the loopback interface of this
	// machine, like one in another container of the same pod. Without a gateway it reaches the
	// proxies of its runs there. Any other needs the gateway.
	SharesLoopback() bool
	// RemoteAddr is where the browser listens for rote; no page may reach that.
	RemoteAddr() net.Addr
}

// errNoGateway is the error of a browser that could reach no proxy.
var errNoGateway = errors.New("it cannot be confined, because it is on another machine and cannot reach the proxies of its runs: " +
	"give --egress-listen and --egress-address")

// verify checks that pages of a browser that rote has not started have no way past the proxies
// of their runs. The error says what to do. Of a browser of ours it checks nothing.
func (b *Browser) verify(ctx context.Context, i *instance) error {
	if _, ours := i.process.(*chromium.Process); ours {
		return nil
	}
	f, ok := i.process.(foreign)
	if !ok {
		return fmt.Errorf("a browser of type %T cannot be verified", i.process)
	}
	if err := b.reserve(f.RemoteAddr()); err != nil {
		return err
	}
	proxyHost := "127.0.0.1"
	switch {
	case b.config.Gateway != nil:
		i.throughGateway = true
		_, proxyHost = b.config.Gateway.Hosts()
	case !f.SharesLoopback():
		return errNoGateway
	}
	flags, err := checkFlags(ctx, i.client, proxyHost)
	if err == nil && !b.config.Unverified {
		err = flags.Err(proxyHost)
	}
	if err != nil {
		return err
	}
	found, err := b.findLeaks(ctx, i)
	if err != nil {
		return fmt.Errorf("verify that its pages are confined: %w", err)
	}
	return b.judge(i, flags, found, proxyHost)
}

// reserve denies the address of a browser to all runs: on a private network, a page that reaches it
// could control the browser. Providers share public addresses with other sites, and ask for a token.
// The address stays reserved until the browser is found at another one.
func (b *Browser) reserve(a net.Addr) error {
	const httpsPort = 443
	tcp, ok := a.(*net.TCPAddr)
	if !ok || tcp.Port == httpsPort && tcp.IP.IsGlobalUnicast() && !tcp.IP.IsPrivate() {
		return nil
	}
	b.mu.Lock()
	before := b.reserved
	b.reserved = tcp.String()
	b.mu.Unlock()
	if before == tcp.String() {
		return nil
	}
	err := b.config.Egress.Reserve(tcp.String())
	if before != "" {
		err = errors.Join(err, b.config.Egress.Release(before))
	}
	return err
}

// checkFlags checks the flags that the browser says it was started with. Browsers of providers may
// not tell them.
func checkFlags(ctx context.Context, c *cdp.Client, proxyHost string) (chromium.FlagFaults, error) {
	b, err := c.Send("", "SystemInfo.getInfo", nil).Wait(ctx)
	var refused *cdp.Error
	if errors.As(err, &refused) {
		return chromium.FlagFaults{Unknown: true}, nil
	}
	if err != nil {
		return chromium.FlagFaults{}, fmt.Errorf("ask for its flags: %w", err)
	}
	info, _ := cdp.Decode[struct {
		CommandLine string `json:"commandLine"`
	}](b)
	if info.CommandLine == "" {
		return chromium.FlagFaults{Unknown: true}, nil
	}
	return chromium.CheckFlags(info.CommandLine, proxyHost), nil
}

// judge decides whether a browser with these faults may be used. One that may only be
// used unverified is marked as such.
func (b *Browser) judge(i *instance, flags chromium.FlagFaults, found leaks, proxyHost string) error {
	if found.arrived > 0 { // Unverified does not help: nothing confines it
		return fmt.Errorf("it is not confined, whatever its flags say: %v", found)
	}
	faults := flags.Err(proxyHost)
	switch text := found.String(); {
	case found.udp || found.lookups:
		faults = errors.Join(fmt.Errorf("it is not confined, whatever its flags say: %s", text), faults)
	case text != "":
		faults = errors.Join(fmt.Errorf("whether it is confined cannot be verified: %s; let nothing between the browser and rote filter requests", text), faults)
	}
	if faults != nil && !b.config.Unverified {
		return faults
	}
	if faults != nil {
		i.unverified.Store(true)
		b.config.Log.Warn("BROWSER IS NOT VERIFIED: runs on it are marked as unverified (--browser-unverified)", "because", faults)
	}
	if flags.NoSandbox {
		b.config.Log.Warn("BROWSER IS NOT CONFINED: its sandbox or a layer of it is off; start it without --no-sandbox, " +
			"--disable-namespace-sandbox and --disable-seccomp-filter-sandbox")
	}
	if len(flags.Weakened) > 0 {
		b.config.Log.Warn("the browser protects private networks less than it could", "flags", flags.Weakened)
	}
	return nil
}
