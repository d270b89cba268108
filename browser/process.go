package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// startTime bounds a start of Chromium until it answers.
const startTime = 20 * time.Second

// process is one running Chromium: its own process group, its own profile in a
// temporary directory, a pipe to talk through.
type process struct {
	client *client
	cmd    *exec.Cmd
	dir    string
	pipe   *pipe
	log    *tail
	exited chan struct{} // closed when the process has been waited for
	once   sync.Once

	mu    sync.Mutex
	pages map[proto.BrowserBrowserContextID]*page
}

// startProcess runs the executable and waits until it answers.
func startProcess(ctx context.Context, executable string) (*process, error) {
	dir, err := os.MkdirTemp("", "rote-browser-")
	if err != nil {
		return nil, unavailable("make a profile directory", err)
	}
	p := &process{dir: dir, log: &tail{}, exited: make(chan struct{}), pages: map[proto.BrowserBrowserContextID]*page{}}
	if err := p.launch(executable); err != nil {
		_ = os.RemoveAll(dir)
		return nil, unavailable("start "+executable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	p.client.listen("", p.event)
	// Every new page and worker waits to be let go, so that what governs it is
	// there before its first script.
	err = proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true}.Call(caller{ctx, p.client, ""})
	if err != nil {
		p.close()
		if said := p.log.String(); said != "" {
			err = fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, unavailable("start "+executable, err)
	}
	return p, nil
}

// launch starts Chromium bound to our life: it is killed when the thread that
// started it ends, so that thread waits for it to exit.
func (p *process) launch(executable string) error {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_ = errors.Join(theirIn.Close(), ourOut.Close())
		return err
	}
	p.pipe = newPipe(ourIn, ourOut)
	p.cmd = exec.Command(executable, flags(p.dir, os.Geteuid() != 0)...)
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // become 3 and 4
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = boundToUs()
	p.cmd.Env = environment(p.dir)
	p.cmd.WaitDelay = time.Second // its children may hold stderr open
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		_ = errors.Join(theirIn.Close(), theirOut.Close())
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		p.pipe.close()
		return err
	}
	p.client = newClient(p.pipe)
	return nil
}

// enroll gives the page the targets of its context, dismiss no more.
func (p *process) enroll(page *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[page.context] = page
}

func (p *process) dismiss(page *page) {
	p.mu.Lock()
	delete(p.pages, page.context)
	p.mu.Unlock()
	page.mu.Lock()
	session := page.session // may just be coming in
	page.mu.Unlock()
	if session != "" { // else it was never attached; the empty session is the browser's
		p.client.unlisten(session)
	}
}

// event takes what the browser tells of new targets and hands each to the page
// whose context it is in.
func (p *process) event(method string, params json.RawMessage) {
	if method == "Target.detachedFromTarget" {
		if e, ok := decode[proto.TargetDetachedFromTarget](params); ok {
			p.client.unlisten(e.SessionID)
		}
		return
	}
	if method != "Target.attachedToTarget" {
		return
	}
	e, ok := decode[proto.TargetAttachedToTarget](params)
	if !ok || e.TargetInfo == nil {
		return
	}
	p.mu.Lock()
	page := p.pages[e.TargetInfo.BrowserContextID]
	p.mu.Unlock()
	if page != nil && e.TargetInfo.Type == proto.TargetTargetInfoTypePage {
		page.attached(&e)
		return
	}
	p.client.letGo(&e)
}

// environment is what Chromium sees of ours: nothing that it does not need.
func environment(dir string) []string {
	return []string{"HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TZ=" + os.Getenv("TZ")}
}

// close kills the process group, waits for it and removes its profile. It may
// be called more than once.
func (p *process) close() {
	p.once.Do(func() {
		killGroup(p.cmd)
		<-p.exited
		p.pipe.close()
		<-p.client.done
		removeAll(p.dir)
	})
}

// removeAll removes the profile. A dying child may write into it for a moment
// longer, so it tries again for a second at most.
func removeAll(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// tail keeps the last of what Chromium writes, to say why it did not start.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}

func unavailable(doing string, err error) error {
	var e *routine.Error
	if errors.As(err, &e) {
		return err
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: 5 * time.Second,
		Message: fmt.Sprintf("no browser: %s: %v; run \"rote browser check\" to find out why", doing, err)}
}

// Check starts the executable once and says its product and version, as in
// "HeadlessChrome/156.0.8078.79".
func Check(ctx context.Context, executable string) (string, error) {
	p, err := startProcess(ctx, executable)
	if err != nil {
		return "", err
	}
	defer p.close()
	v, err := proto.BrowserGetVersion{}.Call(caller{ctx, p.client, ""})
	if err != nil {
		return "", unavailable("ask "+filepath.Base(executable)+" for its version", err)
	}
	return v.Product, nil
}

// decode reads an event's parameters; false when they are not what we expect,
// and then the event is left out.
func decode[T any](params json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(params, &v)
	return v, err == nil
}
