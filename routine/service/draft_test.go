package service_test

import (
	"context"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

const visit = `{"name":"visit","description":"Visits.","operations":[{"type":"navigate","url":"https://a.example/"}]}`

// A draft can be run, is no tool, and becomes one when it is made active.
func TestCreateDraft(t *testing.T) {
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, Concurrency: 1})
	r, _, err := s.CreateDraft(t.Context(), ann, []byte(visit))
	if err != nil || r.Status != routine.StatusDraft || r.Version != 1 || r.ToolName == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	var ended []string
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{Via: routine.ViaProof, Ended: func(ctx context.Context, page routine.Page) {
		url, err := page.URL(ctx)
		ended = append(ended, url)
		if err != nil {
			t.Error(err)
		}
	}})
	if err != nil || e.Via != routine.ViaProof || len(ended) != 1 || ended[0] == "about:blank" {
		t.Errorf("%+v, %v, and the page was shown at %q", e, err, ended)
	}
	active, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"routine_status":"active"}`), []int{1})
	if err != nil || active.Status != routine.StatusActive {
		t.Errorf("%+v, %v", active, err)
	}
	if _, _, err := s.CreateDraft(t.Context(), nobody, []byte(visit)); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Error(err)
	}
	if _, _, err := s.CreateDraft(t.Context(), ann, []byte(`{}`)); routine.CodeOf(err) != routine.CodeInvalid {
		t.Error(err)
	}
	_, warnings, err := s.CreateDraft(t.Context(), ann, []byte(visit))
	if err != nil || len(warnings) == 0 || warnings[len(warnings)-1].Code != "duplicate_routine" {
		t.Errorf("%v, %v", warnings, err)
	}
}

// The page of a failed run is not shown.
func TestEndedIsNotCalledAfterAFailure(t *testing.T) {
	b := &routinetest.Browser{Page: routinetest.Page{Click: routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "nothing"))}}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Concurrency: 1})
	d := parse(t, `{"name":"a","description":"A.","operations":[{"type":"navigate","url":"https://a.example/"},{"type":"click","selector":"#a"}]}`)
	_, err := s.Execute(t.Context(), ann, "", service.Call{Definition: d, Ended: func(context.Context, routine.Page) { t.Error("it is called") }})
	if routine.CodeOf(err) != routine.CodeElementNotFound {
		t.Error(err)
	}
}
