package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/cron"
	"rote/routine/definition"
)

const (
	// MaxSchedules is how many schedules an organization may have.
	MaxSchedules = 100
	// maxScheduleValues is the limit of the parameters of a schedule in bytes of JSON.
	maxScheduleValues = 256 << 10
)

// MaySchedule returns nil if p may change schedules at all, so that a front end can refuse a
// call before it reads the change. CodeUnauthenticated, CodeForbidden.
func (s *Service) MaySchedule(p routine.Principal) error { return may(p, toSchedule, nil) }

// CreateSchedule saves a schedule whose runs have the rights of p. text is a JSON object with
// its settings: see [settings]. A call that repeats an idempotency key returns the schedule that
// the first call created, in its present state. CodeInvalid with problems, CodeConflict
// (archived, too many schedules, or the schedule of the first call was deleted), CodeNotFound,
// CodeForbidden, CodeUnauthenticated, CodeIdempotencyMismatch.
func (s *Service) CreateSchedule(ctx context.Context, p routine.Principal, text []byte, i Idempotency) (*routine.Schedule, error) {
	if err := may(p, toSchedule, nil); err != nil {
		return nil, err
	}
	now := s.now()
	key, err := i.record(p, "create schedule", now)
	if err != nil {
		return nil, err
	}
	if sc, err := s.findScheduleByKey(ctx, p, key); sc != nil || err != nil {
		return sc, err
	}
	sc := &routine.Schedule{ID: "Schedule_" + uuid.Must(uuid.NewV7()).String(), CreatedAt: now, CreatedBy: p.UserID, OrganizationID: p.OrganizationID,
		TimeoutSeconds: routine.DefaultRunTimeout.Seconds(), Zone: "UTC", Enabled: true, Missed: routine.MissedRunOnce, Notify: routine.NotifyAlways,
		Values: json.RawMessage(`{}`), Revision: 1, Key: key}
	given, err := readSettings(text, sc)
	if err != nil {
		return nil, err
	}
	given.runs, given.times = true, true
	if err := s.completeSchedule(ctx, p, sc, given); err != nil {
		return nil, err
	}
	err = s.store.CreateSchedule(ctx, sc, MaxSchedules)
	if errors.Is(err, routine.ErrKeyTaken) { // by a call that came at the same time
		sc, err := s.findScheduleByKey(ctx, p, key)
		if sc == nil && err == nil {
			err = errKeyExpired
		}
		return sc, err
	}
	if errors.Is(err, routine.ErrScheduleLimit) {
		return nil, routine.Errorf(routine.CodeConflict, "the organization has %d schedules, and may not have more: delete one first", MaxSchedules)
	}
	if err != nil {
		return nil, scheduleError(ctx, "create schedule", err)
	}
	s.audit.Changed(ctx, p, audit.ScheduleCreated, scheduleAttrs(sc)...)
	return scheduleAnswer(sc, p), nil
}

// findScheduleByKey returns the schedule that an earlier call with k's key created, as p may see
// it, or nil if there was no such call. CodeConflict if it was deleted.
func (s *Service) findScheduleByKey(ctx context.Context, p routine.Principal, k *routine.IdempotencyKey) (*routine.Schedule, error) {
	id, err := s.findByKey(ctx, k)
	if err != nil || id == "" {
		return nil, err
	}
	sc, err := s.store.Schedule(ctx, id)
	if errors.Is(err, routine.ErrNotFound) {
		return nil, routine.Errorf(routine.CodeConflict, "the schedule that was created with this idempotency key has been deleted: use a new key for a new schedule")
	}
	if err != nil {
		return nil, storeError(ctx, "read schedule", err)
	}
	return scheduleAnswer(sc, p), nil
}

// changeAttempts is how often a change of a schedule is tried while others change it.
const changeAttempts = 5

// PatchSchedule applies a JSON Merge Patch to the settings of a schedule. Unless the patch only
// pauses the schedule, its runs have the rights of p from then on. It has the error codes of
// CreateSchedule.
func (s *Service) PatchSchedule(ctx context.Context, p routine.Principal, id string, text []byte) (*routine.Schedule, error) {
	for range changeAttempts {
		sc, err := s.patchSchedule(ctx, p, id, text)
		if !errors.Is(err, routine.ErrStale) {
			return sc, err
		}
	}
	return nil, routine.Errorf(routine.CodeConflict, "others change the schedule at the same time: try again")
}

func (s *Service) patchSchedule(ctx context.Context, p routine.Principal, id string, text []byte) (*routine.Schedule, error) {
	sc, err := s.schedule(ctx, p, toSchedule, id)
	if err != nil {
		return nil, err
	}
	before := *sc
	values, unreadable := s.scheduleValues(ctx, id)
	if sc.Values = values; unreadable != nil {
		sc.Values = json.RawMessage(`{}`)
	}
	given, err := readSettings(text, sc)
	if err != nil {
		return nil, err
	}
	if unreadable == nil {
		if given.secrets, err = secretNames(before.Parameters, values); err != nil {
			return nil, err
		}
	}
	if sc.Enabled && !before.Enabled {
		given.runs, given.times = true, true
	}
	if given.runs && unreadable != nil {
		return nil, unreadable
	}
	paused := !sc.Enabled && before.Enabled
	given.times = given.times || paused
	if err := s.completeSchedule(ctx, p, sc, given); err != nil {
		return nil, err
	}
	if paused && given.onlyEnabled { // a caller who stops the runs need not be able to start them
		sc.RunsAs, sc.ProjectID, sc.TokenID, sc.Scopes, sc.AllowedHosts = before.RunsAs, before.ProjectID, before.TokenID, before.Scopes, before.AllowedHosts
	}
	if !given.values {
		sc.Values = nil // the store keeps them
	}
	err = s.store.UpdateSchedule(ctx, sc, routine.ScheduleChange{Times: given.times, Data: given.data})
	switch {
	case errors.Is(err, routine.ErrStale):
		return nil, err
	case errors.Is(err, routine.ErrNotFound):
		return nil, noSchedule(id)
	case err != nil:
		return nil, scheduleError(ctx, "update schedule", err)
	}
	s.audit.Changed(ctx, p, audit.ScheduleChanged, scheduleAttrs(sc)...)
	return scheduleAnswer(sc, p), nil
}

// completeSchedule checks the settings of sc and sets what follows from them and from p.
func (s *Service) completeSchedule(ctx context.Context, p routine.Principal, sc *routine.Schedule, given *given) error {
	problems := given.problems
	times, wrong := cron.Parse(sc.Cron, sc.Zone)
	if given.times && !given.wrong("/cron") && !given.wrong("/zone") {
		problems = append(problems, wrong...)
	}
	if sc.Notify != routine.NotifyAlways && sc.CallbackURL == "" {
		problems = append(problems, routine.Problem{Pointer: "/notify", Code: "needs_callback",
			Message: "notify selects what is sent to callback_url, which is missing"})
	}
	if len(sc.Values) > maxScheduleValues {
		problems = append(problems, routine.Problem{Pointer: "/parameters", Code: "too_large",
			Message: fmt.Sprintf("the parameters of a schedule have at most %d bytes of JSON", maxScheduleValues)})
	}
	if given.runs && sc.RoutineID != "" && len(problems) == 0 {
		wrong, err := s.checkScheduledRun(ctx, p, sc, given)
		if err != nil {
			return err
		}
		problems = append(problems, wrong...)
	}
	if len(problems) > 0 {
		slices.SortFunc(problems, func(a, b routine.Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
		return routine.Invalid("schedule", problems)
	}
	if given.callback || given.runs {
		if _, err := s.checkCallback(ctx, p, sc.CallbackURL); err != nil {
			return err
		}
	}
	sc.UpdatedAt = s.now()
	sc.RunsAs, sc.ProjectID, sc.TokenID, sc.Scopes, sc.AllowedHosts = p.UserID, p.ProjectID, p.TokenID, p.Scopes, p.AllowedHosts
	if !given.times {
		return nil
	}
	at, err := s.store.ScheduleClock(ctx, sc.UpdatedAt)
	if err != nil {
		return storeError(ctx, "read clock", err)
	}
	if sc.NextAt, sc.MovedAt = nil, at; sc.Enabled {
		sc.NextAt = new(times.Next(at))
	}
	return nil
}

// checkScheduledRun checks that p may execute the routine of sc with its values, and masks
// them. It returns the problems of the values. A value that was secret when it was given
// stays secret: for a version in which it is not, it must be given again.
func (s *Service) checkScheduledRun(ctx context.Context, p routine.Principal, sc *routine.Schedule, given *given) ([]routine.Problem, error) {
	r, err := s.routineToRun(ctx, p, sc.RoutineID, Call{Version: sc.RoutineVersion})
	if err != nil {
		return nil, err
	}
	shown := map[string]json.RawMessage{}
	if err := json.Unmarshal(sc.Values, &shown); err != nil {
		return nil, routine.Internal("read values of schedule", err)
	}
	var problems []routine.Problem
	for _, name := range noLongerSecret(&r.Definition, given.secrets) {
		if _, kept := shown[name]; kept && !given.names[name] {
			problems = append(problems, routine.Problem{Pointer: "/parameters/" + routine.EscapePointer(name), Code: "no_longer_secret",
				Message: "was secret when its value was given, and is not secret in this version of the routine: give the value again, or null to remove it"})
		}
	}
	for _, declared := range r.Parameters {
		value, given := shown[declared.Name]
		if !given || !declared.Secret {
			continue
		}
		if string(value) == maskedText {
			problems = append(problems, routine.Problem{Pointer: "/parameters/" + routine.EscapePointer(declared.Name), Code: "masked",
				Message: routine.Masked + " is shown in place of the secret value: give the value itself, or leave it out of a change to keep it"})
		}
		shown[declared.Name] = json.RawMessage(maskedText)
	}
	if len(problems) > 0 {
		return problems, nil
	}
	_, err = definition.Bind(&r.Definition, sc.Values)
	if failure := routine.AsError(err); err != nil {
		if len(failure.Problems) == 0 {
			return nil, err
		}
		for _, problem := range failure.Problems {
			problem.Pointer = "/parameters" + problem.Pointer
			problems = append(problems, problem)
		}
		return problems, nil
	}
	sc.Parameters = routine.RawJSON(shown)
	return nil, nil
}

// Schedule returns one schedule with its secret parameters masked. CodeUnauthenticated,
// CodeForbidden, CodeNotFound.
func (s *Service) Schedule(ctx context.Context, p routine.Principal, id string) (*routine.Schedule, error) {
	return s.schedule(ctx, p, toReadSchedules, id)
}

// schedule reads a schedule and checks that p may do an action with it.
func (s *Service) schedule(ctx context.Context, p routine.Principal, do action, id string) (*routine.Schedule, error) {
	if err := may(p, do, nil); err != nil {
		return nil, err
	}
	sc, err := s.store.Schedule(ctx, id)
	if errors.Is(err, routine.ErrNotFound) {
		return nil, noSchedule(id)
	}
	if err != nil {
		return nil, storeError(ctx, "read schedule", err)
	}
	return sc, may(p, do, scheduleObject(sc))
}

func noSchedule(id string) error {
	return routine.Errorf(routine.CodeNotFound, "there is no schedule %s", routine.Quote(routine.Truncate(id, 80)))
}

// Schedules lists the schedules of p's organization that match a filter, newest first, and
// the number of all matches. CodeUnauthenticated, CodeForbidden.
func (s *Service) Schedules(ctx context.Context, p routine.Principal, f routine.ScheduleFilter) ([]*routine.Schedule, int, error) {
	if err := may(p, toReadSchedules, nil); err != nil {
		return nil, 0, err
	}
	f.OrganizationID = p.OrganizationID
	list, total, err := s.store.Schedules(ctx, f)
	if err != nil {
		return nil, 0, storeError(ctx, "list schedules", err)
	}
	return list, total, nil
}

// DeleteSchedule deletes a schedule. A run that it has started continues. CodeNotFound,
// CodeUnauthenticated, CodeForbidden.
func (s *Service) DeleteSchedule(ctx context.Context, p routine.Principal, id string) error {
	sc, err := s.schedule(ctx, p, toSchedule, id)
	if err != nil {
		return err
	}
	err = s.store.DeleteSchedule(ctx, id)
	if errors.Is(err, routine.ErrNotFound) {
		return noSchedule(id)
	}
	if err != nil {
		return storeError(ctx, "delete schedule", err)
	}
	s.audit.Changed(ctx, p, audit.ScheduleDeleted, scheduleAttrs(sc)...)
	return nil
}

// scheduleAttrs say in the audit log which schedule was changed.
func scheduleAttrs(sc *routine.Schedule) []slog.Attr {
	return []slog.Attr{slog.String("schedule_id", sc.ID), slog.String("routine_id", sc.RoutineID), slog.Bool("enabled", sc.Enabled)}
}

// scheduleValues returns the parameters of a schedule with their secrets. Values that were
// encrypted with another key are CodeStoreUnavailable.
func (s *Service) scheduleValues(ctx context.Context, id string) (json.RawMessage, error) {
	values, err := s.store.ScheduleValues(ctx, id)
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return nil, noSchedule(id)
	case err != nil:
		return nil, scheduleError(ctx, "read values of schedule", err)
	}
	return values, nil
}

// scheduleError is storeError with messages for errors of the key.
func scheduleError(ctx context.Context, doing string, err error) error {
	switch {
	case errors.Is(err, routine.ErrSealed):
		return &routine.Error{Code: routine.CodeStoreUnavailable, Cause: err, Message: "the parameters of the schedule cannot be read, because they were sealed " +
			"with another key: bring back its key file (--state-key), or delete the schedule and create it again"}
	case errors.Is(err, routine.ErrStateKey):
		return &routine.Error{Code: routine.CodeStoreUnavailable, Cause: err, Message: "the parameters of a schedule are encrypted, and the service cannot use " +
			"its key file (--state-key): its log says why"}
	}
	return storeError(ctx, doing, err)
}
