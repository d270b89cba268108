package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/routinetest"
)

// A statement that changes one execution finds it by its primary key, also when the planner
// knows of no open execution. Then the indexes of open ones look smaller, but in use they
// have each execution that is open.
func TestExecutionsAreFoundByTheirID(t *testing.T) {
	url := emptyDatabase(t)
	execute(t, url, `
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, token_id, via,
			operations_done, operations_total, size, organization_id, owner)
		SELECT 'e' || n, 'r', 'name', 1, 'completed', '', n, 'ann', '', 'rest', 0, 0, 0, 'acme', 'o' FROM generate_series(1, 2000) AS n;
		ANALYZE executions`)
	c, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer c.Close(context.WithoutCancel(t.Context()))
	scans := func() (byID, open int) {
		must(t, c.QueryRow(t.Context(), `SELECT sum(idx_scan) FILTER (WHERE indexrelname = 'executions_pkey'),
			sum(idx_scan) FILTER (WHERE indexrelname IN ('executions_open', 'executions_queued', 'executions_queued_by_age'))
			FROM pg_stat_user_indexes`).Scan(&byID, &open))
		return byID, open
	}
	byIDBefore, openBefore := scans()

	const rounds = 3
	s, changes := open(t, url), 0
	change := func(err error) {
		t.Helper()
		must(t, err)
		changes++
	}
	for range rounds {
		e := routinetest.Execution(t)
		must(t, s.CreateExecution(t.Context(), e))
		change(s.StartExecution(t.Context(), e.ID, routinetest.Time))
		change(s.PutFile(t.Context(), e.ID, &routine.File{FileInfo: routine.FileInfo{Name: "a.txt"}}))
		change(s.SaveProgress(t.Context(), map[string][]routine.OperationRecord{e.ID: {{}}}))
		change(s.RequestCancel(t.Context(), e.ID, routinetest.Time))
		ended := routinetest.Time
		e.Status, e.CompletedAt = routine.ExecutionCompleted, &ended
		change(s.FinishExecution(t.Context(), e))
	}
	must(t, s.Close()) // the server counts the scans of a connection when it ends
	deadline := time.Now().Add(20 * time.Second)
	for {
		byID, open := scans()
		if byID, open = byID-byIDBefore, open-openBefore; byID+open >= changes {
			if open > 0 {
				t.Errorf("%d changes took %d scans of the index of all executions that are open", changes, open)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d changes took %d scans by id and %d of open executions", changes, byID, open)
		}
	}
}
