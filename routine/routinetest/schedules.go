package routinetest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
)

var schedulePromises = []promise{
	{"a schedule is read back whole, and its values apart", scheduleIsKept},
	{"a schedule that was never created is not found", scheduleNotFound},
	{"an organization has at most as many schedules as its limit", scheduleLimit},
	{"schedules are listed by organization, newest first", schedulesAreListed},
	{"a change of a schedule replaces its settings and nothing else", scheduleIsChanged},
	{"of many that change a schedule at once one succeeds", scheduleChangeRace},
	{"schedules are due from their time on, longest due first", schedulesAreDue},
	{"a schedule that was moved by a clock that is far ahead is found", scheduleOfWrongClock},
	{"an execution claims the time of its schedule", executionClaims},
	{"a queued execution claims the time of its schedule too", queuedExecutionClaims},
	{"of many executions for one time of a schedule one is created", scheduleClaimRace},
	{"a time without a run is recorded with its reason", scheduleIsMoved},
	{"a claim fails when the schedule has changed meanwhile", claimOfChanged},
	{"the data of a schedule's executions is compared with that before", dataIsCompared},
	{"the end of a scheduled execution is reported as its callback says", notifyIsKept},
}

// Schedule returns a schedule of organization "acme" that is due an hour after Time.
func Schedule(t testing.TB, edits ...func(*routine.Schedule)) *routine.Schedule {
	t.Helper()
	sc := &routine.Schedule{
		ID: "Schedule_" + newID(t), RoutineID: "Routine_" + newID(t), RoutineVersion: 2,
		Parameters: json.RawMessage(`{"item":"<lamp> & more","code":"***"}`), Values: json.RawMessage(`{"item":"<lamp> & more","code":"\u0000secret"}`),
		TimeoutSeconds: 12.5, Cron: "0 7 * * *", Zone: "Europe/Berlin", Enabled: true, Missed: routine.MissedRunOnce,
		CallbackURL: "https://receiver.example/?a=b", Notify: routine.NotifyOnChange,
		NextAt: new(Time.Add(time.Hour)), MovedAt: Time, CreatedAt: Time, UpdatedAt: Time, CreatedBy: "ann",
		RunsAs: "ann", ProjectID: "prices", TokenID: "t1", OrganizationID: "acme", Scopes: routine.ScopeExecutionsRun,
		AllowedHosts: []string{"*.example"}, Revision: 1,
	}
	for _, edit := range edits {
		edit(sc)
	}
	return sc
}

func createSchedule(t *testing.T, s routine.Store, edits ...func(*routine.Schedule)) *routine.Schedule {
	t.Helper()
	sc := Schedule(t, edits...)
	must(t, s.CreateSchedule(t.Context(), sc, 1000))
	return sc
}

// wantSchedule compares a schedule, and its values.
func wantSchedule(t *testing.T, s routine.Store, want *routine.Schedule) {
	t.Helper()
	got, err := s.Schedule(t.Context(), want.ID)
	must(t, err)
	shown := *want
	shown.Values = nil
	equal(t, "schedule", got, &shown)
	values, err := s.ScheduleValues(t.Context(), want.ID)
	must(t, err)
	equal(t, "values", string(values), string(want.Values))
}

func scheduleIsKept(t *testing.T, s routine.Store) {
	wantSchedule(t, s, createSchedule(t, s))
	paused := createSchedule(t, s, func(sc *routine.Schedule) {
		sc.Enabled, sc.NextAt, sc.CallbackURL, sc.TokenID, sc.RoutineVersion = false, nil, "", "", 0
		sc.Parameters, sc.Values, sc.AllowedHosts = json.RawMessage(`{}`), json.RawMessage(`{}`), nil
	})
	wantSchedule(t, s, paused)
	large := json.RawMessage(`{"item":"` + strings.Repeat("x", 300_000) + `"}`)
	wantSchedule(t, s, createSchedule(t, s, func(sc *routine.Schedule) { sc.Parameters, sc.Values = large, large }))
}

func scheduleNotFound(t *testing.T, s routine.Store) {
	createSchedule(t, s)
	for _, id := range []string{"no-such-id", "nul \x00"} {
		_, err := s.Schedule(t.Context(), id)
		wantErr(t, "Schedule", err, routine.ErrNotFound)
		_, err = s.ScheduleValues(t.Context(), id)
		wantErr(t, "ScheduleValues", err, routine.ErrNotFound)
		wantErr(t, "DeleteSchedule", s.DeleteSchedule(t.Context(), id), routine.ErrNotFound)
		_, err = s.CompareScheduleData(t.Context(), id, "e", [32]byte{})
		wantErr(t, "CompareScheduleData", err, routine.ErrNotFound)
	}
	wantErr(t, "UpdateSchedule", s.UpdateSchedule(t.Context(), Schedule(t), routine.ScheduleChange{}), routine.ErrNotFound)
	sc := createSchedule(t, s)
	must(t, s.DeleteSchedule(t.Context(), sc.ID))
	_, err := s.Schedule(t.Context(), sc.ID)
	wantErr(t, "after it was deleted", err, routine.ErrNotFound)
	wantErr(t, "a claim of a deleted one", s.MoveSchedule(t.Context(), claimOf(sc), nil), routine.ErrNotDue)
}

func scheduleLimit(t *testing.T, s routine.Store) {
	must(t, s.CreateSchedule(t.Context(), Schedule(t, func(sc *routine.Schedule) { sc.OrganizationID = "other" }), 1))
	errs := race(8, func(int) error { return s.CreateSchedule(t.Context(), Schedule(t), 3) })
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
			continue
		}
		wantErr(t, "beyond the limit", err, routine.ErrScheduleLimit)
	}
	equal(t, "created", created, 3)
}

func schedulesAreListed(t *testing.T, s routine.Store) {
	var want []string
	for i := range 3 {
		sc := createSchedule(t, s, func(sc *routine.Schedule) { sc.CreatedAt = Time.Add(time.Duration(i) * time.Second) })
		want = append([]string{sc.ID}, want...)
	}
	createSchedule(t, s, func(sc *routine.Schedule) { sc.OrganizationID = "other" })
	ids := func(f routine.ScheduleFilter) (ids []string, total int) {
		list, total, err := s.Schedules(t.Context(), f)
		must(t, err)
		for _, sc := range list {
			ids = append(ids, sc.ID)
			equal(t, "values in a list", sc.Values, json.RawMessage(nil))
		}
		return ids, total
	}
	got, total := ids(routine.ScheduleFilter{OrganizationID: "acme"})
	equal(t, "all", got, want)
	equal(t, "total", total, 3)
	got, total = ids(routine.ScheduleFilter{OrganizationID: "acme", Limit: 1, Offset: 1})
	equal(t, "the second", got, want[1:2])
	equal(t, "total", total, 3)
	one := createSchedule(t, s, func(sc *routine.Schedule) {
		sc.RoutineID, sc.Parameters = "of one", json.RawMessage(`"`+strings.Repeat("x", routine.MaxListedParameters)+`"`)
	})
	list, total, err := s.Schedules(t.Context(), routine.ScheduleFilter{OrganizationID: "acme", RoutineID: "of one"})
	must(t, err)
	if total != 1 || list[0].ID != one.ID || !list[0].ParametersOmitted || list[0].Parameters != nil {
		t.Errorf("of one routine: %d, %+v", total, list)
	}
	_, total = ids(routine.ScheduleFilter{OrganizationID: "nobody"})
	equal(t, "of nobody", total, 0)
}

// claimOf claims the time at which sc is due, for a day later.
func claimOf(sc *routine.Schedule) *routine.ScheduleClaim {
	return &routine.ScheduleClaim{ID: sc.ID, Revision: sc.Revision, Due: *sc.NextAt, Next: sc.NextAt.Add(24 * time.Hour), MovedAt: sc.NextAt.Add(time.Second)}
}

func scheduleIsChanged(t *testing.T, s routine.Store) {
	sc, other := createSchedule(t, s), createSchedule(t, s)
	changed := Schedule(t, func(c *routine.Schedule) {
		c.ID, c.OrganizationID, c.CreatedBy, c.CreatedAt = sc.ID, "x", "x", Time.Add(-time.Hour)
		c.Cron, c.Zone, c.RunsAs, c.TokenID, c.Scopes, c.UpdatedAt = "@daily", "UTC", "bob", "", routine.ScopeAdmin, Time.Add(time.Minute)
		c.NextAt, c.MovedAt, c.Values = new(Time), Time.Add(time.Minute), nil
	})
	must(t, s.UpdateSchedule(t.Context(), changed, routine.ScheduleChange{}))
	want := copySchedule(changed)
	want.OrganizationID, want.CreatedBy, want.CreatedAt = sc.OrganizationID, sc.CreatedBy, sc.CreatedAt
	want.NextAt, want.MovedAt, want.Values, want.Revision = sc.NextAt, sc.MovedAt, sc.Values, 2
	wantSchedule(t, s, want)

	changed.Revision, changed.Values = 2, json.RawMessage(`{"item":"other"}`)
	changed.Enabled, changed.NextAt = false, nil
	must(t, s.UpdateSchedule(t.Context(), changed, routine.ScheduleChange{Times: true}))
	want.Enabled, want.NextAt, want.MovedAt, want.Values, want.Revision = false, nil, changed.MovedAt, changed.Values, 3
	wantSchedule(t, s, want)
	wantErr(t, "another revision", s.UpdateSchedule(t.Context(), changed, routine.ScheduleChange{}), routine.ErrStale)
	wantSchedule(t, s, want)
	wantSchedule(t, s, other)
}

func scheduleChangeRace(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	onlyWinner(t, race(8, func(int) error { return s.UpdateSchedule(t.Context(), sc, routine.ScheduleChange{Times: true}) }), routine.ErrStale)
}

// wantDue compares the ids of the due schedules. The store may take its own clock or that of
// the test, so tests are about times that are minutes away from now.
func wantDue(t *testing.T, s routine.Store, limit int, want ...string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	list, at, err := s.DueSchedules(t.Context(), now, limit)
	must(t, err)
	if apart := at.Sub(now).Abs(); apart > time.Minute {
		t.Errorf("the time that counts is %v away from now", apart)
	}
	ids := []string{}
	for _, sc := range list {
		ids = append(ids, sc.ID)
		if len(sc.Values)+len(sc.Parameters) > 0 {
			t.Errorf("parameters %s %s of a due schedule", sc.Parameters, sc.Values)
		}
	}
	equal(t, "due", ids, append([]string{}, want...))
}

func schedulesAreDue(t *testing.T, s routine.Store) {
	dueIn := func(in time.Duration, edits ...func(*routine.Schedule)) *routine.Schedule {
		return createSchedule(t, s, append(edits, func(sc *routine.Schedule) { sc.NextAt = new(time.Now().UTC().Add(in).Truncate(time.Microsecond)) })...)
	}
	wantDue(t, s, 9)
	soon := dueIn(10 * time.Minute)
	wantDue(t, s, 9)
	late := dueIn(-10 * time.Minute)
	early := dueIn(-time.Hour, func(sc *routine.Schedule) { sc.OrganizationID = "other" })
	createSchedule(t, s, func(sc *routine.Schedule) { sc.Enabled, sc.NextAt = false, nil })
	wantDue(t, s, 9, early.ID, late.ID)
	wantDue(t, s, 1, early.ID)
	c := claimOf(soon)
	c.Next = soon.NextAt.Add(-15 * time.Minute)
	must(t, s.MoveSchedule(t.Context(), c, nil))
	wantDue(t, s, 9, early.ID, late.ID, soon.ID)
	ofOther := func(sc *routine.Schedule) { sc.OrganizationID = "other" }
	second, third := dueIn(-50*time.Minute, ofOther), dueIn(-40*time.Minute, ofOther)
	wantDue(t, s, 9, early.ID, late.ID, second.ID, soon.ID, third.ID)
	wantDue(t, s, 2, early.ID, late.ID)
	at, err := s.ScheduleClock(t.Context(), time.Now())
	must(t, err)
	if apart := time.Since(at).Abs(); apart > time.Minute {
		t.Errorf("the clock of schedules is %v away from now", apart)
	}
}

func scheduleOfWrongClock(t *testing.T, s routine.Store) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	moved := func(ahead time.Duration) *routine.Schedule {
		return createSchedule(t, s, func(sc *routine.Schedule) { sc.NextAt, sc.MovedAt = new(now.AddDate(4, 0, 0)), now.Add(ahead) })
	}
	ahead := moved(time.Hour + 10*time.Minute)
	moved(50 * time.Minute)
	wantDue(t, s, 9, ahead.ID)
	c := claimOf(ahead)
	c.Next, c.MovedAt = now.Add(10*time.Minute), now
	must(t, s.MoveSchedule(t.Context(), c, nil))
	wantDue(t, s, 9)
	c.Due, c.Next = c.Next, now
	must(t, s.MoveSchedule(t.Context(), c, nil))
	wantDue(t, s, 9, ahead.ID)
}

// scheduled returns an execution that claims the time at which sc is due.
func scheduled(t testing.TB, sc *routine.Schedule) *routine.Execution {
	return Execution(t, func(e *routine.Execution) { e.Via, e.ScheduleID, e.Claim = routine.ViaSchedule, sc.ID, claimOf(sc) })
}

func executionClaims(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	e := scheduled(t, sc)
	withCallback(e)
	must(t, s.CreateExecution(t.Context(), e))
	c := claimOf(sc)
	sc.NextAt, sc.MovedAt, sc.LastAt, sc.LastExecutionID, sc.LastStatus = &c.Next, c.MovedAt, &c.Due, e.ID, routine.ExecutionPending
	wantSchedule(t, s, sc)
	e.Claim, e.Callback = nil, nil
	wantExecution(t, s, e)
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	sc.LastStatus = routine.ExecutionFailed
	wantSchedule(t, s, sc)

	again := scheduled(t, sc)
	again.Claim = c
	wantErr(t, "the same time again", s.CreateExecution(t.Context(), again), routine.ErrNotDue)
	_, err := s.Execution(t.Context(), again.ID)
	wantErr(t, "the execution of a claim that failed", err, routine.ErrNotFound)
	wantSchedule(t, s, sc)
	_, err = s.Prune(t.Context(), routine.Retention{Age: time.Second}, Time.AddDate(1, 0, 0))
	must(t, err)
	kept, err := s.Schedule(t.Context(), sc.ID)
	must(t, err)
	equal(t, "id of an execution that is kept for its webhook", kept.LastExecutionID, e.ID)
}

func queuedExecutionClaims(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	errs := race(4, func(int) error {
		e := scheduled(t, sc)
		queued(e)
		return s.CreateExecution(t.Context(), e)
	})
	onlyWinner(t, errs, routine.ErrNotDue)
	waiting, err := s.QueuedExecutions(t.Context(), 10)
	must(t, err)
	kept, err := s.Schedule(t.Context(), sc.ID)
	must(t, err)
	if len(waiting) != 1 || waiting[0].ID != kept.LastExecutionID {
		t.Fatalf("queued %v, the schedule has %s", waiting, kept.LastExecutionID)
	}
	e, call, err := s.ClaimExecution(t.Context(), kept.LastExecutionID, Time, QueueTime)
	must(t, err)
	if e.ScheduleID != sc.ID || e.Via != routine.ViaSchedule || call == nil {
		t.Errorf("%+v, call %q", e, call)
	}
}

func scheduleClaimRace(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	var mu sync.Mutex
	var moved int
	errs := race(8, func(i int) error {
		if i%4 == 3 {
			err := s.MoveSchedule(t.Context(), claimOf(sc), &routine.Skip{At: Time, Reason: routine.SkipMissed})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				moved++
			}
			return err
		}
		return s.CreateExecution(t.Context(), scheduled(t, sc))
	})
	onlyWinner(t, errs, routine.ErrNotDue)
	_, total, err := s.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme"})
	must(t, err)
	equal(t, "executions", total, 1-moved)
}

func scheduleIsMoved(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	c := claimOf(sc)
	skip := &routine.Skip{At: c.Due, Reason: routine.SkipStillRunning, Message: "text with \x00 and 🙂"}
	must(t, s.MoveSchedule(t.Context(), c, skip))
	sc.NextAt, sc.MovedAt, sc.LastSkip = &c.Next, c.MovedAt, skip
	wantSchedule(t, s, sc)
	wantErr(t, "again", s.MoveSchedule(t.Context(), c, nil), routine.ErrNotDue)
	c = claimOf(sc)
	must(t, s.MoveSchedule(t.Context(), c, nil))
	sc.NextAt, sc.MovedAt = &c.Next, c.MovedAt
	wantSchedule(t, s, sc)
}

func claimOfChanged(t *testing.T, s routine.Store) {
	sc := createSchedule(t, s)
	c := claimOf(sc)
	must(t, s.UpdateSchedule(t.Context(), sc, routine.ScheduleChange{}))
	wantErr(t, "of the revision before", s.MoveSchedule(t.Context(), c, nil), routine.ErrNotDue)
	c.Revision = 2
	sc.Revision, sc.Enabled = 2, false
	must(t, s.UpdateSchedule(t.Context(), sc, routine.ScheduleChange{}))
	c.Revision = 3
	e := scheduled(t, sc)
	e.Claim = c
	wantErr(t, "of a paused one", s.CreateExecution(t.Context(), e), routine.ErrNotDue)
}

func dataIsCompared(t *testing.T, s routine.Store) {
	sc, other := createSchedule(t, s), createSchedule(t, s)
	for _, row := range []struct {
		execution string
		hash      byte
		want      bool
	}{
		{"e1", 1, false}, // the first
		{"e2", 1, false},
		{"e3", 2, true},
		{"e3", 2, true}, // the same again
		{"e2", 1, true}, // one before it again
		{"e4", 2, false},
		{"e5", 1, true},
	} {
		changed, err := s.CompareScheduleData(t.Context(), sc.ID, row.execution, [32]byte{row.hash})
		must(t, err)
		equal(t, row.execution, changed, row.want)
	}
	changed, err := s.CompareScheduleData(t.Context(), other.ID, "e6", [32]byte{9})
	must(t, err)
	equal(t, "of another schedule", changed, false)
	must(t, s.UpdateSchedule(t.Context(), sc, routine.ScheduleChange{}))
	changed, err = s.CompareScheduleData(t.Context(), sc.ID, "e6", [32]byte{9})
	must(t, err)
	equal(t, "after a change that leaves the data comparable", changed, true)
	sc.Revision = 2
	must(t, s.UpdateSchedule(t.Context(), sc, routine.ScheduleChange{Data: true}))
	changed, err = s.CompareScheduleData(t.Context(), sc.ID, "e7", [32]byte{8})
	must(t, err)
	equal(t, "after a change of what runs", changed, false)
}

func notifyIsKept(t *testing.T, s routine.Store) {
	e := Execution(t, func(e *routine.Execution) {
		withCallback(e)
		e.Callback.Notify = routine.NotifyOnFailure
	})
	must(t, s.CreateExecution(t.Context(), e))
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	hooks, err := s.ClaimWebhooks(t.Context(), claim(Time, 10))
	must(t, err)
	if len(hooks) != 1 || hooks[0].Notify != routine.NotifyOnFailure {
		t.Errorf("%+v", hooks)
	}
}
