package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

func enqueue(t *testing.T, s *Store) *routine.Execution {
	t.Helper()
	e := routinetest.Execution(t, func(e *routine.Execution) { e.QueuedCall = []byte("s3cret call") })
	must(t, s.CreateExecution(t.Context(), e))
	return e
}

// The database alone does not reveal the call of a queued execution, and keeps it no longer
// than it is needed.
func TestQueuedCallsAreEncrypted(t *testing.T) {
	path := tempPath(t)
	s := open(t, path)
	claimed, cancelled, kept := enqueue(t, s), enqueue(t, s), enqueue(t, s)
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		must(t, err)
		if bytes.Contains(text, []byte("s3cret")) {
			t.Errorf("the call is in %s", name)
		}
	}
	_, _, err := s.ClaimExecution(t.Context(), claimed.ID, routinetest.Time, routinetest.QueueTime)
	must(t, err)
	must(t, s.RequestCancel(t.Context(), cancelled.ID, routinetest.Time))
	ids, err := s.queryStrings(t.Context(), `SELECT execution_id FROM execution_calls`)
	must(t, err)
	if len(ids) != 1 || ids[0] != kept.ID {
		t.Errorf("calls of %q are kept, want %q", ids, kept.ID)
	}
	must(t, os.Remove(path+".key"))
	e, call, err := s.ClaimExecution(t.Context(), kept.ID, routinetest.Time, routinetest.QueueTime)
	if !errors.Is(err, routine.ErrSealed) || e == nil || call != nil {
		t.Errorf("without the key: %+v, %q, %v", e, call, err)
	}
}

// A queued execution outlives the process that created it. One whose call is gone is claimed
// without it.
func TestQueuedExecutionsOutliveTheirProcess(t *testing.T) {
	path := tempPath(t)
	first := open(t, path)
	e, lost := enqueue(t, first), enqueue(t, first)
	must(t, first.releaseOwner())
	s := open(t, path)
	n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Hour))
	must(t, err)
	if n != 0 {
		t.Errorf("%d queued executions were ended", n)
	}
	_, err = s.write.ExecContext(t.Context(), `DELETE FROM execution_calls WHERE execution_id = ?`, lost.ID)
	must(t, err)
	for id, want := range map[string]string{e.ID: "s3cret call", lost.ID: ""} {
		got, call, err := s.ClaimExecution(t.Context(), id, routinetest.Time, routinetest.QueueTime)
		if err != nil || string(call) != want || got.Status != routine.ExecutionRunning {
			t.Errorf("%+v, %q, %v; want %q", got, call, err, want)
		}
	}
	must(t, s.releaseOwner())
	next := open(t, path)
	if n, err = next.RecoverExecutions(context.WithoutCancel(t.Context()), routinetest.Time.Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("%d claimed executions of a process that ended were ended, %v", n, err)
	}
}

func TestQueueUsesIndexes(t *testing.T) {
	s := open(t, tempPath(t))
	for query, arguments := range map[string][]any{
		selectQueued: {9},
		`SELECT EXISTS (SELECT 1 FROM executions WHERE status = 'pending' AND owner = '' AND created_at < ?)`:               {1},
		`SELECT organization_id, count(*) FROM executions WHERE status = 'pending' AND owner = '' GROUP BY organization_id`: {},
	} {
		if plan := explain(t, s, query, arguments); !strings.Contains(plan, "INDEX executions_queued") || strings.Contains(plan, "SCAN executions\n") {
			t.Errorf("%s\ndoes not use the index:\n%s", query, plan)
		}
	}
}
