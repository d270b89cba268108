package lesson

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"rote/routine"
)

// check checks operations by the rules of a saved routine and decodes them. The pointers of
// the problems begin with /operations and the number in the list, from 0. CodeInvalid,
// CodeTooLarge, CodeBusy.
func (l *lesson) check(ctx context.Context, p routine.Principal, operations []json.RawMessage) ([]routine.Operation, error) {
	body := routine.RawJSON(map[string]any{"name": "lesson", "description": "A lesson.", "parameters": l.parametersIn(operations),
		"operations": operations})
	d, _, err := l.lessons.service.Validate(ctx, p, body)
	if err == nil {
		return d.Operations, nil
	}
	e := routine.AsError(err)
	if e.Code != routine.CodeInvalid || len(e.Problems) == 0 {
		return nil, err
	}
	problems := slices.Clone(e.Problems)
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0 // in a text that the caller did not write
		if problems[i].Code == "undeclared_parameter" {
			problems[i].Message = strings.Replace(problems[i].Message, "names no parameter of this routine", "has no value", 1)
			problems[i].Hint = `give it one, as in "values":{"city":"Oslo"}`
		}
	}
	return nil, routine.Invalid("operation", problems)
}

// parametersIn returns the declarations of the parameters whose names are in the text of
// operations, without the observed values. No other declaration can make operations invalid.
func (l *lesson) parametersIn(operations []json.RawMessage) []routine.Parameter {
	text := routine.RawJSON(operations)
	var decoded []any
	if json.Unmarshal(text, &decoded) == nil {
		text = routine.RawJSON(decoded) // without escapes in names
	}
	list := []routine.Parameter{}
	for _, p := range l.parameters {
		if bytes.Contains(text, []byte(p.Name)) {
			p.Observed = nil
			list = append(list, p)
		}
	}
	return list
}
