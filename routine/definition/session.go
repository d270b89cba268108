package definition

import (
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
)

const (
	sessionField   = "session"
	incognitoField = "incognito"
)

// sessionNameRule says what the name of a session looks like.
const sessionNameRule = "the name of a session is a letter, then up to 63 letters, digits, _ or -"

// session checks the name of the session, which may have tokens of parameters, and that
// incognito does not contradict it.
func (c *checker) session() {
	n := c.root.member(sessionField)
	if n == nil || n.bad {
		return
	}
	c.definition.Incognito = false
	if incognito := c.root.member(incognitoField); incognito != nil && incognito.kind == 't' {
		c.add(routine.Problem{Pointer: "/" + incognitoField, Code: "conflicting",
			Message: "a run with a session is not incognito: it starts from the session's cookies and storage", Hint: "remove incognito, or session"})
	}
	const pointer = "/" + sessionField
	if !strings.Contains(n.text, "{{") {
		if !routine.ValidSecretName(n.text) {
			c.add(routine.Problem{Pointer: pointer, Code: "session_name", Message: "names no session", Hint: sessionNameRule})
		}
		return
	}
	t, faults := placeholder.Parse(n.text, placeholder.Text)
	c.placeholders(pointer, operation.Site{Text: n.text, Place: placeholder.Text}, t.Tokens(), faults)
	for _, token := range t.Tokens() {
		message := " is not allowed here"
		switch {
		case token.Source != placeholder.Parameter:
		case c.isSecret(token.Name):
			message += ", because its value is secret and the names of sessions are shown"
		default:
			continue
		}
		c.put(&c.problems, finding{within: token.Offset + 1, Problem: routine.Problem{Pointer: pointer, Code: placeholder.CodeNotAllowed,
			Message: routine.Truncate(token.Raw, maxShownToken) + message, Hint: "the name of a session can have parameters only, as in {{account}}"}})
	}
	sample, _ := t.FillText(func(placeholder.Token) (any, bool) { return "x", true })
	if len(faults) == 0 && !routine.ValidSecretName(sample) {
		c.add(routine.Problem{Pointer: pointer, Code: "session_name", Message: "names no session, whatever the values are", Hint: sessionNameRule})
	}
}

// isSecret reports whether a parameter is secret.
func (c *checker) isSecret(name string) bool {
	for i := range c.definition.Parameters {
		if c.definition.Parameters[i].Name == name {
			return c.definition.Parameters[i].Secret
		}
	}
	return false
}

// SessionOf returns the name of the session that a run of a definition uses with values that
// [Bind] has returned; empty: none.
func SessionOf(d *routine.Definition, values routine.Values) string {
	name, _ := fillParameters(values, operation.Site{Text: d.Session, Place: placeholder.Text})
	text, _ := name.(string)
	return text
}

// checkSession reports values that do not make the name of a session. Each parameter in it needs
// a value: "shop{{account}}" would be another account's session without one.
func checkSession(d *routine.Definition, values routine.Values, found *report) {
	t, _ := placeholder.Parse(d.Session, placeholder.Text)
	for _, token := range t.Tokens() {
		if values[token.Name] == nil {
			found.add(valueProblem(token.Name, "required", "is required: the name of the session has it"))
			return
		}
	}
	if d.Session != "" && !routine.ValidSecretName(SessionOf(d, values)) {
		found.add(valueProblem(firstParameter(d.Session), "invalid_value",
			fmt.Sprintf("does not make the name of a session from %s: %s", routine.Quote(d.Session), sessionNameRule)))
	}
}
