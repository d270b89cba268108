package routine

import (
	"context"
	"errors"
	"time"
)

// ErrChanged means that somebody else has changed the row since the caller read it.
var ErrChanged = errors.New("changed by somebody else")

// MaxStepsAhead is by how many steps a one-time code that was used can be later than the one
// that is wanted now.
const MaxStepsAhead = 20

// MaxCodes limits the codes of a secret that wait for their use.
const MaxCodes = 10

// SecretStore is the part of a [Store] that keeps secrets. A Store encrypts their values. A
// projectID is exact: "" means the secrets of the whole organization.
type SecretStore interface {
	// SaveSecret creates or replaces a secret and sets its Version, which counts from 1. before
	// is the version that the caller has read; 0 if there was none. Fields that s does not
	// have are deleted, and one without Value and Reference keeps its value or reference. A
	// secret keeps its CreatedAt and CreatedBy, which SaveSecret sets too. ErrChanged;
	// ErrNotFound if there is nothing to keep; ErrSealed, ErrStateKey.
	SaveSecret(ctx context.Context, s *Secret, before int) error
	// Secret returns a secret without values. ErrNotFound.
	Secret(ctx context.Context, organizationID, projectID, name string) (*Secret, error)
	// Secrets returns the secrets of a project and those of its whole organization, by name,
	// without values. Of two with the same name, the first is that of the project.
	Secrets(ctx context.Context, organizationID, projectID string) ([]*Secret, error)
	// SecretValue returns the stored value of a field of a secret that the caller has read. The
	// value is encrypted together with the rules, so that it cannot be read with other rules than
	// those that it was saved with. ErrNotFound, also for a field with a reference; ErrChanged if
	// the secret was saved since; ErrSealed, ErrStateKey.
	SecretValue(ctx context.Context, of *Secret, field string) (Hidden, error)
	// DeleteSecret deletes a secret with its fields. ErrNotFound.
	DeleteSecret(ctx context.Context, organizationID, projectID, name string) error
	// CodeTime returns the time by which one-time codes are made. If processes of several
	// machines share the store, it is the store's own, because a machine's clock may be wrong;
	// else it is now.
	CodeTime(ctx context.Context, now time.Time) (time.Time, error)
	// TakeCodeStep records that the one-time code of a time step was used, and reports whether
	// nobody had used that or a later one. A last step that is more than MaxStepsAhead ahead
	// does not count: the clock was wrong when it was used. ErrNotFound.
	TakeCodeStep(ctx context.Context, organizationID, projectID, name, field string, step int64) (bool, error)

	// SaveCode keeps a one-time code that was sent to a person for a time from now on, encrypted.
	// A secret has at most MaxCodes, and loses the oldest. ErrNotFound if there is no such
	// secret; ErrSealed, ErrStateKey.
	SaveCode(ctx context.Context, of *Secret, code Hidden, valid time.Duration) error
	// TakeCode deletes the newest code of a secret and returns it. Nobody else gets that.
	// ErrNotFound if there is none; ErrSealed, ErrStateKey.
	TakeCode(ctx context.Context, of *Secret) (Hidden, error)

	// RecordSecretUses saves uses that belong to no execution that is still open.
	// FinishExecution saves those of the execution that it ends.
	RecordSecretUses(ctx context.Context, uses []SecretUse) error
	// SecretUses returns the uses of a secret, newest first, at most limit after offset, and
	// their total, at most MaxTotal+1.
	SecretUses(ctx context.Context, organizationID, projectID, name string, limit, offset int) ([]SecretUse, int, error)
	// PruneSecretUses deletes the uses before a time, and returns their number.
	PruneSecretUses(ctx context.Context, before time.Time) (int, error)
}
