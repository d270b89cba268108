package routine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code names a fault for machines. It is stable: front ends decide by it, and
// by nothing else, what to answer.
type Code string

// The codes, by family.
const (
	CodeInvalid              Code = "invalid"
	CodeTooLarge             Code = "too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"

	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"

	CodeNotFound            Code = "not_found"
	CodeConflict            Code = "conflict"
	CodePreconditionFailed  Code = "precondition_failed"
	CodeIdempotencyMismatch Code = "idempotency_mismatch"

	CodeTimeout              Code = "timeout"
	CodeCancelled            Code = "cancelled"
	CodeElementNotFound      Code = "element_not_found"
	CodeElementNotActionable Code = "element_not_actionable"
	CodeNavigationFailed     Code = "navigation_failed"
	CodeNetworkError         Code = "network_error"
	CodeHTTPError            Code = "http_error"
	CodeEgressDenied         Code = "egress_denied"
	CodeScriptError          Code = "script_error"
	CodeScriptBlocked        Code = "script_blocked"
	CodeValueMissing         Code = "value_missing"
	CodeResultTooLarge       Code = "result_too_large"
	CodeBrowserCrashed       Code = "browser_crashed"
	CodeInterrupted          Code = "interrupted"

	CodeRateLimited        Code = "rate_limited"
	CodeBusy               Code = "busy"
	CodeBrowserUnavailable Code = "browser_unavailable"
	CodeShuttingDown       Code = "shutting_down"
	CodeStoreUnavailable   Code = "store_unavailable"

	CodeInternal Code = "internal"
)

// Error is a fault that may be shown to a caller: Code for machines, Message
// for people, Problems for each single fault of an invalid definition or call.
type Error struct {
	Code     Code
	Message  string
	Problems []Problem
	// RetryAfter is how long to wait before trying again; zero when trying
	// again would not help.
	RetryAfter time.Duration
	// Cause is for logs only; nil: there is none.
	Cause error
}

// Errorf makes an Error. A %w verb in the format sets the cause as well as
// putting its text into the message.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Internal hides err behind CodeInternal: it is logged with its cause and
// shown without it. doing says what was being done, as in "save routine".
func Internal(doing string, err error) *Error {
	return &Error{Code: CodeInternal, Message: "internal error", Cause: fmt.Errorf("%s: %w", doing, err)}
}

func (e *Error) Error() string {
	if e.Code == CodeInternal && e.Cause != nil {
		return e.Cause.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError finds the Error in err's chain; any other error is internal.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Internal("unexpected", err)
}

// CodeOf is the code of err: empty for nil, CodeInternal for an error that is
// not ours.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// CauseOf returns why ctx ended, as an [Error].
func CauseOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	var e *Error
	switch {
	case errors.As(cause, &e):
		return e
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Message: "the caller's deadline is over", Cause: cause}
	}
	return &Error{Code: CodeCancelled, Message: "the run was cancelled", Cause: cause}
}

// hiddenCause is what the log has to say about err because callers are not told;
// nil: nothing.
func HiddenCause(err error) error {
	if code := CodeOf(err); code == CodeInternal || code == CodeStoreUnavailable {
		return errors.Unwrap(AsError(err))
	}
	return nil
}

// Problem is one fault of a definition or of a call's values, placed so that
// an editor or an agent can go there.
type Problem struct {
	// Pointer is a JSON pointer (RFC 6901) relative to the routine, or to the
	// parameters object of a call.
	Pointer string `json:"pointer"`
	// Line and Column count from 1, in characters of the submitted text. They
	// are 0 where there is no text, as in a call's values.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Code is stable; Message is a sentence that says what to do.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Hint suggests the likely cure, as in: did you mean "timeout_ms"?
	Hint string `json:"hint,omitempty"`
}

func (p Problem) String() string {
	at := p.Pointer
	if at == "" {
		at = "(routine)"
	}
	if p.Hint != "" {
		return at + ": " + p.Message + "; " + p.Hint
	}
	return at + ": " + p.Message
}

// invalid makes the error for a list of problems, whose detail names the first.
func Invalid(what string, problems []Problem) *Error {
	msg := fmt.Sprintf("%d problems in the %s, first %s", len(problems), what, problems[0])
	if len(problems) == 1 {
		msg = fmt.Sprintf("1 problem in the %s: %s", what, problems[0])
	}
	return &Error{Code: CodeInvalid, Message: msg, Problems: problems}
}

// ErrOperationLimit marks the cause with which an operation's own limit ends
// its context.
var ErrOperationLimit = errors.New("operation limit")

// ScriptOver is the error of a script that its own limit has ended, which is not
// the run's of the same name.
func ScriptOver(limit time.Duration) *Error {
	message := fmt.Sprintf("the script was still running when the operation's own timeout_seconds of %v was over, which may be 10 at most", limit.Seconds())
	return &Error{Code: CodeTimeout, Message: message, Cause: ErrOperationLimit}
}
