package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

func once(key, body string) service.Idempotency {
	return service.Idempotency{Key: key, Body: []byte(body)}
}

func TestCreateOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		text := definitionOf(`{"type":"press","key":"Enter"}`, "") // has a warning
		create := func(s *service.Service, o service.Idempotency) (string, error) {
			r, warnings, err := s.CreateRoutine(t.Context(), ann, []byte(text), o)
			if err != nil {
				return "", err
			}
			shown, err := json.Marshal(map[string]any{"routine": r, "warnings": warnings, "tool": r.ToolName})
			return string(shown), err
		}
		first, err := create(here, once("k", text))
		if err != nil || !strings.Contains(first, "no_result") {
			t.Fatal(first, err)
		}
		time.Sleep(23 * time.Hour) // of the test's own clock
		if again, err := create(there, once("k", text)); err != nil || again != first {
			t.Errorf("%v, (-first +again):\n%s", err, cmp.Diff(first, again))
		}
		if _, err := create(there, once("k", text+" ")); routine.CodeOf(err) != routine.CodeIdempotencyMismatch {
			t.Error("another body: ", err)
		}
		if other, err := create(here, once("k2", text)); err != nil || other == first {
			t.Error("another key: ", err)
		}
		time.Sleep(time.Hour) // of the test's own clock
		if later, err := create(here, once("k", text+" ")); err != nil || later == first {
			t.Error("after a day: ", err)
		}
		for _, bad := range []string{strings.Repeat("k", 256), "é", "a\nb"} {
			if _, err := create(here, once(bad, text)); routine.CodeOf(err) != routine.CodeInvalid {
				t.Errorf("key %q: %v", bad, err)
			}
		}
	})
}

func TestExecuteOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		r, other := create(t, here, ann, nap), create(t, here, ann, nap)
		call := service.Call{Idempotency: once("k", "{}")}
		first := make(chan *routine.Execution, 1)
		go func() {
			e, err := here.Execute(t.Context(), ann, r.ID, call)
			if err != nil {
				t.Error(err)
			}
			first <- e
		}()
		synctest.Wait()
		for _, s := range []*service.Service{here, there} {
			if e, err := s.Execute(t.Context(), ann, r.ID, call); e != nil || routine.CodeOf(err) != routine.CodeConflict {
				t.Error("while it goes on: ", e, err)
			}
		}
		handle, err := there.Start(t.Context(), ann, r.ID, call)
		if err != nil || handle.Status != routine.ExecutionRunning {
			t.Fatal("asked for without waiting: ", handle, err)
		}
		e := <-first
		for _, s := range []*service.Service{here, there} {
			if again, err := s.Execute(t.Context(), ann, r.ID, call); err != nil || again.ID != e.ID || again.Status != routine.ExecutionCompleted {
				t.Error("after the end: ", again, err)
			}
		}
		for name, again := range map[string]func() error{
			"another body": func() error {
				_, err := there.Execute(t.Context(), ann, r.ID, service.Call{Idempotency: once("k", "{ }")})
				return err
			},
			"another routine": func() error { _, err := there.Execute(t.Context(), ann, other.ID, call); return err },
			"another action": func() error {
				_, _, err := here.CreateRoutine(t.Context(), ann, []byte(nap), once("k", "{}"))
				return err
			},
		} {
			if err := again(); routine.CodeOf(err) != routine.CodeIdempotencyMismatch {
				t.Errorf("%s: %v", name, err)
			}
		}
		if es, total, err := here.Executions(t.Context(), ann, routine.ExecutionFilter{}); err != nil || total != 1 {
			t.Errorf("%d executions, %v, %v", total, es, err)
		}
	})
}

// A run with a key continues if its caller disconnects. The same call returns
// its result.
func TestExecuteOnceOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		r := create(t, here, ann, nap)
		call := service.Call{Idempotency: once("k", "{}")}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan *routine.Execution, 1)
		go func() {
			e, err := here.Execute(ctx, ann, r.ID, call)
			if err != nil {
				t.Error(err)
			}
			left <- e
		}()
		synctest.Wait()
		leave()
		first := <-left
		if !first.Open() {
			t.Fatalf("%+v", first)
		}
		_, err := there.Execute(t.Context(), ann, r.ID, call)
		var busy *routine.Error
		if !errors.As(err, &busy) || busy.Code != routine.CodeConflict || busy.RetryAfter == 0 {
			t.Fatal("while it goes on: ", err)
		}
		time.Sleep(time.Hour) // of the test's own clock
		if again, err := there.Execute(t.Context(), ann, r.ID, call); err != nil || again.ID != first.ID || again.Status != routine.ExecutionCompleted {
			t.Error("after the end: ", again, err)
		}
	})
}

// A run that failed has run: it is not run again under its key. What was refused
// before it ran leaves the key free.
func TestExecuteOnceKeepsFailuresOfRunsOnly(t *testing.T) {
	b := &routinetest.Browser{OpenError: routine.Errorf(routine.CodeBrowserUnavailable, "no browser")}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	r := create(t, s, ann, private)
	call := service.Call{Idempotency: once("k", "{}"), Timeout: time.Hour}
	if _, err := s.Execute(t.Context(), ann, r.ID, call); routine.CodeOf(err) != routine.CodeInvalid {
		t.Fatal(err)
	}
	call.Timeout = 0
	first, err := s.Execute(t.Context(), ann, r.ID, call)
	if routine.CodeOf(err) != routine.CodeBrowserUnavailable {
		t.Fatal(err)
	}
	again, err := s.Execute(t.Context(), ann, r.ID, call)
	if routine.CodeOf(err) != routine.CodeBrowserUnavailable || again.ID != first.ID {
		t.Error(again, err)
	}
}

func TestCallsAtOnceRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		r := create(t, here, ann, nap)
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				s := []*service.Service{here, there}[i%2]
				if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{Idempotency: once("k", "")}); err != nil && routine.CodeOf(err) != routine.CodeConflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, total, err := here.Executions(t.Context(), ann, routine.ExecutionFilter{}); err != nil || total != 1 {
			t.Errorf("%d executions, %v", total, err)
		}
	})
}

// The answer of a call is for the token that made it, and for those that may
// read executions.
func TestAnswerOfAnotherTokensCall(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	runner, other, reader := ann, ann, ann
	runner.Scopes, runner.TokenID = routine.ScopeExecutionsRun, "a"
	other.Scopes, other.TokenID = routine.ScopeExecutionsRun, "b"
	reader.Scopes, reader.TokenID = routine.ScopeExecutionsRun|routine.ScopeExecutionsRead, "c"
	r := create(t, s, ann, private)
	call := service.Call{Idempotency: once("k", "{}")}
	first, err := s.Execute(t.Context(), runner, r.ID, call)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []routine.Principal{runner, reader} {
		if again, err := s.Execute(t.Context(), p, r.ID, call); err != nil || again.ID != first.ID || again.Result == nil {
			t.Errorf("token %s: %+v, %v", p.TokenID, again, err)
		}
	}
	for name, execute := range map[string]func(context.Context, routine.Principal, string, service.Call) (*routine.Execution, error){"execute": s.Execute, "start": s.Start} {
		if again, err := execute(t.Context(), other, r.ID, call); again != nil || routine.CodeOf(err) != routine.CodeForbidden || !strings.Contains(err.Error(), "executions:read") {
			t.Errorf("%s with another token: %+v, %v", name, again, err)
		}
	}
}

// A key belongs to the caller's organization, user, project and scopes. The same
// key of another caller is a new one.
func TestKeysOfOtherCallers(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}})
	r := create(t, s, ann, private)
	with := func(edit func(*routine.Principal)) routine.Principal {
		p := ann
		p.AllowedHosts = []string{"shop.example", "B.example"}
		edit(&p)
		return p
	}
	same := with(func(*routine.Principal) {})
	call := service.Call{Idempotency: once("k", "{}")}
	execution, err := s.Execute(t.Context(), same, r.ID, call)
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := s.CreateRoutine(t.Context(), same, []byte(private), once("c", private))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		as    routine.Principal
		meets bool
	}{
		"the same caller":             {same, true},
		"the same hosts, another way": {with(func(p *routine.Principal) { p.AllowedHosts = []string{"b.EXAMPLE", "shop.example", "b.example"} }), true},
		"another token":               {with(func(p *routine.Principal) { p.TokenID = "other" }), true},
		"another project":             {with(func(p *routine.Principal) { p.ProjectID = "stock" }), false},
		"another reach":               {with(func(p *routine.Principal) { p.AllowedHosts = []string{"shop.example"} }), false},
		"no reach":                    {with(func(p *routine.Principal) { p.AllowedHosts = nil }), false},
		"another user":                {with(func(p *routine.Principal) { p.UserID = "bob" }), false},
	} {
		again, err := s.Execute(t.Context(), row.as, r.ID, call)
		if err != nil || (again.ID == execution.ID) != row.meets {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
		remade, _, err := s.CreateRoutine(t.Context(), row.as, []byte(private), once("c", private))
		if err != nil || (remade.ID == made.ID) != row.meets {
			t.Errorf("%s: %+v, %v", name, remade, err)
		}
	}
}

// expiring is a store in which each key is taken when a row is saved, and has expired when
// it is looked for.
type expiring struct{ routine.Store }

func (expiring) CreateRoutine(context.Context, *routine.Routine) error { return routine.ErrKeyTaken }
func (expiring) CreateExecution(context.Context, *routine.Execution) error {
	return routine.ErrKeyTaken
}
func (expiring) FindByKey(context.Context, *routine.IdempotencyKey) (string, [32]byte, error) {
	return "", [32]byte{}, routine.ErrNotFound
}

func TestKeyThatExpiresMeanwhileIsAConflict(t *testing.T) {
	store := routinetest.NewStore()
	text := definitionOf(`{"type":"press","key":"Enter"}`, "")
	r := create(t, service.New(service.Config{Store: store, Browser: &routinetest.Browser{}}), ann, text)
	s := service.New(service.Config{Store: expiring{store}, Browser: &routinetest.Browser{}})
	if _, _, err := s.CreateRoutine(t.Context(), ann, []byte(text), once("k", text)); routine.CodeOf(err) != routine.CodeConflict {
		t.Error("create:", err)
	}
	call := service.Call{Idempotency: once("k", "")}
	if _, err := s.Execute(t.Context(), ann, r.ID, call); routine.CodeOf(err) != routine.CodeConflict {
		t.Error("execute:", err)
	}
	if _, err := s.Start(t.Context(), ann, r.ID, call); routine.CodeOf(err) != routine.CodeConflict {
		t.Error("start:", err)
	}
}
