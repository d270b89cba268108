package routine

import (
	"encoding/json"
	"time"
)

// ExecutionStatus is where an execution stands. pending and running are open;
// completed and failed are final.
type ExecutionStatus string

const (
	ExecutionPending   ExecutionStatus = "pending"
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
)

// Execution is one run of a routine, as kept in the ledger and as answered to
// callers.
type Execution struct {
	ID             string          `json:"execution_id"`
	RoutineID      string          `json:"routine_id"`
	RoutineName    string          `json:"routine_name"`
	RoutineVersion int             `json:"routine_version"`
	Status         ExecutionStatus `json:"status"`
	Result         *Result         `json:"result"`
	Error          *string         `json:"error"`
	// ErrorCode is the code of the failure; empty unless failed.
	ErrorCode Code `json:"error_code,omitempty"`
	// CreatedAt is when the call was accepted, StartedAt when a browser slot
	// was free.
	CreatedAt       time.Time  `json:"created_at"`
	StartedAt       *time.Time `json:"started_at"`
	CompletedAt     *time.Time `json:"completed_at"`
	DurationSeconds *float64   `json:"duration_seconds"`
	// Evidence is what the page was like when an operation failed.
	Evidence *Evidence `json:"evidence,omitempty"`

	// Parameters are the values of the call, secret ones masked; null when
	// they are not kept, or left out.
	Parameters json.RawMessage `json:"parameters"`
	// ParametersOmitted: a list or an event leaves the parameters out because
	// they have more than MaxListedParameters bytes.
	ParametersOmitted bool `json:"parameters_omitted,omitempty"`
	// CreatedBy is the caller's user, TokenID the token they used (empty for
	// the local caller), Via the door they came through.
	CreatedBy string `json:"created_by"`
	TokenID   string `json:"token_id,omitempty"`
	Via       Via    `json:"via"`
	// OperationsDone of OperationsTotal operations have ended; of a run in
	// another process the count may be a second old.
	OperationsDone  int `json:"operations_done"`
	OperationsTotal int `json:"operations_total"`
	// Files are what the run left beside its result, by name.
	Files []FileInfo `json:"files,omitempty"`

	OrganizationID string `json:"-"`
	// Withheld: the caller may not read the execution, and this is the answer to
	// a call that acted on it. It has the ID, Status and OrganizationID of the
	// execution and nothing else.
	Withheld bool `json:"-"`
	// Key and Callback are saved with a new execution, and not read back.
	Key      *IdempotencyKey `json:"-"`
	Callback *Callback       `json:"-"`
	// Operations are the records so far of an execution without result: one
	// that is open, or was interrupted.
	Operations []OperationRecord `json:"-"`
}

// Via is the door through which an execution was asked for.
type Via string

const (
	ViaREST Via = "rest"
	ViaMCP  Via = "mcp"
	ViaCLI  Via = "cli"
)

// Open tells that the execution has not ended.
func (e *Execution) Open() bool {
	return e.Status == ExecutionPending || e.Status == ExecutionRunning
}

// MaxListedParameters bounds the parameters of one execution in lists and
// events, in bytes.
const MaxListedParameters = 4 << 10

// Summary is an execution as JSON without its result and evidence, which may be
// large: what lists and events carry.
type Summary struct {
	*Execution
	Result   *Result   `json:"result,omitempty"`   // hides the execution's own
	Evidence *Evidence `json:"evidence,omitempty"` // so does this
}

// Summary gives e without its result and evidence, and without parameters that
// are large.
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

// Result is what a run brought.
type Result struct {
	OK       bool     `json:"ok"`
	Error    *string  `json:"error"`
	Warnings []string `json:"warnings"`
	// PlaceholderResolution maps the inner text of each storage token to the
	// text put in for it; null when it could not be resolved.
	PlaceholderResolution map[string]*string `json:"placeholder_resolution"`
	// Data is an object, array, string, other JSON value or null.
	Data json.RawMessage `json:"data"`
	// IsBase64, ContentType, Filename and Size (bytes before encoding)
	// describe Data when a download set it.
	IsBase64    bool   `json:"is_base64,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Filename    string `json:"filename,omitempty"`
	Size        *int64 `json:"size,omitempty"`

	OperationsMetadata []OperationRecord `json:"operations_metadata"`
}

// OperationRecord says what one operation of a run did.
type OperationRecord struct {
	Index           int            `json:"index"`
	Type            string         `json:"type"`
	DurationSeconds float64        `json:"duration_seconds"`
	Details         map[string]any `json:"details,omitempty"`
	// EgressDenied are the requests that were refused while it went on, its own
	// and the page's.
	EgressDenied []Denial `json:"egress_denied,omitempty"`
	Error        *string  `json:"error,omitempty"`
}
