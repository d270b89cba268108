package rows

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"rote/routine"
)

// SecretColumns are the columns of a secret. All stores have them.
var SecretColumns = []string{"organization_id", "project_id", "name", "kind", "hosts", "field_rule", "requests", "confine", "routines", "description",
	"version", "created_at", "created_by", "updated_at", "updated_by"}

// SecretValues returns the values of SecretColumns. text converts the texts that may hold
// NUL.
func SecretValues(s *routine.Secret, text func(string) any) ([]any, error) {
	hosts, err := Encode(append([]string{}, s.Hosts...))
	if err != nil {
		return nil, fmt.Errorf("encode hosts of secret: %w", err)
	}
	routines, err := Encode(append([]string{}, s.Routines...))
	if err != nil {
		return nil, fmt.Errorf("encode routines of secret: %w", err)
	}
	return []any{s.OrganizationID, s.ProjectID, s.Name, string(s.Kind), hosts, string(s.Field), s.Requests, s.Confine, routines, text(s.Description),
		s.Version, Micros(s.CreatedAt), s.CreatedBy, Micros(s.UpdatedAt), s.UpdatedBy}, nil
}

// AppendSecret reads a row with SecretColumns and then the name of one of the fields of the
// secret, whether it is of one-time codes, and its reference; these are NULL if the secret
// has no fields. It adds the secret to list, or the field to the last secret of list if the
// row is of that one.
func AppendSecret(list []*routine.Secret, scan Scan) ([]*routine.Secret, error) {
	var (
		s                            routine.Secret
		hosts, routines, description []byte
		created, updated             int64
		field                        *string
		totp                         *bool
		reference                    []byte
	)
	err := scan(&s.OrganizationID, &s.ProjectID, &s.Name, &s.Kind, &hosts, &s.Field, &s.Requests, &s.Confine, &routines, &description,
		&s.Version, &created, &s.CreatedBy, &updated, &s.UpdatedBy, &field, &totp, &reference)
	if err != nil {
		return nil, err
	}
	if last := len(list) - 1; last < 0 || list[last].Name != s.Name || list[last].ProjectID != s.ProjectID {
		if err := json.Unmarshal(hosts, &s.Hosts); err != nil {
			return nil, fmt.Errorf("decode hosts of secret %s: %w", s.Name, err)
		}
		if err := json.Unmarshal(routines, &s.Routines); err != nil {
			return nil, fmt.Errorf("decode routines of secret %s: %w", s.Name, err)
		}
		s.Description, s.CreatedAt, s.UpdatedAt = string(description), fromMicros(created), fromMicros(updated)
		list = append(list, &s)
	}
	if field != nil {
		of := list[len(list)-1]
		of.Fields = append(of.Fields, routine.SecretField{Name: *field, TOTP: totp != nil && *totp, Reference: string(reference)})
	}
	return list, nil
}

// SealedField is a row of a field of a secret.
type SealedField struct {
	// SecretField has no value.
	routine.SecretField
	// Sealed is the encrypted value and Key the data key; both are nil if the field has a
	// reference.
	Sealed []byte
	Key    *DataKey
	// LastStep is the time step of the last one-time code that was used; nil: none was.
	LastStep *int64
}

// KeyID returns the id of the data key; nil if there is none.
func (f *SealedField) KeyID() *string {
	if f.Key == nil {
		return nil
	}
	return &f.Key.ID
}

// SealFields returns the fields of a secret that replaces another, of which stored are the
// fields; before is nil if there is none. It encrypts all values anew, also those that are
// kept, because they are bound to the version. It returns [routine.ErrNotFound] if there is
// no value to keep, [routine.ErrSealed] or [routine.ErrStateKey].
func (s Sealer) SealFields(next, before *routine.Secret, stored []SealedField, key *DataKey) ([]SealedField, error) {
	old := map[string]*SealedField{}
	for i := range stored {
		old[stored[i].Name] = &stored[i]
	}
	var fields []SealedField
	for _, f := range next.Fields {
		sealed := SealedField{SecretField: f}
		value := []byte(string(f.Value))
		sealed.Value = ""
		if f.Value == "" && f.Reference == "" {
			kept := old[f.Name]
			if kept == nil {
				return nil, fmt.Errorf("field %s has no value: %w", f.Name, routine.ErrNotFound)
			}
			sealed.Reference, sealed.LastStep = kept.Reference, kept.LastStep
			if kept.Sealed != nil {
				text, err := s.OpenField(before, kept)
				if err != nil {
					return nil, err
				}
				value = []byte(string(text))
			}
		}
		if sealed.Reference == "" {
			var err error
			sealed.Key = key
			if sealed.Sealed, err = s.sealWith(key, value, fieldContext(next, f.Name, key)); err != nil {
				return nil, fmt.Errorf("encrypt field %s: %w", f.Name, err)
			}
		}
		fields = append(fields, sealed)
	}
	return fields, nil
}

// NeedsDataKey reports whether a field of the secret may have a value to encrypt.
func NeedsDataKey(s *routine.Secret) bool {
	for _, f := range s.Fields {
		if f.Reference == "" {
			return true
		}
	}
	return false
}

// OpenField decrypts the value of a field of a secret, of which the keys, the version, the rules
// and the time of its creation are those of the stored row. It returns [routine.ErrSealed] or
// [routine.ErrStateKey].
func (s Sealer) OpenField(of *routine.Secret, f *SealedField) (routine.Hidden, error) {
	text, err := s.openWith(f.Key, f.Sealed, fieldContext(of, f.Name, f.Key))
	if err != nil {
		return "", fmt.Errorf("decrypt field %s of secret %s: %w", f.Name, of.Name, err)
	}
	return routine.Hidden(text), nil
}

// fieldContext binds an encrypted value to its field, to the version and the rules of the secret
// and to its key. The row of an earlier version cannot be decrypted, and neither can one whose
// rules were changed in the database.
func fieldContext(s *routine.Secret, field string, key *DataKey) string {
	rules := s.SecretRules
	rules.Hosts, rules.Routines = append([]string{}, rules.Hosts...), append([]string{}, rules.Routines...) // nil and empty are stored as the same
	return fmt.Sprintf("secret %d:%s %d:%s %s %s %d %d %s %s", len(s.OrganizationID), s.OrganizationID, len(s.ProjectID), s.ProjectID,
		s.Name, field, Micros(s.CreatedAt), s.Version, key.ID, routine.JSONText(rules))
}

// SecretUseColumns are the columns of the use of a secret. All stores have them.
var SecretUseColumns = []string{"id", "at", "organization_id", "project_id", "what", "name", "field", "outcome", "host", "reason",
	"execution_id", "routine_id", "routine_version", "operation", "user_id", "token_id", "via"}

// NewSecretUseID returns the id of a row of a use. Ids that are made later come later.
func NewSecretUseID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// ScanSecretUse reads a row with SecretUseColumns.
func ScanSecretUse(scan Scan) (u routine.SecretUse, err error) {
	var (
		id           string
		at           int64
		host, reason []byte
	)
	err = scan(&id, &at, &u.OrganizationID, &u.ProjectID, &u.What, &u.Name, &u.Field, &u.Outcome, &host, &reason,
		&u.ExecutionID, &u.RoutineID, &u.RoutineVersion, &u.Operation, &u.UserID, &u.TokenID, &u.Via)
	u.At, u.Host, u.Reason = fromMicros(at), string(host), string(reason)
	return u, err
}

// ScanSealedField reads a row with field, is_totp, reference, last_step and sealed of a field,
// and the columns of ScanDataKey of its data key, which are NULL if it has none.
func ScanSealedField(scan Scan) (SealedField, error) { return ScanFieldOfSecret(scan, nil) }

// CheckVersion returns [routine.ErrChanged] if a secret that was read is not the stored one.
func CheckVersion(read, stored *routine.Secret) error {
	if read.Version != stored.Version || Micros(read.CreatedAt) != Micros(stored.CreatedAt) {
		return fmt.Errorf("secret %s: %w", read.Name, routine.ErrChanged)
	}
	return nil
}

// RuleColumns are the columns of a secret s with which a row of ScanFieldOfSecret begins.
const RuleColumns = "s.version, s.created_at, s.hosts, s.field_rule, s.requests, s.confine, s.routines"

// ScanFieldOfSecret is ScanSealedField. If of is not nil, the row begins with RuleColumns of the
// secret, which it sets.
func ScanFieldOfSecret(scan Scan, of *routine.Secret) (f SealedField, err error) {
	var (
		reference              []byte
		created                int64
		id, organization, used *string
		wrapped                []byte
		hosts, routines        []byte
	)
	into := []any{&f.Name, &f.TOTP, &reference, &f.LastStep, &f.Sealed, &id, &organization, &wrapped, &used}
	if of != nil {
		into = append([]any{&of.Version, &created, &hosts, &of.Field, &of.Requests, &of.Confine, &routines}, into...)
	}
	if err := scan(into...); err != nil {
		return f, err
	}
	if of != nil {
		of.CreatedAt = fromMicros(created)
		if err := errors.Join(json.Unmarshal(hosts, &of.Hosts), json.Unmarshal(routines, &of.Routines)); err != nil {
			return f, fmt.Errorf("decode rules of secret %s: %w", of.Name, err)
		}
	}
	f.Reference = string(reference)
	if id != nil && organization != nil {
		f.Key = &DataKey{ID: *id, OrganizationID: *organization, Wrapped: Sealed{wrapped, used}}
	}
	return f, nil
}

// ResealField returns the value of a field encrypted with another data key. See OpenField.
func (s Sealer) ResealField(of *routine.Secret, f *SealedField, key *DataKey) ([]byte, error) {
	text, err := s.OpenField(of, f)
	if err != nil {
		return nil, fmt.Errorf("project %q: %w: set the secret again with its values, or delete it", of.ProjectID, err)
	}
	return s.sealWith(key, []byte(string(text)), fieldContext(of, f.Name, key))
}
