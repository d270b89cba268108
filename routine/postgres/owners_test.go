package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/rows"
)

// fast is defaultTiming, 25 times as fast.
var fast = timing{beatInterval: 80 * time.Millisecond, deadAfter: 400 * time.Millisecond, maxLookGap: 200 * time.Millisecond,
	maxSilence: 320 * time.Millisecond}

func withTiming(c *Config) { c.timing = fast }

// An owner is dead when its beat has not changed for deadAfter, in which it was looked at
// often enough.
func TestSightingsTakeOnlyTheDeadForDead(t *testing.T) {
	start := time.Now()
	type look struct {
		after time.Duration
		beats map[string]int64
		dead  []string
	}
	for name, looks := range map[string][]look{
		"an owner that beats": {{0, map[string]int64{"a": 1}, nil}, {4 * time.Second, map[string]int64{"a": 2}, nil},
			{8 * time.Second, map[string]int64{"a": 3}, nil}, {12 * time.Second, map[string]int64{"a": 4}, nil}},
		"an owner that is silent": {{0, map[string]int64{"a": 1}, nil}, {4 * time.Second, map[string]int64{"a": 1}, nil},
			{8 * time.Second, map[string]int64{"a": 1}, nil}, {10 * time.Second, map[string]int64{"a": 1}, []string{"a"}}},
		"the time in which the database was away counts against nobody": {{0, map[string]int64{"a": 1}, nil}, {60 * time.Second, map[string]int64{"a": 1}, nil},
			{64 * time.Second, map[string]int64{"a": 1}, nil},
			{69 * time.Second, map[string]int64{"a": 1}, nil}, {70 * time.Second, map[string]int64{"a": 1}, []string{"a"}}},
		"a beat after a long silence": {{0, map[string]int64{"a": 1}, nil}, {4 * time.Second, map[string]int64{"a": 1}, nil},
			{8 * time.Second, map[string]int64{"a": 1}, nil}, {9 * time.Second, map[string]int64{"a": 2}, nil}, {11 * time.Second, map[string]int64{"a": 2}, nil}},
		"executions without an owner row": {{0, map[string]int64{"a": noOwnerRow, "b": 1}, []string{"a"}}},
		"an owner that went and came back": {{0, map[string]int64{"a": 1}, nil}, {4 * time.Second, map[string]int64{}, nil},
			{8 * time.Second, map[string]int64{"a": 1}, nil}, {12 * time.Second, map[string]int64{"a": 1}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			v := sightings{timing: defaultTiming, seen: map[string]sighting{}}
			for _, l := range looks {
				var dead []string
				for id := range v.look(l.beats, start.Add(l.after)) {
					dead = append(dead, id)
				}
				if diff := cmp.Diff(l.dead, dead); diff != "" {
					t.Errorf("after %v (-want +got):\n%s", l.after, diff)
				}
			}
		})
	}
}

// recoverUntil lets a Store look for dead owners until it has ended n executions.
func recoverUntil(t *testing.T, s *Store, n int) {
	t.Helper()
	ended := 0
	eventually(t, func() bool {
		more, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
		must(t, err)
		ended += more
		return ended >= n
	})
	if ended != n {
		t.Fatalf("%d executions ended, want %d", ended, n)
	}
}

// eventually waits until a condition is true.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it did not become true")
		}
	}
}

func create(t *testing.T, s *Store, edits ...func(*routine.Execution)) *routine.Execution {
	t.Helper()
	e := routinetest.Execution(t, edits...)
	must(t, s.CreateExecution(t.Context(), e))
	return e
}

// freeze stops the beats of a Store, as SIGSTOP does, until thaw is called.
func freeze(t *testing.T, s *Store) (thaw func()) {
	t.Helper()
	must(t, s.owner.lock(t.Context()))
	return s.owner.unlock
}

// A frozen process loses its executions to another one. When it continues, it cannot
// change them any more, and its next ones are its own again.
func TestFrozenProcessContinuesAsAnother(t *testing.T) {
	url := emptyDatabase(t)
	frozen, living := open(t, url, withTiming), open(t, url, withTiming)
	lost, kept := create(t, frozen), create(t, living)
	before, _, _ := frozen.owner.state()
	recoverNone := func() {
		t.Helper()
		n, err := living.RecoverExecutions(t.Context(), routinetest.Time)
		must(t, err)
		if n != 0 {
			t.Errorf("%d executions of living processes were ended", n)
		}
	}
	recoverNone()

	thaw := freeze(t, frozen)
	recoverUntil(t, living, 1)
	if err := frozen.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "could not tell others") {
		t.Errorf("ping of a frozen process: %v", err)
	}
	thaw()
	end := routinetest.Ended(lost)
	if err := frozen.FinishExecution(t.Context(), end); !errors.Is(err, routine.ErrFinal) {
		t.Errorf("late end: %v, want ErrFinal", err)
	}
	got, err := living.Execution(t.Context(), lost.ID)
	must(t, err)
	if got.Status != routine.ExecutionFailed || got.ErrorCode != routine.CodeInterrupted || *got.Error != rows.Interrupted || got.Result != nil {
		t.Errorf("%+v", got)
	}
	next := create(t, frozen)
	if after, _, _ := frozen.owner.state(); after == before {
		t.Error("the owner has its old id")
	}
	must(t, frozen.Ping(t.Context()))
	recoverNone()
	for _, e := range []*routine.Execution{next, kept} {
		must(t, living.FinishExecution(t.Context(), routinetest.Ended(e)))
	}
}

// A process whose row was deleted while it did not beat takes a new one before it creates
// an execution, even if it believes that it has beaten a moment ago.
func TestExecutionsAreNeverWithoutOwner(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	create(t, s)
	_, err := other.pool.Exec(t.Context(), `DELETE FROM executions`)
	must(t, err)
	_, err = other.pool.Exec(t.Context(), `DELETE FROM owners`)
	must(t, err)
	e := create(t, s)
	n, err := other.RecoverExecutions(t.Context(), routinetest.Time)
	must(t, err)
	if got, err := other.Execution(t.Context(), e.ID); err != nil || n != 0 || !got.Open() {
		t.Errorf("%d ended, %+v, %v", n, got, err)
	}
}

// An owner that beats while another process ends its executions keeps them. The beat is
// not committed yet when the other process begins.
func TestBeatDuringRecovery(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	e := create(t, s)
	thaw := freeze(t, s) // the test beats for it
	defer thaw()
	beats, err := other.otherBeats(t.Context())
	must(t, err)
	id, _, _ := s.owner.state()
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }() // no effect after Commit
	_, err = tx.Exec(t.Context(), `UPDATE owners SET beat = beat + 1 WHERE id = $1`, id)
	must(t, err)
	var ended int
	recovered := make(chan error, 1)
	go func() {
		n, err := other.recoverFrom(t.Context(), id, beats[id], routinetest.Time)
		ended = n
		recovered <- err
	}()
	eventually(t, func() bool {
		var waits bool
		must(t, s.queryRow(t.Context(), `
			SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits))
		return waits
	})
	must(t, tx.Commit(t.Context()))
	must(t, <-recovered)
	if got, err := other.Execution(t.Context(), e.ID); err != nil || ended != 0 || !got.Open() {
		t.Errorf("%d ended, %+v, %v", ended, got, err)
	}
}

// A database that can be read but refuses beats makes nobody look dead, neither to a
// process that has executions itself nor to one that has none. When the database takes
// changes again, an owner has time to beat.
func TestRefusedBeatsCountAgainstNobody(t *testing.T) {
	for name, owns := range map[string]bool{"a process with executions": true, "a process without executions": false} {
		t.Run(name, func(t *testing.T) {
			url := emptyDatabase(t)
			s, other := open(t, url, withTiming), open(t, url, withTiming)
			create(t, s)
			if owns {
				create(t, other)
			}
			allow := refuseBeats(t, url)
			tick := time.NewTicker(fast.beatInterval / 2)
			defer tick.Stop()
			for began := time.Now(); time.Since(began) < 3*fast.deadAfter; <-tick.C {
				_, _ = other.RecoverExecutions(t.Context(), routinetest.Time) // it may fail
			}
			thaw := freeze(t, s) // it beats later than the other looks
			defer thaw()
			allow()
			n, err := other.RecoverExecutions(t.Context(), routinetest.Time)
			must(t, err)
			if n != 0 {
				t.Errorf("%d executions of living processes were ended", n)
			}
		})
	}
}

// refuseBeats makes the database refuse changes of owner rows, also statements that would
// change none, until allow is called.
func refuseBeats(t *testing.T, url string) (allow func()) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	must(t, err)
	remove := func(ctx context.Context) error {
		_, err := c.Exec(ctx, `DROP TRIGGER IF EXISTS refuse ON owners; DROP FUNCTION IF EXISTS refuse()`)
		return err
	}
	t.Cleanup(func() {
		must(t, remove(context.WithoutCancel(t.Context())))
		must(t, c.Close(context.WithoutCancel(t.Context())))
	})
	_, err = c.Exec(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'cannot be changed' USING ERRCODE = 'read_only_sql_transaction'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON owners FOR EACH STATEMENT EXECUTE FUNCTION refuse()`)
	must(t, err)
	return func() { must(t, remove(t.Context())) }
}

// Executions whose owner has no row are ended at once.
func TestExecutionsWithoutOwnerAreEnded(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	e, kept := create(t, s), create(t, other)
	thaw := freeze(t, s) // it would take a new row
	defer thaw()
	id, _, _ := s.owner.state()
	_, err := other.pool.Exec(t.Context(), `DELETE FROM owners WHERE id = $1`, id)
	must(t, err)
	n, err := other.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
	must(t, err)
	if got, err := other.Execution(t.Context(), e.ID); err != nil || n != 1 || got.ErrorCode != routine.CodeInterrupted {
		t.Errorf("%d ended, %+v, %v", n, got, err)
	}
	if got, err := other.Execution(t.Context(), kept.ID); err != nil || !got.Open() {
		t.Errorf("%+v, %v", got, err)
	}
}

// Close gives the executions that are still open to the other processes at once.
func TestClosedStoreHasNoOwner(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	e := create(t, s)
	must(t, s.releaseOwner())
	n, err := other.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
	must(t, err)
	if got, err := other.Execution(t.Context(), e.ID); err != nil || n != 1 || got.ErrorCode != routine.CodeInterrupted {
		t.Errorf("%d ended, %+v, %v", n, got, err)
	}
	if err := s.CreateExecution(t.Context(), routinetest.Execution(t)); !errors.Is(err, errClosed) {
		t.Errorf("execution of a closed store: %v", err)
	}
}

// An execution whose creation was not confirmed is not run by anybody, so it is ended if
// the database has it after all.
func TestDoubtfulExecutionsAreEnded(t *testing.T) {
	s := open(t, emptyDatabase(t))
	e, other := create(t, s), create(t, s)
	s.owner.doubt(e.ID, doubtful{})
	for _, want := range []int{1, 0} {
		n, err := s.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
		must(t, err)
		if n != want {
			t.Errorf("%d ended, want %d", n, want)
		}
	}
	if got, err := s.Execution(t.Context(), e.ID); err != nil || got.ErrorCode != routine.CodeInterrupted {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Execution(t.Context(), other.ID); err != nil || !got.Open() {
		t.Errorf("%+v, %v", got, err)
	}
}

// A process ends no executions of others once a newer program has changed what they mean.
func TestOldProcessEndsNothing(t *testing.T) {
	url := emptyDatabase(t)
	s, other := open(t, url), open(t, url)
	e := create(t, s)
	must(t, s.releaseOwner())
	execute(t, url, `UPDATE compatibility SET min_schema = 1000`)
	defer execute(t, url, `UPDATE compatibility SET min_schema = 3`)
	n, err := other.RecoverExecutions(t.Context(), routinetest.Time.Add(time.Minute))
	if err == nil || !strings.Contains(err.Error(), "upgrade rote") || n != 0 {
		t.Errorf("%d ended, %v", n, err)
	}
	if got, err := other.Execution(t.Context(), e.ID); err != nil || !got.Open() {
		t.Errorf("%+v, %v", got, err)
	}
}

// Processes whose clocks are wrong, or jump by hours in either direction, take nobody for
// dead who lives, and find who is.
func TestWrongClocks(t *testing.T) {
	url := emptyDatabase(t)
	s := open(t, url, withTiming)
	e := create(t, s)
	tick := time.NewTicker(fast.maxLookGap / 4)
	defer tick.Stop()
	ahead, behind, jumping := open(t, url, withTiming), open(t, url, withTiming), open(t, url, withTiming)
	jumps := []time.Duration{0, time.Hour, -time.Hour, 3 * time.Hour, -3 * time.Hour}
	round := 0
	for began := time.Now(); time.Since(began) < 2*fast.deadAfter; <-tick.C {
		for other, wrong := range map[*Store]time.Duration{ahead: 3 * time.Hour, behind: -3 * time.Hour, jumping: jumps[round%len(jumps)]} {
			if n, err := other.RecoverExecutions(t.Context(), time.Now().Add(wrong)); err != nil || n != 0 {
				t.Fatalf("a clock wrong by %v: %d, %v", wrong, n, err)
			}
		}
		round++
	}
	defer freeze(t, s)()
	eventually(t, func() bool {
		<-tick.C
		round++
		n, err := jumping.RecoverExecutions(t.Context(), time.Now().Add(jumps[round%len(jumps)]))
		must(t, err)
		return n == 1
	})
	wantEnd(t, jumping, e.ID, routine.CodeInterrupted)
}
