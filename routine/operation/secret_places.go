package operation

import (
	"strings"

	"rote/routine"
	"rote/routine/placeholder"
)

// TakesSecret reports whether a text of a stored secret may be filled in for the token with
// the index i of the template t of a site of an operation: where a text is typed, or where a
// request has it in the value of a header, in a value of its body or, unless it is a one-time
// code, in the query of its URL.
func TakesSecret(operationType string, s Site, t *placeholder.Template, i int, code bool) bool {
	if s.Key {
		return false
	}
	switch {
	case operationType == "input_text":
		return s.Pointer == "/text"
	case strings.HasPrefix(s.Pointer, "/endpoint/headers/"), s.Pointer == "/endpoint/body", strings.HasPrefix(s.Pointer, "/endpoint/body/"):
		return true
	}
	return s.Pointer == "/endpoint/url" && !code && t.InQuery(i)
}

// GivesOut reports whether the text at a site of an operation is typed or sent.
func GivesOut(operationType string, s Site) bool {
	return operationType == "input_text" && s.Pointer == "/text" || strings.HasPrefix(s.Pointer, "/endpoint/")
}

// RequestURL returns the URL of the request that an operation makes, which may be relative to
// the page; false if it makes none.
func RequestURL(op Action) (string, bool) {
	q, ok := op.(requesting)
	if !ok {
		return "", false
	}
	return q.request().URL, true
}

// EachSecret calls show for each reference to a stored secret in an operation.
func EachSecret(op Action, show func(routine.SecretReference)) {
	EachTemplate(op, func(s Site) {
		if !strings.Contains(s.Text, "{{") {
			return
		}
		t, _ := placeholder.Parse(s.Text, s.Place)
		for _, token := range t.Tokens() {
			if ref, ok := routine.SecretReferenceOf(token); ok {
				show(ref)
			}
		}
	})
}
