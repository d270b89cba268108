package rows

import (
	"fmt"

	"github.com/google/uuid"

	"rote/routine"
)

// SealCode encrypts a one-time code of a secret for a new row, and returns the id of the row.
// Ids that are made later come later. See SealState for first.
func (s Sealer) SealCode(of *routine.Secret, code routine.Hidden, first bool) (id string, sealed Sealed, err error) {
	made, err := uuid.NewV7()
	if err != nil {
		return "", sealed, err
	}
	sealed, err = s.Seal([]byte(string(code)), codeContext(made.String(), codeOwner(of)), first)
	return made.String(), sealed, err
}

// OpenCode decrypts the output of SealCode. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenCode(of *routine.Secret, id string, sealed Sealed) (routine.Hidden, error) {
	code, err := s.Open(sealed, codeContext(id, codeOwner(of)))
	if err != nil {
		return "", fmt.Errorf("decrypt one-time code of secret %s: %w", of.Name, err)
	}
	return routine.Hidden(code), nil
}

// codeOwner names a secret as the column of SealedKinds does.
func codeOwner(of *routine.Secret) string {
	return of.OrganizationID + "/" + of.ProjectID + "/" + of.Name
}

// codeContext binds an encrypted code to its row and to its secret.
func codeContext(id, owner string) string { return "one-time code " + id + " of " + owner }
