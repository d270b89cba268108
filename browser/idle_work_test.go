package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// After a burst, as many contexts are ready as it had runs. Long after it they are fewer.
func TestReadyContextsFollowBursts(t *testing.T) {
	b := own(t)
	b.config.Warm, b.config.MaxContexts = 1, 5
	burst := func(runs int) {
		var pages []routine.Page
		for range runs {
			pages = append(pages, mustOpen(t, b).tabs)
		}
		for _, p := range pages {
			p.Close()
		}
	}
	for _, step := range []struct{ runs, ready int }{{1, 1}, {3, 3}, {2, 3}, {7, 5}} {
		burst(step.runs)
		waitIdle(t, b)
		b.mu.Lock()
		ready := len(b.current.ready)
		b.mu.Unlock()
		if ready != step.ready {
			t.Fatalf("%d contexts are ready after a burst of %d, want %d", ready, step.runs, step.ready)
		}
	}
	b.mu.Lock()
	i := b.current
	i.lowMemory = true
	if got := b.readyContexts(i); got != 1 {
		t.Errorf("%d contexts should be ready with little memory, want 1", got)
	}
	i.lowMemory = false
	b.target.since = b.target.since.Add(-burstPeriods * burstPeriod)
	b.startIdleWork(i)
	b.mu.Unlock()
	waitIdle(t, b)
	if ready := len(i.ready); ready != 1 {
		t.Errorf("%d contexts are ready long after the bursts, want 1", ready)
	}
}

// A page whose run has ended has no network and its scripts stop, also while its context is
// still there because other runs need the processor.
func TestEndedPageIsCutOff(t *testing.T) {
	b := own(t)
	b.processors, b.endedTime = 0, time.Hour
	b.config.Warm, b.config.MaxContexts = -1, 4
	asked := make(chan string, 10)
	home := site(t, map[string]any{
		"/": "",
		"/after": func(_ http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
		},
	})
	other, p := mustOpen(t, b), mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), home+"/"); err != nil {
		t.Fatal(err)
	}
	proxy := p.proxy.Addr()
	p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: `new Promise(done => setTimeout(done, 0))`, AwaitPromise: true})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("a timer of the page has run: ", err)
	}
	through := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}), DisableKeepAlives: true}}
	if r, err := through.Get(home + "/after"); err == nil {
		_ = r.Body.Close()
		t.Error("its proxy still answers")
	}
	b.mu.Lock()
	i := b.current
	ended := len(i.ended)
	b.endedTime = 0
	b.mu.Unlock()
	if ended != 1 || len(asked) > 0 {
		t.Fatalf("%d contexts wait for their disposal, want 1; the site was asked %d times, want none", ended, len(asked))
	}
	soon(t, "its context is disposed of while the other run is at work", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(i.ended) == 0 && i.users == 1
	})
	formTask(t, other, site(t, map[string]any{"/form": form})+"/form")
}

// Ready pages are rehearsed only when runs no longer follow each other: the rehearsal takes
// longer than it saves, so that it must not take a processor from runs.
func TestRehearsalWaitsUntilRunsStop(t *testing.T) {
	for _, row := range []struct {
		since time.Duration // the last run has started or ended
		slots int           // that are taken
		quiet bool
	}{{0, 0, false}, {pauseTime / 2, 0, false}, {pauseTime, 0, true}, {time.Hour, 0, true}, {time.Hour, 1, false}} {
		b := &Browser{starts: make(startSlots, 2), lastChange: time.Now().Add(-row.since)}
		for range row.slots {
			b.starts <- struct{}{}
		}
		if got := b.isQuiet(); got != row.quiet {
			t.Errorf("%v after the last run, with %d slots taken: %v", row.since, row.slots, got)
		}
	}
	if pauseTime < startTime {
		t.Error("a page may be rehearsed between two runs of callers that make one after the other")
	}
}

// The contexts of ended runs are bounded in number.
func TestEndedContextsAreBounded(t *testing.T) {
	b := own(t)
	b.processors, b.endedTime = 0, time.Hour
	b.config.Warm, b.config.MaxContexts = -1, 4
	first, second := mustOpen(t, b), mustOpen(t, b)
	for n := range 5 {
		mustOpen(t, b).Close()
		b.mu.Lock()
		ended, all := len(b.current.ended), b.contexts(b.current)
		b.mu.Unlock()
		if ended != min(n+1, 2) || all > 4 {
			t.Fatalf("after %d runs %d ended contexts of %d exist", n+1, ended, all)
		}
	}
	b.mu.Lock()
	b.processors = 1
	b.mu.Unlock()
	first.Close()
	second.Close()
	waitIdle(t, b)
}

// Close disposes of the contexts that wait for their disposal.
func TestCloseDisposesOfEndedContexts(t *testing.T) {
	b := own(t)
	b.processors, b.endedTime = 0, time.Hour
	mustOpen(t, b)
	p := mustOpen(t, b)
	p.Close()
	b.Close()
	if _, err := http.Get("http://" + p.proxy.Addr()); err == nil || len(p.i.ended) > 0 {
		t.Errorf("%d ended contexts are left (%v)", len(p.i.ended), err)
	}
}

// A run that finds no ready page takes the one that is being created already.
func TestRunTakesPageThatIsBeingCreated(t *testing.T) {
	b := own(t)
	b.config.Warm = -1
	i := mustOpen(t, b).i
	b.mu.Lock()
	i.creating++ // as before createReady
	b.mu.Unlock()
	got := make(chan newPageResult)
	go func() {
		p, err := b.newReadyPage(testContext(t), i)
		got <- newPageResult{p, err}
	}()
	soon(t, "the run waits", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(i.waiting) == 1
	})
	b.mu.Lock()
	creating := i.creating
	b.mu.Unlock()
	if creating != 1 {
		t.Fatalf("%d pages are being created, want 1", creating)
	}
	if err := b.createReady(i); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := r.p.disposeContext(); err != nil {
		t.Fatal(err)
	}
}

// A run does not wait for a page that is being prepared for runs of another kind.
func TestRunDoesNotWaitForPreparedPage(t *testing.T) {
	b := own(t)
	b.config.Warm = -1
	i := mustOpen(t, b).i
	b.mu.Lock()
	i.prepared.preparing = true // as before makePrepared
	b.mu.Unlock()
	p, err := b.newReadyPage(testContext(t), i)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.disposeContext(); err != nil {
		t.Fatal(err)
	}
}

// Pages that stay open without work, as those of lessons, do not keep ready pages from being
// created, and runs that follow one another while they are open are no burst.
func TestReadyPagesBesideOpenPages(t *testing.T) {
	b := own(t)
	b.config.Warm, b.config.MaxContexts = 1, 100
	var open []*page
	for range cap(b.starts) {
		open = append(open, mustOpen(t, b))
	}
	i := open[0].i
	for range 6 {
		mustOpen(t, b).Close()
		soon(t, "a page is ready", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(i.ready) > 0 && len(i.ended) == 0
		})
	}
	b.mu.Lock()
	want := b.readyContexts(i)
	b.mu.Unlock()
	if want != len(open)+1 {
		t.Errorf("%d contexts should be ready for at most %d runs at once", want, len(open)+1)
	}
	b.mu.Lock()
	b.config.MaxContexts = len(open)
	for _, p := range i.ready {
		b.discard(p)
	}
	i.ready = nil
	b.startIdleWork(i)
	b.mu.Unlock()
	soon(t, "a page is ready beside as many open ones as there should be contexts", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(i.ready) == b.config.Warm
	})
	b.mu.Lock()
	b.config.MaxContexts = 100
	b.mu.Unlock()
	for _, p := range open {
		p.Close()
	}
	waitIdle(t, b)
}

// A run that gets a page under rehearsal finds it blank.
func TestRunStopsRehearsal(t *testing.T) {
	b := own(t)
	b.config.Warm = -1
	p, err := newPage(b, mustOpen(t, b).i, b.config.Egress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.disposeContext() })
	if _, err := inHelper[any](testContext(t), p, `(() => { rote.frame = () => new Promise(() => {}) })`); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	rehearse := b.startRehearsal(p)
	b.mu.Unlock()
	done := make(chan bool)
	go func() { rehearse(); close(done) }()
	children := func() string { return fmt.Sprint(eval(t, p, `document.body.childElementCount`)) }
	soon(t, "the rehearsal has begun", func() bool { return children() == "1" })
	if err := b.stopRehearsal(testContext(t), p); err != nil {
		t.Fatal(err)
	}
	<-done
	if got := children(); got != "0" {
		t.Errorf("the page has %s elements", got)
	}
	if err := b.stopRehearsal(context.Background(), p); err != nil { // there is none
		t.Error(err)
	}
}
