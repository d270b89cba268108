package routine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Code names a kind of error for programs. Codes are stable: front ends choose their
// answer, such as an HTTP status, by the code alone.
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

	// CodeValueRequired means that the rules of a secret can be changed only by a caller who
	// gives its values anew.
	CodeValueRequired Code = "value_required"

	// Of lessons: too many tries or operations; the page is gone; the routine was saved
	// as a draft, because the run that should prove it failed or gave something else.
	CodeLessonLimit Code = "lesson_limit"
	CodePageLost    Code = "page_lost"
	CodeNotProved   Code = "not_proved"

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

	// Of secrets: there is none of this name or no such field; it may not go there; a page
	// still shows it; its value cannot be read.
	CodeSecretMissing     Code = "secret_missing"
	CodeSecretDenied      Code = "secret_denied"
	CodeSecretExposed     Code = "secret_exposed"
	CodeSecretUnavailable Code = "secret_unavailable"

	// Of saved sessions: there is none of this name; the site has ended the login; the login
	// routine has failed.
	CodeSessionMissing     Code = "session_missing"
	CodeSessionExpired     Code = "session_expired"
	CodeSessionLoginFailed Code = "session_login_failed"

	CodeRateLimited        Code = "rate_limited"
	CodeBusy               Code = "busy"
	CodeBrowserUnavailable Code = "browser_unavailable"
	CodeShuttingDown       Code = "shutting_down"
	CodeStoreUnavailable   Code = "store_unavailable"

	CodeInternal Code = "internal"
)

// Error is an error that may be shown to a caller: Code is for programs, Message for
// people, and Problems lists each fault of an invalid definition or call.
type Error struct {
	Code     Code
	Message  string
	Problems []Problem
	// RetryAfter is how long to wait before trying again; zero if trying again would
	// not help.
	RetryAfter time.Duration
	// Cause is shown in logs only. It may be nil.
	Cause error
}

// Errorf returns an Error with a formatted message. A %w verb in the format also sets
// the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Internal returns an Error with CodeInternal, whose cause err is logged but not shown
// to callers. doing says what failed, as in "save routine".
func Internal(doing string, err error) *Error {
	return &Error{Code: CodeInternal, Message: "internal error", Cause: fmt.Errorf("%s: %w", doing, err)}
}

// PanicError returns the value of a recovered panic as an error with the stack of the
// panic. It is called in the deferred function that recovers.
func PanicError(value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) }

// Error returns the message, or for an internal error the cause: it is logged, not
// shown.
func (e *Error) Error() string {
	if e.Code == CodeInternal && e.Cause != nil {
		return e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns the first Error in the chain of err. It wraps any other error in an
// internal one. It returns nil for nil.
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

// CodeOf returns the code of err: empty for nil, CodeInternal for an error that is not
// an [Error].
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

// HiddenCause returns the cause of err if callers do not see it, for the log: that of
// an internal error or of an unavailable store. It returns nil for other errors.
func HiddenCause(err error) error {
	if code := CodeOf(err); code == CodeInternal || code == CodeStoreUnavailable {
		return errors.Unwrap(AsError(err))
	}
	return nil
}

// Problem is one fault of a definition or of a call's values, with its position, so
// that an editor or an agent can go there.
type Problem struct {
	// Pointer is a JSON pointer (RFC 6901) relative to the routine, or to the
	// parameters object of a call.
	Pointer string `json:"pointer"`
	// Line and Column count from 1, in characters of the submitted text. They are 0 if
	// there is no such text, as for a call's values.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Code is stable; Message is a sentence that says what to do.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Hint suggests a correction, as in: did you mean "timeout_ms"?
	Hint string `json:"hint,omitempty"`
}

// String returns the problem in one line: its pointer, message and hint.
func (p Problem) String() string {
	return p.in("routine")
}

// in is String for a problem in a thing, which it names in parentheses if the problem is in all of it.
func (p Problem) in(what string) string {
	at := p.Pointer
	if at == "" {
		at = "(" + what + ")"
	}
	if p.Hint != "" {
		return at + ": " + p.Message + "; " + p.Hint
	}
	return at + ": " + p.Message
}

// Invalid returns the error for a list of at least one problem. what names the faulty
// thing, as in "routine"; the message quotes the first problem.
func Invalid(what string, problems []Problem) *Error {
	msg := fmt.Sprintf("%d problems in the %s, first %s", len(problems), what, problems[0].in(what))
	if len(problems) == 1 {
		msg = fmt.Sprintf("1 problem in the %s: %s", what, problems[0].in(what))
	}
	return &Error{Code: CodeInvalid, Message: msg, Problems: problems}
}

// Headline returns the message without the problems that it quotes, for a text that lists
// them.
func (e *Error) Headline() string {
	if len(e.Problems) == 0 {
		return e.Message
	}
	first := e.Problems[0].String()
	text := strings.TrimSuffix(strings.TrimSuffix(e.Message, ": "+first), ", first "+first)
	return text
}

// ErrOperationLimit marks the cause with which a context ends when an operation
// exceeds its own time limit. It tells that limit apart from the timeout of the run.
var ErrOperationLimit = errors.New("operation limit")

// ScriptTimeout returns the error of a script that ran longer than its operation's
// timeout_seconds. The run has a timeout_seconds of its own, so the message names the
// operation's.
func ScriptTimeout(limit time.Duration) *Error {
	message := fmt.Sprintf("the script was still running when the operation's own timeout_seconds of %v was over, which may be 10 at most", limit.Seconds())
	return &Error{Code: CodeTimeout, Message: message, Cause: ErrOperationLimit}
}
