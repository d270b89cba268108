package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"rote/routine"
	"rote/routine/lesson"
)

// codeMethodNotAllowed is the only code that is not one of the core.
const codeMethodNotAllowed routine.Code = "method_not_allowed"

// statuses maps error codes to HTTP statuses, for calls that return no
// execution. A test compares it with the codes of the core.
var statuses = map[routine.Code]int{
	routine.CodeInvalid:              http.StatusBadRequest,
	routine.CodeTooLarge:             http.StatusRequestEntityTooLarge,
	routine.CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	codeMethodNotAllowed:             http.StatusMethodNotAllowed,

	routine.CodeUnauthenticated: http.StatusUnauthorized,
	routine.CodeForbidden:       http.StatusForbidden,

	routine.CodeNotFound:            http.StatusNotFound,
	routine.CodeConflict:            http.StatusConflict,
	routine.CodePreconditionFailed:  http.StatusPreconditionFailed,
	routine.CodeIdempotencyMismatch: http.StatusUnprocessableEntity,
	routine.CodeValueRequired:       http.StatusConflict,

	routine.CodeLessonLimit: http.StatusConflict,
	routine.CodePageLost:    http.StatusConflict,
	routine.CodeNotProved:   http.StatusUnprocessableEntity,

	routine.CodeTimeout:              http.StatusInternalServerError,
	routine.CodeCancelled:            http.StatusInternalServerError,
	routine.CodeElementNotFound:      http.StatusInternalServerError,
	routine.CodeElementNotActionable: http.StatusInternalServerError,
	routine.CodeNavigationFailed:     http.StatusInternalServerError,
	routine.CodeNetworkError:         http.StatusInternalServerError,
	routine.CodeHTTPError:            http.StatusInternalServerError,
	routine.CodeEgressDenied:         http.StatusInternalServerError,
	routine.CodeScriptError:          http.StatusInternalServerError,
	routine.CodeScriptBlocked:        http.StatusInternalServerError,
	routine.CodeValueMissing:         http.StatusInternalServerError,
	routine.CodeResultTooLarge:       http.StatusInternalServerError,
	routine.CodeBrowserCrashed:       http.StatusInternalServerError,
	routine.CodeInterrupted:          http.StatusInternalServerError,

	routine.CodeSecretMissing:     http.StatusInternalServerError,
	routine.CodeSecretDenied:      http.StatusInternalServerError,
	routine.CodeSecretExposed:     http.StatusInternalServerError,
	routine.CodeSecretUnavailable: http.StatusServiceUnavailable,
	routine.CodeSessionMissing:    http.StatusInternalServerError,

	routine.CodeSessionExpired:     http.StatusInternalServerError,
	routine.CodeSessionLoginFailed: http.StatusInternalServerError,

	routine.CodeRateLimited:        http.StatusTooManyRequests,
	routine.CodeBusy:               http.StatusServiceUnavailable,
	routine.CodeBrowserUnavailable: http.StatusServiceUnavailable,
	routine.CodeShuttingDown:       http.StatusServiceUnavailable,
	routine.CodeStoreUnavailable:   http.StatusServiceUnavailable,

	routine.CodeInternal: http.StatusInternalServerError,
}

// statusOf returns the status of a code. Unknown codes are internal errors.
func statusOf(code routine.Code) int {
	if status, known := statuses[code]; known {
		return status
	}
	return http.StatusInternalServerError
}

// errorDetails adds to an error what the response shows beyond it.
type errorDetails struct {
	error
	warnings []routine.Problem
	// validation is true if a definition was validated and found invalid.
	validation bool
	execution  *routine.Execution
	// saved is what was saved of a lesson that is not proved.
	saved *lesson.Saved
	// status, if not 0, is the status of the response instead of that of the code.
	status int
}

func (f *errorDetails) Unwrap() error { return f.error }

// problem is the body of every error response (RFC 9457).
type problem struct {
	Type      string             `json:"type"`
	Title     string             `json:"title"`
	Status    int                `json:"status"`
	Detail    string             `json:"detail"`
	Code      routine.Code       `json:"code"`
	Valid     *bool              `json:"valid,omitempty"`
	Errors    []routine.Problem  `json:"errors,omitempty"`
	Warnings  []routine.Problem  `json:"warnings,omitempty"`
	Execution *routine.Execution `json:"execution,omitempty"`
	Saved     *lesson.Saved      `json:"saved,omitempty"`
	RequestID string             `json:"request_id"`
}

// problemOf returns the problem to show for err. The cause of an internal error
// is not shown.
func problemOf(err error) problem {
	e := routine.AsError(err)
	p := problem{Detail: e.Message, Code: e.Code, Errors: e.Problems}
	var f *errorDetails
	if errors.As(err, &f) {
		p.Warnings, p.Execution = f.warnings, f.execution
		if e.Code == routine.CodeNotProved {
			p.Saved = f.saved
		}
		if f.validation && e.Code == routine.CodeInvalid {
			p.Valid = new(false)
		}
	}
	p.Status = statusOf(e.Code)
	if p.Execution != nil {
		// All failed runs have the same status, whatever their error code.
		p.Status = http.StatusInternalServerError
	}
	if f != nil && f.status != 0 {
		p.Status = f.status
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// problem returns the problem to show for err as the answer to a request. Its type is where the
// documentation explains the code.
func (x *requestInfo) problem(err error) problem {
	p := problemOf(err)
	p.Type, p.RequestID = x.base+"/docs/errors#"+string(p.Code), x.id
	return p
}

// writeProblem writes err as a problem. It is the only function that does.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	x := requestInfoOf(r.Context())
	p := x.problem(err)
	text, broken := encode(p)
	if broken != nil {
		err = routine.Internal("encode problem", fmt.Errorf("%w, of: %s", broken, err.Error()))
		p = x.problem(err)
		text, _ = encode(p) // cannot fail: only strings and a number
	}
	x.recordProblem(p, err)
	setErrorHeaders(w.Header(), p.Status, err)
	writeDocument(w, p.Status, document{"application/problem+json", text})
}
