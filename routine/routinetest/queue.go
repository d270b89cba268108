package routinetest

import (
	"bytes"
	"testing"
	"time"

	"rote/routine"
)

var queuePromises = []promise{
	{"a queued execution is claimed once, with its call", queuedIsClaimed},
	{"an execution that is not queued is not claimed", onlyQueuedIsClaimed},
	{"of many that claim an execution at once one gets it", claimRace},
	{"a call is kept byte by byte", callIsKept},
	{"a queued execution is saved with its idempotency key and its callback", queuedWithKeyAndCallback},
	{"an execution that is not pending is not queued", onlyPendingIsQueued},
	{"a claimed execution is given back to the queue", claimedIsReleased},
	{"an execution that is given back is not run by the one who had it", releasedIsOfTheNext},
	{"a claimed execution whose cancel was requested ends when it is given back", cancelledIsReleased},
	{"recovery leaves queued executions", recoveryLeavesQueued},
	{"a queued execution is cancelled at once", queuedIsCancelled},
	{"a claimed execution is cancelled by the process that runs it", claimedIsCancelled},
	{"queued executions that are too old expire", queuedExpires},
	{"a queued execution that ends by a clock that is behind took no time", durationIsNotNegative},
	{"a queued execution that has ended is not queued", endedIsNotQueued},
	{"queued executions are listed for each organization, oldest first", queuedAreListed},
	{"jobs that wait are counted", waitingJobsAreCounted},
	{"what became of a claim is saved like any other execution", claimedIsFinished},
}

// QueueTime is a limit of the wait in the queue that no execution of a test reaches.
const QueueTime = 1_000_000 * time.Hour

// queued makes an execution queued.
func queued(e *routine.Execution) { e.QueuedCall = []byte("the call") }

// enqueue creates a queued execution, and returns it as it is read back.
func enqueue(t *testing.T, s routine.Store, edits ...func(*routine.Execution)) *routine.Execution {
	t.Helper()
	e := create(t, s, append([]func(*routine.Execution){queued}, edits...)...)
	e.QueuedCall = nil
	return e
}

// claimed returns a queued execution as it is after its claim.
func claimed(e *routine.Execution, at time.Time) *routine.Execution {
	c := *e
	c.Status, c.StartedAt = routine.ExecutionRunning, &at
	return &c
}

func wantNoClaim(t *testing.T, s routine.Store, id string, want error) {
	t.Helper()
	e, call, err := s.ClaimExecution(t.Context(), id, Time, QueueTime)
	wantErr(t, "claim", err, want)
	if e != nil || call != nil {
		t.Errorf("claimed %+v with %q", e, call)
	}
}

func queuedIsClaimed(t *testing.T, s routine.Store) {
	e, other := enqueue(t, s), enqueue(t, s)
	wantExecution(t, s, e)
	at := Time.Add(time.Minute)
	got, call, err := s.ClaimExecution(t.Context(), e.ID, at, QueueTime)
	must(t, err)
	equal(t, "claimed", got, claimed(e, at))
	equal(t, "call", string(call), "the call")
	wantExecution(t, s, claimed(e, at))
	wantExecution(t, s, other)
	wantNoClaim(t, s, e.ID, routine.ErrTaken)
	wantExecution(t, s, claimed(e, at))
}

func onlyQueuedIsClaimed(t *testing.T, s routine.Store) {
	pending, running, ended := create(t, s), create(t, s), create(t, s)
	must(t, s.StartExecution(t.Context(), running.ID, Time))
	must(t, s.FinishExecution(t.Context(), Ended(ended)))
	wantNoClaim(t, s, pending.ID, routine.ErrTaken)
	wantNoClaim(t, s, running.ID, routine.ErrTaken)
	wantNoClaim(t, s, ended.ID, routine.ErrFinal)
	wantNoClaim(t, s, "no-such-id", routine.ErrNotFound)
	wantExecution(t, s, pending)
}

func claimRace(t *testing.T, s routine.Store) {
	e := enqueue(t, s)
	onlyWinner(t, race(16, func(int) error {
		_, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
		return err
	}), routine.ErrTaken)
	wantExecution(t, s, claimed(e, Time))
}

func callIsKept(t *testing.T, s routine.Store) {
	for _, call := range [][]byte{{0}, []byte("\x00\xff\xed\xa0\x80"), bytes.Repeat([]byte("a call "), 1<<17)} {
		e := enqueue(t, s, func(e *routine.Execution) { e.QueuedCall = call })
		_, got, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
		must(t, err)
		if !bytes.Equal(got, call) {
			t.Errorf("%d bytes are not the %d that were saved", len(got), len(call))
		}
	}
}

func queuedWithKeyAndCallback(t *testing.T, s routine.Store) {
	e := enqueue(t, s, withCallback, func(e *routine.Execution) { e.Key = key() })
	wantMade(t, s, key(), e.ID)
	second := Execution(t, queued, func(e *routine.Execution) { e.Key = key() })
	wantErr(t, "a second one with the key", s.CreateExecution(t.Context(), second), routine.ErrKeyTaken)
	wantNoClaim(t, s, second.ID, routine.ErrNotFound)
	e.Key, e.Callback = nil, nil
	wantExecution(t, s, e)
	equal(t, "due before the end", due(t, s, Time.Add(time.Hour)), map[string]int{})
	_, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
	must(t, err)
	must(t, s.FinishExecution(t.Context(), Ended(e)))
	equal(t, "due after the end", due(t, s, Time.Add(time.Hour)), map[string]int{e.ID: 1})
}

func onlyPendingIsQueued(t *testing.T, s routine.Store) {
	e := Execution(t, queued, func(e *routine.Execution) { e.Status, e.StartedAt = routine.ExecutionRunning, new(Time) })
	if err := s.CreateExecution(t.Context(), e); err == nil {
		t.Error("a running execution was queued")
	}
	_, err := s.Execution(t.Context(), e.ID)
	wantErr(t, "Execution", err, routine.ErrNotFound)
}

func recoveryLeavesQueued(t *testing.T, s routine.Store) {
	e := enqueue(t, s)
	create(t, s) // so that the Store owns one
	n, err := s.RecoverExecutions(t.Context(), Time.Add(time.Hour))
	must(t, err)
	equal(t, "recovered", n, 0)
	wantExecution(t, s, e)
}

// failedInQueue returns a queued execution as it is when it has failed after a minute.
func failedInQueue(e *routine.Execution, code routine.Code, message string) *routine.Execution {
	c := *e
	c.Status, c.ErrorCode, c.Error = routine.ExecutionFailed, code, &message
	c.CompletedAt, c.DurationSeconds = new(e.CreatedAt.Add(time.Minute)), new(60.0)
	return &c
}

func queuedIsCancelled(t *testing.T, s routine.Store) {
	e, other := enqueue(t, s, withCallback), enqueue(t, s)
	e.Callback = nil
	must(t, s.RequestCancel(t.Context(), e.ID, e.CreatedAt.Add(time.Minute)))
	want := failedInQueue(e, routine.CodeCancelled, routine.CancelledMessage)
	wantExecution(t, s, want)
	wantErr(t, "cancel again", s.RequestCancel(t.Context(), e.ID, Time), routine.ErrFinal)
	wantNoClaim(t, s, e.ID, routine.ErrFinal)
	wantErr(t, "finish", s.FinishExecution(t.Context(), Ended(e)), routine.ErrFinal)
	wantExecution(t, s, want)
	wantExecution(t, s, other)
	equal(t, "due webhooks", due(t, s, Time.Add(time.Hour)), map[string]int{e.ID: 1})
}

func claimedIsCancelled(t *testing.T, s routine.Store) {
	e := enqueue(t, s)
	_, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
	must(t, err)
	must(t, s.RequestCancel(t.Context(), e.ID, Time))
	wantExecution(t, s, claimed(e, Time))
	wantCancelHeard(t, s, e.ID)
}

// claimQueued claims a queued execution.
func claimQueued(t *testing.T, s routine.Store, e *routine.Execution) {
	t.Helper()
	_, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
	must(t, err)
}

func claimedIsReleased(t *testing.T, s routine.Store) {
	first, e, last := enqueue(t, s), enqueue(t, s), enqueue(t, s)
	claimQueued(t, s, e)
	must(t, s.ReleaseExecution(t.Context(), e.ID, []byte("the call again"), Time))
	wantExecution(t, s, e)
	wantQueued(t, s, 9, first, e, last)
	at := Time.Add(time.Minute)
	got, call, err := s.ClaimExecution(t.Context(), e.ID, at, QueueTime)
	must(t, err)
	equal(t, "claimed", got, claimed(e, at))
	equal(t, "call", string(call), "the call again")
}

func releasedIsOfTheNext(t *testing.T, s routine.Store) {
	release := func(e *routine.Execution) error {
		return s.ReleaseExecution(t.Context(), e.ID, []byte("the call"), Time)
	}
	queued, own, ended := enqueue(t, s), create(t, s), enqueue(t, s)
	claimQueued(t, s, ended)
	must(t, s.FinishExecution(t.Context(), Ended(ended)))
	wantErr(t, "one that is queued", release(queued), routine.ErrTaken)
	wantErr(t, "one that was never queued", release(own), routine.ErrTaken)
	wantErr(t, "one that has ended", release(ended), routine.ErrFinal)
	wantErr(t, "an unknown one", s.ReleaseExecution(t.Context(), "no-such-id", nil, Time), routine.ErrNotFound)
	wantExecution(t, s, queued)
	wantExecution(t, s, own)

	claimQueued(t, s, queued)
	onlyWinner(t, race(8, func(int) error { return release(queued) }), routine.ErrTaken)
	wantQueued(t, s, 9, queued)
	claimQueued(t, s, queued)
	wantQueued(t, s, 9)
}

func cancelledIsReleased(t *testing.T, s routine.Store) {
	e := enqueue(t, s, withCallback)
	e.Callback = nil
	claimQueued(t, s, e)
	must(t, s.RequestCancel(t.Context(), e.ID, Time))
	must(t, s.ReleaseExecution(t.Context(), e.ID, []byte("the call"), e.CreatedAt.Add(time.Minute)))
	wantExecution(t, s, failedInQueue(e, routine.CodeCancelled, routine.CancelledMessage))
	wantQueued(t, s, 9)
	wantNoClaim(t, s, e.ID, routine.ErrFinal)
	equal(t, "due webhooks", due(t, s, Time.Add(time.Hour)), map[string]int{e.ID: 1})
}

func queuedExpires(t *testing.T, s routine.Store) {
	old, running, own := enqueue(t, s), enqueue(t, s), create(t, s)
	_, _, err := s.ClaimExecution(t.Context(), running.ID, Time, QueueTime)
	must(t, err)
	at := old.CreatedAt.Add(time.Minute)
	// No store has a clock by which it has waited for an hour, or for less than no time.
	const allWaitedLonger = -time.Hour
	e, call, err := s.ClaimExecution(t.Context(), old.ID, at, allWaitedLonger)
	wantErr(t, "claim", err, routine.ErrExpired)
	if e != nil || call != nil {
		t.Errorf("claimed %+v with %q", e, call)
	}
	for _, row := range []struct {
		limit time.Duration
		want  int
	}{{time.Hour, 0}, {allWaitedLonger, 1}, {allWaitedLonger, 0}} {
		n, err := s.ExpireExecutions(t.Context(), row.limit, at)
		must(t, err)
		equal(t, "expired", n, row.want)
	}
	wantExecution(t, s, failedInQueue(old, routine.CodeTimeout, routine.QueueTimeMessage))
	for _, e := range []*routine.Execution{claimed(running, Time), own} {
		wantExecution(t, s, e)
	}
	wantNoClaim(t, s, old.ID, routine.ErrFinal)
}

func durationIsNotNegative(t *testing.T, s routine.Store) {
	cancelled, released, expired := enqueue(t, s), enqueue(t, s), enqueue(t, s)
	before := expired.CreatedAt.Add(-time.Hour)
	must(t, s.RequestCancel(t.Context(), cancelled.ID, before))
	claimQueued(t, s, released)
	must(t, s.RequestCancel(t.Context(), released.ID, before))
	must(t, s.ReleaseExecution(t.Context(), released.ID, []byte("the call"), before))
	n, err := s.ExpireExecutions(t.Context(), -2*time.Hour, before)
	must(t, err)
	equal(t, "expired", n, 1)
	for _, e := range []*routine.Execution{cancelled, released, expired} {
		kept, err := s.Execution(t.Context(), e.ID)
		must(t, err)
		equal(t, "duration", kept.DurationSeconds, new(0.0))
	}
}

func endedIsNotQueued(t *testing.T, s routine.Store) {
	e := enqueue(t, s)
	must(t, s.FinishExecution(t.Context(), Failed(e)))
	wantExecution(t, s, Failed(e))
	wantNoClaim(t, s, e.ID, routine.ErrFinal)
	wantQueued(t, s, 9)
}

func wantQueued(t *testing.T, s routine.Store, perOrganization int, want ...*routine.Execution) {
	t.Helper()
	got, err := s.QueuedExecutions(t.Context(), perOrganization)
	must(t, err)
	list := []routine.QueuedExecution{}
	for _, e := range want {
		list = append(list, routine.QueuedExecution{ID: e.ID, OrganizationID: e.OrganizationID})
	}
	equal(t, "queued", got, list)
}

func queuedAreListed(t *testing.T, s routine.Store) {
	wantQueued(t, s, 9)
	of := func(organization string, seconds int) *routine.Execution {
		return enqueue(t, s, func(e *routine.Execution) {
			e.OrganizationID, e.CreatedAt = organization, Time.Add(time.Duration(seconds)*time.Second)
		})
	}
	b4, a1, a3, c0, a2 := of("b", 4), of("a", 1), of("a", 3), of("c", 0), of("a", 2)
	create(t, s)
	wantQueued(t, s, 9, c0, a1, a2, a3, b4)
	wantQueued(t, s, 2, c0, a1, a2, b4)
	_, _, err := s.ClaimExecution(t.Context(), a1.ID, Time, QueueTime)
	must(t, err)
	must(t, s.RequestCancel(t.Context(), c0.ID, Time))
	wantQueued(t, s, 1, a2, b4)
}

func waitingJobsAreCounted(t *testing.T, s routine.Store) {
	want := func(webhooks int, runs map[string]int) {
		t.Helper()
		queued, err := s.CountQueued(t.Context())
		must(t, err)
		equal(t, "queued", queued, runs)
		n, err := s.CountDueWebhooks(t.Context(), Time)
		must(t, err)
		equal(t, "due webhooks", n, webhooks)
	}
	want(0, map[string]int{})
	e := enqueue(t, s, withCallback)
	enqueue(t, s)
	enqueue(t, s, func(e *routine.Execution) { e.OrganizationID = "other" })
	open, ended := create(t, s, withCallback), create(t, s, withCallback)
	must(t, s.FinishExecution(t.Context(), Ended(ended)))
	want(1, map[string]int{"acme": 2, "other": 1})
	_, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
	must(t, err)
	must(t, s.FinishExecution(t.Context(), Ended(open)))
	want(2, map[string]int{"acme": 1, "other": 1})
	due(t, s, Time)
	want(0, map[string]int{"acme": 1, "other": 1})
}

func claimedIsFinished(t *testing.T, s routine.Store) {
	e := enqueue(t, s)
	got, _, err := s.ClaimExecution(t.Context(), e.ID, Time, QueueTime)
	must(t, err)
	must(t, s.SaveProgress(t.Context(), map[string][]routine.OperationRecord{e.ID: {{Type: "click"}}}))
	must(t, s.PutFile(t.Context(), e.ID, &routine.File{FileInfo: routine.FileInfo{Name: "a", ContentType: "text/plain"}, Data: []byte("x")}))
	end := Ended(got)
	must(t, s.FinishExecution(t.Context(), end))
	end.Files = []routine.FileInfo{{Name: "a", ContentType: "text/plain", Size: 1}}
	wantExecution(t, s, end)
}
