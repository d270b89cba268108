package routine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

// reads counts what is read from a Store, and can fail to tell of changes.
type reads struct {
	routine.Store
	routines, tokens, looks atomic.Int64
	blind                   error
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
	r.looks.Add(1)
	if r.blind != nil {
		return routine.Changes{}, r.blind
	}
	return r.Store.Changes(ctx)
}

func TestWhatHasNotChangedIsReadOnce(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := routine.NewService(routine.Config{Store: store, Browser: &fakeBrowser{}})
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

// What is not found, or too long, is not kept; nor does a copy serve when the
// Store cannot tell whether it is still good.
func TestWhatIsNotKept(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := routine.NewService(routine.Config{Store: store, Browser: &fakeBrowser{}})
	long := create(t, s, ann, strings.Replace(private, `{"type":"return_html"}`, `{"type":"return_html","x-note":"`+strings.Repeat("x", 64<<10)+`"}`, 1))
	for range 2 {
		if _, err := s.Routine(t.Context(), ann, long.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Routine(t.Context(), ann, "Routine_x"); routine.CodeOf(err) != routine.CodeNotFound {
			t.Fatal(err)
		}
	}
	if n := store.routines.Load(); n != 4 {
		t.Errorf("%d reads", n)
	}
	r := create(t, s, ann, private)
	if _, err := s.Routine(t.Context(), ann, r.ID); err != nil {
		t.Fatal(err)
	}
	before, err := s.ToolsStamp(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, ann, private)
	if after, err := s.ToolsStamp(t.Context(), time.Time{}); err != nil || after == before {
		t.Error(before, after, err)
	}
	began, looks := time.Now(), store.looks.Load()
	if _, err := s.Authenticate(t.Context(), "guess"); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Fatal(err)
	}
	if _, err := s.ToolsStamp(t.Context(), began); err != nil || store.looks.Load() != looks+1 {
		t.Errorf("%d looks since one will do, %v", store.looks.Load()-looks, err)
	}
	if _, err := s.ToolsStamp(t.Context(), time.Now()); err != nil || store.looks.Load() != looks+2 {
		t.Errorf("%d looks, the last of which was too old, %v", store.looks.Load()-looks, err)
	}
	store.blind = errors.New("disk on fire")
	_, reading := s.Routine(t.Context(), ann, r.ID)
	_, looking := s.ToolsStamp(t.Context(), time.Time{})
	for _, err := range []error{reading, looking} {
		if routine.CodeOf(err) != routine.CodeStoreUnavailable {
			t.Error(err)
		}
	}
}

// A request that has had its token looked up needs no second look for the
// routine; one that began after a change sees it.
func TestOneLookForARequest(t *testing.T) {
	store := &reads{Store: routinetest.NewStore()}
	s := routine.NewService(routine.Config{Store: store, Browser: &fakeBrowser{}})
	defer s.Close(t.Context())
	secret, _, err := s.CreateToken(t.Context(), ann, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, s, ann, private)
	request := func(want int) {
		t.Helper()
		began, looks := time.Now(), store.looks.Load()
		p, err := s.Authenticate(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.RoutineSince(t.Context(), p, r.ID, began)
		if err != nil || got.Version != want || store.looks.Load() != looks+1 {
			t.Fatalf("%+v, %v, %d looks", got, err, store.looks.Load()-looks)
		}
	}
	request(1)
	for version := 2; version < 5; version++ { // as by another process
		next := *r
		next.Version = version
		if err := store.UpdateRoutine(t.Context(), &next, "bob"); err != nil {
			t.Fatal(err)
		}
		if version%2 == 0 { // nobody has looked since
			if got, err := s.RoutineSince(t.Context(), ann, r.ID, time.Now()); err != nil || got.Version != version {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		request(version)
	}
}

// asked is a Store that tells which routines of a list it would not have to
// decode.
type asked struct {
	routine.Store
	known map[string]bool // by id
}

func (a *asked) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	list, total, err := a.Store.Routines(ctx, f)
	a.known = map[string]bool{}
	for _, r := range list {
		d := f.Known(r.ID, r.Version)
		if a.known[r.ID] = d != nil; d != nil {
			r.Definition = *d
		}
	}
	return list, total, err
}

// Of a list of tools only what has changed since the last is decoded.
func TestToolsThatAreKnown(t *testing.T) {
	store := &asked{Store: routinetest.NewStore()}
	s := routine.NewService(routine.Config{Store: store, Browser: &fakeBrowser{}})
	one, two := create(t, s, ann, private), create(t, s, ann, private)
	tools := func(p routine.Principal) []*routine.Routine {
		t.Helper()
		list, err := s.Tools(t.Context(), p)
		if err != nil || len(list) != 2 && p.OrganizationID == ann.OrganizationID {
			t.Fatal(list, err)
		}
		return list
	}
	for _, r := range tools(ann) {
		r.Version, r.Name = 99, "spoilt" // it is the caller's own
	}
	if store.known[one.ID] || store.known[two.ID] {
		t.Error("known before the first list")
	}
	if _, _, err := s.PatchRoutine(t.Context(), ann, two.ID, []byte(`{"name": "changed"}`), nil); err != nil {
		t.Fatal(err)
	}
	other := ann
	other.OrganizationID = "other"
	tools(other) // takes nothing away from ann's
	for _, r := range tools(ann) {
		if want := map[string]string{one.ID: one.Name, two.ID: "changed"}[r.ID]; r.Name != want {
			t.Errorf("%s, want %s", r.Name, want)
		}
	}
	if !store.known[one.ID] || store.known[two.ID] {
		t.Errorf("known are %v", store.known)
	}
}
