package routinetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"rote/routine"
)

var executionPromises = []promise{
	{"an execution is read back whole", executionIsKept},
	{"times keep their microseconds, in UTC", executionTimes},
	{"a result without data reads as JSON null", resultWithoutData},
	{"an execution that was never created is not found", executionNotFound},
	{"a pending execution is started", pendingIsStarted},
	{"a running execution is not started again", runningIsNotStarted},
	{"an ended execution is not started", endedIsNotStarted},
	{"an execution that is created as running is like one that was started", createdRunning},
	{"a pending or running execution is finished", openIsFinished},
	{"an ended execution is not finished again", endedIsFinal},
	{"an execution is not finished into an open status", finishNeedsFinalStatus},
	{"of many that finish an execution at once one succeeds", finishRace},
	{"an execution passed in is copied", executionIsCopiedIn},
	{"an execution returned is the caller's own", executionIsCopiedOut},
	{"recovery leaves the store's own open executions", recoveryLeavesOwn},
}

func create(t *testing.T, s routine.Store, edits ...func(*routine.Execution)) *routine.Execution {
	t.Helper()
	e := Execution(t, edits...)
	must(t, s.CreateExecution(t.Context(), e))
	return e
}

func wantExecution(t *testing.T, s routine.Store, want *routine.Execution) {
	t.Helper()
	got, err := s.Execution(t.Context(), want.ID)
	must(t, err)
	equal(t, "execution", got, want)
}

func executionIsKept(t *testing.T, s routine.Store) {
	running := Execution(t, func(e *routine.Execution) {
		e.Status, e.StartedAt, e.Parameters = routine.ExecutionRunning, new(Time), nil
	})
	odd := Failed(Execution(t, func(e *routine.Execution) { e.RoutineName = "nul \x00 quote ' emoji 🙂" }))
	odd.Error = new("first line\nsecond \x00 line")
	kept := []*routine.Execution{Execution(t), running, Ended(Execution(t)), Failed(Execution(t)), odd}
	for _, e := range kept {
		must(t, s.CreateExecution(t.Context(), e))
	}
	for _, e := range kept {
		wantExecution(t, s, e)
	}
}

func executionTimes(t *testing.T, s routine.Store) {
	east := time.FixedZone("east", 5*3600+1800)
	for _, row := range []struct{ written, want time.Time }{
		{time.Date(2026, 1, 1, 3, 0, 0, 123456789, east), time.Date(2025, 12, 31, 21, 30, 0, 123456000, time.UTC)},
		{time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)},
		{time.Time{}, time.Time{}},
	} {
		e := Ended(Execution(t))
		e.CreatedAt, e.StartedAt, e.CompletedAt = row.written, &row.written, &row.written
		must(t, s.CreateExecution(t.Context(), e))
		got, err := s.Execution(t.Context(), e.ID)
		must(t, err)
		for _, at := range []time.Time{got.CreatedAt, *got.StartedAt, *got.CompletedAt} {
			// == on purpose: the location has to be UTC as well.
			if at != row.want {
				t.Errorf("%v was read as %#v, want %#v", row.written, at, row.want)
			}
		}
	}
}

func resultWithoutData(t *testing.T, s routine.Store) {
	e := Ended(Execution(t))
	e.Result.Data = nil
	must(t, s.CreateExecution(t.Context(), e))
	e.Result.Data = json.RawMessage("null")
	wantExecution(t, s, e)
}

func executionNotFound(t *testing.T, s routine.Store) {
	create(t, s)
	_, err := s.Execution(t.Context(), "no-such-id")
	wantErr(t, "Execution", err, routine.ErrNotFound)
	wantErr(t, "StartExecution", s.StartExecution(t.Context(), "no-such-id", Time), routine.ErrNotFound)
	wantErr(t, "FinishExecution", s.FinishExecution(t.Context(), Ended(Execution(t))), routine.ErrNotFound)
}

func pendingIsStarted(t *testing.T, s routine.Store) {
	e, other := create(t, s), create(t, s)
	at := Time.Add(time.Minute)
	must(t, s.StartExecution(t.Context(), e.ID, at))
	e.Status, e.StartedAt = routine.ExecutionRunning, &at
	wantExecution(t, s, e)
	wantExecution(t, s, other)
}

func runningIsNotStarted(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.StartExecution(t.Context(), e.ID, Time))
	err := s.StartExecution(t.Context(), e.ID, Time.Add(time.Hour))
	if err == nil || errors.Is(err, routine.ErrFinal) || errors.Is(err, routine.ErrNotFound) {
		t.Errorf("second start: error %v, want one that says that it is running", err)
	}
	e.Status, e.StartedAt = routine.ExecutionRunning, new(Time)
	wantExecution(t, s, e)
}

func endedIsNotStarted(t *testing.T, s routine.Store) {
	for _, end := range []func(*routine.Execution) *routine.Execution{Ended, Failed} {
		e := end(create(t, s))
		must(t, s.FinishExecution(t.Context(), e))
		wantErr(t, "StartExecution", s.StartExecution(t.Context(), e.ID, Time.Add(time.Hour)), routine.ErrFinal)
		wantExecution(t, s, e)
	}
}

func createdRunning(t *testing.T, s routine.Store) {
	e := create(t, s, func(e *routine.Execution) {
		e.Status, e.StartedAt = routine.ExecutionRunning, new(Time.Add(time.Millisecond))
		e.Key = key()
		withCallback(e)
	})
	if err := s.StartExecution(t.Context(), e.ID, Time); err == nil {
		t.Error("it was started again")
	}
	wantMade(t, s, key(), e.ID)
	must(t, s.RequestCancel(t.Context(), e.ID, Time))
	wantCancelHeard(t, s, e.ID)
	e.Key, e.Callback = nil, nil
	wantExecution(t, s, e)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	equal(t, "due webhooks", due(t, s, Time.Add(time.Hour)), map[string]int{e.ID: 1})
	wantExecution(t, s, Ended(e))
}

func openIsFinished(t *testing.T, s routine.Store) {
	for _, end := range []func(*routine.Execution) *routine.Execution{Ended, Failed} {
		pending, running, other := create(t, s), create(t, s), create(t, s)
		must(t, s.StartExecution(t.Context(), running.ID, Time))
		for _, e := range []*routine.Execution{pending, running} {
			want := end(e)
			// What identifies the run was settled when it was created.
			passed := *want
			passed.RoutineID, passed.RoutineName, passed.RoutineVersion = "x", "x", 99
			passed.CreatedBy, passed.OrganizationID, passed.Parameters = "x", "x", nil
			passed.CreatedAt = Time.Add(-time.Hour)
			must(t, s.FinishExecution(t.Context(), &passed))
			wantExecution(t, s, want)
		}
		wantExecution(t, s, other)
	}
}

func endedIsFinal(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	wantErr(t, "second finish", s.FinishExecution(t.Context(), Failed(e)), routine.ErrFinal)
	wantErr(t, "third finish", s.FinishExecution(t.Context(), Ended(e)), routine.ErrFinal)
	wantExecution(t, s, Ended(e))

	created := Failed(Execution(t))
	must(t, s.CreateExecution(t.Context(), created))
	wantErr(t, "finish of one created as failed", s.FinishExecution(t.Context(), Ended(created)), routine.ErrFinal)
	wantExecution(t, s, created)
}

func finishNeedsFinalStatus(t *testing.T, s routine.Store) {
	e := create(t, s)
	for _, status := range []routine.ExecutionStatus{routine.ExecutionPending, routine.ExecutionRunning} {
		passed := Ended(e)
		passed.Status = status
		if err := s.FinishExecution(t.Context(), passed); err == nil {
			t.Errorf("finished as %s", status)
		}
	}
	wantExecution(t, s, e)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
}

func finishRace(t *testing.T, s routine.Store) {
	e := create(t, s)
	must(t, s.StartExecution(t.Context(), e.ID, Time))
	attempt := func(i int) *routine.Execution {
		failed := Failed(e)
		failed.Error = new(fmt.Sprintf("attempt %d", i))
		return failed
	}
	errs := race(32, func(i int) error { return s.FinishExecution(t.Context(), attempt(i)) })
	wantExecution(t, s, attempt(onlyWinner(t, errs, routine.ErrFinal)))
}

// spoilExecution changes everything that an ended execution holds by reference.
func spoilExecution(e *routine.Execution) {
	e.Parameters[2] = 'X'
	*e.StartedAt, *e.CompletedAt, *e.DurationSeconds = time.Time{}, time.Time{}, -1
	e.Result.Data[2] = 'X'
	e.Result.Warnings[0] = "spoilt"
	*e.Result.PlaceholderResolution["cookie:session"] = "spoilt"
	delete(e.Result.PlaceholderResolution, "meta:token")
	*e.Result.Size = 0
	e.Result.OperationsMetadata[0].Details["url"] = "spoilt"
	*e.Result.OperationsMetadata[1].Error = "spoilt"
}

// fixed returns a new copy of the same ended execution each time.
func fixed(t *testing.T) *routine.Execution {
	return Ended(Execution(t, func(e *routine.Execution) { e.ID, e.RoutineID = "fixed", "r" }))
}

func executionIsCopiedIn(t *testing.T, s routine.Store) {
	passed := fixed(t)
	must(t, s.CreateExecution(t.Context(), passed))
	spoilExecution(passed)
	wantExecution(t, s, fixed(t))

	failed := Failed(create(t, s, func(e *routine.Execution) { e.ID = "finished" }))
	must(t, s.FinishExecution(t.Context(), failed))
	*failed.Error, failed.Evidence.Elements[0].Selector = "spoilt", "spoilt"
	got, err := s.Execution(t.Context(), "finished")
	must(t, err)
	equal(t, "error", *got.Error, *Failed(Execution(t)).Error)
	equal(t, "evidence", got.Evidence, Failed(Execution(t)).Evidence)
}

func executionIsCopiedOut(t *testing.T, s routine.Store) {
	must(t, s.CreateExecution(t.Context(), fixed(t)))
	got, err := s.Execution(t.Context(), "fixed")
	must(t, err)
	spoilExecution(got)
	wantExecution(t, s, fixed(t))
}

func recoveryLeavesOwn(t *testing.T, s routine.Store) {
	pending, running, ended := create(t, s), create(t, s), create(t, s)
	must(t, s.StartExecution(t.Context(), running.ID, Time))
	running.Status, running.StartedAt = routine.ExecutionRunning, new(Time)
	ended = Ended(ended)
	must(t, s.FinishExecution(t.Context(), ended))

	n, err := s.RecoverExecutions(t.Context(), Time.Add(time.Hour))
	must(t, err)
	equal(t, "recovered", n, 0)
	for _, e := range []*routine.Execution{pending, running, ended} {
		wantExecution(t, s, e)
	}
}
