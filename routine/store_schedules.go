package routine

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrScheduleLimit means that an organization has as many schedules as it may have.
var ErrScheduleLimit = errors.New("too many schedules")

// ErrNotDue means that a schedule is no longer due at the time of a claim: another process
// has claimed it, or it was changed or deleted.
var ErrNotDue = errors.New("the schedule is not due")

// ScheduleStore is the part of a [Store] that keeps schedules. It encrypts their values,
// which may be secrets, as it does browser states.
type ScheduleStore interface {
	// CreateSchedule saves sc with revision 1 unless its organization has limit schedules.
	// ErrScheduleLimit, ErrStateKey; ErrKeyTaken.
	CreateSchedule(ctx context.Context, sc *Schedule, limit int) error
	// UpdateSchedule replaces the settings of the schedule whose revision is sc.Revision,
	// and counts that up. If sc.Values is nil, it keeps the values. ErrStale if the revision
	// is another; ErrNotFound, ErrStateKey.
	UpdateSchedule(ctx context.Context, sc *Schedule, c ScheduleChange) error
	// DeleteSchedule deletes a schedule and leaves its executions. ErrNotFound.
	DeleteSchedule(ctx context.Context, id string) error
	// Schedule returns one schedule without its values. ErrNotFound.
	Schedule(ctx context.Context, id string) (*Schedule, error)
	// ScheduleValues returns the values of a schedule with their secrets. ErrNotFound,
	// ErrSealed, ErrStateKey.
	ScheduleValues(ctx context.Context, id string) (json.RawMessage, error)
	// Schedules returns the schedules that f selects, newest first (ties by id) and without
	// their values and parameters of more than MaxListedParameters bytes, and the total
	// number of matches.
	Schedules(ctx context.Context, f ScheduleFilter) ([]*Schedule, int, error)

	// ScheduleClock returns the time by which schedules are due: that of DueSchedules. Saved
	// schedules are due next after it.
	ScheduleClock(ctx context.Context, now time.Time) (time.Time, error)
	// DueSchedules returns at most limit enabled schedules: those that are due at now and those
	// that were moved more than an hour after now, by a clock that was wrong. Organizations take
	// turns: first comes the schedule of each that is due longest (ties by id), then the second
	// of each. It also returns the time that counts: a store that several machines share
	// takes that of its own clock in place of now, so that they agree.
	DueSchedules(ctx context.Context, now time.Time, limit int) ([]*Schedule, time.Time, error)
	// MoveSchedule makes a claim without a run, and records why there is none; skip is nil
	// if no run was due. ErrNotDue. A run is started with CreateExecution.
	MoveSchedule(ctx context.Context, c *ScheduleClaim, skip *Skip) error
	// CompareScheduleData reports whether the data of a completed execution, of which hash
	// is the hash, is not that of the execution before with which it was called. Another
	// call for the same execution has the same answer; if it was called for a later
	// execution meanwhile, the answer is true. ErrNotFound.
	CompareScheduleData(ctx context.Context, id, executionID string, hash [32]byte) (changed bool, err error)
}

// ScheduleChange says what a change of a schedule's settings changes besides.
type ScheduleChange struct {
	// Times replaces NextAt and MovedAt too.
	Times bool
	// Data reports whether the data of the next run cannot be compared with that of the
	// runs before.
	Data bool
}

// ScheduleFilter selects schedules of one organization.
type ScheduleFilter struct {
	OrganizationID string
	// RoutineID narrows the selection if it is not empty.
	RoutineID string
	// Limit is the maximum number to return; zero or less: all. Offset is how many to
	// skip.
	Limit, Offset int
}

// ScheduleClaim claims the time at which a schedule is due: of all claims for one time, one
// succeeds.
type ScheduleClaim struct {
	ID string
	// Revision and Due are the Revision and the NextAt that the schedule must have.
	Revision int
	Due      time.Time
	// Next is when the schedule is due after that, MovedAt the time of the claim.
	Next, MovedAt time.Time
}
