// Package lesson makes routines: a lesson is a live page with the operations that were
// tried on it and kept. It is started on a URL or, to mend a routine, on the page where an
// operation of it failed. Saving a lesson runs its operations once more from the beginning,
// by the ordinary execution, and judges the result.
package lesson

import (
	"encoding/json"
	"time"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/lesson/judge"
	"rote/routine/lesson/parameters"
)

// State is the state of a lesson.
type State string

const (
	// Open: the page is there.
	Open State = "open"
	// PageLost: the page crashed or was closed because nobody asked for it. The kept
	// operations can still be saved, and Undo opens a new page.
	PageLost State = "page_lost"
	// Ended: only the reason is known.
	Ended State = "ended"
)

// Info describes a lesson without what is on its page.
type Info struct {
	ID    string `json:"lesson"`
	State State  `json:"state"`
	// Routine and Version are those of the routine that is mended.
	Routine string `json:"routine,omitempty"`
	Version int    `json:"version,omitempty"`
	// Imported is the name of the routine, not stored, whose operations the lesson was started with.
	Imported string `json:"imported,omitempty"`
	// Session is the saved session from which the page starts; empty: none.
	Session   string    `json:"session,omitempty"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	// EndsAt is when the lesson ends if nothing is asked of it before.
	EndsAt     time.Time   `json:"ends_at"`
	Operations []Operation `json:"operations"`
	// Remaining are the operations of the mended or imported routine that come after the kept
	// ones and were not done yet. The first of them may be the one that fails. Saving adds
	// them.
	Remaining []Operation `json:"remaining,omitempty"`
	// Dropped counts the operations that were undone without a replay: the page still has
	// what they did.
	Dropped int `json:"dropped,omitempty"`
	// Saved reports whether a routine was made of the lesson and nothing was changed since.
	Saved bool `json:"saved,omitempty"`
}

// Operation is one kept operation of a lesson.
type Operation struct {
	// Number counts from 1.
	Number int    `json:"number"`
	Type   string `json:"type"`
	// Summary is one short line about it, as in: input_text "Customer number".
	Summary string `json:"summary"`
	// Acting names the requests that it made and that may change something on the site,
	// as in "POST /orders".
	Acting []string `json:"acting,omitempty"`
	// Unproved reports whether an operation before it was replaced since it was done, or doing
	// it again was interrupted.
	Unproved   bool            `json:"unproved,omitempty"`
	Definition json.RawMessage `json:"definition"`
}

// StartRequest begins a lesson: on a URL, or with the operations of a routine.
type StartRequest struct {
	URL string `json:"url,omitempty"`
	// Routine is the id or tool name of the routine to mend. Execution is a failed run of
	// it: its values are taken, and the operation that failed is not done. Until is how
	// many operations to do; nil: those before the one that failed, or all.
	Routine   string                     `json:"routine,omitempty"`
	Execution string                     `json:"execution,omitempty"`
	Until     *int                       `json:"until,omitempty"`
	Values    map[string]json.RawMessage `json:"values,omitempty"`
	// Incognito false starts with the project's saved cookies and storage. nil: true.
	Incognito *bool `json:"incognito,omitempty"`
	// Session is the name of the saved session from which the lesson's pages start, and that the
	// saved routine has. The lesson changes nothing in it. Empty: that of the routine that is
	// mended, unless Incognito is true, or none.
	Session string `json:"session,omitempty"`
	// Progress, if not nil, is called before each operation.
	Progress func(routine.Progress) `json:"-"`
}

// Started is the answer to a StartRequest.
type Started struct {
	Info
	// Done are the operations that were done, the last of which may have failed.
	Done     []Step    `json:"done"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	// Newest is the newest version of the routine that is mended, if that is not the one
	// whose operations were done.
	Newest int `json:"newest_version,omitempty"`
	// SessionWarning says that nobody is logged in with the lesson's session, and what to do.
	SessionWarning string `json:"session_warning,omitempty"`
	// Ended is the id of a saved lesson that was ended to open this one.
	Ended string `json:"ended_lesson,omitempty"`
	// Failure and Candidates are there if a routine is mended.
	Failure    *Failure              `json:"failure,omitempty"`
	Candidates []candidate.Candidate `json:"candidates,omitempty"`

	idle time.Duration
}

// Clear returns the only candidate that is good enough to be chosen without asking; nil if
// there is none, or if there are several.
func (s *Started) Clear() *candidate.Candidate { return candidate.Clear(s.Candidates) }

// Failure is what a mended routine fails with.
type Failure struct {
	// Operation is the number of the operation, from 1, of Of.
	Operation int          `json:"operation"`
	Of        int          `json:"of"`
	Summary   string       `json:"summary"`
	Code      routine.Code `json:"code"`
	Message   string       `json:"message"`
	Execution string       `json:"execution,omitempty"`
	At        time.Time    `json:"at"`
	// Then is the operation that failed in the execution, if an earlier one fails now.
	Then int `json:"then,omitempty"`
}

// SnapshotRequest asks what is on the page; see [routine.Look].
type SnapshotRequest struct {
	Scope    string `json:"scope,omitempty"`
	Find     string `json:"find,omitempty"`
	Extract  string `json:"extract,omitempty"`
	MaxBytes int    `json:"max_bytes,omitempty"`
}

// Snapshot is what is on the page.
type Snapshot struct {
	routine.Seen
	// SameData is the number of the request whose answer has what Extract asked for.
	SameData int `json:"same_data_in_request,omitempty"`
}

// RequestsQuery asks for the page's requests. Since is the number of an operation: only
// those that were made after it.
type RequestsQuery struct {
	Find  string `json:"find,omitempty"`
	Since int    `json:"since,omitempty"`
}

// TryRequest asks for operations to be done in order, until the first one fails.
type TryRequest struct {
	Operations []json.RawMessage `json:"operations"`
	// Values are the values of the names in the operations' placeholders. An object
	// {"secret": "NAME"} and {"secret": "NAME.FIELD"} stand for a stored secret or one of the
	// operator.
	Values map[string]json.RawMessage `json:"values,omitempty"`
	// At is the number of the operation to replace; 0: they are added at the end.
	At int `json:"at,omitempty"`
	// Keep false does the operations without adding them. nil: true.
	Keep     *bool                  `json:"keep,omitempty"`
	Progress func(routine.Progress) `json:"-"`
}

// Tried is the answer to a TryRequest.
type Tried struct {
	Info
	// OK reports whether all operations were done.
	OK    bool   `json:"ok"`
	Steps []Step `json:"steps"`
	// PageLost says why the page is no longer there; empty if it is.
	PageLost string `json:"page_lost,omitempty"`
	// The operations of a mended routine that come after the tried ones are done as well.
	// Stopped says why not all of them were. Failure and Candidates are there if one of them
	// fails.
	Stopped    string                `json:"stopped,omitempty"`
	Failure    *Failure              `json:"failure,omitempty"`
	Candidates []candidate.Candidate `json:"candidates,omitempty"`
	// Next is the call that saves a mended routine, if no operation failed.
	Next string `json:"next,omitempty"`
	// proposed is the call that does the operation that was not done by itself.
	proposed string
}

// Step is what one operation of a lesson did.
type Step struct {
	OK bool `json:"ok"`
	// Number is that of the kept operation; 0 if it was not kept.
	Number int                     `json:"operation,omitempty"`
	Record routine.OperationRecord `json:"record"`
	Error  *StepError              `json:"error,omitempty"`
	// Warnings are those that a run would have in its result, and one if an input_text
	// added its text to one that the field had.
	Warnings []string `json:"warnings,omitempty"`
	// Element is the element that the operation acted on, as it was before.
	Element *routine.ElementDescription `json:"element,omitempty"`
	// Parameters are the declarations that were made of the values.
	Parameters []routine.Parameter `json:"parameters,omitempty"`
	// URL is the page's URL after the operation; Moved reports whether it changed.
	URL   string `json:"url"`
	Moved bool   `json:"moved,omitempty"`
	// Result is the beginning of the data that the operation made the result, or of the
	// value that it stored.
	Result *StepResult `json:"result,omitempty"`
	// Requests are one line each: see package requests.
	Requests []string `json:"requests,omitempty"`
	// ConsoleErrors are the first errors that the page wrote to its console, at most
	// maxConsoleErrors; MoreConsoleErrors counts the others.
	ConsoleErrors     []string `json:"console_errors,omitempty"`
	MoreConsoleErrors int      `json:"more_console_errors,omitempty"`
	// Appeared and Gone are the lines of the page that came and went.
	Appeared []string `json:"appeared,omitempty"`
	Gone     []string `json:"gone,omitempty"`
	// MoreChanges counts the lines that came or went and are in neither list.
	MoreChanges int `json:"more_changes,omitempty"`
	// QuietAfter is how long after the operation the page had settled.
	QuietAfter time.Duration `json:"-"`
	// Nearest are elements that could have been meant, if none was found.
	Nearest []routine.Element `json:"nearest,omitempty"`

	// For the text: what the operation acts on, its selector if there may be a better one, the key of the
	// value that it stored, whether the page was looked at before and after it, whether it
	// did not answer afterwards, and whether it stayed at the same origin.
	subject, selector, storedKey string
	looked, busy, sameOrigin     bool
	// inDialog reports whether the element is in a dialog, or was in one before it was
	// missing, and the operation is not optional.
	inDialog bool
}

// StepError is why an operation failed.
type StepError struct {
	Code    routine.Code `json:"code"`
	Message string       `json:"message"`
}

// StepResult is the beginning of a result.
type StepResult struct {
	Kind  string `json:"kind"`
	Shape string `json:"shape,omitempty"`
	Bytes int    `json:"bytes"`
	Text  string `json:"text,omitempty"`
}

// UndoRequest keeps the first To operations. Replay nil or true does them again on a new
// page.
type UndoRequest struct {
	To       int                    `json:"to"`
	Replay   *bool                  `json:"replay,omitempty"`
	Progress func(routine.Progress) `json:"-"`
}

// Undone is the answer to an UndoRequest.
type Undone struct {
	Info
	// Replayed are the operations that were done again, the last of which may have failed.
	Replayed []Step `json:"replayed,omitempty"`
	// DoneAgain are the requests of them that may have changed something on the site.
	DoneAgain []string  `json:"done_again,omitempty"`
	Snapshot  *Snapshot `json:"snapshot,omitempty"`
	// interrupted reports whether not all operations were done again although none of them
	// failed by itself.
	interrupted bool
}

// Prove says how much of a lesson is run again before it is saved.
type Prove string

const (
	ProveAll Prove = "all"
	// ProveCheckLast runs what is before the last acting operation, and only looks for
	// the target of that one.
	ProveCheckLast Prove = "check_last"
	ProveNo        Prove = "no"
)

// SaveRequest asks to make a routine of a lesson.
type SaveRequest struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// Parameters are declarations, which may have "from": the literal text that the
	// parameter replaces.
	Parameters      []json.RawMessage          `json:"parameters,omitempty"`
	Prove           Prove                      `json:"prove,omitempty"`
	OtherValues     map[string]json.RawMessage `json:"other_values,omitempty"`
	ExpectedVersion *int                       `json:"expected_version,omitempty"`
	DryRun          bool                       `json:"dry_run,omitempty"`
	// SameResult makes the proof of a mended routine fail if its result has another form
	// than that of the last completed run. Without it that is a warning.
	SameResult bool `json:"-"`
	// Whole makes the answer to a dry run as long as the routine: it is to be written to a file.
	Whole    bool                   `json:"-"`
	Progress func(routine.Progress) `json:"-"`
	Via      routine.Via            `json:"-"`
}

// Saved is the answer to a SaveRequest.
type Saved struct {
	// Saved is false (nothing stored), "draft" (stored, not proved) or true.
	Saved      any                   `json:"saved"`
	Definition json.RawMessage       `json:"definition,omitempty"` // of a dry run
	Routine    *SavedRoutine         `json:"routine,omitempty"`
	Proof      *Proof                `json:"proof,omitempty"`
	Proposals  []parameters.Proposal `json:"proposals,omitempty"`
	// Replaced are the literals that became parameters, place by place.
	Replaced []parameters.Replacement `json:"replaced,omitempty"`
	// Patch is the JSON Patch from the version that was mended.
	Patch    json.RawMessage   `json:"patch,omitempty"`
	Warnings []routine.Problem `json:"warnings,omitempty"`
	// Next says what to do now.
	Next string `json:"next,omitempty"`
}

// SavedRoutine is the routine that a lesson was saved as.
type SavedRoutine struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	ToolName string         `json:"tool_name,omitempty"`
	Version  int            `json:"version"`
	Status   routine.Status `json:"status"`
}

// Proof is what the run from scratch showed.
type Proof struct {
	Execution string        `json:"execution,omitempty"`
	Passed    bool          `json:"passed"`
	Seconds   float64       `json:"seconds"`
	Checks    []judge.Check `json:"checks"`
	// Failure is the operation that failed, and Nearest are the elements that it could have
	// meant.
	Failure *Failure          `json:"failure,omitempty"`
	Nearest []routine.Element `json:"nearest,omitempty"`
}
