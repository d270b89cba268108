package routinetest

import (
	"fmt"
	"testing"
	"time"

	"rote/routine"
)

func executionOrigins(t *testing.T, s routine.Store) {
	at := func(seconds int, edit func(*routine.Execution)) *routine.Execution {
		return create(t, s, func(e *routine.Execution) {
			e.CreatedAt, e.RoutineID, e.Via = Time.Add(time.Duration(seconds)*time.Second), "r", routine.ViaREST
		}, edit)
	}
	at(0, func(e *routine.Execution) { e.OrganizationID, e.Via, e.CreatedBy = "other", routine.ViaCLI, "bob" })
	a := at(1, func(e *routine.Execution) { e.CreatedBy = "bob" })
	b := Failed(at(2, func(e *routine.Execution) { e.Via, e.RoutineVersion = routine.ViaMCP, 4 }))
	must(t, s.FinishExecution(t.Context(), b))
	b.Evidence = nil // lists have none
	c := Failed(at(3, func(e *routine.Execution) { e.RoutineID, e.RoutineVersion = "q", 4 }))
	c.ErrorCode = routine.CodeTimeout
	must(t, s.FinishExecution(t.Context(), c))
	c.Evidence = nil
	d := at(4, func(e *routine.Execution) {
		e.Status, e.StartedAt, e.CreatedBy = routine.ExecutionRunning, new(Time), "bob"
	})
	type filter = routine.ExecutionFilter
	all := []*routine.Execution{d, c, b, a}
	for _, row := range []struct {
		f    filter
		want []*routine.Execution
	}{
		{filter{Via: routine.ViaMCP}, all[2:3]},
		{filter{Via: routine.ViaCLI}, nil},
		{filter{Code: routine.CodeTimeout}, all[1:2]},
		{filter{Code: routine.CodeTimeout, Status: routine.ExecutionCompleted}, nil},
		{filter{Status: routine.ExecutionFailed}, all[1:3]},
		{filter{Status: routine.ExecutionRunning}, all[:1]},
		{filter{Status: routine.ExecutionPending}, all[3:]},
		{filter{Status: routine.ExecutionRunning, CreatedBy: "bob", Via: routine.ViaREST, RoutineID: "r"}, all[:1]},
		{filter{CreatedBy: "bob"}, []*routine.Execution{d, a}},
		{filter{CreatedBy: "bob", Status: routine.ExecutionFailed}, nil},
		{filter{RoutineID: "r", Version: 4}, all[2:3]},
		{filter{RoutineID: "r", Version: 4, Code: routine.CodeElementNotFound}, all[2:3]},
		{filter{RoutineID: "r", Version: 9}, nil},
		{filter{Version: 4}, all[1:3]},
		{filter{Since: Time.Add(2 * time.Second)}, all[:3]},
		{filter{Until: Time.Add(2 * time.Second)}, all[3:]},
		{filter{Since: Time.Add(2 * time.Second), Until: Time.Add(4 * time.Second), Via: routine.ViaREST}, all[1:2]},
	} {
		wantListed(t, s, row.f, len(row.want), row.want...)
	}
	for _, f := range []filter{{Via: "r'%"}, {Code: "%"}, {CreatedBy: "b%"}, {CreatedBy: "\xff"}, {Via: "a\x00b"}} {
		wantListed(t, s, f, 0)
	}
}

func executionCursors(t *testing.T, s routine.Store) {
	var all []*routine.Execution // newest first
	for i := range 7 {           // some of the same time, told apart by their ids
		all = append([]*routine.Execution{create(t, s, func(e *routine.Execution) {
			e.ID, e.CreatedAt, e.RoutineID = fmt.Sprintf("e%d", i), Time.Add(time.Duration(i/3)*time.Microsecond), "r"
		})}, all...)
	}
	for _, f := range []routine.ExecutionFilter{{}, {RoutineID: "r"}, {Status: routine.ExecutionPending}, {CreatedBy: "ann"}, {Via: routine.ViaMCP}} {
		f.Limit, f.Before = 2, nil
		for i := 0; i < len(all); i += 2 {
			page := all[i:min(i+2, len(all))]
			wantListed(t, s, f, len(all), page...)
			f.Before = routine.CursorOf(page[len(page)-1])
		}
		wantListed(t, s, f, len(all))
	}
	wantListed(t, s, routine.ExecutionFilter{Before: routine.CursorOf(all[1]), Offset: 1, Limit: 2}, 7, all[3:5]...)
	newest := create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Hour) })
	wantListed(t, s, routine.ExecutionFilter{Before: routine.CursorOf(all[4])}, 8, all[5:]...)
	wantListed(t, s, routine.ExecutionFilter{Before: &routine.ExecutionCursor{CreatedAt: Time.AddDate(1, 0, 0), ID: "no-such-id"}, Limit: 1}, 8, newest)
}

func executionCounts(t *testing.T, s routine.Store) {
	for range 4 {
		create(t, s)
	}
	newest := create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Hour) })
	for upTo, want := range map[int]int{0: 5, 1: 2, 4: 5, 5: 5, 6: 5, 1 << 30: 5} {
		wantListed(t, s, routine.ExecutionFilter{CountUpTo: upTo, Limit: 1}, want, newest)
	}
}

func recentRuns(t *testing.T, s routine.Store) {
	of := func(id string, seconds int, edit func(*routine.Execution)) *routine.Execution {
		e := create(t, s, func(e *routine.Execution) {
			e.RoutineID, e.CreatedAt = id, Time.Add(time.Duration(seconds)*time.Second)
		}, edit)
		return &routine.Execution{ID: e.ID, OrganizationID: e.OrganizationID, RoutineID: id, RoutineVersion: e.RoutineVersion, Status: e.Status,
			CreatedAt: e.CreatedAt}
	}
	plain := func(*routine.Execution) {}
	of("a", 0, plain)
	second := of("a", 1, func(e *routine.Execution) { e.ID = "same-time-1" })
	third := of("a", 1, func(e *routine.Execution) { e.ID, e.RoutineVersion = "same-time-2", 7 })
	of("a", 2, func(e *routine.Execution) { e.OrganizationID = "other" })
	failed := Failed(create(t, s, func(e *routine.Execution) { e.RoutineID = "b" }))
	must(t, s.FinishExecution(t.Context(), failed))
	of("c", 5, plain)
	want := map[string][]*routine.Execution{"a": {third, second}, "b": {{ID: failed.ID, OrganizationID: "acme", RoutineID: "b",
		RoutineVersion: failed.RoutineVersion, Status: failed.Status, ErrorCode: failed.ErrorCode, CreatedAt: failed.CreatedAt,
		DurationSeconds: failed.DurationSeconds}}}
	got, err := s.RecentRuns(t.Context(), "acme", []string{"b", "none", "a", "\xff", "a\x00", "%"}, 2)
	must(t, err)
	equal(t, "recent runs", got, want)
	got, err = s.RecentRuns(t.Context(), "acme", nil, 2)
	must(t, err)
	equal(t, "recent runs of no routine", len(got), 0)
}
