package service_test

import (
	"context"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// A run that only makes requests needs no page of the site, unless the call asks for an outline.
func TestRunsThatOnlyMakeRequests(t *testing.T) {
	t.Parallel()
	const fetch = `{"type":"fetch","session_storage_key":"a","endpoint":{"url":"https://api.example/a"}},{"type":"return","session_storage_key":"a"}`
	for _, row := range []struct {
		name, operations string
		call             service.Call
		want             bool
	}{
		{"requests", fetch, service.Call{}, true},
		{"a page", `{"type":"navigate","url":"https://api.example/"},` + fetch, service.Call{}, false},
		{"an outline of the page", fetch, service.Call{Outline: true}, false},
		{"the proof of a routine", fetch, service.Call{Ended: func(context.Context, routine.Page) {}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := &routinetest.Browser{}
			s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
			r := create(t, s, ann, definitionOf(row.operations, ""))
			if _, err := s.Execute(t.Context(), ann, r.ID, row.call); err != nil {
				t.Fatal(err)
			}
			if got := b.LastOpening(); got.RequestsOnly != row.want || (got.RequestsTo == "https://api.example") != row.want {
				t.Errorf("RequestsOnly is %v to %q, want %v", got.RequestsOnly, got.RequestsTo, row.want)
			}
		})
	}
}
