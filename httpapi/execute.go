package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// executeRoutine runs a routine. That the caller goes away ends the run,
// through the request's context, unless they prefer not to wait for it.
func (a *api) executeRoutine(q *request) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	call, err := readCall(text)
	if err != nil {
		return answer{}, err
	}
	async := prefers(q.Header, "respond-async")
	if call.CallbackURL != "" && !async {
		return answer{}, badRequest([]routine.Problem{{Pointer: "/callback_url", Code: "needs_async",
			Message: "callback_url is for a call that does not wait: send the header Prefer: respond-async"}})
	}
	call.Via = routine.ViaREST
	if call.Once, err = onceOf(q.Header, text); err != nil {
		return answer{}, err
	}
	if async {
		e, err := a.service.Start(q.Context(), q.principal, q.routineID(), call)
		if err != nil {
			return answer{}, err
		}
		q.w.Header().Set("Preference-Applied", "respond-async")
		return answer{status: http.StatusAccepted, body: e, location: a.base + "/executions/" + e.ID}, nil
	}
	e, err := a.service.Execute(q.Context(), q.principal, q.routineID(), call)
	if err != nil {
		return answer{}, &failure{error: err, execution: e}
	}
	return answer{status: http.StatusCreated, body: e}, nil
}

// prefers tells whether a request carries a preference (RFC 7240).
func prefers(h http.Header, preference string) bool {
	for _, line := range h.Values("Prefer") {
		for part := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), preference) {
				return true
			}
		}
	}
	return false
}

// onceOf reads the idempotency key of a request; none is the zero value.
func onceOf(h http.Header, body []byte) (routine.Once, error) {
	keys := h.Values("Idempotency-Key")
	if len(keys) > 1 || len(keys) == 1 && keys[0] == "" {
		return routine.Once{}, routine.Errorf(routine.CodeInvalid, "Idempotency-Key must be one value that is not empty")
	}
	if len(keys) == 0 {
		return routine.Once{}, nil
	}
	return routine.Once{Key: keys[0], Body: body}, nil
}

// readCall decodes the body of an execute call. The values are left to the
// service, which knows the parameters.
func readCall(text []byte) (routine.Call, error) {
	var call routine.Call
	err := readObject(text, `its fields are parameters, timeout_seconds and callback_url; values go into parameters, as in {"parameters": {"name": "value"}}`,
		field{"parameters", func(value jsontext.Value) bool {
			call.Parameters = json.RawMessage(value)
			return value.Kind() == '{'
		}, "type", "parameters must be an object of name to value", `without any values it is {"parameters": {}}`},
		field{"timeout_seconds", func(value jsontext.Value) (ok bool) {
			call.Timeout, ok = runTimeout(value)
			return ok
		}, "range", fmt.Sprintf("timeout_seconds must be a number from %v to %v", routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds()), ""},
		field{"callback_url", func(value jsontext.Value) bool {
			text, _ := jsontext.AppendUnquote(nil, value) // no error in a string of valid JSON
			call.CallbackURL = string(text)
			return value.Kind() == '"' && call.CallbackURL != ""
		}, "type", "callback_url must be a string with a URL", ""})
	return call, err
}

// runTimeout is a number of seconds as a duration. The bounds are checked here
// because a duration cannot hold what is far beyond them, and its zero means
// that none was given.
func runTimeout(value jsontext.Value) (time.Duration, bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	seconds, _ := strconv.ParseFloat(string(value), 64) // ±Inf when out of range
	if seconds < routine.MinRunTimeout.Seconds() || seconds > routine.MaxRunTimeout.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
