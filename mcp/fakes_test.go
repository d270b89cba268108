package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

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

var ann = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "prices", Scopes: routine.DefaultScopes}

// testServer is the server under test with the service and the fakes that it uses.
type testServer struct {
	*Server
	service *service.Service
	store   *fakeStore
	browser *routinetest.Browser
	log     *syncBuffer
	hanging chan string // the URL of each navigation that hangs
}

// visits are the URLs that the pages have navigated to.
func (h *testServer) visits() string {
	var urls []string
	for _, action := range *h.browser.Page.Actions {
		if url, ok := strings.CutPrefix(action, "navigate "); ok {
			urls = append(urls, url)
		}
	}
	return strings.Join(urls, " ")
}

// navigate arrives, except at https://hang.example/, where it hangs until its run
// ends.
func (h *testServer) navigate(ctx context.Context, url string) (routine.Navigation, error) {
	if !strings.HasPrefix(url, "https://hang.example/") {
		return routine.Navigation{URL: url, Status: 200}, nil
	}
	h.hanging <- url
	<-ctx.Done()
	return routine.Navigation{}, context.Cause(ctx)
}

func newTestServer(t *testing.T, definitions ...string) *testServer {
	t.Helper()
	h := &testServer{store: newFakeStore(), log: &syncBuffer{}, hanging: make(chan string, 100)}
	h.browser = &routinetest.Browser{Page: routinetest.Page{Navigate: h.navigate, Actions: new([]string)}}
	h.service = service.New(service.Config{Store: h.store, Browser: h.browser, Concurrency: 4, Queue: 100})
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

func create(t *testing.T, s *service.Service, p routine.Principal, definition string) *routine.Routine {
	t.Helper()
	r, _, err := s.CreateRoutine(t.Context(), p, []byte(definition), service.Idempotency{})
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

// named returns a small definition.
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
