package service_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// reads counts what is read from a Store, and can fail to tell of changes.
type reads struct {
	routine.Store
	routines, tokens atomic.Int64
	blind            error
}

func (r *reads) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	r.routines.Add(1)
	return r.Store.Routine(ctx, id)
}

func (r *reads) TokenByHash(ctx context.Context, hash [32]byte) (*routine.Token, error) {
	r.tokens.Add(1)
	return r.Store.TokenByHash(ctx, hash)
}

func (r *reads) Changes(ctx context.Context) (routine.Changes, error) {
	if r.blind != nil {
		return routine.Changes{}, r.blind
	}
	return r.Store.Changes(ctx)
}

func TestWhatHasNotChangedIsReadOnce(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	defer s.Close(t.Context())
	secret, token, err := s.CreateToken(t.Context(), ann, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, s, ann, private)
	look := func(want int) {
		t.Helper()
		for range 3 {
			got, err := s.Routine(t.Context(), ann, r.ID)
			if err != nil || got.Version != want {
				t.Fatal(got, err)
			}
			got.Version, got.Status = 99, "spoilt" // it is the caller's own
			if _, err := s.Authenticate(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		}
	}
	look(1)
	if store.routines.Load() != 1 || store.tokens.Load() != 1 {
		t.Errorf("%d routines and %d tokens were read", store.routines.Load(), store.tokens.Load())
	}
	// As by another process.
	next := *r
	next.Version, next.Name = 2, "m"
	if err := store.UpdateRoutine(t.Context(), &next, "bob"); err != nil {
		t.Fatal(err)
	}
	look(2)
	if store.routines.Load() != 2 || store.tokens.Load() != 1 {
		t.Errorf("after a change to the routine %d routines and %d tokens were read", store.routines.Load(), store.tokens.Load())
	}
	if err := store.RevokeToken(t.Context(), token.ID, routinetest.Time); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Error(err)
	}
	if store.routines.Load() != 2 || store.tokens.Load() != 2 {
		t.Errorf("after the token was revoked %d routines and %d tokens were read", store.routines.Load(), store.tokens.Load())
	}
}

// Routines that do not exist or are too long are not cached. A cached copy is
// not used if the Store cannot say whether it is current.
func TestMissingAndLongRoutinesAreNotCached(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	long := create(t, s, ann, strings.Replace(private, `{"type":"return_html"}`, `{"type":"return_html","x-note":"`+strings.Repeat("x", 64<<10)+`"}`, 1))
	for range 2 {
		if _, err := s.Routine(t.Context(), ann, long.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Routine(t.Context(), ann, "Routine_x"); routine.CodeOf(err) != routine.CodeNotFound {
			t.Fatal(err)
		}
	}
	if n := store.routines.Load(); n != 2 { // that there is no Routine_x, its size has told
		t.Errorf("%d reads", n)
	}
	r := create(t, s, ann, private)
	if _, err := s.Routine(t.Context(), ann, r.ID); err != nil {
		t.Fatal(err)
	}
	before, err := s.ToolsStamp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, ann, private)
	if after, err := s.ToolsStamp(t.Context()); err != nil || after == before {
		t.Error(before, after, err)
	}
	store.blind = errors.New("disk on fire")
	_, reading := s.Routine(t.Context(), ann, r.ID)
	_, looking := s.ToolsStamp(t.Context())
	for _, err := range []error{reading, looking} {
		if routine.CodeOf(err) != routine.CodeStoreUnavailable {
			t.Error(err)
		}
	}
}

// A request sees what another process has changed before it began.
func TestRequestSeesEarlierChanges(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	defer s.Close(t.Context())
	r := create(t, s, ann, private)
	for version := 1; version < 5; version++ {
		if version > 1 { // as by another process
			next := *r
			next.Version = version
			if err := store.UpdateRoutine(t.Context(), &next, "bob"); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got, err := s.Routine(t.Context(), ann, r.ID); err != nil || got.Version != version {
				t.Fatalf("%+v, %v, want version %d", got, err, version)
			}
		}
		if n := store.routines.Load(); n != int64(version) {
			t.Errorf("version %d: %d reads", version, n)
		}
	}
}

// The list of tools reads no definitions. Tool returns them one by one to
// callers who may list tools.
func TestTools(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
	one := create(t, s, ann, private)
	list, err := s.Tools(t.Context(), ann)
	if err != nil || len(list) != 1 || list[0].ID != one.ID || list[0].Version != 1 || list[0].Name != "" || store.routines.Load() != 0 {
		t.Fatalf("%+v %v", list, err)
	}
	runner := ann
	runner.Scopes = routine.ScopeExecutionsRun
	if r, err := s.Tool(t.Context(), runner, one.ID); err != nil || r.Name != one.Name || len(r.Operations) != len(one.Operations) {
		t.Errorf("%+v %v", r, err)
	}
	other := ann
	other.OrganizationID = "other"
	if _, err := s.Tool(t.Context(), other, one.ID); routine.CodeOf(err) != routine.CodeForbidden {
		t.Error(err)
	}
}

// A caller without an organization has no tools: the public routines of others
// are not its own.
func TestToolsBelongToAnOrganization(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	create(t, s, ann, strings.Replace(private, "{", `{"is_public": true,`, 1))
	p := ann
	p.OrganizationID = ""
	if list, err := s.Tools(t.Context(), p); routine.CodeOf(err) != routine.CodeForbidden {
		t.Errorf("%d tools, %v", len(list), err)
	}
}
