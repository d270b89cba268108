package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// evaluate evaluates an expression. It fails with an *exceptionError if the
// expression throws.
func evaluate(ctx context.Context, c channel, m proto.Request) (remoteObject, error) {
	answer, err := call[struct {
		Result    remoteObject      `json:"result"`
		Exception *exceptionDetails `json:"exceptionDetails"`
	}](ctx, c, m)
	if err != nil || answer.Exception == nil {
		return answer.Result, err
	}
	return remoteObject{}, &exceptionError{*answer.Exception}
}

// remoteObject is the value of an evaluation. Unlike rod's type it keeps the value's JSON
// unchanged.
type remoteObject struct {
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

// exceptionError is an exception of evaluated code.
type exceptionError struct{ exceptionDetails }

// maxExceptionText bounds the text of the error, in characters.
const maxExceptionText = 2000

// Error describes on one line what was thrown, without its stack. Of a thrown object that
// is no error it has only the kind: its properties are in its preview.
func (e *exceptionError) Error() string {
	text, _, _ := strings.Cut(e.Exception.Description, "\n    at ")
	if text == "" {
		text = e.Text + " " + string(e.Exception.Value)
	}
	return fmt.Sprintf("%.*s", maxExceptionText, strings.Join(strings.Fields(text), " "))
}

// exceptionDetails says what was thrown and where. Line and Column count from 0 or from 1,
// depending on how the exception came about.
type exceptionDetails struct {
	Text      string       `json:"text"`
	URL       string       `json:"url"`
	Line      int          `json:"lineNumber"`
	Column    int          `json:"columnNumber"`
	Exception remoteObject `json:"exception"`
	Stack     *struct {
		Frames []struct {
			URL    string `json:"url"`
			Line   int    `json:"lineNumber"` // from 0, as is
			Column int    `json:"columnNumber"`
		} `json:"callFrames"`
	} `json:"stackTrace"`
}

// errGone says that the document was replaced during an evaluation.
var errGone = errors.New("the document was replaced")

// asGone converts the protocol's errors of that meaning to errGone.
func asGone(err error) error {
	var e *cdp.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, text := range []string{
		"Cannot find context", "Execution context was destroyed", "Inspected target navigated or closed", "uniqueContextId not found", "No frame for given id",
	} {
		if strings.Contains(e.Message, text) {
			return errGone
		}
	}
	return err
}

func unquote(b json.RawMessage) (*string, error) {
	var s string
	err := json.Unmarshal(b, &s)
	return &s, err
}
