package browser

import (
	"bufio"
	"context"
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

func (s webSocket) Write(message []byte) error { return s.Send(message) }

// elsewhere is a browser that rote has not started, and a launcher that connects to
// it.
type elsewhere struct {
	url, home string
	client    *cdp.Client
}

func (e *elsewhere) Find() (string, error) { return e.url, nil }

func (e *elsewhere) Start(ctx context.Context, url string) (process, error) {
	s := webSocket{&rod.WebSocket{}}
	if err := s.Connect(ctx, url, nil); err != nil {
		return nil, err
	}
	e.client = cdp.NewClient(s)
	return e, nil
}

func (e *elsewhere) Client() *cdp.Client { return e.client }
func (e *elsewhere) Home() string        { return e.home }
func (e *elsewhere) MemoryUse() int64    { return 0 }
func (e *elsewhere) LowerPriorities(_ context.Context, already map[int]bool) map[int]bool {
	return already
}
func (e *elsewhere) Output() string                 { return "" }
func (e *elsewhere) EndReason(time.Duration) string { return "" }
func (e *elsewhere) Close()                         { e.client.Close() }

// listening starts a browser that is driven through a port and returns its address.
func listening(t *testing.T) string {
	t.Helper()
	executable, err := chromium.Find("")
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
	cmd := exec.Command(executable, "--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+profile.Path, "about:blank")
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

// Pages need no process of ours: a launcher may connect to a browser through any transport.
func TestBrowserElsewhere(t *testing.T) {
	t.Parallel()
	b := New(Config{Egress: shared.config.Egress, Warm: 1, Log: complaints})
	b.launcher = &elsewhere{url: listening(t), home: t.TempDir()}
	t.Cleanup(b.Close)
	p := mustOpen(t, b)
	formTask(t, p, site(t, map[string]any{"/form": form})+"/form")
	a := &attempt{t: t, p: p, ctx: testContext(t)}
	if _, err := p.Navigate(testContext(t), site(t, map[string]any{"/": `<a id=b href=f>x</a>`, "/f": sends("a.csv", "text/csv", "a,b")})+"/"); err != nil {
		t.Fatal(err)
	}
	if err := brings("a.csv text/csv a,b")(a); err != nil {
		t.Fatal(err)
	}
	p.Close()
	waitIdle(t, b)
}
