package chromium

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// startBrowser starts the browser that Find finds, and ends it with the test.
func startBrowser(t *testing.T, l *Launcher) *Process {
	t.Helper()
	executable, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	if l.Warn == nil {
		l.Warn = func(lacks string, _ error) { t.Log(lacks) }
	}
	p, err := l.Start(testContext(t), executable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// awaitRenderer waits until the page that the browser starts with runs scripts, which it
// does in its sandbox.
func awaitRenderer(t *testing.T, p *Process) {
	t.Helper()
	ctx, browser := testContext(t), p.Client().Browser(testContext(t))
	all, err := proto.TargetGetTargets{}.Call(browser)
	if err != nil || len(all.TargetInfos) == 0 {
		t.Fatal(all, err)
	}
	attached, err := proto.TargetAttachToTarget{TargetID: all.TargetInfos[0].TargetID, Flatten: true}.Call(browser)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Client().Send(attached.SessionID, "Runtime.evaluate", proto.RuntimeEvaluate{Expression: "1"}).Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// statusOf is a field of a process in /proc.
func statusOf(t *testing.T, pid int, field string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for line := range strings.Lines(string(b)) {
		if name, value, _ := strings.Cut(line, ":"); name == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// children are the processes that a process has started, and theirs.
func children(pid int) []int {
	var all []int
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(b)) {
			var child int
			if _, err := fmt.Sscan(word, &child); err == nil {
				all = append(append(all, child), children(child)...)
			}
		}
	}
	return all
}

// leak is a file whose descriptor a shell could have left open for us: without
// close-on-exec.
func leak(t *testing.T) string {
	t.Helper()
	secret, err := os.Create(filepath.Join(t.TempDir(), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(secret.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(inherited); _ = secret.Close() })
	return secret.Name()
}

func TestBrowserInheritsNothing(t *testing.T) {
	secret := leak(t)
	t.Setenv("ROTE_SERVICE_TOKEN", "hidden")
	pid := startBrowser(t, &Launcher{}).PID()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || strings.Contains(string(env), "hidden") || !strings.Contains(string(env), "HOME=") {
		t.Fatalf("%q %v", env, err)
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if len(links) == 0 {
		t.Fatal("its descriptors cannot be seen")
	}
	for _, link := range links {
		if to, _ := os.Readlink(link); to == secret {
			t.Fatal(link, " is ours")
		}
	}
}

func TestBrowserIsConfined(t *testing.T) {
	l := &Launcher{}
	p := startBrowser(t, l)
	awaitRenderer(t, p)
	pid, c := p.PID(), l.left[0]
	t.Run("it is not root", func(t *testing.T) {
		if os.Geteuid() == 0 && c.user == nil {
			t.Skip("another user could not be had: ", c.lacks)
		}
		if uid := statusOf(t, pid, "Uid"); strings.HasPrefix(uid, "0\t") {
			t.Fatal("Uid ", uid)
		}
	})
	t.Run("its renderers are in a sandbox", func(t *testing.T) {
		if !c.sandbox {
			t.Skip("the sandbox does not work here: ", c.lacks)
		}
		renderers := 0
		ours, _ := os.Readlink("/proc/self/ns/net")
		for _, child := range children(pid) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			if !strings.Contains(string(line), "--type=renderer") {
				continue
			}
			renderers++
			if s := statusOf(t, child, "Seccomp"); s != "2" {
				t.Errorf("renderer %d has no system call filter: Seccomp %s", child, s)
			}
			if theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", child)); err == nil && theirs == ours {
				t.Errorf("renderer %d is on our network", child)
			}
		}
		if renderers == 0 {
			t.Fatal("no renderer was found")
		}
	})
}

// Where nothing better works, the browser runs all the same, and that is said.
func TestLessConfinement(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has more than one to try")
	}
	closed := t.TempDir() // of root alone
	t.Setenv("TMPDIR", closed)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	var said []string
	startBrowser(t, &Launcher{Warn: func(lacks string, why error) { said = append(said, lacks+" because "+why.Error()) }})
	if len(said) != 1 || !strings.Contains(said[0], "runs as root") || !strings.Contains(said[0], closed+" is closed to other users") {
		t.Fatal(said)
	}
}

// A browser starts also where the temporary directory has a path that is longer than that of a
// socket may be: full Chromium makes one there.
func TestLongTemporaryDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("a", 100))
	for _, dir := range []string{filepath.Dir(long), long} { // also for a user of the browser's own
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", long)
	for _, name := range []string{"", "/usr/lib/chromium/chromium"} {
		path, err := Find(name)
		if err != nil && name != "" {
			t.Log(err) // there is no full Chromium
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&Launcher{Warn: func(lacks string, _ error) { t.Log(lacks) }}).Start(testContext(t), path)
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
}
