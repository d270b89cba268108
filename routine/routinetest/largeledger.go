package routinetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/stopwatch"
)

const (
	// LargeLedger is how many executions TestLargeLedger needs.
	LargeLedger = 100_000
	// largeLedgerRoutines is how many routines they belong to.
	largeLedgerRoutines = 50

	maxListTime  = 50 * time.Millisecond // of 95 in 100 pages
	maxNarrowed  = 20                    // times a page, on a slow machine, for a page that is looked for in all executions
	maxWriteTime = 20 * time.Millisecond // of 95 in 100 runs while rows are deleted
	maxSlower    = 10                    // times what it takes on a slow machine when no rows are deleted
	minPruned    = 10_000                // rows a second
)

// LargeLedgerValues is SQL for the values of execution n, from 1 to LargeLedger, in the
// columns LargeLedgerColumns, in the dialect of every store: they are a second apart. hex is
// an expression for 32 characters that depend on n.
func LargeLedgerValues(hex string) string {
	result := hex
	for range 5 {
		result += ` || ` + result // 1 KiB
	}
	return fmt.Sprintf(`'e' || (100000000 + n), 'r' || (n %% %d), 'name', 1, 'completed', %s, '', n * 1000000, n, n, 1, '{}',
		'ann', '', 'rest', 3, 3, 1026, 'acme', 'nobody'`, largeLedgerRoutines, result)
}

// LargeLedgerColumns are those of LargeLedgerValues.
const LargeLedgerColumns = `id, routine_id, routine_name, routine_version, status, result, error_code, created_at, started_at, completed_at,
	duration_seconds, parameters, created_by, token_id, via, operations_done, operations_total, size, organization_id, owner`

// TestLargeLedger checks the speed of a store with the executions of LargeLedgerValues: its
// pages come fast, and retention deletes many rows without keeping runs waiting.
func TestLargeLedger(t *testing.T, s routine.Store) {
	t.Helper()
	page := timePages(t, s)
	timeNarrowedPages(t, s, max(maxListTime, maxNarrowed*page))
	began := time.Now()
	wantPruned(t, s, routine.Retention{Size: 1 << 40}, time.UnixMicro(0), 0)
	first := time.Since(began)
	began = time.Now()
	wantPruned(t, s, routine.Retention{Size: 1 << 40}, time.UnixMicro(0).AddDate(0, 0, 30), 0)
	settled := time.Now()
	wantPruned(t, s, routine.Retention{Size: 1 << 40}, time.UnixMicro(0).AddDate(0, 0, 30), 0)
	t.Logf("a look whether the ledger is too large: %v, %v, then %v", first, settled.Sub(began), time.Since(settled))
	timePruning(t, s)
}

// timePages lists pages of all executions and of a routine. It returns within what 95 of 100 come.
func timePages(t *testing.T, s routine.Store) time.Duration {
	t.Helper()
	var lists []time.Duration
	for i := range 100 {
		f, want := routine.ExecutionFilter{OrganizationID: "acme", Limit: 20, Offset: i * 50}, routine.MaxTotal+1
		if i%2 == 1 {
			f.RoutineID, f.Offset, want = "r7", i*10, LargeLedger/largeLedgerRoutines
		}
		began := time.Now()
		list, total, err := s.Executions(t.Context(), f)
		lists = append(lists, time.Since(began))
		must(t, err)
		if total != want || len(list) != 20 {
			t.Fatalf("%+v: %d of %d, want 20 of %d", f, len(list), total, want)
		}
	}
	return report(t, "pages", lists, maxListTime)
}

// timeNarrowedPages lists what hardly any execution has, so that all executions are searched.
func timeNarrowedPages(t *testing.T, s routine.Store, limit time.Duration) {
	t.Helper()
	var lists []time.Duration
	for range 10 {
		for _, row := range []struct {
			f    routine.ExecutionFilter
			want int
		}{{routine.ExecutionFilter{Via: routine.ViaCLI}, 0}, {routine.ExecutionFilter{CreatedBy: "nobody"}, 0},
			{routine.ExecutionFilter{CreatedBy: "ann", Since: time.UnixMicro(0)}, 25}, {routine.ExecutionFilter{RoutineID: "r7", Version: 9}, 0}} {
			row.f.OrganizationID, row.f.Limit = "acme", 25
			began := time.Now()
			list, _, err := s.Executions(t.Context(), row.f)
			lists = append(lists, time.Since(began))
			must(t, err)
			if len(list) != row.want {
				t.Fatalf("%+v: %d, want %d", row.f, len(list), row.want)
			}
		}
	}
	report(t, "pages of a front end, a user or a version", lists, limit)
}

// timePruning creates executions while retention deletes most of the others.
func timePruning(t *testing.T, s routine.Store) {
	t.Helper()
	create := func() time.Duration {
		e := Execution(t)
		began := time.Now()
		must(t, s.CreateExecution(t.Context(), e))
		return time.Since(began)
	}
	alone := make([]time.Duration, 200)
	for i := range alone {
		alone[i] = create()
	}
	slices.Sort(alone)
	const day = 24 * time.Hour
	var pruning sync.WaitGroup
	done := make(chan struct{})
	pruning.Go(func() {
		defer close(done)
		var n int
		var err error
		took := stopwatch.Time(func() {
			n, err = s.Prune(t.Context(), routine.Retention{Age: time.Hour}, time.UnixMicro(0).Add(day+time.Hour))
		})
		if err != nil || n < LargeLedger*4/5 {
			t.Errorf("%d are deleted, %v", n, err)
		}
		rate := float64(n) / took.Seconds()
		t.Logf("%d executions are deleted in %v: %.0f a second", n, took, rate)
		if rate < minPruned {
			t.Errorf("%.0f executions are deleted a second, want %d", rate, minPruned)
		}
	})
	var writes []time.Duration
	for {
		writes = append(writes, create())
		select {
		case <-done:
			pruning.Wait()
			report(t, "new executions meanwhile", writes, max(maxWriteTime, maxSlower*alone[len(alone)*95/100]))
			return
		default:
		}
	}
}

// report logs durations, and fails the test if 95 of 100 do not stay within a limit. It returns
// within what these stay.
func report(t *testing.T, what string, all []time.Duration, limit time.Duration) time.Duration {
	t.Helper()
	slices.Sort(all)
	late := all[len(all)*95/100]
	t.Logf("%d %s: half within %v, 95 of 100 within %v", len(all), what, all[len(all)/2], late)
	if late > limit {
		t.Errorf("%s: 95 of 100 within %v, want %v", what, late, limit)
	}
	return late
}
