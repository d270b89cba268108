package routinetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// secretOf names a secret of a project of an organization.
type secretOf struct{ organization, project, name string }

// secret is a stored secret. Its fields have their values.
type secret struct {
	routine.Secret
	steps map[string]int64 // of the last one-time codes, by field
}

// copySecret returns a copy without values.
func copySecret(s *routine.Secret) *routine.Secret {
	c := *s
	c.CreatedAt, c.UpdatedAt = *copyTime(&s.CreatedAt), *copyTime(&s.UpdatedAt)
	c.Hosts, c.Routines, c.Fields = slices.Clone(s.Hosts), slices.Clone(s.Routines), slices.Clone(s.Fields)
	for i := range c.Fields {
		c.Fields[i].Value = ""
	}
	return &c
}

// field returns a field of a secret; nil: there is none.
func (s *secret) field(name string) *routine.SecretField {
	i := slices.IndexFunc(s.Fields, func(f routine.SecretField) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Fields[i]
}

func (s *Store) SaveSecret(_ context.Context, saved *routine.Secret, before int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := secretOf{saved.OrganizationID, saved.ProjectID, saved.Name}
	old := s.secrets[of]
	if old == nil {
		old = &secret{}
	}
	if old.Version != before {
		return fmt.Errorf("save secret %s: %w", saved.Name, routine.ErrChanged)
	}
	next := &secret{Secret: *copySecret(saved), steps: map[string]int64{}}
	for i, f := range saved.Fields {
		if f.Value == "" && f.Reference == "" {
			kept := old.field(f.Name)
			if kept == nil {
				return fmt.Errorf("save secret %s: field %s has no value: %w", saved.Name, f.Name, routine.ErrNotFound)
			}
			f.Value, f.Reference = kept.Value, kept.Reference
			if step, used := old.steps[f.Name]; used {
				next.steps[f.Name] = step
			}
		}
		next.Fields[i] = f
	}
	slices.SortFunc(next.Fields, func(a, b routine.SecretField) int { return strings.Compare(a.Name, b.Name) })
	if next.Version = before + 1; before > 0 {
		next.CreatedAt, next.CreatedBy = old.CreatedAt, old.CreatedBy
	}
	saved.Version, saved.CreatedAt, saved.CreatedBy = next.Version, next.CreatedAt, next.CreatedBy
	s.secrets[of] = next
	return nil
}

func (s *Store) Secret(_ context.Context, organizationID, projectID, name string) (*routine.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.secrets[secretOf{organizationID, projectID, name}]
	if found == nil {
		return nil, fmt.Errorf("secret %s: %w", name, routine.ErrNotFound)
	}
	return copySecret(&found.Secret), nil
}

func (s *Store) Secrets(_ context.Context, organizationID, projectID string) ([]*routine.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*routine.Secret{}
	for of, found := range s.secrets {
		if of.organization == organizationID && (of.project == projectID || of.project == "") {
			list = append(list, copySecret(&found.Secret))
		}
	}
	slices.SortFunc(list, func(a, b *routine.Secret) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(b.ProjectID, a.ProjectID))
	})
	return list, nil
}

func (s *Store) SecretValue(_ context.Context, of *routine.Secret, field string) (routine.Hidden, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.secrets[secretOf{of.OrganizationID, of.ProjectID, of.Name}]
	if found == nil || found.field(field) == nil || found.field(field).Reference != "" {
		return "", fmt.Errorf("field %s of secret %s: %w", field, of.Name, routine.ErrNotFound)
	}
	if of.Version != found.Version || !of.CreatedAt.Equal(found.CreatedAt) {
		return "", fmt.Errorf("field %s of secret %s: %w", field, of.Name, routine.ErrChanged)
	}
	return found.field(field).Value, nil
}

func (s *Store) DeleteSecret(_ context.Context, organizationID, projectID, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := secretOf{organizationID, projectID, name}
	if s.secrets[of] == nil {
		return fmt.Errorf("delete secret %s: %w", name, routine.ErrNotFound)
	}
	delete(s.secrets, of)
	s.codes = slices.DeleteFunc(s.codes, func(c code) bool { return c.of == of })
	return nil
}

func (s *Store) CodeTime(_ context.Context, now time.Time) (time.Time, error) { return now, nil }

func (s *Store) TakeCodeStep(_ context.Context, organizationID, projectID, name, field string, step int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.secrets[secretOf{organizationID, projectID, name}]
	if found == nil || found.field(field) == nil {
		return false, fmt.Errorf("use one-time code of secret %s: %w", name, routine.ErrNotFound)
	}
	if last, used := found.steps[field]; used && last >= step && last <= step+routine.MaxStepsAhead {
		return false, nil
	}
	found.steps[field] = step
	return true, nil
}

// code is a one-time code that was sent to a person.
type code struct {
	of      secretOf
	text    routine.Hidden
	expires time.Time
}

func (s *Store) SaveCode(_ context.Context, of *routine.Secret, text routine.Hidden, valid time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := code{secretOf{of.OrganizationID, of.ProjectID, of.Name}, text, time.Now().Add(valid)}
	if s.secrets[added.of] == nil {
		return fmt.Errorf("save one-time code of secret %s: %w", of.Name, routine.ErrNotFound)
	}
	s.codes = append(s.codes, added)
	kept := 0
	for i, c := range slices.Backward(s.codes) {
		if c.of != added.of {
			continue
		}
		if kept++; kept > routine.MaxCodes {
			s.codes = slices.Delete(s.codes, i, i+1)
		}
	}
	return nil
}

func (s *Store) TakeCode(_ context.Context, of *routine.Secret) (routine.Hidden, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes = slices.DeleteFunc(s.codes, func(c code) bool { return !time.Now().Before(c.expires) })
	for i, c := range slices.Backward(s.codes) {
		if c.of == (secretOf{of.OrganizationID, of.ProjectID, of.Name}) {
			s.codes = slices.Delete(s.codes, i, i+1)
			return c.text, nil
		}
	}
	return "", fmt.Errorf("take one-time code of secret %s: %w", of.Name, routine.ErrNotFound)
}

func (s *Store) RecordSecretUses(_ context.Context, uses []routine.SecretUse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saveSecretUses(uses)
	return nil
}

func (s *Store) saveSecretUses(uses []routine.SecretUse) {
	for _, u := range uses {
		u.At = *copyTime(&u.At)
		s.secretUses = append(s.secretUses, u)
	}
}

func (s *Store) SecretUses(_ context.Context, organizationID, projectID, name string, limit, offset int) ([]routine.SecretUse, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []routine.SecretUse{}
	for _, u := range slices.Backward(s.secretUses) {
		if u.OrganizationID == organizationID && u.ProjectID == projectID && u.Name == name {
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(a, b routine.SecretUse) int { return b.At.Compare(a.At) })
	return pageOf(list, limit, offset), min(len(list), routine.MaxTotal+1), nil
}

func (s *Store) PruneSecretUses(_ context.Context, before time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := len(s.secretUses)
	s.secretUses = slices.DeleteFunc(s.secretUses, func(u routine.SecretUse) bool { return u.At.Before(before) })
	return all - len(s.secretUses), nil
}
