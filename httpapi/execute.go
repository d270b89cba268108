package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	call.Via = routine.ViaREST
	if call.Once, err = onceOf(q.Header, text); err != nil {
		return answer{}, err
	}
	if prefers(q.Header, "respond-async") {
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

// maxProblems bounds how many faults of one call are told.
const maxProblems = 100

// readCall decodes the body of an execute call, with all its faults at once.
// The values are left to the service, which knows the parameters.
func readCall(text []byte) (routine.Call, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if p := checkSyntax(text); p != nil {
		return routine.Call{}, badRequest([]routine.Problem{*p})
	}
	var call routine.Call
	var problems []routine.Problem
	add := func(offset int, p routine.Problem) {
		if len(problems) == maxProblems {
			return
		}
		p.Line, p.Column = lineColumn(text, offset)
		problems = append(problems, p)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if d.PeekKind() != '{' {
		add(leadingSpace(text), routine.Problem{Code: "type", Message: "the body must be an object with the field parameters"})
		return call, badRequest(problems)
	}
	open, _ := d.ReadToken() // no error from here on: the syntax is checked
	start := int(d.InputOffset()) - len(open.String())
	for d.PeekKind() != '}' {
		quoted, _ := d.ReadValue()
		at := int(d.InputOffset()) - len(quoted)
		key, _ := jsontext.AppendUnquote(nil, quoted)
		value, _ := d.ReadValue()
		atValue := int(d.InputOffset()) - len(value)
		switch string(key) {
		case "parameters":
			call.Parameters = bytes.Clone(value)
			if value.Kind() != '{' {
				add(atValue, routine.Problem{Pointer: "/parameters", Code: "type", Message: "parameters must be an object of name to value"})
			}
		case "timeout_seconds":
			var ok bool
			if call.Timeout, ok = runTimeout(value); !ok {
				add(atValue, routine.Problem{Pointer: "/timeout_seconds", Code: "range", Message: fmt.Sprintf("timeout_seconds must be a number from %v to %v",
					routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds())})
			}
		default:
			add(at, routine.Problem{Pointer: "/" + escapePointer.Replace(string(key)), Code: "unknown_field", Message: fmt.Sprintf("the body has no field %q", clip(string(key))),
				Hint: `its fields are parameters and timeout_seconds; values go into parameters, as in {"parameters": {"name": "value"}}`})
		}
	}
	if call.Parameters == nil {
		add(start, routine.Problem{Code: "required", Message: `the body needs the field "parameters"`, Hint: `without any values it is {"parameters": {}}`})
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(p, q routine.Problem) int {
			return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
		})
		return routine.Call{}, badRequest(problems)
	}
	return call, nil
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

// checkSyntax tells what keeps text from being one JSON value: broken syntax,
// keys that stand twice, invalid UTF-8, text behind the end.
func checkSyntax(text []byte) *routine.Problem {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	_, err := d.ReadValue()
	end := int(d.InputOffset())
	var syntax *jsontext.SyntacticError
	p, offset := &routine.Problem{Code: "json_syntax"}, len(text)
	switch {
	case err == nil:
		offset = end + leadingSpace(text[end:])
		if offset == len(text) {
			return nil
		}
		p.Code, p.Message = "trailing_text", "text after the end of the JSON value: remove it"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.Message = "the JSON ends too early: close what is open"
	case errors.As(err, &syntax):
		offset, p.Pointer = int(syntax.ByteOffset), string(syntax.JSONPointer)
		p.Message = "the body is no valid JSON: " + strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		if errors.Is(err, jsontext.ErrDuplicateName) {
			p.Code, p.Message = "duplicate_key", fmt.Sprintf("the key at %s stands there twice: remove one", clip(p.Pointer))
		}
	default:
		p.Message = "the body is no valid JSON: " + err.Error()
	}
	p.Line, p.Column = lineColumn(text, offset)
	return p
}

// badRequest is the error for faults of the request's own form.
func badRequest(problems []routine.Problem) error {
	message := problems[0].Message
	if len(problems) > 1 {
		message = fmt.Sprintf("%d problems in the request, first: %s", len(problems), message)
	}
	return &routine.Error{Code: routine.CodeInvalid, Message: message, Problems: problems}
}

// lineColumn counts from 1, in characters.
func lineColumn(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[start:])
}

func leadingSpace(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// clip keeps a caller's own words in messages short.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
