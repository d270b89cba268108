package routine

import (
	"encoding/json"
	"time"
)

// Schedule runs a routine at the times of a cron expression, with the rights of the caller
// who saved it last.
type Schedule struct {
	ID        string `json:"id"`
	RoutineID string `json:"routine_id"`
	// RoutineVersion is the version that runs; 0: the newest.
	RoutineVersion int `json:"routine_version,omitempty"`
	// Parameters are the values of its runs with secrets masked. ParametersOmitted reports
	// whether a list left them out because they have more than MaxListedParameters bytes.
	Parameters        json.RawMessage `json:"parameters"`
	ParametersOmitted bool            `json:"parameters_omitted,omitempty"`
	// TimeoutSeconds limits each run.
	TimeoutSeconds float64 `json:"timeout_seconds"`
	// Cron and Zone say when the schedule is due; Zone is the IANA name of a time zone.
	Cron    string `json:"cron"`
	Zone    string `json:"zone"`
	Enabled bool   `json:"enabled"`
	// Missed says what happens to a run that could not be started in time.
	Missed MissedRun `json:"missed"`
	// CallbackURL, if not empty, receives a webhook when a run ends in the way that Notify
	// selects.
	CallbackURL string `json:"callback_url,omitempty"`
	Notify      Notify `json:"notify"`

	// NextAt is when the schedule is due next; nil if it is not enabled.
	NextAt *time.Time `json:"next_at"`
	// LastAt is the time for which the last run was started, LastExecutionID its execution
	// and LastStatus the status of that, empty if the execution is no longer kept.
	LastAt          *time.Time      `json:"last_at"`
	LastExecutionID string          `json:"last_execution_id,omitempty"`
	LastStatus      ExecutionStatus `json:"last_status,omitempty"`
	// LastSkip is the last time at which no run was started; nil if there was none.
	LastSkip *Skip `json:"last_skip"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	CreatedBy string    `json:"created_by"`
	// RunsAs is the user, ProjectID the project and TokenID the token of the caller who
	// saved the schedule last. The runs have the rights of that token. TokenID is empty for
	// a local caller.
	RunsAs    string `json:"runs_as"`
	ProjectID string `json:"project_id"`
	TokenID   string `json:"token_id,omitempty"`

	OrganizationID string `json:"-"`
	// Scopes and AllowedHosts are those of the caller. They count only if it had no token.
	Scopes       Scopes   `json:"-"`
	AllowedHosts []string `json:"-"`
	// Values are the values of the runs with their secrets. A Store keeps them encrypted
	// and does not return them with the schedule.
	Values json.RawMessage `json:"-"`
	// Key is saved with a new schedule and not read back.
	Key *IdempotencyKey `json:"-"`
	// Revision counts the changes of the settings, from 1.
	Revision int `json:"-"`
	// MovedAt is when NextAt was set.
	MovedAt time.Time `json:"-"`
	// Withheld reports whether the caller may not read the schedule. It then answers a call
	// that changed it.
	Withheld bool `json:"-"`
}

// MissedRun says what happens to a run that could not be started in time, because no
// process ran or all were busy.
type MissedRun string

const (
	// MissedRunOnce starts one run as soon as possible, however many were missed.
	MissedRunOnce MissedRun = "run_once"
	// MissedSkip starts none.
	MissedSkip MissedRun = "skip"
)

// Notify selects the runs of a schedule whose end is reported to its callback.
type Notify string

const (
	NotifyAlways    Notify = "always"
	NotifyOnFailure Notify = "on_failure"
	// NotifyOnChange selects completed runs whose data is not that of the completed run
	// before. The first run is not reported.
	NotifyOnChange Notify = "on_change"
)

// Skip says why a schedule started no run at a time.
type Skip struct {
	At time.Time `json:"at"`
	// Reason is one of those below, or the code of the error that prevented the run.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

const (
	// SkipStillRunning: the run before has not ended.
	SkipStillRunning = "still_running"
	// SkipMissed: the time was missed, and the schedule does not make up for missed runs.
	SkipMissed = "missed"
)
