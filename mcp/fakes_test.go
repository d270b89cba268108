package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

// fakeBrowser is a browser that shows one scripted web site. A navigation to
// https://hang.example/ is sent to hanging and lasts until its run ends.
type fakeBrowser struct {
	html  string
	fetch func(routine.Fetch) (routine.Response, error)
	click func(routine.Click) error
	wait  error // of waiting for a URL
	warn  []string
	open  error
	// evidence is of each failure.
	evidence *routine.Evidence

	hanging chan string // a URL for each navigation that hangs
	opened  atomic.Int64
	closed  atomic.Int64

	mu      sync.Mutex
	visited []string
}

func newFakeBrowser() *fakeBrowser { return &fakeBrowser{hanging: make(chan string, 100)} }

func (s *fakeBrowser) Open(context.Context, routine.Opening) (routine.Page, error) {
	if s.open != nil {
		return nil, s.open
	}
	s.opened.Add(1)
	return &fakePage{site: s}, nil
}

func (s *fakeBrowser) visits() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.visited, " ")
}

type fakePage struct {
	routine.Page // panics where a test needs more than is scripted
	site         *fakeBrowser
}

func (p *fakePage) Navigate(ctx context.Context, url string) (routine.Navigation, error) {
	p.site.mu.Lock()
	p.site.visited = append(p.site.visited, url)
	p.site.mu.Unlock()
	if strings.HasPrefix(url, "https://hang.example/") {
		p.site.hanging <- url
		<-ctx.Done()
		return routine.Navigation{}, context.Cause(ctx)
	}
	return routine.Navigation{URL: url, Status: 200}, nil
}

func (p *fakePage) Click(_ context.Context, c routine.Click) (routine.Found, error) {
	return routine.Found{Matches: 1}, p.site.click(c)
}

func (p *fakePage) Fetch(_ context.Context, f routine.Fetch, _ int64) (routine.Response, error) {
	return p.site.fetch(f)
}

func (p *fakePage) WaitURL(context.Context, func(string) (bool, error)) (string, error) {
	return "https://shop.example/", p.site.wait
}

func (p *fakePage) Press(context.Context, string) error { return nil }

func (p *fakePage) OuterHTML(context.Context, string) (string, int, error) {
	return p.site.html, 1, nil
}
func (p *fakePage) URL(context.Context) (string, error)                   { return "https://shop.example/", nil }
func (p *fakePage) Mirror(context.Context, string, string) error          { return nil }
func (p *fakePage) Warnings() []string                                    { return p.site.warn }
func (p *fakePage) State(context.Context) ([]byte, error)                 { return nil, nil }
func (*fakePage) Files(context.Context, bool) ([]routine.File, error)     { return nil, nil }
func (p *fakePage) Denials() []routine.Denial                             { return nil }
func (p *fakePage) Close()                                                { p.site.closed.Add(1) }
func (p *fakePage) SentCookies(context.Context) ([]routine.Cookie, error) { return nil, nil }

func (p *fakePage) Evidence(context.Context, routine.Inspection) *routine.Evidence {
	return p.site.evidence
}

// answers gives a fetch that is answered with body.
func answers(contentType, body string) func(routine.Fetch) (routine.Response, error) {
	return func(f routine.Fetch) (routine.Response, error) {
		return routine.Response{URL: f.URL, Status: 200, Headers: map[string]string{"content-type": contentType}, Body: []byte(body)}, nil
	}
}

// fakeStore is a Store whose routines can be changed without the service, as another
// process would, and which can fail.
type fakeStore struct {
	*routinetest.Store
	mu     sync.Mutex
	edits  map[string]func(*routine.Routine) // by name
	broken error
	full   error // of creating an execution
	looks  int
	// changes count what was done behind the service's back.
	changes int64
	slow    chan struct{} // looks wait until it is closed
	begun   []string      // ids of executions
}

func newFakeStore() *fakeStore {
	return &fakeStore{Store: routinetest.NewStore(), edits: map[string]func(*routine.Routine){}}
}

func (s *fakeStore) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	s.mu.Lock()
	slow := s.slow
	s.looks++
	s.mu.Unlock()
	if slow != nil {
		<-slow
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, 0, s.broken
	}
	without := f.WithoutDefinitions
	f.WithoutDefinitions = false // the edits need the names
	all, _, err := s.Store.Routines(ctx, f)
	list := []*routine.Routine{}
	for _, r := range all {
		if s.edit(r); r.Published() || !f.Published {
			list = append(list, r)
		}
		if without {
			r.Definition = routine.Definition{}
		}
	}
	return list, len(list), err
}

// edit does to a routine what was done behind the service's back.
func (s *fakeStore) edit(r *routine.Routine) {
	if edit := s.edits[r.Name]; edit != nil {
		edit(r)
		r.Version += 1000
	}
}

func (s *fakeStore) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.Store.Routine(ctx, id)
	if err == nil {
		s.edit(r)
	}
	return r, err
}

func (s *fakeStore) Changes(ctx context.Context) (routine.Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return routine.Changes{}, s.broken
	}
	changes, err := s.Store.Changes(ctx)
	changes.Routines += 1000 * s.changes
	return changes, err
}

func (s *fakeStore) CreateExecution(ctx context.Context, e *routine.Execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full != nil {
		return s.full
	}
	s.begun = append(s.begun, e.ID)
	return s.Store.CreateExecution(ctx, e)
}

func (s *fakeStore) FinishExecution(ctx context.Context, e *routine.Execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	return s.Store.FinishExecution(ctx, e)
}

func (s *fakeStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	change()
}

var ann = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "prices", Scopes: routine.UsualScopes}

// testServer is the server under test with the service and the fakes that it uses.
type testServer struct {
	*Server
	service *routine.Service
	store   *fakeStore
	site    *fakeBrowser
	log     *syncBuffer
}

func newTestServer(t *testing.T, definitions ...string) *testServer {
	t.Helper()
	h := &testServer{store: newFakeStore(), site: newFakeBrowser(), log: &syncBuffer{}}
	h.service = routine.NewService(routine.Config{Store: h.store, Browser: h.site, Concurrency: 4, Queue: 100})
	h.Server = newServer(t, Config{Service: h.service, Version: "1.2.3", Log: h.log.logger(), RefreshInterval: -1})
	for _, d := range definitions {
		create(t, h.service, ann, d)
	}
	return h
}

func newServer(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// annOrganization is ann's part of the server.
func annOrganization(t testing.TB, s *Server) *organization {
	t.Helper()
	o, err := s.organization(ann)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func create(t *testing.T, s *routine.Service, p routine.Principal, definition string) *routine.Routine {
	t.Helper()
	r, _, err := s.CreateRoutine(t.Context(), p, []byte(definition))
	if err != nil {
		t.Fatalf("create %s: %v", definition, err)
	}
	return r
}

// executions are those of the ledger that have the status.
func (h *testServer) executions(t *testing.T, status routine.ExecutionStatus) (list []*routine.Execution) {
	t.Helper()
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	for _, id := range h.store.begun {
		e, err := h.store.Execution(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Status == status {
			list = append(list, e)
		}
	}
	return list
}

// named gives a small definition.
func named(name string) string {
	return fmt.Sprintf(`{"name": %q, "description": "Reads the page.", "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "return_html"}]}`, name)
}

const hang = `{"name": "hang", "description": "Never ends.", "operations": [{"type": "navigate", "url": "https://hang.example/"}]}`

// waitUntil waits for a condition that another goroutine will bring about.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}
