package sqlite

import (
	"fmt"
	"testing"

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
