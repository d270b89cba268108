package browser

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/chromium"
	"rote/routine"
)

// Each reason to replace a browser does so without a failed run, also of one
// that is on it; the old browser ends with its last run.
func TestReplacedBrowser(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*processLifetime){
		"by count":  func(l *processLifetime) { l.runs = 3 },
		"by age":    func(l *processLifetime) { l.age = 500 * time.Millisecond },
		"by memory": func(l *processLifetime) { l.memory, l.measure = 1, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := own(t)
			b.lifetime.watch = 50 * time.Millisecond
			limit(&b.lifetime)
			url := site(t, map[string]any{"/form": form}) + "/form"
			first := mustOpen(t, b) // stays out while its browser is replaced
			for range 2 {
				mustOpen(t, b).Close()
			}
			soon(t, "another browser takes over", func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.current != nil && b.current != first.i
			})
			b.mu.Lock() // the next one is good for longer
			b.lifetime.runs, b.lifetime.age, b.lifetime.memory = defaultLifetime.runs, defaultLifetime.age, defaultLifetime.memory
			b.mu.Unlock()
			last := mustOpen(t, b)
			if last.i == first.i {
				t.Fatal("served by the browser that was replaced")
			}
			formTask(t, last, url)
			last.Close()
			formTask(t, first, url)
			first.Close()
			waitGone(t, pidOf(first))
			if s := b.BrowserStatistics(); s.Failures != 0 || s.Replacements == 0 || s.Starts <= s.Replacements {
				t.Errorf("counted as %+v", s)
			}
		})
	}
}

// The next browser has its contexts ready before it takes over.
func TestReplacementIsReady(t *testing.T) {
	b := own(t)
	b.lifetime.runs = 1
	first := mustOpen(t, b)
	soon(t, "the next browser takes over", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.current != nil && b.current != first.i
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.current.ready) != b.config.Warm {
		t.Fatalf("%d contexts ready, want %d", len(b.current.ready), b.config.Warm)
	}
}

func TestBrowserThatDoesNotAnswerIsReplaced(t *testing.T) {
	t.Parallel()
	b := own(t)
	b.lifetime.watch, b.lifetime.answer, b.lifetime.patience = 20*time.Millisecond, 300*time.Millisecond, time.Second
	p := mustOpen(t, b)
	pid := pidOf(p)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := p.Navigate(testContext(t), "http://127.0.0.1/")
	wantCode(t, err, routine.CodeBrowserCrashed, "the browser ended")
	p.Close()
	formTask(t, mustOpen(t, b), site(t, map[string]any{"/form": form})+"/form")
	waitGone(t, pid)
	if s := b.BrowserStatistics(); s.Failures == 0 || s.Starts <= s.Failures || s.Replacements != 0 { // a slow machine may have lost more than one
		t.Errorf("counted as %+v", s)
	}
}

// An open that meets a browser which no longer answers is served by the next.
func TestOpenOutlivesItsBrowser(t *testing.T) {
	b := own(t)
	b.lifetime.watch, b.lifetime.answer, b.lifetime.patience = 20*time.Millisecond, 300*time.Millisecond, time.Hour
	b.config.Warm = -1 // no context is ready
	first := mustOpen(t, b)
	if err := syscall.Kill(pidOf(first), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if p := mustOpen(t, b); p.i == first.i {
		t.Fatal("served by the browser that hangs")
	}
}

// A browser that was only slow keeps its runs, and however many there are, the
// next run is served.
func TestSlowBrowserEndsItsRuns(t *testing.T) {
	t.Parallel()
	b := own(t)
	b.lifetime.watch, b.lifetime.answer, b.lifetime.patience = 20*time.Millisecond, 300*time.Millisecond, time.Hour
	url := site(t, map[string]any{"/form": form}) + "/form"
	slowOnes := 1
	if *whole {
		slowOnes = maxFailures + 1 // as failures, they would keep the next from starting
	}
	for range slowOnes {
		slow := mustOpen(t, b)
		pid := pidOf(slow)
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		soon(t, "another browser takes over", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.current != nil && b.current != slow.i
		})
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		formTask(t, slow, url)
		slow.Close()
		waitGone(t, pid)
	}
	if n := b.BrowserStatistics().Failures; n != 0 {
		t.Errorf("%d counted as failed", n)
	}
}

var soakRuns = flag.Int("soak", 30, "how many runs TestSoak makes")

// Many runs leave nothing: no context, target, process, file or goroutine, and
// no memory of ours.
func TestSoak(t *testing.T) {
	onlyWhole(t)
	b := own(t)
	b.lifetime.runs = max(*soakRuns/10, 20)
	url := site(t, map[string]any{"/form": form}) + "/form"
	used, pids := map[proto.BrowserBrowserContextID]bool{}, map[int]bool{}
	run := func() {
		opened, err := b.Open(t.Context(), routine.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p := opened.(*tabs).first
		if used[p.context] {
			t.Fatalf("context %s is used twice", p.context)
		}
		used[p.context] = true
		pids[pidOf(p)] = true
		formTask(t, p, url)
		p.Close()
	}
	for range 20 {
		run()
	}
	waitIdle(t, b)
	before := len(profiles(t))
	heap, goroutines := heapInUse(), runtime.NumGoroutine()
	for n := range *soakRuns {
		run()
		if n%200 == 199 {
			t.Logf("%d runs, %d browsers: heap %d KiB, %d goroutines", n+1, len(pids), heapInUse()>>10, runtime.NumGoroutine())
		}
	}
	waitIdle(t, b)
	soon(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= goroutines })
	if grown := int64(heapInUse()) - int64(heap); grown > 512<<10 {
		t.Errorf("the heap grew by %d KiB in %d runs", grown>>10, *soakRuns)
	}
	if len(pids) < 3 {
		t.Errorf("%d browsers: none was replaced", len(pids))
	}
	for pid := range pids {
		if pid != b.current.process.(*chromium.Process).PID() {
			waitGone(t, pid)
		}
	}
	soon(t, "the profiles are gone", func() bool { return len(profiles(t)) <= before })
}

// profiles are the browsers' directories of this test program.
func profiles(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), chromium.ProfilePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
