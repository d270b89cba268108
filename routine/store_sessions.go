package routine

import (
	"context"
	"encoding/json"
	"time"
)

// SessionMode says whether several runs may use a saved session at once.
type SessionMode string

const (
	SessionShared SessionMode = "shared"
	// SessionExclusive means that one run at a time uses it.
	SessionExclusive SessionMode = "exclusive"
)

// SessionCondition is the condition of a saved session.
type SessionCondition string

const (
	// SessionEmpty means that nobody has logged in.
	SessionEmpty SessionCondition = "empty"
	SessionFresh SessionCondition = "fresh"
	// SessionStale means that the site has ended the session, or that it is too old.
	SessionStale SessionCondition = "stale"
	// SessionFailed means that logins have failed, and are not tried again.
	SessionFailed SessionCondition = "failed"
)

// Session is a saved login: a name, settings, and the state of a browser, which a Store keeps
// apart.
type Session struct {
	OrganizationID, ProjectID, Name string
	// Hosts are those of which the state is kept, as "host", "*.host" or "host:port".
	Hosts []string
	Mode  SessionMode
	// Readable reports whether a run may give the values of cookies that pages cannot read.
	Readable  bool
	Condition SessionCondition
	// Login says how to log in, in a form that only the service knows; nil: a person does it.
	Login json.RawMessage
	// Failures counts the logins that have failed in a row; Reason is why the last one did.
	Failures int
	Reason   string
	// MaxAge is how long a login is used; 0: as long as the site accepts it.
	MaxAge time.Duration
	// UserAgent is that with which somebody has logged in; empty: that of runs.
	UserAgent string
	// LoggedInAt and SavedAt are nil if that never happened, and ExpiresAt if the state does
	// not expire.
	LoggedInAt, SavedAt, ExpiresAt *time.Time
	// Generation counts the changes from 1.
	Generation int
}

// LeasePurpose is what a session is leased for.
type LeasePurpose string

const (
	LeaseForRun   LeasePurpose = "run"
	LeaseForLogin LeasePurpose = "login"
)

// SessionLease is the exclusive use of a session by an execution, for one purpose.
type SessionLease struct {
	OrganizationID, ProjectID, Name string
	Purpose                         LeasePurpose
	ExecutionID                     string
}

// SessionStore is the part of a [Store] that keeps saved sessions. A Store encrypts their
// states.
type SessionStore interface {
	// SaveSession creates or replaces a session and sets its Generation. before is the
	// generation that the caller has read; 0 if there was none. A state that is nil keeps the
	// stored one, and an empty one deletes it. ErrChanged, ErrStateKey.
	SaveSession(ctx context.Context, s *Session, state []byte, before int) error
	// Session returns a session. ErrNotFound.
	Session(ctx context.Context, organizationID, projectID, name string) (*Session, error)
	// Sessions returns the sessions of a project, by name.
	Sessions(ctx context.Context, organizationID, projectID string) ([]*Session, error)
	// SessionState returns a session and its state, which is nil if there is none.
	// ErrNotFound, ErrSealed, ErrStateKey.
	SessionState(ctx context.Context, organizationID, projectID, name string) (*Session, []byte, error)
	// DeleteSession deletes a session with its state and leases. ErrNotFound.
	DeleteSession(ctx context.Context, organizationID, projectID, name string) error
	// LeaseSession gives an execution, which must be open, the exclusive use of a session for a
	// purpose, and reports whether it has it then. The lease ends with the execution, however
	// that ends. ErrNotFound.
	LeaseSession(ctx context.Context, l SessionLease) (bool, error)
	// SessionLessee returns the id of the open execution that has a session for a purpose, or
	// an empty text if there is none.
	SessionLessee(ctx context.Context, organizationID, projectID, name string, purpose LeasePurpose) (executionID string, err error)
}
