package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// maxSecrets limits the secrets of a project, and those of a whole organization.
const maxSecrets = 1000

// SecretInfo is everything about a secret but its values, which nobody can read.
type SecretInfo struct {
	Name string             `json:"name"`
	Kind routine.SecretKind `json:"kind"`
	// Project reports whether the secret belongs to one project and not to the whole
	// organization.
	Project bool              `json:"project"`
	Fields  []SecretFieldInfo `json:"fields"`
	routine.SecretRules
	Description string    `json:"description"`
	Version     int       `json:"version"`
	CreatedAt   time.Time `json:"created_at"`
	CreatedBy   string    `json:"created_by"`
	UpdatedAt   time.Time `json:"updated_at"`
	UpdatedBy   string    `json:"updated_by"`
	// UsedBy are the routines that refer to the secret, without archived ones. Lists do not
	// have it.
	UsedBy []SecretUser `json:"used_by,omitempty"`
	// LastUsedAt is when a run last got a value; nil if none did. Lists do not have it.
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	// Withheld reports whether the caller may not read secrets. Only the name, the project and
	// the version are known to them.
	Withheld bool `json:"-"`
}

// SecretUser is a routine that refers to a secret.
type SecretUser struct {
	RoutineID string `json:"routine_id"`
	Name      string `json:"name"`
}

// SecretFieldInfo is a field of a secret without its value.
type SecretFieldInfo struct {
	Name string `json:"name"`
	// TOTP reports whether the field is the key of one-time codes.
	TOTP bool `json:"totp"`
	// Source is "stored", or the scheme of the provider that has the value.
	Source string `json:"source"`
}

// storedSource is the source of a field whose value is stored.
const storedSource = "stored"

func secretInfo(sec *routine.Secret) *SecretInfo {
	info := &SecretInfo{Name: sec.Name, Kind: sec.Kind, Project: sec.ProjectID != "", SecretRules: sec.SecretRules, Description: sec.Description,
		Version: sec.Version, CreatedAt: sec.CreatedAt, CreatedBy: sec.CreatedBy, UpdatedAt: sec.UpdatedAt, UpdatedBy: sec.UpdatedBy,
		Fields: []SecretFieldInfo{}}
	for _, f := range sec.Fields {
		source := storedSource
		if f.Reference != "" {
			source, _, _ = strings.Cut(f.Reference, ":")
		}
		info.Fields = append(info.Fields, SecretFieldInfo{f.Name, f.TOTP, source})
	}
	if info.Routines == nil {
		info.Routines = []string{}
	}
	return info
}

// MaySaveSecret returns nil if p may change secrets, so that a front end can refuse a call
// before it reads the values. CodeUnauthenticated, CodeForbidden.
func (s *Service) MaySaveSecret(p routine.Principal) error { return may(p, toSaveSecret, nil) }

// projectOf returns the project that a secret of p is stored with; "" means the whole
// organization.
func projectOf(p routine.Principal, project bool) string {
	if project {
		return p.ProjectID
	}
	return ""
}

// SaveSecret creates a secret or changes settings of one with the text of a JSON object: what
// is left out stays, and null deletes it. It reports whether the secret is a new one.
//
// CodeUnauthenticated, CodeForbidden, CodeInvalid with problems, CodePreconditionFailed,
// CodeConflict; CodeValueRequired if it changes where values may go that the call does not
// give; CodeSecretUnavailable if the key cannot be used.
func (s *Service) SaveSecret(ctx context.Context, p routine.Principal, via routine.Via, name string, text []byte, condition PutCondition) (
	_ *SecretInfo, created bool, _ error) {

	if err := may(p, toSaveSecret, nil); err != nil {
		return nil, false, err
	}
	if !routine.ValidSecretName(name) {
		return nil, false, routine.Errorf(routine.CodeInvalid, "%s cannot be the name of a secret: a name is a letter, then up to 63 letters, digits, _ or -",
			routine.Quote(routine.Truncate(name, 80)))
	}
	change, err := readSecretChange(text)
	if err != nil {
		return nil, false, err
	}
	if projectOf(p, change.project) == "" {
		err = may(p, toSaveSharedSecret, nil)
	}
	if err == nil && change.references {
		err = may(p, toSaveReference, nil)
	}
	if err != nil {
		return nil, false, err
	}
	for range changeAttempts {
		info, created, err := s.saveSecret(ctx, p, via, name, change.copy(), condition)
		if !errors.Is(err, routine.ErrChanged) {
			return info, created, s.secretError(ctx, "save secret", name, err)
		}
	}
	return nil, false, routine.Errorf(routine.CodeConflict, "others change the secret at the same time: try again")
}

// saveSecret is one attempt of SaveSecret. ErrChanged.
func (s *Service) saveSecret(ctx context.Context, p routine.Principal, via routine.Via, name string, c *secretChange, condition PutCondition) (
	_ *SecretInfo, created bool, _ error) {

	before, err := s.store.Secret(ctx, p.OrganizationID, projectOf(p, c.project), name)
	if errors.Is(err, routine.ErrNotFound) {
		before, err = &routine.Secret{OrganizationID: p.OrganizationID, ProjectID: projectOf(p, c.project), Name: name, CreatedAt: s.now(), CreatedBy: p.UserID,
			SecretRules: routine.SecretRules{Field: routine.FieldPassword, Hosts: []string{}, Routines: []string{}}}, nil
	}
	if err != nil {
		return nil, false, err
	}
	created = before.Version == 0
	if err := condition.check("secret", before.Name, before.Version); err != nil {
		return nil, false, err
	}
	sec := *before
	sec.Fields = slices.Clone(before.Fields)
	if c.apply(&sec); len(c.problems) > 0 {
		return nil, false, routine.Invalid("secret", c.problems)
	}
	if missing := c.widening(before, &sec); !created && len(missing) > 0 {
		err := routine.Errorf(routine.CodeValueRequired, "hosts, field_rule, requests, confine and routines of a secret change only together with all its values: "+
			"give %s anew too", strings.Join(missing, ", "))
		s.recordSecretChange(ctx, p, via, &sec, "saved", err)
		return nil, false, err
	}
	if created {
		if err := s.checkSecretCount(ctx, &sec); err != nil {
			return nil, false, err
		}
	}
	sec.UpdatedAt, sec.UpdatedBy = s.now(), p.UserID
	if err := s.store.SaveSecret(ctx, &sec, before.Version); err != nil {
		return nil, false, err
	}
	s.recordSecretChange(ctx, p, via, &sec, "saved", nil)
	info := secretInfo(&sec)
	info.Withheld = may(p, toReadSecrets, nil) != nil
	return info, created, nil
}

// check returns nil if a secret or a session is as a caller expects it. version is 0 if there is
// none. CodePreconditionFailed.
func (c PutCondition) check(what, name string, version int) error {
	switch {
	case c.New && version > 0:
		return routine.Errorf(routine.CodePreconditionFailed, "there is a %s %s already", what, name)
	case c.Versions != nil && version == 0:
		return routine.Errorf(routine.CodePreconditionFailed, "there is no %s %s: leave out the condition to create it", what, name)
	case c.Versions != nil && !slices.Contains(c.Versions, version):
		return routine.Errorf(routine.CodePreconditionFailed, "the %s is at version %d: read it again and repeat the change on that", what, version)
	}
	return nil
}

// copy returns a change that can be applied without changing c.
func (c *secretChange) copy() *secretChange {
	again := *c
	again.problems = slices.Clone(c.problems)
	return &again
}

// checkSecretCount returns CodeConflict if there are too many secrets for a new one.
func (s *Service) checkSecretCount(ctx context.Context, sec *routine.Secret) error {
	all, err := s.store.Secrets(ctx, sec.OrganizationID, sec.ProjectID)
	if err != nil {
		return err
	}
	n := 0
	for _, other := range all {
		if other.ProjectID == sec.ProjectID {
			n++
		}
	}
	if n >= maxSecrets {
		return routine.Errorf(routine.CodeConflict, "there are %d secrets already, which is the limit: delete one that is not used", n)
	}
	return nil
}

// Secrets lists the secrets that runs of p's project can use, by name, and the number of
// all: those of the project and those of its whole organization. CodeUnauthenticated,
// CodeForbidden.
func (s *Service) Secrets(ctx context.Context, p routine.Principal, limit, offset int) ([]*SecretInfo, int, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, 0, err
	}
	all, err := s.store.Secrets(ctx, p.OrganizationID, p.ProjectID)
	if err != nil {
		return nil, 0, storeError(ctx, "list secrets", err)
	}
	list := []*SecretInfo{}
	for _, sec := range all[min(offset, len(all)):min(offset+limit, len(all))] {
		list = append(list, secretInfo(sec))
	}
	return list, len(all), nil
}

// Secret returns everything about a secret but its values. If project is nil, it is the one
// that runs of p's project use. CodeUnauthenticated, CodeForbidden, CodeNotFound.
func (s *Service) Secret(ctx context.Context, p routine.Principal, name string, project *bool) (*SecretInfo, error) {
	sec, err := s.readSecret(ctx, p, name, project)
	if err != nil {
		return nil, err
	}
	info := secretInfo(sec)
	if info.LastUsedAt, err = s.lastUse(ctx, sec); err != nil {
		return nil, err
	}
	info.UsedBy, err = s.usersOfSecret(ctx, sec)
	return info, err
}

// readSecret reads a secret for a caller who may read secrets.
func (s *Service) readSecret(ctx context.Context, p routine.Principal, name string, project *bool) (*routine.Secret, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, err
	}
	sec, err := s.findSecret(ctx, p, name, project)
	if err != nil {
		return nil, s.secretError(ctx, "read secret", name, err)
	}
	return sec, nil
}

// findSecret returns a secret. If project is nil, it is that of p's project or, if there is
// none, that of the whole organization. The errors are those of the store.
func (s *Service) findSecret(ctx context.Context, p routine.Principal, name string, project *bool) (*routine.Secret, error) {
	if project != nil {
		return s.store.Secret(ctx, p.OrganizationID, projectOf(p, *project), name)
	}
	sec, err := s.store.Secret(ctx, p.OrganizationID, p.ProjectID, name)
	if errors.Is(err, routine.ErrNotFound) && p.ProjectID != "" {
		return s.store.Secret(ctx, p.OrganizationID, "", name)
	}
	return sec, err
}

// DeleteSecret deletes a secret with its values. CodeUnauthenticated, CodeForbidden,
// CodeNotFound.
func (s *Service) DeleteSecret(ctx context.Context, p routine.Principal, via routine.Via, name string, project bool) error {
	err := may(p, toSaveSecret, nil)
	if err == nil && projectOf(p, project) == "" {
		err = may(p, toSaveSharedSecret, nil)
	}
	if err != nil {
		return err
	}
	if err := s.store.DeleteSecret(ctx, p.OrganizationID, projectOf(p, project), name); err != nil {
		return s.secretError(ctx, "delete secret", name, err)
	}
	s.recordSecretChange(ctx, p, via, &routine.Secret{OrganizationID: p.OrganizationID, ProjectID: projectOf(p, project), Name: name}, "deleted", nil)
	return nil
}

// secretError returns an error of the store as one for a caller.
func (s *Service) secretError(ctx context.Context, doing, name string, err error) error {
	if _, known := errors.AsType[*routine.Error](err); known || err == nil {
		return err
	}
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return routine.Errorf(routine.CodeNotFound, "there is no secret %s", routine.Quote(routine.Truncate(name, 80)))
	case errors.Is(err, routine.ErrSealed):
		return &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: fmt.Sprintf("the values of secret %s cannot be read, because they were "+
			"sealed with another key: bring back its key file (--state-key), or set the secret again with its values", name)}
	case errors.Is(err, routine.ErrStateKey):
		return &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: "secrets are encrypted, and the service cannot use " +
			"its key file (--state-key): its log says why"}
	}
	return storeError(ctx, doing, err)
}
