package service

import (
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
)

// Limits of the setting max_age of a session.
const (
	minSessionAge = time.Minute
	maxSessionAge = 400 * 24 * time.Hour
)

// sessionSettings are the names of the settings of a session.
var sessionSettings = []string{"hosts", "mode", "max_age", "readable", "login", "signed_out"}

// readSessionChange reads the text of a JSON object. An error means that it is none.
func readSessionChange(text []byte) (*settingsChange, error) {
	return readSettingsObject("session", `{"hosts": ["shop.example"]}`, text, sessionSettings)
}

// applyToSession sets the settings of the call in session, which is the stored one or new.
func (c *settingsChange) applyToSession(session *routine.Session) {
	c.readHosts(&session.Hosts, "the login is for")
	if value, ok := c.settings["mode"]; ok {
		wrong := readOneOf(value, &session.Mode, routine.SessionShared, routine.SessionExclusive)
		c.read("mode", wrong, wrong == "")
	}
	if value, ok := c.settings["max_age"]; ok {
		var text string
		var err error
		session.MaxAge = 0
		if string(value) != "null" {
			if readText(value, &text) {
				session.MaxAge, err = time.ParseDuration(text)
			}
			c.read("max_age", `must be a time from 1m to 9600h, as in "12h", or null`, err == nil && minSessionAge <= session.MaxAge && session.MaxAge <= maxSessionAge)
		}
	}
	c.readBool("readable", &session.Readable)
}

// widens reports whether a session gives more of its login than before: to more hosts, or also
// to the authors of routines.
func widens(before, after *routine.Session) bool {
	return after.Readable && !before.Readable || slices.ContainsFunc(after.Hosts, func(host string) bool { return !slices.Contains(before.Hosts, host) })
}

// ageText returns a time limit as max_age is written, without minutes and seconds that are 0.
func ageText(age time.Duration) string {
	text := age.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// forgetLogin removes what a login has set.
func forgetLogin(session *routine.Session) {
	session.Condition, session.Failures, session.Reason, session.UserAgent = routine.SessionEmpty, 0, "", ""
	session.LoggedInAt, session.SavedAt, session.ExpiresAt = nil, nil, nil
}

// SessionInfo is everything about a saved session but the values of its state, which nobody can
// read.
type SessionInfo struct {
	Name  string              `json:"name"`
	Hosts []string            `json:"hosts"`
	Mode  routine.SessionMode `json:"mode"`
	// MaxAge is as in "12h", or nil if a login has no time limit.
	MaxAge    *string                  `json:"max_age"`
	Readable  bool                     `json:"readable"`
	Condition routine.SessionCondition `json:"condition"`
	// Failures and Reason are those of the last logins; 0 and empty if none failed.
	Failures   int        `json:"failures"`
	Reason     string     `json:"reason,omitempty"`
	UserAgent  string     `json:"user_agent,omitempty"`
	LoggedInAt *time.Time `json:"logged_in_at"`
	SavedAt    *time.Time `json:"saved_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	Version    int        `json:"version"`
	// Login and SignedOut keep the session logged in; nil: they are not set.
	Login     *LoginRoutine `json:"login,omitempty"`
	SignedOut *SignedOut    `json:"signed_out,omitempty"`
	// State says how much is saved for each host. Lists do not have it.
	State []browserstate.Count `json:"state,omitempty"`
	// Withheld reports whether the caller may not read sessions. Only the name and the version
	// are known to them.
	Withheld bool `json:"-"`
}

func sessionInfo(s *routine.Session) *SessionInfo {
	info := &SessionInfo{Name: s.Name, Hosts: s.Hosts, Mode: s.Mode, Readable: s.Readable, Condition: s.Condition, Failures: s.Failures, Reason: s.Reason,
		UserAgent: s.UserAgent, LoggedInAt: s.LoggedInAt, SavedAt: s.SavedAt, ExpiresAt: s.ExpiresAt, Version: s.Generation}
	if s.MaxAge > 0 {
		info.MaxAge = new(ageText(s.MaxAge))
	}
	if l, err := readSessionLogin(s); err == nil {
		info.Login, info.SignedOut = l.Login, l.SignedOut
	}
	return info
}
