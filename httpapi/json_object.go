package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// maxProblems limits how many problems of one request are reported.
const maxProblems = 100

// maxShownChars limits how many characters of the caller's input a message
// quotes.
const maxShownChars = 80

// jsonField describes one field of a request body's object.
type jsonField struct {
	name string
	// read stores the value and reports whether it is valid. If not, a problem with
	// code and message is reported.
	read          func(jsonValue) bool
	code, message string
	// requiredHint makes the field required and says what to write if it is
	// missing. Empty: the field is optional.
	requiredHint string
}

// jsonValue is the value of a field with its position in the body. Line and column
// count from 1, the column in characters.
type jsonValue struct {
	jsontext.Value
	line, column int
}

// moveProblems changes the positions of problems from those in the value alone to those
// in the body.
func (v jsonValue) moveProblems(problems []routine.Problem) {
	for i := range problems {
		p := &problems[i]
		switch {
		case p.Line == 0: // it has no position
			continue
		case p.Line == 1:
			p.Column += v.column - 1
		}
		p.Line += v.line - 1
	}
}

// readJSONObject reads a body that is an object with the given fields, and
// reports all its problems at once. hint is added to the problems of unknown
// fields.
func readJSONObject(text []byte, hint string, fields ...jsonField) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if p := checkSyntax(text); p != nil {
		return invalidRequest([]routine.Problem{*p})
	}
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
		add(leadingSpace(text), routine.Problem{Code: "type", Message: "the body must be an object with the field " + fields[0].name})
		return invalidRequest(problems)
	}
	open, _ := d.ReadToken() // no errors from here on: the syntax has been checked
	start := int(d.InputOffset()) - len(open.String())
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		quoted, _ := d.ReadValue()
		at := int(d.InputOffset()) - len(quoted)
		key, _ := jsontext.AppendUnquote(nil, quoted)
		value, _ := d.ReadValue()
		atValue := int(d.InputOffset()) - len(value)
		seen[string(key)] = true
		i := slices.IndexFunc(fields, func(f jsonField) bool { return f.name == string(key) })
		if i < 0 {
			add(at, routine.Problem{Pointer: "/" + routine.EscapePointer(string(key)), Code: "unknown_field",
				Message: fmt.Sprintf("the body has no field %q", routine.Truncate(string(key), maxShownChars)), Hint: hint})
			continue
		}
		line, column := lineColumn(text, atValue)
		if f := fields[i]; !f.read(jsonValue{bytes.Clone(value), line, column}) {
			add(atValue, routine.Problem{Pointer: "/" + f.name, Code: f.code, Message: f.message})
		}
	}
	for _, f := range fields {
		if f.requiredHint != "" && !seen[f.name] {
			add(start, routine.Problem{Code: "required", Message: fmt.Sprintf("the body needs the field %q", f.name), Hint: f.requiredHint})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(p, q routine.Problem) int {
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
	return invalidRequest(problems)
}

// checkSyntax returns the problem that prevents text from being one JSON value,
// or nil: invalid syntax, duplicate keys, invalid UTF-8 or text after the
// value.
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
			p.Code, p.Message = "duplicate_key", fmt.Sprintf("the key at %s stands there twice: remove one", routine.Truncate(p.Pointer, maxShownChars))
		}
	default:
		p.Message = "the body is no valid JSON: " + err.Error()
	}
	p.Line, p.Column = lineColumn(text, offset)
	return p
}

// invalidRequest returns a CodeInvalid error with all problems.
func invalidRequest(problems []routine.Problem) error {
	message := problems[0].Message
	if len(problems) > 1 {
		message = fmt.Sprintf("%d problems in the request, first: %s", len(problems), message)
	}
	return &routine.Error{Code: routine.CodeInvalid, Message: message, Problems: problems}
}

// lineColumn converts a byte offset to a line and a column in characters, both
// from 1.
func lineColumn(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[start:])
}

func leadingSpace(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }
