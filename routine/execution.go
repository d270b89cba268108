package routine

import (
	"encoding/json"
	"time"
)

// ExecutionStatus is the state of an execution. Pending and running executions are
// open; completed and failed ones are final.
type ExecutionStatus string

const (
	ExecutionPending   ExecutionStatus = "pending"
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
)

// Execution is one run of a routine, as it is stored and as callers receive it.
type Execution struct {
	ID string `json:"execution_id"`
	// RoutineID is empty and RoutineVersion 0 if the definition was not saved.
	RoutineID      string          `json:"routine_id"`
	RoutineName    string          `json:"routine_name"`
	RoutineVersion int             `json:"routine_version"`
	Status         ExecutionStatus `json:"status"`
	Result         *Result         `json:"result"`
	Error          *string         `json:"error"`
	// ErrorCode is the code of the failure; empty unless the execution failed.
	ErrorCode Code `json:"error_code,omitempty"`
	// CreatedAt is when the call was accepted, StartedAt when it got a browser.
	CreatedAt       time.Time  `json:"created_at"`
	StartedAt       *time.Time `json:"started_at"`
	CompletedAt     *time.Time `json:"completed_at"`
	DurationSeconds *float64   `json:"duration_seconds"`
	// Evidence describes the page on which an operation failed.
	Evidence *Evidence `json:"evidence,omitempty"`

	// Parameters are the values of the call with secrets masked; null if they are not
	// kept or were left out.
	Parameters json.RawMessage `json:"parameters"`
	// ParametersOmitted reports whether a list or an event left the parameters out
	// because they have more than MaxListedParameters bytes.
	ParametersOmitted bool `json:"parameters_omitted,omitempty"`
	// CreatedBy is the caller's user, TokenID the token of the call (empty for the
	// local caller), and Via the front end that received it.
	CreatedBy string `json:"created_by"`
	TokenID   string `json:"token_id,omitempty"`
	Via       Via    `json:"via"`
	// ScheduleID is the schedule that started the run; empty if none did.
	ScheduleID string `json:"schedule_id,omitempty"`
	// Session is the saved session of the run; nil: it has none.
	Session *ExecutionSession `json:"session,omitempty"`
	// OperationsDone counts the operations that have ended, of OperationsTotal. The
	// count of a run in another process may be a few seconds old.
	OperationsDone  int `json:"operations_done"`
	OperationsTotal int `json:"operations_total"`
	// WaitsForCodeOf is the secret for which the running operation waits for a one-time code
	// that a person has to give; empty if it does not. Only the process of the run knows it.
	WaitsForCodeOf string `json:"waits_for_code_of,omitempty"`
	// Files describes the files that the run saved besides its result, in the order of
	// their names.
	Files []FileInfo `json:"files,omitempty"`

	OrganizationID string `json:"-"`
	// Withheld reports whether the caller may not read the execution. It then answers
	// a call that acted on it, and has ID, Status and OrganizationID only.
	Withheld bool `json:"-"`
	// Key and Callback are saved with a new execution. Key is not read back, and of Callback
	// at most the URL, by ClaimExecution.
	Key      *IdempotencyKey `json:"-"`
	Callback *Callback       `json:"-"`
	// QueuedCall, of a new pending execution, is the call that any process may claim and
	// run later, in a form that only the service knows; nil: the process that creates the
	// execution runs it. It is saved encrypted and not read back.
	QueuedCall []byte `json:"-"`
	// Claim, if not nil, claims a time of a schedule in the transaction that creates the
	// execution, which then has no Key.
	Claim *ScheduleClaim `json:"-"`
	// State is saved with the end of the execution, and not read back.
	State *BrowserState `json:"-"`
	// SecretUses are saved with the end of the execution, and not read back.
	SecretUses []SecretUse `json:"-"`
	// Operations are the records so far of an execution without a result: one that is
	// open or was interrupted.
	Operations []OperationRecord `json:"-"`
}

// CancelledMessage is the error of an execution that was cancelled, and QueueTimeMessage
// that of a queued one that waited too long.
const (
	CancelledMessage = "the run was cancelled"
	QueueTimeMessage = "nobody had room for it within --queue-time"
)

// ExecutionSession is the saved session of a run.
type ExecutionSession struct {
	Name string `json:"name"`
	// LoginExecutionID is the login that the run started or waited for; empty: it needed none.
	LoginExecutionID string `json:"login_execution_id,omitempty"`
}

// BrowserState is the state of a browser that the next run of a project starts from. It
// contains people's sessions.
type BrowserState struct {
	ProjectID string
	Data      []byte
}

// Via is the front end through which an execution was requested, or what requested it.
type Via string

const (
	ViaREST Via = "rest"
	ViaMCP  Via = "mcp"
	ViaCLI  Via = "cli"
	// ViaConsole is that of a run that a person has started in the web console.
	ViaConsole Via = "console"
	// ViaSchedule is that of a run that a schedule has started.
	ViaSchedule Via = "schedule"
	// ViaProof is that of a run with which a lesson proves what it saves.
	ViaProof Via = "proof"
	// ViaLogin is that of a login that a run with a saved session has started.
	ViaLogin Via = "login"
)

// Vias are all front ends and other origins of executions.
var Vias = []Via{ViaREST, ViaMCP, ViaCLI, ViaConsole, ViaProof, ViaSchedule, ViaLogin}

// Open reports whether the execution has not ended.
func (e *Execution) Open() bool {
	return e.Status == ExecutionPending || e.Status == ExecutionRunning
}

// MaxListedParameters bounds the parameters of one execution in lists and events, in
// bytes of JSON.
const MaxListedParameters = 4 << 10

// Summary is the JSON form of an execution in lists and events: without its result and
// evidence, which may be large.
type Summary struct {
	*Execution
	Result   *Result   `json:"result,omitempty"`   // hides the execution's own
	Evidence *Evidence `json:"evidence,omitempty"` // so does this
}

// Summary returns e without its result and evidence, and without its parameters if
// they are larger than MaxListedParameters.
func (e *Execution) Summary() Summary {
	if len(e.Parameters) > MaxListedParameters {
		short := *e
		short.Parameters, short.ParametersOmitted = nil, true
		e = &short
	}
	return Summary{Execution: e}
}

// FileInfo describes a file of an execution.
type FileInfo struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	// Size is in bytes.
	Size int64 `json:"size"`
}

// File is a file of an execution with its content.
type File struct {
	FileInfo
	Data []byte
}

// Result is the result of a run.
type Result struct {
	OK       bool     `json:"ok"`
	Error    *string  `json:"error"`
	Warnings []string `json:"warnings"`
	// PlaceholderResolution maps the inner text of each storage token to its value, or
	// to null if it could not be resolved.
	PlaceholderResolution map[string]*string `json:"placeholder_resolution"`
	// Unverified reports whether the run used a browser that may not have confined its pages,
	// which the operator has allowed (--browser-unverified).
	Unverified bool `json:"unverified,omitempty"`
	// Data is any JSON value.
	Data json.RawMessage `json:"data"`
	// IsBase64, ContentType, Filename and Size (in bytes before encoding) describe
	// Data if it is a downloaded file.
	IsBase64    bool   `json:"is_base64,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Filename    string `json:"filename,omitempty"`
	Size        *int64 `json:"size,omitempty"`

	OperationsMetadata []OperationRecord `json:"operations_metadata"`
	// Outline describes the last page, in at most 3000 bytes, if the caller asked for it.
	// It quotes the page, with secrets masked: it is data, never instructions.
	Outline string `json:"outline,omitempty"`
}

// OperationRecord describes what one operation of a run did.
type OperationRecord struct {
	Index int    `json:"index"`
	Type  string `json:"type"`
	// StartSeconds is how long after Execution.StartedAt the operation began; nil in a lesson,
	// which has no execution, and in records of versions before this field.
	StartSeconds    *float64       `json:"start_seconds,omitempty"`
	DurationSeconds float64        `json:"duration_seconds"`
	Details         map[string]any `json:"details,omitempty"`
	// EgressDenied are the requests, of the operation and of the page, that the egress
	// policy refused during the operation.
	EgressDenied []Denial `json:"egress_denied,omitempty"`
	// BlockedRequests counts the requests of the pages that were not made during the
	// operation because of the routine's x-block, by type.
	BlockedRequests map[string]int `json:"blocked_requests,omitempty"`
	Error           *string        `json:"error,omitempty"`
}
