package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/totp"
)

// GivenSecret is a secret that a caller gives for one run. It is not stored.
type GivenSecret struct {
	// Hosts are the hosts that may receive the values. If there are none, a stored secret of
	// the same name has them.
	Hosts []string
	// Field says into which form fields they may be typed; empty: FieldPassword.
	Field routine.FieldRule
	// Fields are the values by name.
	Fields map[string]routine.Hidden
}

// secretReader reads the secrets that a run or a lesson uses. It
// applies the rules of who may use a secret; where a value may go is checked when it goes
// there. One goroutine uses it.
type secretReader struct {
	service *Service
	caller  routine.Principal
	// routineID is empty for a routine that is not stored.
	routineID string
	given     map[string]GivenSecret

	// beforeRead, if not nil, is called once, before the first value is read.
	beforeRead func(context.Context) error
	// projects are the projects of the secrets that were found, by name.
	projects map[string]string
}

func (s *Service) newSecretReader(caller routine.Principal, routineID string, given map[string]GivenSecret) *secretReader {
	return &secretReader{service: s, caller: caller, routineID: routineID, given: given, projects: map[string]string{}}
}

// check returns nil if there are all secrets that a run of a definition needs, and the run may
// use them; otherwise also the record of the refusal. It reads no value. CodeSecretMissing,
// CodeSecretDenied, CodeSecretUnavailable, CodeStoreUnavailable.
func (r *secretReader) check(ctx context.Context, d *routine.Definition, values routine.Values) ([]routine.SecretUse, error) {
	for _, ref := range neededSecrets(d, values) {
		sec, f, err := r.find(ctx, ref)
		if routine.CodeOf(err) == routine.CodeSecretMissing && sec == nil {
			err = missingSecret(d, r.caller.ProjectID, ref.Name)
		}
		if err == nil {
			err = r.service.checkProvider(sec, f)
		}
		if err != nil {
			return []routine.SecretUse{r.refused(ref, err)}, err
		}
	}
	return nil, nil
}

// neededSecrets returns the secrets that a run of a definition with these values needs.
func neededSecrets(d *routine.Definition, values routine.Values) []routine.SecretReference {
	needed := *d
	needed.Parameters = slices.DeleteFunc(slices.Clone(d.Parameters), func(p routine.Parameter) bool { return values[p.Name] != nil })
	return definition.SecretsOf(&needed)
}

// find returns a secret and its field for a run. If an error is about a secret that exists, it
// returns that too. CodeSecretMissing, CodeSecretDenied,
// CodeStoreUnavailable.
func (r *secretReader) find(ctx context.Context, ref routine.SecretReference) (*routine.Secret, routine.SecretField, error) {
	sec, err := r.secret(ctx, ref.Name)
	if errors.Is(err, routine.ErrNotFound) {
		err = routine.MissingSecret(r.caller.ProjectID, ref)
	}
	if err != nil {
		return nil, routine.SecretField{}, err
	}
	r.projects[sec.Name] = sec.ProjectID
	if len(sec.Routines) > 0 && !slices.Contains(sec.Routines, r.routineID) {
		which := "the routine " + r.routineID
		if r.routineID == "" {
			which = "this routine, which is not stored"
		}
		return sec, routine.SecretField{}, routine.Errorf(routine.CodeSecretDenied, "secret %s is for certain routines only, and %s is none of them", ref.Name, which)
	}
	if ref.Sent && sec.Version == 0 {
		return sec, routine.SecretField{}, routine.Errorf(routine.CodeSecretMissing, "the secret %s of this call is not stored, and codes are given for stored "+
			"secrets only: ask a person to run: rote secret set %s", ref.Name, ref.Name)
	}
	f, err := fieldOf(sec, ref)
	return sec, f, err
}

// secret returns a secret of the call, of its project or of its organization, in this order.
// ErrNotFound.
func (r *secretReader) secret(ctx context.Context, name string) (*routine.Secret, error) {
	stored, err := r.service.findSecret(ctx, r.caller, name, nil)
	given, ok := r.given[name]
	switch {
	case ok && errors.Is(err, routine.ErrNotFound):
		stored = &routine.Secret{OrganizationID: r.caller.OrganizationID, ProjectID: r.caller.ProjectID, Name: name,
			SecretRules: routine.SecretRules{Field: cmp.Or(given.Field, routine.FieldPassword), Requests: true}}
	case errors.Is(err, routine.ErrNotFound):
		return nil, err
	case err != nil:
		return nil, storeError(ctx, "read secret", err)
	}
	if !ok {
		return stored, nil
	}
	sec := *stored
	if len(given.Hosts) > 0 {
		sec.Hosts = given.Hosts
	}
	if len(sec.Hosts) == 0 {
		return nil, routine.Errorf(routine.CodeSecretDenied,
			"the secret %s of this call is for no host: give the hosts that may receive it, as in --secret %s@shop.example=-", name, name)
	}
	sec.Fields, sec.Routines = nil, nil
	for field, value := range given.Fields {
		sec.Fields = append(sec.Fields, routine.SecretField{Name: field, TOTP: field == totpField, Value: value})
	}
	return &sec, nil
}

// missingSecret returns the error for a secret that a definition needs and that a project does
// not have. It names the command with which a person sets it.
func missingSecret(d *routine.Definition, projectID, name string) *routine.Error {
	command := "rote secret set " + name + " --host " + cmp.Or(definition.HostOfSecret(d, name), "HOST")
	for _, ref := range definition.SecretsOf(d) {
		switch {
		case ref.Name != name || ref.Sent:
		case ref.Code:
			command += " --totp"
		case ref.Field != routine.ValueField:
			command += " --field " + ref.Field
		}
	}
	return routine.Errorf(routine.CodeSecretMissing, "there is no secret %s for project %s: ask a person to run: %s", name, projectID, command)
}

// maxSecretReads is how often a secret is read that is changed meanwhile each time.
const maxSecretReads = 3

// ReadSecret implements [routine.SecretReader]. A value is never released by rules of another
// version of the secret.
func (r *secretReader) ReadSecret(ctx context.Context, ref routine.SecretReference) (routine.SecretValue, error) {
	if r.beforeRead != nil {
		if err := r.beforeRead(ctx); err != nil {
			return routine.SecretValue{}, err
		}
		r.beforeRead = nil
	}
	for range maxSecretReads {
		v, err := r.readOnce(ctx, ref)
		if !errors.Is(err, routine.ErrChanged) {
			return v, err
		}
	}
	return routine.SecretValue{}, &routine.Error{Code: routine.CodeSecretUnavailable, RetryAfter: time.Second,
		Message: fmt.Sprintf("secret %s was changed again and again while it was read: try again", ref.Name)}
}

// readOnce is ReadSecret. [routine.ErrChanged] if the secret was changed meanwhile.
func (r *secretReader) readOnce(ctx context.Context, ref routine.SecretReference) (routine.SecretValue, error) {
	sec, field, err := r.find(ctx, ref)
	if err != nil {
		return routine.SecretValue{}, err
	}
	text := field.Value
	switch {
	case ref.Sent:
		text, err = r.service.sentCode(ctx, sec)
	case text == "":
		text, err = r.service.secretValue(ctx, sec, field)
	}
	if err == nil && ref.Code && !ref.Sent {
		text, err = r.nextCode(ctx, sec, field, text)
	}
	if slow := ref.Code || field.Reference != ""; err == nil && slow { // the store compares the version of other values
		err = r.checkUnchanged(ctx, sec, ref)
	}
	if err != nil {
		return routine.SecretValue{}, err
	}
	release := releaseOf(sec, ref)
	release.Texts = []routine.Hidden{text}
	return routine.SecretValue{Text: text, Release: release}, nil
}

// SecretRules implements [routine.SecretReader].
func (r *secretReader) SecretRules(ctx context.Context, ref routine.SecretReference) (routine.Release, error) {
	sec, _, err := r.find(ctx, ref)
	if err != nil {
		return routine.Release{}, err
	}
	return releaseOf(sec, ref), nil
}

// releaseOf returns the permission to release a value of a secret, without its text.
func releaseOf(sec *routine.Secret, ref routine.SecretReference) routine.Release {
	rules := sec.SecretRules
	return routine.Release{Secret: sec.Name, Rules: &rules, Username: ref.Field == "username", Code: ref.Code}
}

// checkUnchanged returns [routine.ErrChanged] if a secret is no longer the one that was found.
func (r *secretReader) checkUnchanged(ctx context.Context, before *routine.Secret, ref routine.SecretReference) error {
	now, _, err := r.find(ctx, ref)
	if err == nil && (now.ProjectID != before.ProjectID || now.Version != before.Version || !now.CreatedAt.Equal(before.CreatedAt)) {
		err = routine.ErrChanged
	}
	return err
}

// secretValue returns the value of a field: the stored one or that of its provider.
// CodeSecretMissing, CodeSecretUnavailable, CodeStoreUnavailable; [routine.ErrChanged] if the
// secret was changed since sec was read.
func (s *Service) secretValue(ctx context.Context, sec *routine.Secret, f routine.SecretField) (routine.Hidden, error) {
	if f.Reference != "" {
		return s.providedValue(ctx, sec, f)
	}
	text, err := s.store.SecretValue(ctx, sec, f.Name)
	switch {
	case errors.Is(err, routine.ErrChanged):
		return "", err
	case errors.Is(err, routine.ErrNotFound):
		return "", routine.Errorf(routine.CodeSecretMissing, "the field %s of secret %s was deleted meanwhile", f.Name, sec.Name)
	}
	return text, s.secretError(ctx, "read value of secret", sec.Name, err)
}

// minCodeTime is how long a one-time code must still be valid when it is made.
const minCodeTime = 3 * time.Second

// nextCode returns a one-time code of a key that nobody has used. It waits for the next one
// if the present one was used or is about to end.
func (r *secretReader) nextCode(ctx context.Context, sec *routine.Secret, f routine.SecretField, text routine.Hidden) (routine.Hidden, error) {
	key, err := totp.ParseKey(string(text))
	if err != nil {
		return "", routine.Errorf(routine.CodeSecretUnavailable, "the value of secret %s %w", sec.Name, err)
	}
	for {
		now, err := r.service.store.CodeTime(ctx, r.service.now())
		if err != nil {
			return "", r.service.secretError(ctx, "take one-time code", sec.Name, err)
		}
		step, end := key.Step(now)
		if end.Sub(now) >= minCodeTime {
			taken := f.Value != "" // that of the call has nobody else
			if !taken {
				taken, err = r.service.store.TakeCodeStep(ctx, sec.OrganizationID, sec.ProjectID, sec.Name, f.Name, step)
			}
			if err != nil {
				return "", r.service.secretError(ctx, "take one-time code", sec.Name, err)
			}
			if taken {
				return routine.Hidden(key.Code(step)), nil
			}
		}
		if err := waitForCode(ctx, end.Sub(now), "the next one-time code of secret "+sec.Name); err != nil {
			return "", err
		}
	}
}

// waitForCode waits for some time. If ctx ends before, its error says for what the run waited.
func waitForCode(ctx context.Context, d time.Duration, what string) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		e := routine.AsError(routine.CauseOf(ctx))
		return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for " + what, Cause: e}
	}
}
