package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

var (
	ann     = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes}
	bob     = routine.Principal{UserID: "bob", OrganizationID: "other", ProjectID: "p", Scopes: routine.DefaultScopes}
	nobody  = routine.Principal{}
	private = definitionOf(`{"type":"return_html"}`, "")
	nap     = definitionOf(`{"type":"sleep","timeout_seconds":10},{"type":"return_html"}`, "")
)

func create(t *testing.T, s *service.Service, p routine.Principal, text string) *routine.Routine {
	t.Helper()
	r, _, err := s.CreateRoutine(t.Context(), p, []byte(text), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExecutionIsInTheLedger(t *testing.T) {
	store := routinetest.NewStore()
	b := &routinetest.Browser{Page: routinetest.Page{HTML: "<b>&</b>"}}
	s := service.New(service.Config{Store: store, Browser: b})
	r := create(t, s, ann, definitionOf(`{"type":"input_text","selector":"#q","text":"{{a}}{{b}}"},{"type":"return_html"}`,
		`{"name":"a"},{"name":"b","x-secret":true}`))
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"a":"x","b":"s3cret"}`)})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Execution(t.Context(), e.ID)
	if err != nil || kept.Status != routine.ExecutionCompleted || kept.CompletedAt == nil || kept.StartedAt == nil || kept.RoutineVersion != 1 ||
		string(kept.Parameters) != `{"a":"x","b":"***"}` || kept.CreatedBy != "ann" || string(kept.Result.Data) != `"<b>&</b>"` {
		t.Fatalf("%+v %s %v", kept, kept.Parameters, err)
	}
	_, err = s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"a":1,"c":2}`)})
	if e := routine.AsError(err); e.Code != routine.CodeInvalid || len(e.Problems) != 3 {
		t.Fatalf("%+v", e)
	}
	if b.Opened() != 1 {
		t.Fatal("bad values reached the browser")
	}
	for _, bad := range []time.Duration{time.Millisecond, 301 * time.Second} {
		if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{Timeout: bad}); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("timeout %v: %v", bad, err)
		}
	}
}

// The row is there before the browser is touched.
func TestRowComesBeforeTheBrowser(t *testing.T) {
	store := &failing{Store: routinetest.NewStore(), create: errors.New("disk full")}
	b := &routinetest.Browser{}
	s := service.New(service.Config{Store: store, Browser: b})
	r := create(t, s, ann, private)
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if e != nil || routine.CodeOf(err) != routine.CodeStoreUnavailable || b.Opened() != 0 || strings.Contains(routine.AsError(err).Message, "disk") {
		t.Fatal(e, err, b.Opened())
	}
}

// An execution's times are the same in the answer and when it is read again.
func TestTimesAreAsTheyAreKept(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{e.CreatedAt, *e.StartedAt, *e.CompletedAt} {
		if at != time.UnixMicro(at.UnixMicro()).UTC() {
			t.Errorf("%v is not in whole microseconds of UTC", at)
		}
	}
}

// A database that is busy for too long is no deadline of the caller's.
func TestBusyDatabaseIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := service.New(service.Config{Store: busyStore{routinetest.NewStore()}, Browser: &routinetest.Browser{}})
		r := create(t, s, ann, private)
		e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
		if e != nil || routine.CodeOf(err) != routine.CodeStoreUnavailable || routine.AsError(err).RetryAfter == 0 {
			t.Error(e, err)
		}
		_, err = s.Execute(t.Context(), ann, r.ID, service.Call{Timeout: time.Second})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), "timeout_seconds of 1") {
			t.Error(err)
		}
	})
}

// busyStore makes executions wait for as long as they can.
type busyStore struct{ *routinetest.Store }

func (busyStore) CreateExecution(ctx context.Context, _ *routine.Execution) error {
	<-ctx.Done()
	return ctx.Err()
}

// failing is a Store whose writes of executions fail.
type failing struct {
	routine.Store
	create error

	mu     sync.Mutex
	finish error
}

// mend lets executions be finished.
func (f *failing) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finish = nil
}

func (f *failing) CreateExecution(ctx context.Context, e *routine.Execution) error {
	if f.create != nil {
		return f.create
	}
	return f.Store.CreateExecution(ctx, e)
}

func (f *failing) FinishExecution(ctx context.Context, e *routine.Execution) error {
	f.mu.Lock()
	err := f.finish
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.Store.FinishExecution(ctx, e)
}

func TestPanicOfTheBrowserEndsTheExecution(t *testing.T) {
	store := routinetest.NewStore()
	b := &routinetest.Browser{OnOpen: func(context.Context, *routinetest.Page) error { panic("boom") }}
	s := service.New(service.Config{Store: store, Browser: b})
	r := create(t, s, ann, private)
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeInternal {
		t.Fatal(err)
	}
	if kept, err := store.Execution(t.Context(), e.ID); err != nil || kept.Status != routine.ExecutionFailed {
		t.Fatal(kept, err)
	}
}

func TestRunThatFailedAndWasNotSavedKeepsItsCode(t *testing.T) {
	store := &failing{Store: routinetest.NewStore(), finish: errors.New("disk full")}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{OpenError: routine.Errorf(routine.CodeBrowserUnavailable, "no browser")}})
	r := create(t, s, ann, private)
	if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); routine.CodeOf(err) != routine.CodeBrowserUnavailable {
		t.Fatal(err)
	}
}

func TestReady(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close(t.Context())
	if err := s.Ready(t.Context()); routine.CodeOf(err) != routine.CodeShuttingDown {
		t.Fatal(err)
	}
}

// readyBrowser is a Browser that knows whether it can be started.
type readyBrowser struct {
	routinetest.Browser
	why error
}

func (b *readyBrowser) Ready(context.Context) error { return b.why }

// The service is not ready while no browser can be started, though nothing has
// run, and does not tell everybody why.
func TestReadyAsksTheBrowser(t *testing.T) {
	b := &readyBrowser{}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.why = &routine.Error{Code: routine.CodeBrowserUnavailable, Message: "start /opt/chromium: exit 1", RetryAfter: 3 * time.Second}
	err := s.Ready(t.Context())
	if e := routine.AsError(err); e.Code != routine.CodeBrowserUnavailable || e.RetryAfter != 3*time.Second || strings.Contains(e.Message, "/opt") || !errors.Is(err, b.why) {
		t.Errorf("%+v", err)
	}
}

// If a run times out while its browser starts, the error says so.
func TestTimeoutWhileTheBrowserStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &routinetest.Browser{OnOpen: func(ctx context.Context, _ *routinetest.Page) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
		_, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{Timeout: 5 * time.Second})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), "timeout_seconds of 5, waiting for the browser to open a page") {
			t.Error(err)
		}
	})
}

// The service is not ready after a browser has failed to start, until some time
// has passed.
func TestReadyKnowsTheBrowser(t *testing.T) {
	b := &routinetest.Browser{}
	now := routinetest.Time
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Now: func() time.Time { return now }})
	r := create(t, s, ann, private)
	run := func(err error, want routine.Code) {
		t.Helper()
		b.OpenError = err
		_, _ = s.Execute(t.Context(), ann, r.ID, service.Call{})
		if err := s.Ready(t.Context()); routine.CodeOf(err) != want {
			t.Errorf("ready: %v, want %q", err, want)
		}
	}
	none := routine.Errorf(routine.CodeBrowserUnavailable, "no browser")
	run(none, "")
	run(none, "")
	run(routine.Errorf(routine.CodeNavigationFailed, "x"), "") // says nothing about the browser
	run(none, routine.CodeBrowserUnavailable)
	var e *routine.Error
	if err := s.Ready(t.Context()); !errors.As(err, &e) || e.RetryAfter <= 0 || !errors.Is(err, none) {
		t.Errorf("%+v", err)
	}
	now = now.Add(time.Minute)
	run(errors.New("x"), "")
	run(none, routine.CodeBrowserUnavailable)
	run(nil, "")
	run(none, "")
}

func TestBrowserThatDoesNotStart(t *testing.T) {
	b := &routinetest.Browser{OpenError: routine.Errorf(routine.CodeBrowserUnavailable, "no browser")}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	r := create(t, s, ann, private)
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeBrowserUnavailable || e.Status != routine.ExecutionFailed || e.ErrorCode != routine.CodeBrowserUnavailable {
		t.Fatal(e, err)
	}
}

func TestSlotsAndQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &routinetest.Browser{}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Concurrency: 2, Queue: 6})
		r := create(t, s, ann, nap)
		var all sync.WaitGroup
		ended := make(chan time.Duration, 5)
		start := time.Now()
		for range 5 {
			all.Go(func() {
				if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil {
					t.Error(err)
				}
				ended <- time.Since(start)
			})
		}
		synctest.Wait()
		e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
		if ours := routine.AsError(err); e != nil || ours.Code != routine.CodeBusy || ours.RetryAfter == 0 {
			t.Fatal("the sixth must be told to come back: ", e, err)
		}
		all.Wait()
		close(ended)
		var times []string
		for d := range ended {
			times = append(times, fmt.Sprint(d))
		}
		if got := strings.Join(times, " "); got != "10s 10s 20s 20s 30s" || b.MostOpen() != 2 {
			t.Fatalf("%s, %d at once", got, b.MostOpen())
		}
		if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil {
			t.Fatal("slots are not free again: ", err)
		}
	})
}

func TestWaitingForASlotCountsAgainstTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Concurrency: 1, Queue: 1})
		r := create(t, s, ann, nap)
		first := make(chan error, 1)
		go func() { _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); first <- err }()
		synctest.Wait()
		e, err := s.Execute(t.Context(), ann, r.ID, service.Call{Timeout: 4 * time.Second})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), "waiting for a free browser") || e.Status != routine.ExecutionFailed || e.StartedAt != nil {
			t.Fatal(e, err)
		}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
	})
}

func TestClose(t *testing.T) {
	for _, grace := range []time.Duration{3 * time.Second, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
			r := create(t, s, ann, nap)
			ended := make(chan error, 1)
			go func() { _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); ended <- err }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), grace)
			defer cancel()
			s.Close(ctx)
			want := routine.Code("") // let to finish
			if grace < 10*time.Second {
				want = routine.CodeInterrupted
			}
			if err := <-ended; routine.CodeOf(err) != want {
				t.Errorf("grace %v: %v, want %q", grace, err, want)
			}
			if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); routine.CodeOf(err) != routine.CodeShuttingDown {
				t.Error(err)
			}
		})
	}
}

func TestToolNames(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	// The order matters: the last row has the name of the first.
	for _, r := range []struct{ promise, name, want string }{
		{"words become lower case", "Search the Shop!", "search_the_shop"},
		{"accents are removed", "Café Über", "cafe_uber"},
		{"letters without a decomposition are replaced", "Größe", "grosse"},
		{"a name without letters gets one", "日本", "routine_?????"},
		{"a digit cannot come first", "2 fast", "routine_2_fast"},
		{"the name of a built-in tool gets a suffix", "search_routines", "search_routines_?????"},
		{"a long name is truncated at a word", strings.Repeat("long ", 20), "long_long_long_long_long_long_long_long"},
		{"a long word is truncated", strings.Repeat("x", 60), strings.Repeat("x", 40)},
		{"a name that is taken gets a suffix", "Search the shop", "search_the_shop_?????"},
	} {
		text, _ := json.Marshal(r.name)
		got := create(t, s, ann, strings.Replace(private, `"n"`, string(text), 1)).ToolName
		if len(got) > 40 || !matches(r.want, got) {
			t.Errorf("%s: %s gives %s, want %s", r.promise, r.name, got, r.want)
		}
	}
}

// matches compares with ? for any character.
func matches(pattern, s string) bool {
	if len(pattern) != len(s) {
		return false
	}
	for i := range s {
		if pattern[i] != '?' && pattern[i] != s[i] {
			return false
		}
	}
	return true
}
