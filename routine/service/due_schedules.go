package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
	"rote/routine/cron"
)

const (
	// scheduleInterval is how often each process looks for schedules that are due.
	scheduleInterval = 2 * time.Second
	// maxDueSchedules is how many of them one look finds. Others are found by the next.
	maxDueSchedules = 1000
	// missedAfter is how late a run may be started that is not to be started when it was
	// missed. It is longer than a restart takes.
	missedAfter = 5 * time.Minute
	// plausibleLead is by how much the clock that started a run may have been ahead for the
	// schedule to wait until that time has passed.
	plausibleLead = time.Hour
)

// scheduledCall is what a call of a schedule needs besides those of callers.
type scheduledCall struct {
	id     string
	notify routine.Notify
	claim  *routine.ScheduleClaim
	// secrets are the names of the values that were secret when they were given.
	secrets []string
}

// addTo makes e an execution of the schedule. Without a schedule it does nothing.
func (c *scheduledCall) addTo(e *routine.Execution) {
	if c == nil {
		return
	}
	e.ScheduleID, e.Claim = c.id, c.claim
	if e.Callback != nil {
		e.Callback.Notify = c.notify
	}
}

// dueRound is one look for schedules that are due.
type dueRound struct {
	*Service
	// now is the time that counts.
	now time.Time
}

// startDueSchedules starts the runs of the schedules that are due. A schedule moves on in
// the transaction that creates the execution: each time has at most one run, and none is
// repeated if a process dies. A run for which there is no room yet is started in a later
// round. It returns errors of the store.
func (s *Service) startDueSchedules(ctx context.Context, _ *routine.Job) (routine.JobResult, error) {
	due, now, err := s.store.DueSchedules(ctx, s.now(), maxDueSchedules)
	if err != nil {
		return routine.JobResult{}, err
	}
	round := &dueRound{Service: s, now: now}
	for _, sc := range due {
		if ctx.Err() != nil || s.stopped() {
			break
		}
		if fault := round.handle(ctx, sc); fault != nil && !errors.Is(fault, routine.ErrNotDue) {
			err = errors.Join(err, fmt.Errorf("schedule %s: %w", sc.ID, fault))
		}
	}
	return routine.JobResult{}, err
}

// handle starts the run of a schedule that is due, or records why there is none. The error
// wraps ErrNotDue if another process has handled it.
func (d *dueRound) handle(ctx context.Context, sc *routine.Schedule) error {
	claim := &routine.ScheduleClaim{ID: sc.ID, Revision: sc.Revision, Due: *sc.NextAt, MovedAt: d.now}
	var wrong error
	if claim.Next, wrong = nextTime(sc, d.now); wrong != nil {
		return d.skip(ctx, sc, claim, string(routine.CodeInvalid), wrong.Error())
	}
	switch {
	case sc.NextAt.After(d.now): // moved by a clock that was wrong
		return d.store.MoveSchedule(ctx, claim, nil)
	case sc.Missed == routine.MissedSkip && d.now.Sub(*sc.NextAt) > missedAfter:
		return d.skip(ctx, sc, claim, routine.SkipMissed, "no process could start the run within "+missedAfter.String())
	case sc.LastStatus == routine.ExecutionPending || sc.LastStatus == routine.ExecutionRunning:
		return d.skip(ctx, sc, claim, routine.SkipStillRunning, "the run before has not ended: execution "+sc.LastExecutionID)
	}
	err := d.start(ctx, sc, claim)
	switch code := routine.CodeOf(err); {
	case err == nil, errors.Is(err, routine.ErrNotDue):
		return err
	case code == routine.CodeBusy, code == routine.CodeShuttingDown, code == routine.CodeSecretUnavailable:
		return nil // a later round starts it
	case code == routine.CodeStoreUnavailable && !errors.Is(err, routine.ErrSealed), code == routine.CodeInternal:
		return err
	default:
		return d.skip(ctx, sc, claim, string(code), skipMessage(err))
	}
}

// start starts the run of a schedule with the rights of the caller who saved it last.
func (d *dueRound) start(ctx context.Context, sc *routine.Schedule, claim *routine.ScheduleClaim) error {
	p, err := d.caller(ctx, sc)
	if err != nil {
		return err
	}
	values, err := d.scheduleValues(ctx, sc.ID)
	if err != nil {
		return err
	}
	whole, err := d.store.Schedule(ctx, sc.ID) // the list has no parameters
	if err != nil {
		return storeError(ctx, "read schedule", err)
	}
	if whole.Revision != sc.Revision {
		return routine.ErrNotDue // its values may be others
	}
	secrets, err := secretNames(whole.Parameters, values)
	if err != nil {
		return err
	}
	e, err := d.Start(ctx, p, sc.RoutineID, Call{Parameters: values, Version: sc.RoutineVersion, Timeout: routine.Seconds(sc.TimeoutSeconds),
		Via: routine.ViaSchedule, CallbackURL: sc.CallbackURL, schedule: &scheduledCall{sc.ID, sc.Notify, claim, secrets}})
	if err == nil {
		d.log.InfoContext(ctx, "scheduled run", "schedule_id", sc.ID, "execution_id", e.ID, "due", claim.Due, "next", claim.Next)
	}
	return err
}

// caller returns the caller with whose rights a schedule runs. CodeUnauthenticated if its
// token is not valid any longer.
func (d *dueRound) caller(ctx context.Context, sc *routine.Schedule) (routine.Principal, error) {
	p := routine.Principal{UserID: sc.RunsAs, OrganizationID: sc.OrganizationID, ProjectID: sc.ProjectID, Scopes: sc.Scopes, AllowedHosts: sc.AllowedHosts}
	if sc.TokenID == "" {
		return p, nil
	}
	t, err := d.validToken(ctx, sc.TokenID, d.now)
	if err != nil {
		return p, err
	}
	if t == nil {
		return p, routine.Errorf(routine.CodeUnauthenticated, "the token %s with which the schedule was saved is revoked or expired: "+
			`enable the schedule again with another token`, sc.TokenID)
	}
	p = t.Principal
	p.TokenID = t.ID
	return p, nil
}

// skip records why a schedule starts no run at a time.
func (d *dueRound) skip(ctx context.Context, sc *routine.Schedule, claim *routine.ScheduleClaim, reason, message string) error {
	if claim.Next.IsZero() {
		claim.Next = d.now.AddDate(0, 0, 1)
	}
	err := d.store.MoveSchedule(ctx, claim, &routine.Skip{At: claim.Due, Reason: reason, Message: message})
	if err == nil {
		d.log.WarnContext(ctx, "a scheduled run was skipped", "schedule_id", sc.ID, "due", claim.Due, "next", claim.Next, "reason", reason, "message", message)
	}
	return err
}

// skipMessage returns the message of an error without the values of the call, which may be
// secrets: of its problems only the places and the codes.
func skipMessage(err error) string {
	e := routine.AsError(err)
	if len(e.Problems) == 0 {
		return e.Message
	}
	var places []string
	for _, p := range e.Problems[:min(len(e.Problems), 10)] {
		places = append(places, p.Pointer+" ("+p.Code+")")
	}
	return "the settings do not fit the routine any longer: " + strings.Join(places, ", ")
}

// nextTime returns when a schedule is due after a time. Times up to the last for which a run
// was started do not count: the clock that did it may have been ahead. If it was ahead by
// more than plausibleLead, only that one time does not count.
func nextTime(sc *routine.Schedule, after time.Time) (time.Time, error) {
	times, problems := cron.Parse(sc.Cron, sc.Zone)
	if len(problems) > 0 {
		return time.Time{}, routine.Invalid("schedule", problems)
	}
	if sc.LastAt != nil && sc.LastAt.After(after) && sc.LastAt.Sub(after) <= plausibleLead {
		after = *sc.LastAt
	}
	next := times.Next(after)
	if sc.LastAt != nil && next.Equal(*sc.LastAt) {
		next = times.Next(next)
	}
	if next.IsZero() { // cron.Parse has found one, so this is for years far from now
		next = after.AddDate(5, 0, 0)
	}
	return next, nil
}

// withoutNotice returns why the end of an execution is not reported, or "" if it is.
func (s *Service) withoutNotice(ctx context.Context, notify routine.Notify, e *routine.Execution) (string, error) {
	completed := e.Status == routine.ExecutionCompleted
	switch {
	case notify == routine.NotifyOnFailure && completed:
		return "not sent: the run did not fail", nil
	case notify == routine.NotifyOnChange && !completed:
		return "not sent: the run has no data", nil
	case notify != routine.NotifyOnChange:
		return "", nil
	}
	changed, err := s.store.CompareScheduleData(ctx, e.ScheduleID, e.ID, dataHash(e.Result))
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return "not sent: the schedule was deleted", nil
	case err == nil && !changed:
		return "not sent: the data did not change", nil
	}
	return "", err
}

// dataHash returns the hash of the data of a result. It does not depend on spaces and on the
// order of members.
func dataHash(r *routine.Result) [sha256.Size]byte {
	if r == nil {
		return sha256.Sum256(nil)
	}
	data := jsontext.Value(r.Data).Clone()
	// Text that is no JSON, which a result cannot have, counts as it is.
	_ = data.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false), jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false))
	return sha256.Sum256(data)
}
