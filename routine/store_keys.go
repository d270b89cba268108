package routine

import (
	"crypto/sha256"
	"errors"
	"time"
)

// IdempotencyTime is how long a key stands for the call that was made with it.
const IdempotencyTime = 24 * time.Hour

// IdempotencyKey is the record of a call that was made with a key. A Store
// saves it in the transaction that saves what the call made: there is a record
// if and only if there is that.
type IdempotencyKey struct {
	OrganizationID, UserID, ProjectID string
	// Reach is the hosts that the token is limited to; see reachOf.
	Reach, Key  string
	Fingerprint [sha256.Size]byte
	CreatedAt   time.Time
}

// ErrKeyTaken: a call with this idempotency key has been made.
var ErrKeyTaken = errors.New("idempotency key is taken")
