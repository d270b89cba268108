package service

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
	"rote/routine/definition"
)

// withUnknownSecrets adds a warning for each secret to which a definition refers and that p's
// project does not have. It is no error: the secret can be set later, and definitions are
// copied between installations.
func (s *Service) withUnknownSecrets(ctx context.Context, p routine.Principal, d *routine.Definition, warnings []routine.Problem) []routine.Problem {
	if p.Anonymous() || d == nil {
		return warnings
	}
	add := func(pointer string, part *routine.Definition) {
		for _, ref := range definition.SecretsOf(part) {
			sec, err := s.findSecret(ctx, p, ref.Name, nil)
			switch {
			case errors.Is(err, routine.ErrNotFound):
				err = missingSecret(d, p.ProjectID, ref.Name)
			case err != nil:
				s.log.WarnContext(ctx, "cannot look for secrets of a routine", "error", err)
				return
			default:
				_, err = fieldOf(sec, ref)
			}
			if err != nil {
				warnings = append(warnings, routine.Problem{Pointer: pointer, Code: "unknown_secret", Message: routine.AsError(err).Message})
			}
		}
	}
	for i, o := range d.Operations {
		add(fmt.Sprintf("/operations/%d", i), &routine.Definition{Operations: []routine.Operation{o}})
	}
	for i, parameter := range d.Parameters {
		add(fmt.Sprintf("/parameters/%d/x-from-secret", i), &routine.Definition{Parameters: []routine.Parameter{parameter}})
	}
	return warnings
}

// fieldOf returns the field of a secret that a reference names. No field has the codes that are
// sent to people. CodeSecretMissing.
func fieldOf(sec *routine.Secret, ref routine.SecretReference) (routine.SecretField, error) {
	if ref.Sent {
		return routine.SecretField{Name: routine.SentCodeField}, nil
	}
	for _, f := range sec.Fields {
		if f.TOTP && ref.Code || !ref.Code && f.Name == ref.Field && !f.TOTP {
			return f, nil
		}
	}
	flag, what := "--field "+ref.Field, "field "+ref.Field
	switch {
	case ref.Code:
		flag, what = "--totp", "key of one-time codes"
	case ref.Field == routine.ValueField:
		flag, what = "--field value", "single value"
	}
	return routine.SecretField{}, routine.Errorf(routine.CodeSecretMissing, "secret %s has no %s: ask a person to run: %s", sec.Name, what,
		"rote secret set "+sec.Name+" "+flag)
}
