package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"rote/routine"
	"rote/routine/operation"
)

// typedText returns the text that an input_text typed; empty if it is not known, because it
// has a session value.
func typedText(k *keptOperation) string {
	text := textAt(k.operation, k.values, "/text")
	if operation.HasToken(text) {
		return ""
	}
	return text
}

// formerText returns the text of the field before an operation typed into it; nil if there is
// no such field yet.
func formerText(k *keptOperation) *string {
	if k.element == nil {
		return nil
	}
	return &k.element.Value
}

// warnOfFormerText adds a warning to step if an input_text without clear added its text to
// one that the field had. former is what it had, nil if that is not known.
func (l *lesson) warnOfFormerText(ctx context.Context, k *keptOperation, step *Step, former *string) {
	var typing struct {
		Clear bool `json:"clear"`
	}
	if !step.OK || step.Moved || k.element == nil || k.fromStoredRoutine || k.operation.Type() != "input_text" || former != nil && *former == "" ||
		json.Unmarshal(k.operation.Raw(), &typing) != nil || typing.Clear {
		return
	}
	now := l.describe(ctx, k)
	if now == nil {
		return
	}
	typed := typedText(k)
	if former == nil {
		before, ok := strings.CutSuffix(now.Value, l.session.Mask(typed))
		if typed == "" || !ok || before == "" {
			return
		}
		former = &before
	}
	if w := formerTextWarning(*former, now.Value, l.session.Mask(typed), l.typesSecret(k)); w != "" {
		step.Warnings = append(slices.Clone(step.Warnings), w)
	}
}

// typesSecret reports whether an operation types a secret or types into a field for one.
func (l *lesson) typesSecret(k *keptOperation) bool {
	text := typedText(k)
	return k.element.Field != nil && k.element.Field.Secret || l.session.Mask(text) != text ||
		slices.ContainsFunc(k.parameters, func(p routine.Parameter) bool { return p.Secret })
}

// maxFieldText is how many characters of a field's text a warning shows.
const maxFieldText = 60

// formerTextWarning says that a field had a text and still has it now, besides the one that
// was typed; empty if it has not. No text is shown if one may be a secret.
func formerTextWarning(former, now, typed string, secret bool) string {
	letters := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return r
			}
			return -1 // the page may format what was typed
		}, text)
	}
	switch {
	case former == routine.Masked && now == routine.Masked:
		return `the field was not empty before: "clear": true replaces what it had`
	case now == former || now == typed || !strings.Contains(letters(now), letters(former)) || letters(now) == letters(typed) && letters(typed) != "":
		return ""
	case secret:
		return `the field had a text, to which the typed one was added: "clear": true replaces what it had`
	}
	shown := func(text string) string {
		return routine.JSONText(routine.Truncate(routine.OneLine(routine.PlainText(text)), maxFieldText))
	}
	return fmt.Sprintf(`the field had %s and holds %s now: "clear": true replaces what it had`, shown(former), shown(now))
}
