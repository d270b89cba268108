package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// sealedStore has states that it cannot open.
type sealedStore struct{ *routinetest.Store }

func (sealedStore) ProjectState(context.Context, string, string) ([]byte, error) {
	return nil, routine.ErrSealed
}

// keylessStore has a key file that it cannot use.
type keylessStore struct{ *routinetest.Store }

func (keylessStore) ProjectState(context.Context, string, string) ([]byte, error) {
	return nil, fmt.Errorf("%w: /etc/key can be used by other users", routine.ErrStateKey)
}

// lockedStore cannot encrypt states.
type lockedStore struct{ *routinetest.Store }

func (lockedStore) SaveProjectState(context.Context, string, *routine.BrowserState, time.Time) error {
	return fmt.Errorf("seal: %w: /etc/key is gone", routine.ErrStateKey)
}

func (s lockedStore) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if e.State != nil {
		return fmt.Errorf("seal: %w: /etc/key is gone", routine.ErrStateKey)
	}
	return s.Store.FinishExecution(ctx, e)
}

// lateStore saves no end of an execution until it is open.
type lateStore struct {
	*routinetest.Store
	open *atomic.Bool
}

func (s lateStore) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if !s.open.Load() {
		return errors.New("disk full")
	}
	return s.Store.FinishExecution(ctx, e)
}

const keeping = `{"name":"n","description":"d","incognito":false,"operations":[{"type":"navigate","url":"https://shop.test/"}]}`

func TestSavedState(t *testing.T) {
	store := routinetest.NewStore()
	ann := routine.Principal{UserID: "ann", OrganizationID: "o", ProjectID: "p"}
	ben := routine.Principal{UserID: "ben", OrganizationID: "o", ProjectID: "q", AllowedHosts: []string{"shop.test"}}
	run := func(s routine.Store, p routine.Principal, text string, page routinetest.Page) (routine.PageOptions, *routine.Execution, error) {
		t.Helper()
		b := &routinetest.Browser{Page: page}
		e, err := service.New(service.Config{Store: s, Browser: b}).RunOnce(t.Context(), p, parse(t, text), service.Call{})
		return b.LastOpening(), e, err
	}
	want := func(what string, got, want routine.PageOptions) {
		t.Helper()
		got.Turn = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	o, _, err := run(store, ann, keeping, routinetest.Page{State: []byte("of ann")})
	want("the first run starts from nothing", o, routine.PageOptions{KeepState: true})
	if err != nil {
		t.Fatal(err)
	}
	o, _, _ = run(store, ben, keeping, routinetest.Page{State: []byte("of ben")})
	want("another project sees nothing of it", o, routine.PageOptions{KeepState: true, AllowedHosts: []string{"shop.test"}})
	o, _, _ = run(store, ann, strings.Replace(keeping, "false", "true", 1), routinetest.Page{State: []byte("of nobody")})
	want("nor does an incognito run", o, routine.PageOptions{})
	failing := strings.Replace(keeping, `{"type":"navigate"`, `{"type":"return","session_storage_key":"none"},{"type":"navigate"`, 1)
	o, _, err = run(store, ann, failing, routinetest.Page{State: []byte("of a failure")})
	want("the next run starts from it", o, routine.PageOptions{KeepState: true, State: []byte("of ann")})
	if err == nil {
		t.Fatal("the run did not fail")
	}
	o, _, _ = run(store, ann, keeping, routinetest.Page{})
	want("a failed run saves nothing", o, routine.PageOptions{KeepState: true, State: []byte("of ann")})

	_, _, err = run(sealedStore{store}, ann, keeping, routinetest.Page{})
	if routine.CodeOf(err) != routine.CodeStoreUnavailable || !strings.Contains(err.Error(), "--state-key") {
		t.Fatal(err)
	}
	_, e, err := run(lockedStore{store}, ann, keeping, routinetest.Page{State: []byte("unsealed")})
	wantStateWarning(t, e, err)
}

func wantStateWarning(t *testing.T, e *routine.Execution, err error) {
	t.Helper()
	warnings := strings.Join(e.Result.Warnings, "")
	if err != nil || !strings.Contains(warnings, "was not saved for the next run") || strings.Contains(warnings, "/etc") {
		t.Fatal(e.Result.Warnings, err)
	}
}

// executeKeeping stores a routine that keeps the browser state, and runs it.
func executeKeeping(t *testing.T, s *service.Service) *routine.Execution {
	t.Helper()
	ann := routine.Principal{UserID: "ann", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes}
	r, _, err := s.CreateRoutine(t.Context(), ann, []byte(keeping), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A run whose state cannot be encrypted ends as completed, without a state.
func TestStateThatCannotBeEncrypted(t *testing.T) {
	store := routinetest.NewStore()
	s := service.New(service.Config{Store: lockedStore{store}, Browser: &routinetest.Browser{Page: routinetest.Page{State: []byte("unsealed")}}})
	defer s.Close(t.Context())
	e := executeKeeping(t, s)
	wantStateWarning(t, e, nil)
	stored, err := store.Execution(t.Context(), e.ID)
	if err != nil || stored.Status != routine.ExecutionCompleted {
		t.Fatal(stored, err)
	}
	wantStateWarning(t, stored, nil)
}

// A run whose end is not saved leaves no state, until the end is saved.
func TestStateIsSavedWithTheEnd(t *testing.T) {
	store := lateStore{routinetest.NewStore(), new(atomic.Bool)}
	want := func(want string) {
		t.Helper()
		if state, err := store.ProjectState(t.Context(), "o", "p"); err != nil || string(state) != want {
			t.Fatalf("state %q, want %q: %v", state, want, err)
		}
	}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{State: []byte("of the run")}}})
	executeKeeping(t, s)
	want("")
	store.open.Store(true)
	ended, end := context.WithCancel(t.Context())
	end()
	s.Maintain(ended) // saves what is left at its end
	want("of the run")
}

// Why a key file cannot be used is for the service's owner, and not for callers.
func TestUnusableKeyFile(t *testing.T) {
	store, ann := routinetest.NewStore(), routine.Principal{UserID: "ann", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes}
	var log bytes.Buffer
	s := service.New(service.Config{Store: keylessStore{store}, Browser: &routinetest.Browser{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r, _, err := s.CreateRoutine(t.Context(), ann, []byte(keeping), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Execute(t.Context(), ann, r.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeStoreUnavailable || !strings.Contains(err.Error(), "its key file, and its log says why") || strings.Contains(err.Error(), "/etc") {
		t.Errorf("told %v", err)
	}
	s.Close(t.Context())
	if !strings.Contains(log.String(), "/etc/key can be used by other users") {
		t.Errorf("logged %s", log.String())
	}
}
