package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"rote/routine"
)

// SessionColumns are the columns of a saved session without its state. All stores have them.
var SessionColumns = []string{"organization_id", "project_id", "name", "hosts", "mode", "readable", "condition", "login", "failures", "reason",
	"max_age", "user_agent", "logged_in_at", "saved_at", "expires_at", "generation"}

// SessionValues returns the values of SessionColumns. text converts the texts that may hold
// NUL.
func SessionValues(s *routine.Session, text func(string) any) ([]any, error) {
	hosts, err := Encode(append([]string{}, s.Hosts...))
	if err != nil {
		return nil, fmt.Errorf("encode hosts of session: %w", err)
	}
	return []any{s.OrganizationID, s.ProjectID, s.Name, hosts, string(s.Mode), s.Readable, string(s.Condition), NullText(s.Login), s.Failures, text(s.Reason),
		s.MaxAge.Microseconds(), text(s.UserAgent), NullMicros(s.LoggedInAt), NullMicros(s.SavedAt), NullMicros(s.ExpiresAt), s.Generation}, nil
}

// ScanSession reads a row with SessionColumns, and then more columns.
func ScanSession(scan Scan, more ...any) (*routine.Session, error) {
	var (
		s                               routine.Session
		hosts, login, reason, userAgent []byte
		age                             int64
		loggedIn, saved, expires        *int64
	)
	err := scan(append([]any{&s.OrganizationID, &s.ProjectID, &s.Name, &hosts, &s.Mode, &s.Readable, &s.Condition, &login, &s.Failures, &reason,
		&age, &userAgent, &loggedIn, &saved, &expires, &s.Generation}, more...)...)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(hosts, &s.Hosts); err != nil {
		return nil, fmt.Errorf("decode hosts of session %s: %w", s.Name, err)
	}
	s.Login, s.Reason, s.UserAgent, s.MaxAge = login, string(reason), string(userAgent), time.Duration(age)*time.Microsecond
	s.LoggedInAt, s.SavedAt, s.ExpiresAt = fromNullMicros(loggedIn), fromNullMicros(saved), fromNullMicros(expires)
	return &s, nil
}

// SealSession encrypts the state of a session with a data key.
func (s Sealer) SealSession(of *routine.Session, state []byte, key *DataKey) ([]byte, error) {
	sealed, err := s.sealWith(key, state, sessionContext(of, key))
	return sealed, Wrap("seal session", err)
}

// OpenSession decrypts the output of SealSession. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenSession(of *routine.Session, sealed []byte, key *DataKey) ([]byte, error) {
	state, err := s.openWith(key, sealed, sessionContext(of, key))
	return state, Wrap("open session "+of.Name, err)
}

// ResealSession returns the state of a session encrypted with another data key. See
// OpenSession.
func (s Sealer) ResealSession(of *routine.Session, sealed []byte, key, next *DataKey) ([]byte, error) {
	state, err := s.OpenSession(of, sealed, key)
	if err != nil {
		return nil, fmt.Errorf("session %s of project %q: %w: log in again, or delete the session", of.Name, of.ProjectID, err)
	}
	return s.SealSession(of, state, next)
}

// sessionContext binds an encrypted state to its session and key.
func sessionContext(s *routine.Session, key *DataKey) string {
	return fmt.Sprintf("session %d:%s %d:%s %s %s", len(s.OrganizationID), s.OrganizationID, len(s.ProjectID), s.ProjectID, s.Name, key.ID)
}
