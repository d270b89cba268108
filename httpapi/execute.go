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
	"rote/routine/service"
)

// executeRoutine runs a routine. If the client disconnects, the request's
// context cancels the run, unless the client asked for an asynchronous run or
// sent an idempotency key.
func (a *api) executeRoutine(q *request) (response, error) {
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	call, err := readCall(text)
	if err != nil {
		return response{}, err
	}
	async := hasPreference(q.Header, "respond-async")
	if call.CallbackURL != "" && !async {
		return response{}, invalidRequest([]routine.Problem{{Pointer: "/callback_url", Code: "needs_async",
			Message: "callback_url is for a call that does not wait: send the header Prefer: respond-async"}})
	}
	call.Via = routine.ViaREST
	if call.Idempotency, err = idempotencyOf(q.Header, text); err != nil {
		return response{}, err
	}
	if async {
		e, err := a.service.Start(q.Context(), q.principal, q.routineID(), call)
		if err != nil {
			return response{}, err
		}
		q.w.Header().Set("Preference-Applied", "respond-async")
		return response{status: http.StatusAccepted, body: e, location: a.base + "/executions/" + e.ID}, nil
	}
	e, err := a.service.Execute(q.Context(), q.principal, q.routineID(), call)
	if err != nil {
		return response{}, &errorDetails{error: err, execution: e}
	}
	return response{status: http.StatusCreated, body: e}, nil
}

// hasPreference reports whether the Prefer headers contain a preference (RFC
// 7240).
func hasPreference(h http.Header, preference string) bool {
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

// idempotencyOf returns the idempotency key of a request with its body, or the
// zero value if there is no key.
func idempotencyOf(h http.Header, body []byte) (service.Idempotency, error) {
	keys := h.Values("Idempotency-Key")
	if len(keys) > 1 || len(keys) == 1 && keys[0] == "" {
		return service.Idempotency{}, routine.Errorf(routine.CodeInvalid, "Idempotency-Key must be one value that is not empty")
	}
	if len(keys) == 0 {
		return service.Idempotency{}, nil
	}
	return service.Idempotency{Key: keys[0], Body: body}, nil
}

// readCall decodes the body of an execute call. The service checks the
// parameter values.
func readCall(text []byte) (service.Call, error) {
	var call service.Call
	err := readJSONObject(text, `its fields are parameters, timeout_seconds and callback_url; values go into parameters, as in {"parameters": {"name": "value"}}`,
		jsonField{"parameters", func(value jsontext.Value) bool {
			call.Parameters = json.RawMessage(value)
			return value.Kind() == '{'
		}, "type", "parameters must be an object of name to value", `without any values it is {"parameters": {}}`},
		jsonField{"timeout_seconds", func(value jsontext.Value) (ok bool) {
			call.Timeout, ok = runTimeout(value)
			return ok
		}, "range", fmt.Sprintf("timeout_seconds must be a number from %v to %v", routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds()), ""},
		jsonField{"callback_url", func(value jsontext.Value) bool {
			text, _ := jsontext.AppendUnquote(nil, value) // no error in a string of valid JSON
			call.CallbackURL = string(text)
			return value.Kind() == '"' && call.CallbackURL != ""
		}, "type", "callback_url must be a string with a URL", ""})
	return call, err
}

// runTimeout converts a JSON number of seconds and reports whether it is a valid
// timeout. The service cannot check a timeout of 0: it means that none was given.
func runTimeout(value jsontext.Value) (time.Duration, bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	seconds, _ := strconv.ParseFloat(string(value), 64) // ±Inf when out of range
	if !routine.ValidRunTimeout(seconds) {
		return 0, false
	}
	return routine.Seconds(seconds), true
}
