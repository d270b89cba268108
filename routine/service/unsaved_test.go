package service_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// An unsaved definition needs the rights to write and to execute routines. A caller with
// one of them learns nothing about the definition and opens no page.
func TestUnsavedDefinitionNeedsBothScopes(t *testing.T) {
	b := &routinetest.Browser{}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Concurrency: 2, Queue: 2})
	for _, row := range []struct {
		scopes routine.Scopes
		want   routine.Code
		lacks  string // the scope that the message names
	}{
		{routine.ScopeExecutionsRun | routine.ScopeRoutinesRead | routine.ScopeExecutionsRead, routine.CodeForbidden, "routines:write"},
		{routine.ScopeRoutinesWrite | routine.ScopeRoutinesRead, routine.CodeForbidden, "executions:run"},
		{routine.ScopeRoutinesWrite | routine.ScopeExecutionsRun, "", ""},
		{routine.ScopeAdmin, "", ""},
	} {
		p := ann
		p.Scopes = row.scopes
		_, _, parsed := s.ParseUnsaved(t.Context(), p, []byte(private))
		pending, started := s.Start(t.Context(), p, "", service.Call{Definition: parse(t, private)})
		e, executed := s.Execute(t.Context(), p, "", service.Call{Definition: parse(t, private)})
		for _, err := range []error{parsed, started, executed, s.MayExecuteUnsaved(p)} {
			if routine.CodeOf(err) != row.want || err != nil && !strings.Contains(err.Error(), row.lacks) {
				t.Errorf("%s: %v", row.scopes, err)
			}
		}
		if row.want != "" {
			if pending != nil || e != nil || b.Opened() != 0 {
				t.Errorf("%s: %+v, %+v, %d pages", row.scopes, pending, e, b.Opened())
			}
			continue
		}
		for _, e := range []*routine.Execution{pending, e} {
			if ended, err := s.Wait(t.Context(), ann, e.ID); err != nil || ended.Status != routine.ExecutionCompleted {
				t.Errorf("%s: %+v, %v", row.scopes, ended, err)
			}
		}
	}
	if _, err := s.Execute(t.Context(), nobody, "", service.Call{Definition: parse(t, private)}); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Error(err)
	}
	if _, _, err := s.ParseUnsaved(t.Context(), nobody, []byte("{")); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Error(err)
	}
}

// The execution of an unsaved definition is like any other, but belongs to no routine.
func TestUnsavedDefinitionIsInTheLedger(t *testing.T) {
	store := routinetest.NewStore()
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{HTML: "<b>&</b>"}}})
	d := parse(t, definitionOf(`{"type":"input_text","selector":"#q","text":"{{a}}"},{"type":"return_html"}`, `{"name":"a","x-secret":true}`))
	e, err := s.Execute(t.Context(), ann, "", service.Call{Definition: d, Parameters: json.RawMessage(`{"a":"s3cret"}`), Via: routine.ViaREST})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Execution(t.Context(), ann, e.ID)
	if err != nil || kept.Status != routine.ExecutionCompleted || kept.RoutineID != "" || kept.RoutineVersion != 0 || kept.RoutineName != "n" ||
		string(kept.Parameters) != `{"a":"***"}` || kept.CreatedBy != "ann" || kept.Via != routine.ViaREST || kept.OperationsTotal != 2 ||
		string(kept.Result.Data) != `"<b>&</b>"` {
		t.Errorf("%+v %v", kept, err)
	}
	if _, total, err := s.Executions(t.Context(), ann, routine.ExecutionFilter{}); err != nil || total != 1 {
		t.Errorf("%d executions, %v", total, err)
	}
	if _, err := s.Execution(t.Context(), bob, e.ID); routine.CodeOf(err) != routine.CodeForbidden {
		t.Error("another organization reads it:", err)
	}
	if _, total, err := s.Routines(t.Context(), ann, routine.RoutineFilter{Limit: 10}); err != nil || total != 0 {
		t.Errorf("%d routines are stored, %v", total, err)
	}
	for _, call := range []service.Call{
		{Definition: d, Parameters: json.RawMessage(`{"b":1}`)},
		{Definition: d, Parameters: json.RawMessage(`{"a":"x"}`), Timeout: time.Millisecond},
		{Definition: d, Parameters: json.RawMessage(`{"a":"x"}`), CallbackURL: "https://a.example/"},
	} {
		if _, err := s.Execute(t.Context(), ann, "", call); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("%+v: %v", call, err)
		}
	}
}

// Unsaved definitions wait in the same queue as stored routines and obey its limit.
func TestUnsavedDefinitionsWaitInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &routinetest.Browser{}
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Concurrency: 1, Queue: 2})
		r := create(t, s, ann, nap)
		unsaved := service.Call{Definition: parse(t, nap)}
		first, err := s.Start(t.Context(), ann, r.ID, service.Call{})
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Start(t.Context(), ann, "", unsaved)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b.Opened() != 1 {
			t.Errorf("%d pages are open", b.Opened())
		}
		if _, err := s.Start(t.Context(), ann, "", unsaved); routine.CodeOf(err) != routine.CodeBusy {
			t.Error("beyond the queue:", err)
		}
		time.Sleep(time.Minute) // of the test's own clock
		for _, id := range []string{first.ID, second.ID} {
			if e, err := s.Execution(t.Context(), ann, id); err != nil || e.Status != routine.ExecutionCompleted {
				t.Errorf("%+v, %v", e, err)
			}
		}
		short := unsaved
		short.Timeout = 2 * time.Second
		if e, err := s.Execute(t.Context(), ann, "", short); routine.CodeOf(err) != routine.CodeTimeout || e.Status != routine.ExecutionFailed {
			t.Error("timeout:", e, err)
		}
	})
}

// A repeated call with the same key does not run the definition again, also if the calls
// come at once and through different processes.
func TestUnsavedDefinitionRunsOnceWithKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := two(t, routinetest.NewStore())
		call := service.Call{Definition: parse(t, nap), Idempotency: once("k", "{}")}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				s := []*service.Service{here, there}[i%2]
				if _, err := s.Execute(t.Context(), ann, "", call); err != nil && routine.CodeOf(err) != routine.CodeConflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, total, err := here.Executions(t.Context(), ann, routine.ExecutionFilter{}); err != nil || total != 1 {
			t.Errorf("%d executions, %v", total, err)
		}
		call.Idempotency = once("k", "{ }")
		var mismatch *routine.Error
		if _, err := here.Execute(t.Context(), ann, "", call); !errors.As(err, &mismatch) || mismatch.Code != routine.CodeIdempotencyMismatch {
			t.Error(err)
		}
		r := create(t, here, ann, nap)
		if _, err := here.Execute(t.Context(), ann, r.ID, service.Call{Idempotency: once("k", "{}")}); routine.CodeOf(err) != routine.CodeIdempotencyMismatch {
			t.Error("a stored routine with the key:", err)
		}
	})
}
