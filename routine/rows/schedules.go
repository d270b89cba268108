package rows

import (
	"encoding/json"
	"fmt"
	"strings"

	"rote/routine"
)

// ScheduleSettings are the columns of a schedule that its callers can change, and
// ScheduleIdentity those that are set when it is created. All stores have them.
var (
	ScheduleSettings = []string{"routine_id", "routine_version", "parameters", "timeout_seconds", "cron", "zone", "enabled", "missed", "callback_url",
		"notify", "updated_at", "runs_as", "project_id", "token_id", "scopes", "allowed_hosts"}
	ScheduleIdentity = []string{"id", "organization_id", "created_at", "created_by", "next_at", "moved_at"}
)

// ScheduleSettingsOf returns the values of ScheduleSettings.
func ScheduleSettingsOf(sc *routine.Schedule) ([]any, error) {
	hosts, err := Encode(append([]string{}, sc.AllowedHosts...))
	if err != nil {
		return nil, fmt.Errorf("encode hosts of schedule: %w", err)
	}
	return []any{sc.RoutineID, sc.RoutineVersion, string(sc.Parameters), sc.TimeoutSeconds, sc.Cron, sc.Zone, sc.Enabled, string(sc.Missed), sc.CallbackURL,
		string(sc.Notify), Micros(sc.UpdatedAt), sc.RunsAs, sc.ProjectID, sc.TokenID, sc.Scopes.String(), hosts}, nil
}

// ScheduleIdentityOf returns the values of ScheduleIdentity.
func ScheduleIdentityOf(sc *routine.Schedule) []any {
	return []any{sc.ID, sc.OrganizationID, Micros(sc.CreatedAt), sc.CreatedBy, NullMicros(sc.NextAt), Micros(sc.MovedAt)}
}

// ScanSchedule reads a row with the columns of ScheduleIdentity, those of ScheduleSettings
// (parameters is NULL if they are too long), and then whether the parameters were left
// out, revision, last_at, last_execution_id, the status of that execution (NULL if there is
// none), last_skip.
func ScanSchedule(scan Scan) (*routine.Schedule, error) {
	var (
		sc                      routine.Schedule
		parameters, hosts, skip []byte
		scopes                  string
		status                  *string
		created, updated, moved int64
		next, last              *int64
	)
	err := scan(&sc.ID, &sc.OrganizationID, &created, &sc.CreatedBy, &next, &moved,
		&sc.RoutineID, &sc.RoutineVersion, &parameters, &sc.TimeoutSeconds, &sc.Cron, &sc.Zone, &sc.Enabled, &sc.Missed, &sc.CallbackURL,
		&sc.Notify, &updated, &sc.RunsAs, &sc.ProjectID, &sc.TokenID, &scopes, &hosts,
		&sc.ParametersOmitted, &sc.Revision, &last, &sc.LastExecutionID, &status, &skip)
	if err != nil {
		return nil, err
	}
	if sc.Scopes, err = routine.ParseScopes(strings.Fields(scopes)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(hosts, &sc.AllowedHosts); err != nil {
		return nil, fmt.Errorf("decode allowed hosts of schedule %s: %w", sc.ID, err)
	}
	if skip != nil {
		if err := json.Unmarshal(skip, &sc.LastSkip); err != nil {
			return nil, fmt.Errorf("decode last skip of schedule %s: %w", sc.ID, err)
		}
	}
	if status != nil {
		sc.LastStatus = routine.ExecutionStatus(*status)
	}
	sc.Parameters = parameters
	sc.CreatedAt, sc.UpdatedAt, sc.MovedAt = fromMicros(created), fromMicros(updated), fromMicros(moved)
	sc.NextAt, sc.LastAt = fromNullMicros(next), fromNullMicros(last)
	return &sc, nil
}

// SealSchedule encrypts the values of a schedule. It returns the zero value if there
// are none, so that a schedule without values needs no key. See SealState for first.
func (s Sealer) SealSchedule(id string, values json.RawMessage, first bool) (Sealed, error) {
	if NoValues(values) {
		return Sealed{}, nil
	}
	sealed, err := s.Seal(values, scheduleContext(id, ""), first)
	return sealed, Wrap("seal values of schedule", err)
}

// NoValues reports whether the JSON of values is an empty object.
func NoValues(values json.RawMessage) bool { return len(values) == 0 || string(values) == "{}" }

// OpenSchedule decrypts the output of SealSchedule. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenSchedule(id string, sealed Sealed) (json.RawMessage, error) {
	if sealed.Text == nil {
		return json.RawMessage(`{}`), nil
	}
	values, err := s.Open(sealed, scheduleContext(id, ""))
	return values, Wrap("open values of schedule "+id, err)
}

// scheduleContext binds encrypted values to their schedule.
func scheduleContext(id, _ string) string { return "schedule " + id }

// WrongClock is by how much the clock that moved a schedule must be ahead to have been
// wrong, in microseconds.
const WrongClock = int64(3600 * 1e6)

// DataChange decides [routine.ScheduleStore.CompareScheduleData]. before is the hash of the
// execution with which it was called last, nil if there is none, and of is its id; changed
// is what it answered. save reports whether the hash takes the place of before.
func DataChange(before []byte, of string, changed bool, executionID string, hash [32]byte) (answer, save bool) {
	switch {
	case before == nil:
		return false, true
	case of == executionID:
		return changed, false
	case of > executionID: // ids begin with the time
		return true, false
	}
	return string(before) != string(hash[:]), true
}
