package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
)

func TestSpeedOfLargeLedger(t *testing.T) {
	optional.Speed(t)
	s := open(t, tempPath(t))
	addExecutions(t, s, 1, routinetest.LargeLedger)
	routinetest.TestLargeLedger(t, s)
}

// A page of 25 of 100,000 executions comes in 5 ms with each filter, also with one that matches
// nothing. On a busy machine, in ten times what a page by its primary keys takes.
func TestSpeedOfExecutionFilters(t *testing.T) {
	optional.Speed(t)
	s := open(t, tempPath(t))
	addExecutions(t, s, 1, routinetest.LargeLedger)
	_, err := s.write.ExecContext(t.Context(), `
		UPDATE executions SET status = 'failed', error_code = iif(rowid % 100 = 0, 'timeout', 'element_not_found') WHERE rowid % 10 = 0;
		UPDATE executions SET via = 'mcp', created_by = 'bob' WHERE rowid % 1000 = 7;
		UPDATE executions SET routine_version = 2 WHERE rowid > 90000`)
	must(t, err)
	median := func(do func()) time.Duration {
		all := make([]time.Duration, 51)
		for i := range all {
			began := time.Now()
			do()
			all[i] = time.Since(began)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	floor := median(func() {
		for i := range 25 {
			var name string
			must(t, s.read.QueryRowContext(t.Context(), `SELECT routine_name FROM executions WHERE id = ?`, fmt.Sprint("e", 100000001+i*1000)).Scan(&name))
		}
	})
	t.Logf("25 rows by their keys: %v", floor)
	type filter = routine.ExecutionFilter
	middle := time.UnixMicro(50_000_000_000)
	for name, f := range map[string]filter{
		"none": {}, "before": {Before: &routine.ExecutionCursor{CreatedAt: middle, ID: "e"}}, "since and until": {Since: middle, Until: middle.Add(time.Hour)},
		"failed": {Status: routine.ExecutionFailed}, "running": {Status: routine.ExecutionRunning}, "code": {Code: routine.CodeTimeout},
		"no such code": {Code: routine.CodeCancelled}, "via": {Via: routine.ViaMCP}, "no such via": {Via: routine.ViaCLI},
		"user": {CreatedBy: "bob"}, "no such user": {CreatedBy: "eve"}, "every user": {CreatedBy: "ann"},
		"version": {RoutineID: "r7", Version: 2}, "no such version": {RoutineID: "r7", Version: 9}, "routine": {RoutineID: "r7"},
	} {
		f.OrganizationID, f.Limit, f.CountUpTo = "acme", 25, 1000
		took := median(func() {
			_, _, err := s.Executions(t.Context(), f)
			must(t, err)
		})
		t.Logf("%s: %v", name, took)
		if took > 5*time.Millisecond && took > 10*floor {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// addExecutions adds executions of routinetest.LargeLedgerValues.
func addExecutions(t *testing.T, s *Store, from, to int) {
	t.Helper()
	_, err := s.write.ExecContext(t.Context(), fmt.Sprintf(`
		WITH RECURSIVE numbers (n) AS (VALUES (%d) UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		INSERT INTO executions (%s) SELECT %s FROM numbers`, from, to, routinetest.LargeLedgerColumns,
		routinetest.LargeLedgerValues(`hex(zeroblob(8) || 'abcdefgh')`)))
	must(t, err)
}

// Up to routine.MaxTotal the totals of lists are exact; more are not counted.
func TestTotals(t *testing.T) {
	s := open(t, tempPath(t))
	want := func(want int) {
		t.Helper()
		list, total, err := s.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme", Limit: 3})
		if err != nil || total != want || len(list) != 3 {
			t.Errorf("%d executions of %d, want %d: %v", len(list), total, want, err)
		}
	}
	addExecutions(t, s, 1, routine.MaxTotal)
	want(routine.MaxTotal)
	addExecutions(t, s, routine.MaxTotal+1, routine.MaxTotal+5)
	want(routine.MaxTotal + 1)
	_, err := s.write.ExecContext(t.Context(), `
		WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 10005)
		INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version, name, is_public, is_mcp_tool_designated,
			created_at, updated_at, words)
		SELECT 'r' || n, 'acme', '', '', 'tool' || n, 'active', 1, '', 1, 1, n, n, '' FROM numbers`)
	must(t, err)
	_, err = s.write.ExecContext(t.Context(), `
		INSERT INTO routine_versions (routine_id, version, status, definition, created_at, created_by)
		SELECT id, 1, 'active', '{"name":"n","description":"d","operations":[]}', created_at, '' FROM routines`)
	must(t, err)
	for _, f := range []routine.RoutineFilter{{OrganizationID: "acme", Limit: 3}, {OrganizationID: "acme", Public: true, Limit: 3},
		{OrganizationID: "acme", Limit: 3, Offset: routine.MaxTotal + 3}} {
		if _, total, err := s.Routines(t.Context(), f); err != nil || total != routine.MaxTotal+1 {
			t.Errorf("routines of %+v: %d: %v", f, total, err)
		}
	}
}
