package lesson

import (
	"rote/routine"
	"rote/routine/definition"
	"rote/routine/lesson/parameters"
	"rote/routine/placeholder"
)

// A lesson may start from a saved session: each of its pages has the state of the session, and
// nothing is saved in it. What logs in during a lesson is for trying.

// checkSession checks the session of a request. CodeInvalid.
func (q *StartRequest) checkSession() error {
	switch {
	case q.Session == "":
		return nil
	case !routine.ValidSecretName(q.Session):
		return routine.Invalid("lesson", []routine.Problem{{Pointer: "/session", Code: "session_name", Message: "session names no session",
			Hint: "the name of a session is a letter, then up to 63 letters, digits, _ or -"}})
	case q.Incognito != nil && *q.Incognito:
		return routine.Invalid("lesson", []routine.Problem{{Pointer: "/incognito", Code: "conflicting",
			Message: "a lesson with a session is not incognito: it starts from the session's cookies and storage", Hint: "leave out incognito, or session"}})
	}
	return nil
}

// sessionOf returns the name of the session that a run of a mended routine has with the values of
// the lesson; empty: none. CodeInvalid if they make no name.
func (l *lesson) sessionOf(d *routine.Definition) (string, error) {
	t, _ := placeholder.Parse(d.Session, placeholder.Text)
	named := &routine.Definition{Session: d.Session}
	values := map[string]any{}
	for _, p := range d.Parameters {
		for _, token := range t.Tokens() {
			if token.Name != p.Name {
				continue
			}
			named.Parameters = append(named.Parameters, p)
			if g, given := l.given[p.Name]; given {
				values[p.Name] = parameters.Value(p, g.value)
			}
			break
		}
	}
	bound, err := definition.Bind(named, routine.RawJSON(values))
	if err != nil {
		return "", err
	}
	return definition.SessionOf(named, bound), nil
}

// savedSession adds the session of a lesson that was started.
func (a *answer) savedSession(s *Started) {
	if s.Session != "" {
		a.line("Its pages start from the saved session %s, in which the lesson changes nothing.", s.Session)
	}
	if s.SessionWarning != "" {
		a.line("Warning: %s.", s.SessionWarning)
	}
}
