// Package chromium finds, installs, checks and runs Chromium on this machine. A [Launcher]
// starts it confined, as far as the machine allows, and a [Process] is one that runs:
// driven through a pipe, with a profile of its own, and gone with our own process.
//
// What the browser does for a run is package browser's: a Process only has a [cdp.Client].
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/tempdir"
)

// Process is a running Chromium: a process group with a profile in a temporary directory
// and a pipe for the protocol.
type Process struct {
	client  *cdp.Client
	product string
	cmd     *exec.Cmd
	dir     *tempdir.Dir
	home    string // a directory in dir
	log     *tail
	exited  chan struct{} // closed when the process has ended and was waited for
	once    sync.Once
	ended   atomic.Bool // whether Close ended it
}

// ProfilePrefix is what the names of profile directories in [os.TempDir] begin with.
const ProfilePrefix = "rote-profile-"

// RemoveOldProfiles removes the profiles that killed processes have left behind.
func RemoveOldProfiles() { tempdir.Sweep(ProfilePrefix) }

// startProcess starts the executable and waits until it answers.
func startProcess(ctx context.Context, executable string, c confinement) (*Process, error) {
	dir, err := tempdir.Make(ProfilePrefix)
	if err != nil {
		return nil, fmt.Errorf("make a profile directory: %w", err)
	}
	p := &Process{dir: dir, home: filepath.Join(dir.Path, "home"), log: &tail{}, exited: make(chan struct{})}
	if err = p.makeDirectories(c); err == nil {
		err = p.launch(executable, c)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", executable, errors.Join(err, dir.Remove()))
	}
	version, err := proto.BrowserGetVersion{}.Call(p.client.Browser(ctx))
	if err != nil {
		p.Close()
		said := p.log.String()
		if said != "" {
			err = fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, fmt.Errorf("start %s: %w", executable, explainStart(executable, said, err))
	}
	p.product = version.Product
	return p, nil
}

// Client is the connection to the browser. It ends with the browser.
func (p *Process) Client() *cdp.Client { return p.client }

// AvailableMemory is the function of this name.
func (p *Process) AvailableMemory() (int64, bool) { return AvailableMemory() }

// Product is the browser's name and version, as in "HeadlessChrome/156.0.8078.79".
func (p *Process) Product() string { return p.product }

// PID is the id of the browser's main process, which is also that of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Home is the browser's own directory: its profile, its temporary files and what it
// downloads. Close removes it.
func (p *Process) Home() string { return p.home }

// Output is the end of what the browser has written to standard error.
func (p *Process) Output() string { return p.log.String() }

// makeDirectories creates the directories that Chromium may write to.
func (p *Process) makeDirectories(c confinement) error {
	if err := os.Mkdir(p.home, 0o700); err != nil {
		return err
	}
	if c.window != nil {
		if err := c.window.writeSettings(p.home, c); err != nil {
			return err
		}
	}
	if c.user == nil {
		return nil
	}
	// Other users may pass through the directory and not list it.
	return errors.Join(os.Chmod(p.dir.Path, 0o711), c.giveTo(p.home), c.checkReachable(p.home))
}

// launch starts Chromium so that it is killed when we die. The kernel does that when the
// thread that started it ends, so that thread waits until Chromium has ended.
func (p *Process) launch(executable string, c confinement) error {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_ = errors.Join(theirIn.Close(), ourOut.Close())
		return err
	}
	p.cmd = withMemoryLimit(c.memory, executable, c.flags(p.home))
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = dieWithParent()
	p.cmd.SysProcAttr.Credential = c.user
	p.cmd.Env, p.cmd.Dir = c.environment(p.home), p.home
	p.cmd.WaitDelay = time.Second // its child processes may keep stderr open
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
		_ = errors.Join(ourIn.Close(), ourOut.Close())
		return err
	}
	p.client = cdp.NewClient(cdp.NewPipe(ourIn, ourOut, c.maxMessage))
	return nil
}

// flags are the command line of Chromium with a profile.
func (c confinement) flags(profile string) []string {
	if c.window != nil {
		return c.window.flags(profile, c.sandbox)
	}
	return Flags(profile, c.sandbox)
}

// environment are the environment variables that Chromium gets: those that it needs.
func (c confinement) environment(dir string) []string {
	if c.window != nil {
		return c.window.environment(dir, c.user != nil)
	}
	return []string{"HOME=" + dir, "TMPDIR=" + temporaryOf(dir), "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TZ=" + os.Getenv("TZ")}
}

// maxSocketDir is the length of the longest path in which full Chromium can make its socket. The
// path of a socket has at most 103 bytes on macOS, and 107 on Linux.
const maxSocketDir = 103 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")

// temporaryOf returns the directory for the temporary files of a browser whose own directory, in
// which it runs, is dir. Where its path is too long for a socket, full Chromium would not start:
// there it gets the relative path.
func temporaryOf(dir string) string {
	if len(dir) > maxSocketDir {
		return "."
	}
	return dir
}

// Close kills the process group, waits for it and removes its profile. It may
// be called more than once.
func (p *Process) Close() {
	p.once.Do(func() {
		p.ended.Store(p.client.Err() == nil)
		killGroup(p.cmd)
		<-p.exited
		p.client.Close()
		_ = p.dir.Remove()
	})
}

// EndReason describes how the process has ended by itself; it is empty if Close ended it.
// The connection may end first, so EndReason waits for the process, for within at most.
func (p *Process) EndReason(within time.Duration) string {
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

// tail keeps the end of Chromium's output, which says why it did not start or has ended.
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
