package service_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// slowReads is a Store that takes time to read a definition and counts how many it
// reads at the same time, at most.
type slowReads struct {
	routine.Store
	mu              sync.Mutex
	now, most, read int
}

func (s *slowReads) note(n int) {
	s.mu.Lock()
	s.now += n
	s.read += n
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now -= n
}

func (s *slowReads) Routine(ctx context.Context, id string) (*routine.Routine, error) {
	r, err := s.Store.Routine(ctx, id)
	if err == nil {
		s.note(1)
	}
	return r, err
}

func (s *slowReads) Routines(ctx context.Context, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	rs, total, err := s.Store.Routines(ctx, f)
	definitions := 0
	for _, r := range rs {
		if len(r.Operations) > 0 {
			definitions++
		}
	}
	s.note(definitions)
	return rs, total, err
}

// A new routine is compared with those of its name, and a repeated call with the
// routine that it made, without more than one large definition being read at a
// time, however many calls there are.
func TestNamesakesAreReadOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowReads{Store: routinetest.NewStore()}
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
		defer s.Close(t.Context())
		large := func(letter string) []byte { // over half of what may be worked on at once
			note := `{"type":"return_html","x-note":"` + strings.Repeat(letter, routine.MaxDefinitionBytes/2) + `"}`
			return []byte(strings.Replace(private, `{"type":"return_html"}`, note, 1))
		}
		once := service.Idempotency{Key: "k", Body: []byte("k")}
		if _, _, err := s.CreateRoutine(t.Context(), ann, large("a"), once); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.CreateRoutine(t.Context(), ann, large("b"), service.Idempotency{}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			_, warnings, err := s.CreateRoutine(t.Context(), ann, large("a"), service.Idempotency{})
			if err != nil || len(warnings) != 1 || warnings[0].Code != "duplicate_routine" {
				t.Errorf("%v, %v", warnings, err)
			}
		})
		all.Go(func() {
			if _, _, err := s.CreateRoutine(t.Context(), ann, large("a"), once); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if store.most != 1 || store.read == 0 {
			t.Errorf("%d definitions were read, up to %d of them at the same time", store.read, store.most)
		}
	})
}

// A definition that is larger than the new one is another: it is not read.
func TestLargerNamesakesAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowReads{Store: routinetest.NewStore()}
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
		create(t, s, ann, strings.Replace(private, `{"type":"return_html"}`, `{"type":"return_html","x-note":"more"}`, 1))
		_, warnings, err := s.CreateRoutine(t.Context(), ann, []byte(private), service.Idempotency{})
		if err != nil || len(warnings) != 1 || warnings[0].Code != "duplicate_name" || store.read != 0 {
			t.Errorf("%v, %v, %d definitions were read", warnings, err, store.read)
		}
	})
}
