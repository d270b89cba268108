package service

import (
	"context"
	"encoding/json"
	"strings"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/pattern"
	"rote/routine/selector"
)

// maxSignedOut is the length in bytes of a URL expression or selector of [SignedOut].
const maxSignedOut = 1000

// applyLogin sets the settings login and signed_out of the call in a session of p's project.
func (s *Service) applyLogin(ctx context.Context, p routine.Principal, c *settingsChange, session *routine.Session) error {
	l, err := readSessionLogin(session)
	if err != nil {
		return err
	}
	if value, ok := c.settings["login"]; ok {
		l.Login = nil
		if c.readMembers("login", value, "routine_id", "parameters") {
			l.Login = &LoginRoutine{}
			c.read("login", `must be an object with the id of a routine, as in {"routine_id": "Routine_…"}, or null`,
				json.Unmarshal(value, l.Login) == nil && l.Login.RoutineID != "")
			if len(c.problems) == 0 {
				err = s.checkLoginRoutine(ctx, p, c, session.Name, l.Login)
			}
		}
	}
	if value, ok := c.settings["signed_out"]; ok {
		l.SignedOut = nil
		if c.readMembers("signed_out", value, "url_regex", "selector") {
			l.SignedOut = &SignedOut{}
			c.read("signed_out", `must be an object with a regular expression or a selector, as in {"url_regex": "/login"}, or null`,
				json.Unmarshal(value, l.SignedOut) == nil && *l.SignedOut != SignedOut{})
			c.checkSignedOut(l.SignedOut)
		}
	}
	session.Login = nil
	if l != (sessionLogin{}) {
		session.Login = routine.RawJSON(l)
	}
	return err
}

// readMembers reports whether a setting is an object, and adds a problem for each member that it
// cannot have. It returns false for null, too.
func (c *settingsChange) readMembers(setting string, value json.RawMessage, known ...string) bool {
	if string(value) == "null" {
		return false
	}
	inner, err := readSettingsObject("setting "+setting, "{}", value, known)
	if err != nil {
		c.read(setting, "must be an object or null", false)
		return false
	}
	for _, problem := range inner.problems {
		c.add("/"+setting+problem.Pointer, problem.Code, problem.Message, problem.Hint)
	}
	return true
}

// checkSignedOut adds the problems of a test.
func (c *settingsChange) checkSignedOut(o *SignedOut) {
	if len(o.URLRegex) > maxSignedOut || len(o.Selector) > maxSignedOut {
		c.add("/signed_out", "too_large", "an expression or selector has more than 1000 bytes", "")
		return
	}
	if _, err := pattern.Compile(o.URLRegex); err != nil {
		c.problems = append(c.problems, pattern.Problem("/signed_out/url_regex", err))
	}
	if o.Selector == "" {
		return
	}
	if fault := selector.Check(o.Selector); fault != nil {
		c.add("/signed_out/selector", "selector", fault.Message, fault.Hint)
	}
}

// checkLoginRoutine adds the problems of a routine that is to log in for a session, with the
// values of its parameters. Secret values are refused: a session's settings are no secret.
func (s *Service) checkLoginRoutine(ctx context.Context, p routine.Principal, c *settingsChange, session string, l *LoginRoutine) error {
	p.Scopes |= routine.ScopeExecutionsRun // to find the routine only
	r, err := s.routineToRun(ctx, p, l.RoutineID, Call{})
	if err != nil {
		if code := routine.CodeOf(err); code == routine.CodeStoreUnavailable || code == routine.CodeTimeout {
			return err
		}
		c.add("/login/routine_id", "unknown_routine", routine.AsError(err).Message, "")
		return nil
	}
	given := map[string]json.RawMessage{}
	if len(l.Parameters) > 0 && (routine.FirstByte(l.Parameters) != '{' || json.Unmarshal(l.Parameters, &given) != nil) {
		c.add("/login/parameters", "type", "must be an object of names and values", "")
		return nil
	}
	for _, parameter := range r.Parameters {
		if _, ok := given[parameter.Name]; ok && parameter.Secret {
			c.add("/login/parameters/"+routine.EscapePointer(parameter.Name), "secret_value",
				"is a secret parameter, and the settings of a session are no place for its value",
				`store the value with rote secret set, and give the parameter "x-from-secret": "NAME.FIELD" in the routine`)
			return nil
		}
	}
	values, err := definition.Bind(&r.Definition, l.Parameters)
	if err != nil {
		for _, problem := range routine.AsError(err).Problems {
			c.add("/login/parameters"+strings.TrimPrefix(problem.Pointer, "/parameters"), problem.Code, problem.Message, problem.Hint)
		}
		return nil
	}
	if used := definition.SessionOf(&r.Definition, values); used != session {
		c.add("/login/routine_id", "other_session", "is a routine that does not use the session "+session,
			`give the routine "session": "`+session+`", so that what it leaves is kept there`)
	}
	return nil
}
