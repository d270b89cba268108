package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/routinetest"
)

// The record of an operation lists the requests that were refused while it ran,
// without secrets in names of hosts.
func TestDenialsAreOnRecord(t *testing.T) {
	page := routinetest.Page{Denials: []routine.Denial{
		{Host: "ads.test:443", Address: "10.0.0.1", Reason: "that is not a public address", Count: 2},
		{Host: "hunter2hunter2.evil.test:80", Reason: "it is not allowed", Count: 1},
	}}
	e, err := runOnce(t, page, `{"type":"navigate","url":"https://shop.test/{{pin}}"}`, `{"name":"pin","x-secret":true}`, `{"pin":"hunter2hunter2"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []routine.Denial{
		{Host: "ads.test:443", Address: "10.0.0.1", Reason: "that is not a public address", Count: 2},
		{Host: "***.evil.test:80", Reason: "it is not allowed", Count: 1},
	}
	if diff := cmp.Diff(want, e.Result.OperationsMetadata[0].EgressDenied); diff != "" {
		t.Fatal(diff)
	}
}
