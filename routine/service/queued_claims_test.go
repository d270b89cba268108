package service_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// A clock that is set back does not keep a queue full that is empty.
func TestQueueInTheStoreAfterClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		s := newReplica(t, routinetest.NewStore(), 1, limitedTo(2), func(c *service.Config) {
			c.Now = func() time.Time {
				if back.Load() {
					return time.Now().Add(-3 * time.Hour).UTC()
				}
				return time.Now().UTC()
			}
		})
		id := create(t, s.Service, ann, private).ID
		s.ended(t, ann, s.start(t, ann, id, service.Call{}).ID, 5*time.Second)
		back.Store(true)
		for range 4 {
			time.Sleep(2 * time.Second)
			s.ended(t, ann, s.start(t, ann, id, service.Call{}).ID, 5*time.Second)
		}
	})
}

// cancellingStore has each execution cancelled as soon as it is claimed, and waits until the
// process has heard of that.
type cancellingStore struct {
	*routinetest.Store
}

func (s cancellingStore) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (*routine.Execution, []byte, error) {
	e, call, err := s.Store.ClaimExecution(ctx, id, at, limit)
	if err == nil {
		err = s.RequestCancel(ctx, id, at)
		time.Sleep(time.Second)
	}
	return e, call, err
}

// A request to cancel that comes between the claim and the start of a run is not lost.
func TestQueuedRunIsCancelledWhileItIsClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, cancellingStore{routinetest.NewStore()}, 1)
		e := s.start(t, ann, create(t, s.Service, ann, nap).ID, service.Call{})
		if e = s.ended(t, ann, e.ID, time.Minute); e.ErrorCode != routine.CodeCancelled || s.browser.Opened() != 0 {
			t.Errorf("%+v, %d runs", e, s.browser.Opened())
		}
	})
}

// A run that waits does not start with the rights of a token that was revoked or has expired
// meanwhile, nor that of a routine that was archived.
func TestQueuedRunNeedsItsRightsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := routinetest.NewStore()
		front := newReplica(t, store, 0)
		start := func(validFor time.Duration) (*routine.Token, *routine.Execution) {
			_, token, err := front.CreateToken(t.Context(), ann, validFor)
			wantNoError(t, err)
			p := ann
			p.TokenID = token.ID
			return token, front.start(t, p, create(t, front.Service, ann, private).ID, service.Call{})
		}
		revoked, ofRevoked := start(0)
		wantNoError(t, front.RevokeToken(t.Context(), revoked.ID))
		_, ofExpired := start(time.Minute)
		_, ofArchived := start(0)
		_, err := front.ArchiveRoutine(t.Context(), ann, ofArchived.RoutineID, nil)
		wantNoError(t, err)
		_, valid := start(time.Hour)
		time.Sleep(2 * time.Minute)
		worker := newReplica(t, store, 2)
		for id, want := range map[string]routine.Code{ofRevoked.ID: routine.CodeUnauthenticated, ofExpired.ID: routine.CodeUnauthenticated,
			ofArchived.ID: routine.CodeConflict, valid.ID: ""} {
			if e := front.ended(t, ann, id, time.Minute); e.ErrorCode != want {
				t.Errorf("%q, want %q: %+v", e.ErrorCode, want, e)
			}
		}
		if worker.browser.Opened() != 1 {
			t.Errorf("%d runs", worker.browser.Opened())
		}
	})
}

// unreadableStore does not answer when a version is read for the first few times.
type unreadableStore struct {
	*routinetest.Store
	failures atomic.Int32
}

func (s *unreadableStore) Version(ctx context.Context, id string, number int) (*routine.Version, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, errors.New("the connection was reset")
	}
	return s.Store.Version(ctx, id, number)
}

// A run that was claimed does not fail when the store does not answer for a moment.
func TestQueuedRunOutlivesOutageOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unreadableStore{Store: routinetest.NewStore()}
		s := newReplica(t, store, 1)
		r := create(t, s.Service, ann, private)
		store.failures.Store(3)
		e := s.ended(t, ann, s.start(t, ann, r.ID, service.Call{}).ID, time.Minute)
		if e.Status != routine.ExecutionCompleted || store.failures.Load() >= 0 {
			t.Errorf("%d failures left, %+v", store.failures.Load(), e)
		}
	})
}

// stoppingStore has the process stop between the claim of an execution and its start. While
// the process stops, it does not answer for the first few versions.
type stoppingStore struct {
	unreadableStore
	stop func()
}

func (s *stoppingStore) ClaimExecution(ctx context.Context, id string, at time.Time, limit time.Duration) (*routine.Execution, []byte, error) {
	e, call, err := s.Store.ClaimExecution(ctx, id, at, limit)
	go s.stop()
	time.Sleep(time.Millisecond)
	return e, call, err
}

// A process that stops between the claim of a queued run and its start gives it back to the
// queue, whether or not it could read its call. Another process runs it, once.
func TestQueuedRunOutlivesTheStopOfTheProcessThatClaimedIt(t *testing.T) {
	for name, failures := range map[string]int32{"before it starts": 0, "before its call is read": 99} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := routinetest.NewStore()
				stopping := &stoppingStore{unreadableStore: unreadableStore{Store: memory}}
				counter := &jobCounter{watcher: watcher{counts: map[string]int{}}}
				front, first := newReplica(t, memory, 0), newReplica(t, stopping, 1, func(c *service.Config) { c.Observer = counter })
				stopping.stop = first.stop
				r := create(t, front.Service, ann, private)
				stopping.failures.Store(failures)
				e := front.start(t, ann, r.ID, service.Call{})
				time.Sleep(30 * time.Second)
				kept, err := front.Execution(t.Context(), ann, e.ID)
				wantNoError(t, err)
				if kept.Status != routine.ExecutionPending || kept.StartedAt != nil {
					t.Errorf("after the stop: %+v", kept)
				}
				counter.holds(t, map[string]int{"run retried": 1})
				second := newReplica(t, memory, 1)
				if e = front.ended(t, ann, e.ID, time.Minute); e.Status != routine.ExecutionCompleted {
					t.Errorf("%+v", e)
				}
				if first.browser.Opened() != 0 || second.browser.Opened() != 1 {
					t.Errorf("%d and %d runs", first.browser.Opened(), second.browser.Opened())
				}
			})
		})
	}
}

// unlistedTokens cannot list tokens.
type unlistedTokens struct{ *routinetest.Store }

func (unlistedTokens) Tokens(context.Context) ([]*routine.Token, error) {
	return nil, errors.New("too many tokens")
}

// Whether the token of a queued or scheduled run is still valid does not take a list of all
// tokens.
func TestRunsReadOnlyTheirToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReplica(t, unlistedTokens{routinetest.NewStore()}, 1, func(c *service.Config) { c.Schedules = true })
		_, token, err := s.CreateToken(t.Context(), ann, 0)
		wantNoError(t, err)
		p := ann
		p.TokenID = token.ID
		r := create(t, s.Service, ann, private)
		if e := s.ended(t, ann, s.start(t, p, r.ID, service.Call{}).ID, time.Minute); e.Status != routine.ExecutionCompleted {
			t.Errorf("queued: %+v", e)
		}
		sc, err := s.CreateSchedule(t.Context(), p, []byte(`{"routine_id":"`+r.ID+`","cron":"@hourly"}`), service.Idempotency{})
		wantNoError(t, err)
		time.Sleep(61 * time.Minute)
		if sc, err = s.Schedule(t.Context(), ann, sc.ID); err != nil || sc.LastStatus != routine.ExecutionCompleted {
			t.Errorf("scheduled: %+v, %v", sc, err)
		}
	})
}

// slowCounts takes its time to count queued executions, and then fails.
type slowCounts struct {
	*routinetest.Store
	calls atomic.Int32
}

func (s *slowCounts) CountQueued(context.Context) (map[string]int, error) {
	s.calls.Add(1)
	time.Sleep(5 * time.Second)
	return nil, errors.New("the connection was reset")
}

// Calls that come at once wait for one count of the queue together, each as long as it likes,
// and not for one after another.
func TestQueueIsCountedOnceForAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowCounts{Store: routinetest.NewStore()}
		s := newReplica(t, store, 0)
		id := create(t, s.Service, ann, private).ID
		began := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				want := 5 * time.Second
				if i >= 10 {
					time.Sleep(time.Second)
					ctx, cancel = context.WithTimeout(t.Context(), time.Second)
					want = 2 * time.Second
				}
				defer cancel()
				_, err := s.Start(ctx, ann, id, service.Call{})
				if took := time.Since(began); err == nil || took != want {
					t.Errorf("call %d: %v after %v", i, err, took)
				}
			})
		}
		all.Wait()
		if n := store.calls.Load(); n != 1 {
			t.Errorf("counted %d times", n)
		}
	})
}

// A run during which the clock is set back took no time: its duration is not negative.
func TestDurationAfterClockIsSetBack(t *testing.T) {
	var back atomic.Bool
	b := &routinetest.Browser{OnOpen: func(context.Context, *routinetest.Page) error {
		back.Store(true)
		return nil
	}}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Now: func() time.Time {
		if back.Load() {
			return time.Now().Add(-3 * time.Hour).UTC()
		}
		return time.Now().UTC()
	}})
	e, err := s.Execute(t.Context(), ann, create(t, s, ann, private).ID, service.Call{})
	if err != nil || *e.DurationSeconds != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}
