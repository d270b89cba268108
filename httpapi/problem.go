package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"rote/routine"
)

// codeMethodNotAllowed is the one fault that only HTTP knows.
const codeMethodNotAllowed routine.Code = "method_not_allowed"

// statuses is how each code is answered when the call brought no execution. A
// test holds it against the codes of the core.
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

	routine.CodeRateLimited:        http.StatusTooManyRequests,
	routine.CodeBusy:               http.StatusServiceUnavailable,
	routine.CodeBrowserUnavailable: http.StatusServiceUnavailable,
	routine.CodeShuttingDown:       http.StatusServiceUnavailable,
	routine.CodeStoreUnavailable:   http.StatusServiceUnavailable,

	routine.CodeInternal: http.StatusInternalServerError,
}

// statusOf is how a code is answered: one that is not known, as internal.
func statusOf(code routine.Code) int {
	if status, known := statuses[code]; known {
		return status
	}
	return http.StatusInternalServerError
}

// failure adds to an error what its answer shows beyond it.
type failure struct {
	error
	warnings []routine.Problem
	// validation tells that a definition was judged, and refused.
	validation bool
	execution  *routine.Execution
}

func (f *failure) Unwrap() error { return f.error }

// problem is the body of every answer that is no success. Its detail is the
// string that the interface asks for.
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
	RequestID string             `json:"request_id"`
}

// problemOf is what is shown of err: of an internal error, not its cause.
func problemOf(err error) problem {
	e := routine.AsError(err)
	p := problem{Type: "about:blank", Detail: e.Message, Code: e.Code, Errors: e.Problems}
	var f *failure
	if errors.As(err, &f) {
		p.Warnings, p.Execution = f.warnings, f.execution
		if f.validation && e.Code == routine.CodeInvalid {
			p.Valid = new(false)
		}
	}
	p.Status = statusOf(e.Code)
	if p.Execution != nil {
		// A run that failed is an execution failure, whatever it failed with.
		p.Status = http.StatusInternalServerError
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// fail answers err. It is the only writer of problems.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	p := problemOf(err)
	p.RequestID = x.id
	text, broken := encode(p)
	if broken != nil {
		err = routine.Internal("encode problem", fmt.Errorf("%w, of: %s", broken, err.Error()))
		p = problemOf(err)
		p.RequestID = x.id
		text, _ = encode(p) // texts and a number
	}
	x.note(p, err)
	setRefusal(w.Header(), p.Status, err)
	write(w, p.Status, document{"application/problem+json", text})
}
