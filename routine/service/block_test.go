package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

const withoutImages = `{"name":"n","description":"d","x-block":["image","media"],
	"operations":[{"type":"navigate","url":"https://shop.test/"},{"type":"return_html"}]}`

// The page of a run leaves out what x-block names, and so does one of a lesson. The record
// of the operation counts the requests. They are no warning.
func TestBlockReachesThePage(t *testing.T) {
	t.Parallel()
	b := &routinetest.Browser{Page: routinetest.Page{Blocked: map[string]int{"image": 40}}}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	e, err := s.RunOnce(t.Context(), routine.Principal{UserID: "ann", OrganizationID: "o", ProjectID: "p"}, parse(t, withoutImages), service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"image", "media"}, b.LastOpening().Block); diff != "" {
		t.Error(diff)
	}
	records := e.Result.OperationsMetadata
	if diff := cmp.Diff(map[string]int{"image": 40}, records[0].BlockedRequests); diff != "" {
		t.Error(diff)
	}
	if records[1].BlockedRequests != nil || len(e.Result.Warnings) > 0 {
		t.Errorf("%v, warnings %q", records[1].BlockedRequests, e.Result.Warnings)
	}
	page, err := s.OpenLessonPage(t.Context(), routine.Principal{UserID: "ann"}, service.LessonPage{Incognito: true, Block: []string{"font"}})
	if err != nil {
		t.Fatal(err)
	}
	page.Close()
	if diff := cmp.Diff([]string{"font"}, b.LastOpening().Block); diff != "" {
		t.Error(diff)
	}
}
