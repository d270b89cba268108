package service_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// A call may ask for an outline of the last page. It is stored with the result, without
// secrets, and bounded. A run that fails has evidence instead.
func TestOutlineOfTheLastPage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		asked   bool
		look    func(context.Context, routine.Look) (routine.Seen, error)
		click   func(context.Context, routine.Click) (routine.Match, error)
		want    string
		warning string
	}{
		{"asked for", true, func(_ context.Context, l routine.Look) (routine.Seen, error) {
			if l.MaxBytes != 3000 || !slices.Contains(l.Secrets, "hunter2hunter2") {
				t.Errorf("%+v", l)
			}
			return routine.Seen{Text: "hello hunter2hunter2 https://a.test/?token=abc"}, nil
		}, nil, "hello *** https://a.test/?token=***", ""},
		{"not asked for", false, func(context.Context, routine.Look) (routine.Seen, error) {
			t.Error("the page is looked at")
			return routine.Seen{}, nil
		}, nil, "", ""},
		{"a page that is busy", true, func(context.Context, routine.Look) (routine.Seen, error) {
			return routine.Seen{}, routine.Errorf(routine.CodeTimeout, "the page is busy")
		}, nil, "", "there is no outline: the page is busy"},
		{"a run that fails", true, func(context.Context, routine.Look) (routine.Seen, error) {
			t.Error("the page is looked at")
			return routine.Seen{}, nil
		}, failingClick(routine.CodeElementNotFound), "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := routinetest.NewStore()
			s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{Look: row.look, Click: row.click}}})
			r := create(t, s, ann, definitionOf(`{"type":"click","selector":"#b"}`, `{"name":"pw","x-secret":true}`))
			ran, err := s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"pw":"hunter2hunter2"}`), Outline: row.asked})
			if (err == nil) != (row.click == nil) {
				t.Fatal(err)
			}
			kept, err := store.Execution(t.Context(), ran.ID)
			if err != nil || ran.Result.Outline != row.want || kept.Result.Outline != row.want || strings.Join(ran.Result.Warnings, "\n") != row.warning {
				t.Errorf("%v: %q, kept %q, warnings %q", err, ran.Result.Outline, kept.Result.Outline, ran.Result.Warnings)
			}
		})
	}
}
