package browser

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	rod "github.com/go-rod/rod/lib/cdp"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/tempdir"
)

// webSocket is a connection to a browser that rote has not started.
type webSocket struct{ *rod.WebSocket }

func (s webSocket) Write(messages ...[]byte) error {
	for _, m := range messages {
		if err := s.Send(m); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere is a browser that rote has not started, and a launcher that connects to
// it.
type elsewhere struct {
	url, home string
	far       bool // it is not on this machine
	// between, if it is set, returns the transport to use in place of the one to the browser.
	between func(cdp.Transport) cdp.Transport
	client  *cdp.Client
}

func (e *elsewhere) Find() (string, error) { return e.url, nil }

func (e *elsewhere) Start(ctx context.Context, url string) (process, error) {
	s := webSocket{&rod.WebSocket{}}
	if err := s.Connect(ctx, url, nil); err != nil {
		return nil, err
	}
	var t cdp.Transport = s
	if e.between != nil {
		t = e.between(s)
	}
	e.client = cdp.NewClient(t)
	return e, nil
}

func (e *elsewhere) Client() *cdp.Client            { return e.client }
func (e *elsewhere) Home() string                   { return e.home }
func (e *elsewhere) MemoryUse() int64               { return 0 }
func (e *elsewhere) AvailableMemory() (int64, bool) { return 0, false }
func (e *elsewhere) LowerPriorities(_ context.Context, already map[int]bool) map[int]bool {
	return already
}
func (e *elsewhere) Output() string                 { return "" }
func (e *elsewhere) EndReason(time.Duration) string { return "" }
func (e *elsewhere) Close()                         { e.client.Close() }
func (e *elsewhere) RemoteAddr() net.Addr {
	u, err := url.Parse(e.url)
	if err != nil {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", u.Host)
	if err != nil {
		return nil
	}
	return a
}

func (e *elsewhere) SharesLoopback() bool { return !e.far }

// listening starts a browser with these flags that is driven through a port, and returns its
// address. An empty executable is the one that Find finds.
func listening(t *testing.T, executable string, flags []string) string {
	t.Helper()
	executable, err := chromium.Find(executable)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := tempdir.Make(chromium.ProfilePrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := profile.Remove(); err != nil {
			t.Error(err)
		}
	})
	cmd := exec.Command(executable, append(flags, "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+profile.Path, "about:blank")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if url := regexp.MustCompile(`ws://\S+`).FindString(lines.Text()); url != "" {
			return url
		}
	}
	t.Fatal("the browser does not say where it listens: ", lines.Err())
	return ""
}
