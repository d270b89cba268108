package rows

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	"github.com/google/uuid"

	"rote/routine"
)

// DataKey is a row of a key with which the secrets of an organization are encrypted. Wrapped
// is the key itself, encrypted with a state key.
type DataKey struct {
	ID, OrganizationID string
	Wrapped            Sealed
}

// NewDataKey makes a key for an organization. See SealState for first.
func (s Sealer) NewDataKey(organizationID string, first bool) (*DataKey, error) {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	k := &DataKey{ID: uuid.NewString(), OrganizationID: organizationID}
	var err error
	k.Wrapped, err = s.Seal(key, k.context(), first)
	return k, Wrap("make data key", err)
}

func (k *DataKey) context() string { return dataKeyContext(k.ID, k.OrganizationID) }

// dataKeyContext binds an encrypted key to its row.
func dataKeyContext(id, organizationID string) string {
	return fmt.Sprintf("data key %s %d:%s", id, len(organizationID), organizationID)
}

// sealWith encrypts text with a data key. It can be decrypted only with the same place.
func (s Sealer) sealWith(k *DataKey, text []byte, place string) ([]byte, error) {
	key, err := s.Open(k.Wrapped, k.context())
	if err != nil {
		return nil, err
	}
	return seal(key, text, place)
}

// openWith decrypts the output of sealWith. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) openWith(k *DataKey, sealed []byte, place string) ([]byte, error) {
	key, err := s.Open(k.Wrapped, k.context())
	if err != nil {
		return nil, err
	}
	return open(key, sealed, place)
}

// seal encrypts text with AES-256-GCM. The random nonce is stored before the ciphertext.
func seal(key, text []byte, place string) ([]byte, error) {
	box, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(text)+box.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return box.Seal(nonce, nonce, text, []byte(place)), nil
}

// open decrypts the output of seal. It returns [routine.ErrSealed].
func open(key, sealed []byte, place string) ([]byte, error) {
	box, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < box.NonceSize() {
		return nil, routine.ErrSealed
	}
	text, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], []byte(place))
	if err != nil {
		return nil, routine.ErrSealed
	}
	return text, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// ScanDataKey reads a row with id, organization_id, wrapped and state_key_id of a data key.
func ScanDataKey(scan Scan) (*DataKey, error) {
	k := &DataKey{}
	if err := scan(&k.ID, &k.OrganizationID, &k.Wrapped.Text, &k.Wrapped.KeyID); err != nil {
		return nil, err
	}
	return k, nil
}
