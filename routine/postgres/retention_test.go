package postgres

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// A process whose clock is wrong does not delete what the others keep.
func TestPruneByTheDatabaseClock(t *testing.T) {
	var log bytes.Buffer
	s := open(t, emptyDatabase(t), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	e := create(t, s, func(e *routine.Execution) { e.CreatedAt = time.Now().Add(-time.Hour) })
	must(t, s.FinishExecution(t.Context(), routinetest.Ended(e)))
	n, err := s.Prune(t.Context(), routine.Retention{Age: 24 * time.Hour}, time.Now().AddDate(0, 2, 0))
	if err != nil || n != 0 {
		t.Errorf("a clock that is two months ahead deletes %d executions, %v", n, err)
	}
	if !strings.Contains(log.String(), "the clock of this machine is ahead") {
		t.Errorf("log: %s", log.String())
	}
	if n, err := s.Prune(t.Context(), routine.Retention{Age: 30 * time.Minute}, time.Now()); err != nil || n != 1 {
		t.Errorf("%d executions are deleted, want 1: %v", n, err)
	}
}

// The limit by size is that of a sum over all executions, also when most of the sums are
// kept from the last time.
func TestSizeLimit(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url)
	const count = 300
	var values []string
	for i := range count {
		// Twenty minutes apart, with ties, and a gap of some days.
		at := routinetest.Time.Add(time.Duration(i/2) * 20 * time.Minute)
		if i > count/2 {
			at = at.AddDate(0, 0, 5)
		}
		values = append(values, fmt.Sprintf("('e%04d', %d, %d)", i, rows.Micros(at), i*7919%1000))
	}
	execute(t, url, `
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, token_id, via,
			operations_done, operations_total, size, organization_id, owner)
		SELECT id, 'r', 'name', 1, 'completed', '', created_at, 'ann', '', 'rest', 0, 0, size, 'acme', 'nobody'
		FROM (VALUES `+strings.Join(values, ", ")+`) AS v (id, created_at, size)`)
	now := routinetest.Time.Add(count/2*20*time.Minute).AddDate(0, 0, 5)
	for round, limit := range []int64{1, 500, 5_000, 50_000, 50_001, 100_000, 140_000, 1_000_000} {
		var want int64
		must(t, s.queryRow(t.Context(), `
			SELECT coalesce(max(created_at) + 1, 0) FROM (
				SELECT created_at, sum(size) OVER (ORDER BY created_at DESC, id DESC) AS newer FROM executions) AS sums
			WHERE newer > $1`, limit).Scan(&want))
		got, err := s.pruneLimit(t.Context(), routine.Retention{Size: limit}, now)
		if err != nil || got != want {
			t.Errorf("round %d, limit %d: %d, want %d: %v", round, limit, got, want, err)
		}
	}
	var kept, live int
	must(t, s.queryRow(t.Context(), `SELECT (SELECT count(*) FROM ledger_sizes),
		(SELECT count(DISTINCT created_at / 3600000000) FROM executions WHERE created_at >= $1)`, rows.Micros(now.Add(-settleTime-time.Hour))).Scan(&kept, &live))
	if kept < 40 || live == 0 {
		t.Errorf("the sums of %d hours are kept, %d hours are new", kept, live)
	}
	// What is deleted is no part of any sum.
	if _, err := s.Prune(t.Context(), routine.Retention{Size: 50_000}, now); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	must(t, s.queryRow(t.Context(), `SELECT sum(size)::bigint FROM executions`).Scan(&bytes))
	if bytes > 50_000 || bytes < 48_000 {
		t.Errorf("%d bytes are left", bytes)
	}
	if n, err := s.Prune(t.Context(), routine.Retention{Size: 50_000}, now); err != nil || n != 0 {
		t.Errorf("%d more are deleted: %v", n, err)
	}
}

// Up to routine.MaxTotal the totals of lists are exact; more are not counted.
func TestTotals(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url)
	add := func(from, to int) {
		t.Helper()
		execute(t, url, fmt.Sprintf(`
			INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, token_id, via,
				operations_done, operations_total, size, organization_id, owner)
			SELECT 'e' || n, 'r', 'name', 1, 'completed', '', n, 'ann', '', 'rest', 0, 0, 0, 'acme', 'nobody' FROM generate_series(%d, %d) AS n;
			INSERT INTO routines (id, organization_id, project_id, created_by, tool_name, status, version, name, is_public, is_mcp_tool_designated,
				created_at, updated_at, words)
			SELECT 'r' || n, 'acme', '', '', 'tool' || n, 'active', 1, '', true, true, n, n, '' FROM generate_series(%[1]d, %[2]d) AS n;
			INSERT INTO routine_versions (routine_id, version, status, definition, created_at, created_by)
			SELECT 'r' || n, 1, 'active', '{"name":"n","description":"d","operations":[]}', n, '' FROM generate_series(%[1]d, %[2]d) AS n`, from, to))
	}
	want := func(want int) {
		t.Helper()
		list, total, err := s.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme", Limit: 3})
		if err != nil || total != want || len(list) != 3 {
			t.Errorf("%d executions of %d, want %d: %v", len(list), total, want, err)
		}
		for _, f := range []routine.RoutineFilter{{OrganizationID: "acme", Limit: 3}, {OrganizationID: "acme", Public: true, Limit: 3},
			{OrganizationID: "acme", Limit: 3, Offset: want - 1}} {
			if _, total, err := s.Routines(t.Context(), f); err != nil || total != want {
				t.Errorf("routines of %+v: %d, want %d: %v", f, total, want, err)
			}
		}
	}
	add(1, routine.MaxTotal)
	want(routine.MaxTotal)
	add(routine.MaxTotal+1, routine.MaxTotal+5)
	want(routine.MaxTotal + 1)
}
