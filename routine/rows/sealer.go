package rows

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"rote/routine"
)

// Sealer encrypts what the database must not reveal by itself, such as browser states, with
// AES-256-GCM under keys that are not in the database.
type Sealer struct{ Keys KeySource }

// Sealed is an encrypted text and the state key that encrypts it. The zero value is that of
// two columns that are NULL.
type Sealed struct {
	Text  []byte
	KeyID *string
}

// SealState encrypts the state of a project. first must be true only if nothing has been
// encrypted yet: then a missing key is created. Later a missing key must not be
// replaced.
func (s Sealer) SealState(state []byte, organizationID, projectID string, first bool) (Sealed, error) {
	sealed, err := s.Seal(state, stateContext(organizationID, projectID), first)
	return sealed, Wrap("seal project state", err)
}

// OpenState decrypts the output of SealState. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenState(sealed Sealed, organizationID, projectID string) ([]byte, error) {
	state, err := s.Open(sealed, stateContext(organizationID, projectID))
	return state, Wrap("open project state", err)
}

// stateContext binds an encrypted state to its row.
func stateContext(organizationID, projectID string) string {
	return fmt.Sprintf("project state %d:%s %s", len(organizationID), organizationID, projectID)
}

// SealCall encrypts the call of a queued execution. See SealState for first.
func (s Sealer) SealCall(call []byte, executionID string, first bool) (Sealed, error) {
	sealed, err := s.Seal(call, callContext(executionID, ""), first)
	return sealed, Wrap("seal queued call", err)
}

// OpenCall decrypts the output of SealCall. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenCall(sealed Sealed, executionID string) ([]byte, error) {
	call, err := s.Open(sealed, callContext(executionID, ""))
	return call, Wrap("open queued call", err)
}

// callContext binds an encrypted call to its row.
func callContext(executionID, _ string) string { return "queued execution " + executionID }

// Seal encrypts text with the first state key. It can be decrypted only with the same place.
// See SealState for first.
func (s Sealer) Seal(text []byte, place string, first bool) (Sealed, error) {
	ring, err := s.Keys(first)
	if err != nil {
		return Sealed{}, fmt.Errorf("%w: %w", routine.ErrStateKey, err)
	}
	sealed, err := seal(ring[0], text, place)
	return Sealed{sealed, new(KeyID(ring[0]))}, err
}

// Open decrypts the output of Seal. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) Open(sealed Sealed, place string) ([]byte, error) {
	ring, err := s.Keys(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", routine.ErrSealed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", routine.ErrStateKey, err)
	}
	for _, key := range ring {
		if sealed.KeyID != nil && *sealed.KeyID != KeyID(key) {
			continue
		}
		if text, err := open(key, sealed.Text, place); err == nil {
			return text, nil
		}
	}
	if sealed.KeyID != nil && ring.Find(*sealed.KeyID) == nil {
		return nil, fmt.Errorf("%w, %s, and this process has %s: add that key to the file of --state-key",
			routine.ErrSealed, *sealed.KeyID, strings.Join(ring.IDs(), ", "))
	}
	return nil, routine.ErrSealed
}

// SealedKind is a kind of rows that are encrypted with a state key.
type SealedKind struct {
	// Name is for messages.
	Name, Table string
	// ID are the columns of the key of the table: two texts. The second may be an expression.
	ID [2]string
	// Text and KeyID are the columns of a Sealed.
	Text, KeyID string
	context     func(a, b string) string
}

// SealedKinds are all rows that are encrypted with a state key.
var SealedKinds = []SealedKind{
	{"browser states", "project_states", [2]string{"organization_id", "project_id"}, "sealed", "key_id", stateContext},
	{"queued executions", "execution_calls", [2]string{"execution_id", "''"}, "sealed", "key_id", callContext},
	{"parameters of schedules", "schedules", [2]string{"id", "''"}, "sealed", "key_id", scheduleContext},
	{"keys of secrets", "data_keys", [2]string{"id", "organization_id"}, "wrapped", "state_key_id", dataKeyContext},
	{"one-time codes", "secret_codes", [2]string{"id", "organization_id || '/' || project_id || '/' || name"}, "sealed", "key_id", codeContext},
}

// Reseal encrypts a row of a kind again, with the first state key. a and b are the values of
// the columns ID.
func (s Sealer) Reseal(kind SealedKind, sealed Sealed, a, b string) (Sealed, error) {
	text, err := s.Open(sealed, kind.context(a, b))
	if err != nil {
		return Sealed{}, err
	}
	return s.Seal(text, kind.context(a, b), false)
}

// Check returns an error if a row of a kind cannot be decrypted.
func (s Sealer) Check(kind SealedKind, sealed Sealed, a, b string) error {
	_, err := s.Open(sealed, kind.context(a, b))
	return err
}
