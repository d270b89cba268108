package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// providerRetry is the Retry-After after a provider has failed once.
const providerRetry = 5 * time.Second

// provider returns the provider of a field and the reference for it; nil if this process has
// none for its scheme.
func (s *Service) provider(sec *routine.Secret, f routine.SecretField) (routine.SecretProvider, routine.ProviderReference) {
	scheme, path, _ := strings.Cut(f.Reference, ":")
	ref := routine.ProviderReference{OrganizationID: sec.OrganizationID, ProjectID: sec.ProjectID, Path: path}
	at := slices.IndexFunc(s.providers, func(p routine.SecretProvider) bool { return p.Scheme() == scheme })
	if at < 0 {
		return nil, ref
	}
	return s.providers[at], ref
}

// checkProvider returns CodeSecretUnavailable if the value of a field cannot be read now,
// because its provider has failed several times.
func (s *Service) checkProvider(sec *routine.Secret, f routine.SecretField) error {
	p, ref := s.provider(sec, f)
	if p == nil {
		return nil // a stored value, or one whose reading says what is wrong
	}
	if wait := p.Unavailable(ref); wait > 0 {
		return &routine.Error{Code: routine.CodeSecretUnavailable, RetryAfter: wait,
			Message: fmt.Sprintf("the field %s of secret %s cannot be read, because %s: does not work at present: try again", f.Name, sec.Name, p.Scheme())}
	}
	return nil
}

// checkProviders returns CodeSecretUnavailable if a run needs a value whose provider does not
// work at present. It is called before the run is accepted; all else is checked when it starts.
func (r *secretReader) checkProviders(ctx context.Context, d *routine.Definition, values routine.Values) error {
	down := func(p routine.SecretProvider) bool { return p.Unavailable(routine.ProviderReference{}) > 0 }
	if !slices.ContainsFunc(r.service.providers, down) {
		return nil
	}
	for _, ref := range neededSecrets(d, values) {
		sec, f, err := r.find(ctx, ref)
		if err != nil {
			continue
		}
		if err := r.service.checkProvider(sec, f); err != nil {
			return err
		}
	}
	return nil
}

// providedValue reads the value of a field from its provider.
func (s *Service) providedValue(ctx context.Context, sec *routine.Secret, f routine.SecretField) (routine.Hidden, error) {
	p, ref := s.provider(sec, f)
	scheme, _, _ := strings.Cut(f.Reference, ":")
	if p == nil {
		return "", routine.Errorf(routine.CodeSecretUnavailable, "the field %s of secret %s is at %s:, and this process does not use that provider: "+
			"its operator has to configure it", f.Name, sec.Name, scheme)
	}
	text, err := p.ReadSecret(ctx, ref)
	about := fmt.Sprintf("the field %s of secret %s", f.Name, sec.Name)
	switch {
	case err == nil && text == "":
		return "", routine.Errorf(routine.CodeSecretMissing, "%s is empty at %s:", about, scheme)
	case err == nil && len(text) > routine.MaxSecretBytes:
		return "", routine.Errorf(routine.CodeSecretUnavailable, "%s has more than %d bytes at %s:", about, routine.MaxSecretBytes, scheme)
	case err == nil && !f.TOTP && strings.HasPrefix(string(text), "otpauth://"):
		return "", routine.Errorf(routine.CodeSecretUnavailable, "%s is the key of one-time codes, which is never typed or sent: "+
			"make it the reference of the field totp, and use {{totp:%s}}", about, sec.Name)
	case err == nil:
		return text, nil
	case ctx.Err() != nil:
		return "", routine.CauseOf(ctx)
	case errors.Is(err, routine.ErrNotFound):
		return "", routine.Errorf(routine.CodeSecretMissing, "%s is not there at %s: its operator has to add it", about, f.Reference)
	}
	s.log.WarnContext(ctx, "the value of a secret cannot be read", "secret", sec.Name, "field", f.Name, "reference", f.Reference,
		"organization", sec.OrganizationID, "project", sec.ProjectID, "error", err)
	if errors.Is(err, routine.ErrProviderDenied) {
		return "", &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, Message: fmt.Sprintf("%s may not be read at %s: its operator has to allow it",
			about, f.Reference)}
	}
	return "", &routine.Error{Code: routine.CodeSecretUnavailable, Cause: err, RetryAfter: cmp.Or(p.Unavailable(ref), providerRetry),
		Message: fmt.Sprintf("%s cannot be read at %s: at present: try again", about, scheme)}
}
