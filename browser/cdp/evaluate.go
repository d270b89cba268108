package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	rod "github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// Evaluate evaluates an expression. It fails with an *ExceptionError if the
// expression throws.
func Evaluate(ctx context.Context, s Session, m proto.Request) (RemoteObject, error) {
	answer, err := Call[struct {
		Result    RemoteObject      `json:"result"`
		Exception *ExceptionDetails `json:"exceptionDetails"`
	}](ctx, s, m)
	if err != nil || answer.Exception == nil {
		return answer.Result, err
	}
	return RemoteObject{}, &ExceptionError{*answer.Exception}
}

// RemoteObject is the value of an evaluation. Unlike rod's type it keeps the value's JSON
// unchanged.
type RemoteObject struct {
	Type        string          `json:"type"`
	Subtype     string          `json:"subtype"`
	Class       string          `json:"className"`
	Value       json.RawMessage `json:"value"`
	Special     string          `json:"unserializableValue"`
	ObjectID    string          `json:"objectId"`
	Description string          `json:"description"`
	// Preview is set for a thrown value that is not an error.
	Preview *proto.RuntimeObjectPreview `json:"preview"`
}

// ExceptionError is an exception of evaluated code.
type ExceptionError struct{ ExceptionDetails }

// maxExceptionText bounds the text of the error, in characters.
const maxExceptionText = 2000

// Error describes the thrown value on one line, without its stack. If an object that is no
// error was thrown, only its kind is given: its properties are in its preview.
func (e *ExceptionError) Error() string {
	text, _, _ := strings.Cut(e.Exception.Description, "\n    at ")
	if text == "" {
		text = e.Text + " " + string(e.Exception.Value)
	}
	return fmt.Sprintf("%.*s", maxExceptionText, strings.Join(strings.Fields(text), " "))
}

// ExceptionDetails describes a thrown value and its place in the script. Line and Column count from 0 or from 1,
// depending on how the exception came about.
type ExceptionDetails struct {
	Text      string       `json:"text"`
	URL       string       `json:"url"`
	Line      int          `json:"lineNumber"`
	Column    int          `json:"columnNumber"`
	Exception RemoteObject `json:"exception"`
	Stack     *struct {
		Frames []struct {
			URL    string `json:"url"`
			Line   int    `json:"lineNumber"` // from 0, as is
			Column int    `json:"columnNumber"`
		} `json:"callFrames"`
	} `json:"stackTrace"`
}

// Error is an error that the browser answered a request with.
type Error = rod.Error

// ErrGone says that the document was replaced during an evaluation.
var ErrGone = errors.New("the document was replaced")

// AsGone returns ErrGone for the protocol's errors of that meaning, and any other error
// unchanged.
func AsGone(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	for _, text := range []string{
		"Cannot find context", "Execution context was destroyed", "Inspected target navigated or closed", "uniqueContextId not found", "No frame for given id",
	} {
		if strings.Contains(e.Message, text) {
			return ErrGone
		}
	}
	return err
}

// Unquote decodes the value of a string.
func Unquote(b json.RawMessage) (*string, error) {
	var s string
	err := json.Unmarshal(b, &s)
	return &s, err
}
