package postgres

import (
	"errors"
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

func wantEnd(t *testing.T, s *Store, id string, code routine.Code) {
	t.Helper()
	if e, err := s.Execution(t.Context(), id); err != nil || e.Open() || e.ErrorCode != code {
		t.Errorf("%+v, %v; want %q", e, err, code)
	}
}

// Queued executions belong to nobody: no process that dies takes them along, and any other
// may claim them.
func TestQueuedExecutionsBelongToNobody(t *testing.T) {
	url := emptyDatabase(t)
	creator, s := open(t, url), open(t, url)
	e, lost, sealed, cancelled := enqueue(t, creator), enqueue(t, creator), enqueue(t, creator), enqueue(t, creator)
	var plain int
	must(t, s.queryRow(t.Context(), `SELECT count(*) FROM execution_calls WHERE position('s3cret'::bytea in sealed) > 0`).Scan(&plain))
	must(t, creator.releaseOwner())
	n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Hour))
	must(t, err)
	if n != 0 || plain != 0 {
		t.Errorf("%d queued executions were ended, %d calls are not encrypted", n, plain)
	}
	execute(t, url, `DELETE FROM execution_calls WHERE execution_id = '`+lost.ID+`'`)
	execute(t, url, `UPDATE execution_calls SET sealed = 'another' WHERE execution_id = '`+sealed.ID+`'`)
	must(t, s.RequestCancel(t.Context(), cancelled.ID, routinetest.Time))
	for _, row := range []struct {
		id, call string
		err      error
	}{{e.ID, "s3cret call", nil}, {lost.ID, "", nil}, {sealed.ID, "", routine.ErrSealed}} {
		got, call, err := s.ClaimExecution(t.Context(), row.id, routinetest.Time, routinetest.QueueTime)
		if !errors.Is(err, row.err) || string(call) != row.call || got == nil || got.Status != routine.ExecutionRunning {
			t.Errorf("%+v, %q, %v; want %+v", got, call, err, row)
		}
	}
	var calls int
	must(t, s.queryRow(t.Context(), `SELECT count(*) FROM execution_calls`).Scan(&calls))
	if calls != 0 {
		t.Errorf("%d calls are kept", calls)
	}
	must(t, s.releaseOwner())
	last := open(t, url)
	if n, err = last.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Hour)); err != nil || n != 3 {
		t.Errorf("%d claimed executions of a process that ended were ended, %v", n, err)
	}
}

// A claim that was not confirmed is ended if the database has it, and only then. Meanwhile
// this process does not claim it again.
func TestDoubtfulClaimsAreEnded(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	claimed, queued, created, theirs := enqueue(t, s), enqueue(t, s), enqueue(t, s), enqueue(t, s)
	_, _, err := s.ClaimExecution(t.Context(), claimed.ID, routinetest.Time, routinetest.QueueTime)
	must(t, err)
	_, _, err = other.ClaimExecution(t.Context(), theirs.ID, routinetest.Time, routinetest.QueueTime)
	must(t, err)
	s.owner.doubt(claimed.ID, doubtful{})
	s.owner.doubt(queued.ID, doubtful{})
	s.owner.doubt(created.ID, doubtful{queued: true})
	s.owner.doubt(theirs.ID, doubtful{queued: true})
	if e, _, err := s.ClaimExecution(t.Context(), queued.ID, routinetest.Time, routinetest.QueueTime); err == nil || errors.Is(err, routine.ErrTaken) {
		t.Errorf("claimed while in doubt: %+v, %v", e, err)
	}
	n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
	must(t, err)
	if n != 2 {
		t.Errorf("%d ended", n)
	}
	wantEnd(t, s, claimed.ID, routine.CodeInterrupted)
	wantEnd(t, s, created.ID, routine.CodeInterrupted)
	if e, err := s.Execution(t.Context(), theirs.ID); err != nil || !e.Open() {
		t.Errorf("one that another process has claimed: %+v, %v", e, err)
	}
	if _, call, err := other.ClaimExecution(t.Context(), queued.ID, routinetest.Time, routinetest.QueueTime); err != nil || string(call) != "s3cret call" {
		t.Errorf("claimed by another process: %q, %v", call, err)
	}
}

// A claim may take effect long after its caller has left, and is ended then too. The
// process that made it claims the execution again once that is unlikely.
func TestLateClaimIsEnded(t *testing.T) {
	s := open(t, emptyDatabase(t))
	late, queued := enqueue(t, s), enqueue(t, s)
	for _, e := range []*routine.Execution{late, queued} {
		s.owner.doubt(e.ID, doubtful{})
		s.owner.doubtful[e.ID] = doubtful{since: time.Now().Add(-10 * time.Minute)}
	}
	if n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute)); err != nil || n != 0 {
		t.Fatalf("%d ended, %v", n, err)
	}
	owner, err := s.claimOwner(t.Context())
	must(t, err)
	_, err = s.exec(t.Context(), `UPDATE executions SET status = 'running', owner = $2 WHERE id = $1`, late.ID, owner)
	must(t, err)
	if _, _, err := s.ClaimExecution(t.Context(), late.ID, routinetest.Time, routinetest.QueueTime); !errors.Is(err, routine.ErrTaken) {
		t.Errorf("a claim that has taken effect: %v", err)
	}
	if _, call, err := s.ClaimExecution(t.Context(), queued.ID, routinetest.Time, routinetest.QueueTime); err != nil || string(call) != "s3cret call" {
		t.Errorf("a claim that was lost: %q, %v", call, err)
	}
	if n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute)); err != nil || n != 1 {
		t.Errorf("%d ended, %v", n, err)
	}
	wantEnd(t, s, late.ID, routine.CodeInterrupted)
}

// Executions that were saved before there was a queue keep their owner, and a program that
// does not know the queue refuses the schema.
func TestMigrationAddsQueue(t *testing.T) {
	url := databaseOfSchema(t, 2)
	execute(t, url, `
		INSERT INTO owners (id, host, started_at) VALUES ('o', 'h', 1);
		INSERT INTO executions (id, routine_id, routine_name, routine_version, status, error_code, created_at, created_by, token_id, via,
			operations_done, operations_total, size, organization_id, owner)
		VALUES ('e', 'r', 'name', 1, 'pending', '', 1, 'ann', '', 'rest', 0, 1, 0, 'acme', 'o')`)
	s := open(t, url)
	if _, _, err := s.ClaimExecution(t.Context(), "e", routinetest.Time, routinetest.QueueTime); !errors.Is(err, routine.ErrTaken) {
		t.Errorf("claim of an execution that was not queued: %v", err)
	}
	if _, _, err := s.ClaimExecution(t.Context(), enqueue(t, s).ID, routinetest.Time, routinetest.QueueTime); err != nil {
		t.Error(err)
	}
	state, err := s.readSchema(t.Context())
	must(t, err)
	if err := state.check(2); err == nil || !strings.Contains(err.Error(), "a newer rote has changed its schema") {
		t.Errorf("a program that does not know the queue: %v", err)
	}
}

// How long an execution has waited is measured by the clock of the database, however wrong
// those of the processes that queue, claim and expire it are.
func TestQueueTimeIsThatOfTheDatabase(t *testing.T) {
	const limit, wrong = time.Hour, 61 * time.Minute
	s := open(t, emptyDatabase(t))
	for _, accepter := range []time.Duration{-wrong, wrong} {
		for _, claimer := range []time.Duration{-wrong, wrong} {
			at := time.Now().Add(claimer).UTC()
			queue := func() string {
				e := routinetest.Execution(t, func(e *routine.Execution) {
					e.QueuedCall, e.CreatedAt = []byte("call"), time.Now().Add(accepter).UTC().Truncate(time.Microsecond)
				})
				must(t, s.CreateExecution(t.Context(), e))
				return e.ID
			}
			claimed, expired := queue(), queue()
			if n, err := s.ExpireExecutions(t.Context(), limit, at); n != 0 || err != nil {
				t.Errorf("accepter %v, other %v: %d expired at once, %v", accepter, claimer, n, err)
			}
			if _, _, err := s.ClaimExecution(t.Context(), claimed, at, limit); err != nil {
				t.Errorf("accepter %v, other %v: %v", accepter, claimer, err)
			}
			_, err := s.exec(t.Context(), `UPDATE execution_calls SET queued_at = queued_at - $1`, wrong.Microseconds())
			must(t, err)
			if _, _, err := s.ClaimExecution(t.Context(), expired, at, limit); !errors.Is(err, routine.ErrExpired) {
				t.Errorf("accepter %v, other %v: claimed too late: %v", accepter, claimer, err)
			}
			if n, err := s.ExpireExecutions(t.Context(), limit, at); n != 1 || err != nil {
				t.Errorf("accepter %v, other %v: %d expired, %v", accepter, claimer, n, err)
			}
		}
	}
}
