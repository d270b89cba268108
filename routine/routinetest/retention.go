package routinetest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

var retentionPromises = []promise{
	{"what is too old is deleted, with its files", pruneByAge},
	{"the oldest are deleted when there is too much", pruneBySize},
	{"parameters and evidence are a part of that", pruneBySizeOfAll},
	{"what is open is never deleted", pruneKeepsOpen},
	{"what a key stands for is kept", pruneKeepsKeys},
	{"what a webhook is to tell of is kept", pruneKeepsWebhooks},
	{"without bounds all is kept", pruneNothing},
}

// endedWithFiles creates executions a second apart, the first at Time, each with a large
// file, and ends them.
func endedWithFiles(t *testing.T, s routine.Store, n int) []*routine.Execution {
	t.Helper()
	var all []*routine.Execution
	for i := range n {
		e := create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Duration(i) * time.Second) })
		must(t, s.PutFile(t.Context(), e.ID, file("f", large)))
		e.Files = []routine.FileInfo{file("f", large).FileInfo}
		must(t, s.FinishExecution(t.Context(), Failed(e)))
		all = append(all, Failed(e))
	}
	return all
}

func wantPruned(t *testing.T, s routine.Store, r routine.Retention, now time.Time, want int) {
	t.Helper()
	n, err := s.Prune(t.Context(), r, now)
	must(t, err)
	equal(t, "pruned", n, want)
}

// wantLeft wants all but the first gone executions to be whole, and those to be
// gone whole.
func wantLeft(t *testing.T, s routine.Store, all []*routine.Execution, gone int) {
	t.Helper()
	for i, e := range all {
		got, err := s.File(t.Context(), e.ID, "f")
		if i < gone {
			wantErr(t, "File", err, routine.ErrNotFound)
			_, err = s.Execution(t.Context(), e.ID)
			wantErr(t, "Execution", err, routine.ErrNotFound)
			continue
		}
		must(t, err)
		if !bytes.Equal(got.Data, large) {
			t.Errorf("file of %d is not what it was", i)
		}
		wantExecution(t, s, e)
	}
}

func pruneByAge(t *testing.T, s routine.Store) {
	all := endedWithFiles(t, s, 4)
	r := routine.Retention{Age: time.Hour}
	wantPruned(t, s, r, Time.Add(time.Hour), 0)
	wantPruned(t, s, r, Time.Add(time.Hour+1500*time.Millisecond), 2)
	wantLeft(t, s, all, 2)
	wantPruned(t, s, r, Time.Add(time.Hour+1500*time.Millisecond), 0)
}

func pruneBySize(t *testing.T, s routine.Store) {
	all := endedWithFiles(t, s, 4)
	wantPruned(t, s, routine.Retention{Size: 3*int64(len(large)) - 1, Age: 1000 * time.Hour}, Time, 2)
	wantLeft(t, s, all, 2)
	result := Ended(create(t, s, func(e *routine.Execution) { e.CreatedAt = Time.Add(time.Hour) }))
	must(t, s.FinishExecution(t.Context(), result))
	wantPruned(t, s, routine.Retention{Size: 2 * int64(len(large))}, Time, 1)
	wantLeft(t, s, all, 3)
	wantExecution(t, s, result)
}

func pruneBySizeOfAll(t *testing.T, s routine.Store) {
	for i := range 4 {
		e := create(t, s, func(e *routine.Execution) {
			e.CreatedAt = Time.Add(time.Duration(i) * time.Second)
			e.Parameters = json.RawMessage(`"` + strings.Repeat("x", 9_998) + `"`)
		})
		e = Failed(e)
		e.Evidence = &routine.Evidence{Console: []string{strings.Repeat("x", 10_000)}}
		must(t, s.FinishExecution(t.Context(), e))
	}
	wantPruned(t, s, routine.Retention{Size: 85_000}, Time, 0)
	wantPruned(t, s, routine.Retention{Size: 79_000}, Time, 1)
	wantPruned(t, s, routine.Retention{Size: 25_000}, Time, 2)
}

func pruneKeepsOpen(t *testing.T, s routine.Store) {
	pending, running := create(t, s), create(t, s)
	must(t, s.StartExecution(t.Context(), running.ID, Time))
	must(t, s.PutFile(t.Context(), running.ID, file("f", large)))
	wantPruned(t, s, routine.Retention{Size: 1, Age: 1}, Time.Add(time.Hour), 0)
	wantExecution(t, s, pending)
	must(t, s.FinishExecution(t.Context(), Failed(running)))
	wantPruned(t, s, routine.Retention{Size: 1, Age: 1}, Time.Add(time.Hour), 1)
}

func pruneKeepsKeys(t *testing.T, s routine.Store) {
	e := create(t, s, func(e *routine.Execution) { e.Key = key() })
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	r := routine.Retention{Size: 1, Age: 1}
	wantPruned(t, s, r, Time.Add(routine.IdempotencyTime-time.Second), 0)
	wantMade(t, s, key(), e.ID)
	wantPruned(t, s, r, Time.Add(routine.IdempotencyTime), 1)
}

func pruneKeepsWebhooks(t *testing.T, s routine.Store) {
	endedWithCallback(t, s)
	r := routine.Retention{Age: 1}
	wantPruned(t, s, r, Time.Add(time.Hour), 0)
	claimed, err := s.ClaimWebhooks(t.Context(), claim(Time, 1))
	must(t, err)
	must(t, s.SettleWebhook(t.Context(), claimed[0].ID, claimed[0].Attempt, "status 200", nil))
	wantPruned(t, s, r, Time.Add(time.Hour), 1)
}

func pruneNothing(t *testing.T, s routine.Store) {
	all := endedWithFiles(t, s, 2)
	wantPruned(t, s, routine.Retention{}, Time.Add(1e6*time.Hour), 0)
	wantLeft(t, s, all, 0)
}
