package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// evaluate evaluates an expression. It fails with an *exceptionError if the
// expression throws.
func evaluate(ctx context.Context, c channel, m proto.Request) (remoteObject, error) {
	answer, err := call[struct {
		Result    remoteObject `json:"result"`
		Exception *exception   `json:"exceptionDetails"`
	}](ctx, c, m)
	if err != nil || answer.Exception == nil {
		return answer.Result, err
	}
	return remoteObject{}, &exceptionError{answer.Exception.text(), *answer.Exception}
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
type exceptionError struct {
	text string // without the stack
	exception
}

func (t *exceptionError) Error() string { return t.text }

// exception is the protocol's ExceptionDetails. Line and Column count from 0 or
// from 1, depending on how the exception came about.
type exception struct {
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

// text describes what was thrown, without the stack.
func (x exception) text() string {
	text := cmp.Or(previewed(x.Exception.Preview), x.Exception.Description)
	if text == "" {
		text = strings.TrimSpace(x.Text + " " + string(x.Exception.Value))
	}
	return withoutStack(text)
}

// withoutStack is the description of an exception on one line, without its stack. The
// message is not shortened, because masking would not recognise half of a secret.
func withoutStack(description string) string {
	message, _, _ := strings.Cut(description, "\n    at ")
	return routine.Truncate(strings.Join(strings.Fields(message), " "), maxThrown)
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
