package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/tempdir"
	"rote/routine"
)

// process is one running Chromium: its own process group, its own profile in a
// temporary directory, a pipe to talk through.
type process struct {
	client *client
	cmd    *exec.Cmd
	dir    *tempdir.Dir
	home   string // of Chromium, in dir: its profile and its temporary files
	pipe   *pipe
	log    *tail
	exited chan struct{} // closed when the process has been waited for
	once   sync.Once
	ended  atomic.Bool // by us

	mu    sync.Mutex
	pages map[proto.BrowserBrowserContextID]*page
}

const profilePrefix = "rote-profile-"

// startProcess runs the executable and waits until it answers.
func startProcess(ctx context.Context, executable string, c confinement) (*process, error) {
	dir, err := tempdir.Make(profilePrefix)
	if err != nil {
		return nil, fmt.Errorf("make a profile directory: %w", err)
	}
	p := &process{dir: dir, home: filepath.Join(dir.Path, "home"), log: &tail{}, exited: make(chan struct{}), pages: map[proto.BrowserBrowserContextID]*page{}}
	if err = p.settle(c); err == nil {
		err = p.launch(executable, c)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", executable, errors.Join(err, dir.Remove()))
	}
	p.client.listen("", p.event)
	// Every new page and worker waits to be let go, so that what governs it is
	// there before its first script.
	err = proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true}.Call(caller{ctx, p.client, ""})
	if err != nil {
		p.close()
		said := p.log.String()
		if said != "" {
			err = fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, fmt.Errorf("start %s: %w", executable, explainStart(executable, said, err))
	}
	return p, nil
}

// settle makes the place where Chromium may write.
func (p *process) settle(c confinement) error {
	if err := os.Mkdir(p.home, 0o700); err != nil {
		return err
	}
	if c.user == nil {
		return nil
	}
	// Others may pass through, not look.
	return errors.Join(os.Chmod(p.dir.Path, 0o711), c.give(p.home), c.reachable(p.home))
}

// launch starts Chromium bound to our life: it is killed when the thread that
// started it ends, so that thread waits for it to exit.
func (p *process) launch(executable string, c confinement) error {
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
	p.cmd = limited(c.memory, executable, flags(p.home, c.sandbox))
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // become 3 and 4
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = boundToUs()
	p.cmd.SysProcAttr.Credential = c.user
	p.cmd.Env, p.cmd.Dir = environment(p.home), p.home
	p.cmd.WaitDelay = time.Second // its children may hold stderr open
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		closeOnExec()
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
	for _, own := range append(page.popupsNow(), page) {
		for _, f := range own.framesNow() { // the page may be changing them
			p.client.unlisten(f.session)
		}
	}
	if session != "" { // else it was never attached; the empty session is the browser's
		p.client.unlisten(session)
	}
}

// event takes what the browser tells of new targets and hands each to the page
// whose context it is in.
func (p *process) event(method string, params json.RawMessage) {
	if method == "Target.detachedFromTarget" {
		if e, ok := decode[proto.TargetDetachedFromTarget](params); ok {
			p.detached(e.SessionID)
		}
		return
	}
	if strings.HasPrefix(method, "Browser.download") {
		p.noteDownload(method, params)
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

func (p *process) detached(session proto.TargetSessionID) {
	p.client.unlisten(session)
	p.mu.Lock()
	pages := slices.Collect(maps.Values(p.pages))
	p.mu.Unlock()
	for _, page := range pages {
		page.popupGone(session)
	}
}

// environment is what Chromium sees of ours: nothing that it does not need.
func environment(dir string) []string {
	return []string{"HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TZ=" + os.Getenv("TZ")}
}

// close kills the process group, waits for it and removes its profile. It may
// be called more than once.
func (p *process) close() {
	p.once.Do(func() {
		p.ended.Store(p.client.standing() == nil)
		killGroup(p.cmd)
		<-p.exited
		p.pipe.close()
		<-p.client.done
		_ = p.dir.Remove()
	})
}

// ending says how a process has ended by itself, empty when it was closed. The
// connection has ended; the process has some time for that.
func (p *process) ending(within time.Duration) string {
	if p.ended.Load() {
		return ""
	}
	select {
	case <-p.exited:
		return p.cmd.ProcessState.String()
	case <-time.After(within):
		return "its connection ended, it did not"
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

// unavailable tells a run why it has no browser.
func unavailable(err error) error {
	var e *routine.Error
	if errors.As(err, &e) {
		return err
	}
	message := fmt.Sprintf("no browser: %v", err)
	if !errors.Is(err, ErrNoSandbox) { // which says what to do
		message += "; run \"rote browser check\" to find out why"
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: 5 * time.Second, Message: message}
}

// Checked is what Check finds out about an executable that works.
type Checked struct {
	// Product is its name and version, as in "HeadlessChrome/156.0.8078.79".
	Product string
	// Warning says what its confinement lacks and what to do about it, empty when
	// it lacks nothing.
	Warning string
	// NoSandbox reports whether it runs without its sandbox because that cannot
	// start here.
	NoSandbox bool
}

// Check starts the executable once. The error says what to do.
func Check(ctx context.Context, executable string) (*Checked, error) {
	checked := &Checked{}
	l := launcher{warn: func(lacks string, why error) {
		checked.Warning, checked.NoSandbox = lacks, errors.Is(why, ErrNoSandbox)
	}}
	p, err := l.start(ctx, executable, lastStartBound)
	if err != nil {
		return nil, explainCheck(executable, err)
	}
	defer p.close()
	v, err := proto.BrowserGetVersion{}.Call(caller{ctx, p.client, ""})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", executable, err)
	}
	checked.Product = v.Product
	return checked, nil
}

// decode reads an event's parameters; false when they are not what we expect,
// and then the event is left out.
func decode[T any](params json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(params, &v)
	return v, err == nil
}
