package routine

import (
	"crypto/sha256"
	"errors"
	"time"
)

// IdempotencyTime is how long an idempotency key stays valid after its call.
const IdempotencyTime = 24 * time.Hour

// IdempotencyKey is the record of a call that had an idempotency key. A Store saves it
// in the same transaction as what the call created: either both are saved or neither.
type IdempotencyKey struct {
	OrganizationID, UserID, ProjectID string
	// Reach is the list of hosts to which the token is limited, in lower case and sorted.
	Reach, Key  string
	Fingerprint [sha256.Size]byte
	CreatedAt   time.Time
}

// ErrKeyTaken means that there was a call with this idempotency key before.
var ErrKeyTaken = errors.New("idempotency key is taken")
