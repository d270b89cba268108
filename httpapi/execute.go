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

// executeRoutine runs a stored routine.
func (a *api) executeRoutine(q *request) (response, error) {
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	call, err := readCall(text)
	if err != nil {
		return response{}, err
	}
	return a.execute(q, q.routineID(), call, text)
}

// executeUnsaved runs a definition that is in the body and is not saved.
func (a *api) executeUnsaved(q *request) (response, error) {
	if err := a.service.MayExecuteUnsaved(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	call, definition, err := readUnsavedCall(text)
	if err != nil {
		return response{}, err
	}
	var warnings []routine.Problem
	if call.Definition, warnings, err = a.service.ParseUnsaved(q.Context(), q.principal, definition.Value); err != nil {
		definition.moveProblems(warnings)
		definition.moveProblems(routine.AsError(err).Problems)
		return response{}, &errorDetails{error: err, warnings: warnings}
	}
	return a.execute(q, "", call, text)
}

// execute makes a call whose body is text. The id is empty if the call has a
// definition. If the client disconnects, the request's context cancels the run,
// unless the client asked for an asynchronous run or sent an idempotency key.
func (a *api) execute(q *request, id string, call service.Call, text []byte) (response, error) {
	var err error
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
		e, err := a.service.Start(q.Context(), q.principal, id, call)
		if err != nil {
			return response{}, err
		}
		q.w.Header().Set("Preference-Applied", "respond-async")
		return response{status: http.StatusAccepted, body: e, location: a.base + "/executions/" + e.ID}, nil
	}
	e, err := a.service.Execute(q.Context(), q.principal, id, call)
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

// readCall decodes the body of a call that runs a stored routine. The service
// checks the parameter values.
func readCall(text []byte) (call service.Call, err error) {
	fields := callFields(&call)
	fields[0].requiredHint = `without any values it is {"parameters": {}}`
	err = readJSONObject(text,
		`its fields are parameters, timeout_seconds, callback_url and outline; values go into parameters, as in {"parameters": {"name": "value"}}`,
		fields...)
	return call, err
}

// readUnsavedCall decodes the body of a call that runs an unsaved definition. The
// service checks the definition and the parameter values.
func readUnsavedCall(text []byte) (call service.Call, definition jsonValue, err error) {
	routineField := jsonField{"routine", func(value jsonValue) bool {
		definition = value
		return value.Kind() == '{'
	}, "type", "routine must be an object with the definition",
		`it is the definition to run, as in {"routine": {"name": "…", "description": "…", "operations": […]}}`}
	err = readJSONObject(text,
		`its fields are routine, parameters, timeout_seconds, callback_url and outline; the definition goes into routine, the values into parameters`,
		append([]jsonField{routineField}, callFields(&call)...)...)
	return call, definition, err
}

// callFields returns the fields of a call's body that are the same for stored
// routines and for unsaved definitions: parameters, timeout_seconds, callback_url
// and outline. All are optional.
func callFields(call *service.Call) []jsonField {
	return []jsonField{
		{"parameters", func(value jsonValue) bool {
			call.Parameters = json.RawMessage(value.Value)
			return value.Kind() == '{'
		}, "type", "parameters must be an object of name to value", ""},
		{"timeout_seconds", func(value jsonValue) (ok bool) {
			call.Timeout, ok = runTimeout(value.Value)
			return ok
		}, "range", fmt.Sprintf("timeout_seconds must be a number from %v to %v", routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds()), ""},
		{"callback_url", func(value jsonValue) bool {
			text, _ := jsontext.AppendUnquote(nil, value.Value) // no error in a string of valid JSON
			call.CallbackURL = string(text)
			return value.Kind() == '"' && call.CallbackURL != ""
		}, "type", "callback_url must be a string with a URL", ""},
		{"outline", func(value jsonValue) bool {
			call.Outline = value.Kind() == 't'
			return call.Outline || value.Kind() == 'f'
		}, "type", "outline must be true or false", ""},
	}
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
