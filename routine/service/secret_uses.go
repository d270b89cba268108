package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/totp"
)

// SecretUseInfo is what somebody did with a secret. The fields are those of
// [routine.SecretUse].
type SecretUseInfo struct {
	At             time.Time   `json:"at"`
	What           string      `json:"what"`
	Field          string      `json:"field,omitempty"`
	Outcome        string      `json:"outcome"`
	Reason         string      `json:"reason,omitempty"`
	Host           string      `json:"host,omitempty"`
	ExecutionID    string      `json:"execution_id,omitempty"`
	RoutineID      string      `json:"routine_id,omitempty"`
	RoutineVersion int         `json:"routine_version,omitempty"`
	Operation      int         `json:"operation,omitempty"`
	UserID         string      `json:"user_id"`
	TokenID        string      `json:"token_id,omitempty"`
	Via            routine.Via `json:"via"`
}

// SecretUses lists who used or changed a secret, newest first, and the total of a
// [routine.Store]. If project is nil, the secret is the one that runs of p's project use.
// Uses of a deleted secret can be listed with project. CodeUnauthenticated, CodeForbidden,
// CodeNotFound.
func (s *Service) SecretUses(ctx context.Context, p routine.Principal, name string, project *bool, limit, offset int) ([]SecretUseInfo, int, error) {
	if err := may(p, toReadSecrets, nil); err != nil {
		return nil, 0, err
	}
	projectID := ""
	if project != nil {
		projectID = projectOf(p, *project)
	} else {
		sec, err := s.readSecret(ctx, p, name, nil)
		if err != nil {
			return nil, 0, err
		}
		projectID = sec.ProjectID
	}
	return s.listUses(ctx, p.OrganizationID, projectID, name, limit, offset)
}

// listUses lists what is recorded under a name, newest first, and the total.
func (s *Service) listUses(ctx context.Context, organizationID, projectID, name string, limit, offset int) ([]SecretUseInfo, int, error) {
	uses, total, err := s.store.SecretUses(ctx, organizationID, projectID, name, limit, offset)
	if err != nil {
		return nil, 0, storeError(ctx, "list uses", err)
	}
	list := []SecretUseInfo{}
	for _, u := range uses {
		list = append(list, SecretUseInfo{u.At, u.What, u.Field, u.Outcome, u.Reason, u.Host, u.ExecutionID, u.RoutineID, u.RoutineVersion, u.Operation,
			u.UserID, u.TokenID, u.Via})
	}
	return list, total, nil
}

// readTogether is how many uses or routines are read from the store at once.
const readTogether = 100

// lastUse returns when a run last got a value of a secret; nil if none did.
func (s *Service) lastUse(ctx context.Context, sec *routine.Secret) (*time.Time, error) {
	for offset := 0; ; offset += readTogether {
		uses, _, err := s.store.SecretUses(ctx, sec.OrganizationID, sec.ProjectID, sec.Name, readTogether, offset)
		if err != nil {
			return nil, storeError(ctx, "list uses of secret", err)
		}
		for _, u := range uses {
			if u.ExecutionID != "" && u.Outcome == outcomeOK {
				return &u.At, nil
			}
		}
		if len(uses) < readTogether {
			return nil, nil
		}
	}
}

// usersOfSecret returns the routines of a secret's organization that refer to its name, except
// archived ones. It reads all their definitions, so lists of secrets do not use it.
func (s *Service) usersOfSecret(ctx context.Context, sec *routine.Secret) (users []SecretUser, _ error) {
	for offset := 0; ; offset += readTogether {
		list, _, err := s.store.Routines(ctx, routine.RoutineFilter{OrganizationID: sec.OrganizationID, Limit: readTogether, Offset: offset})
		if err != nil {
			return nil, storeError(ctx, "list routines that use a secret", err)
		}
		for _, r := range list {
			if slices.ContainsFunc(definition.SecretsOf(&r.Definition), func(ref routine.SecretReference) bool { return ref.Name == sec.Name }) {
				users = append(users, SecretUser{r.ID, r.Name})
			}
		}
		if len(list) < readTogether {
			return users, nil
		}
	}
}

// outcomeOK is the outcome of a use that was not refused.
const outcomeOK = "ok"

// recordSecretChange records that p changed a secret, or was refused it with err.
func (s *Service) recordSecretChange(ctx context.Context, p routine.Principal, via routine.Via, sec *routine.Secret, what string, err error) {
	use := routine.SecretUse{At: s.now(), OrganizationID: sec.OrganizationID, ProjectID: sec.ProjectID, What: what, Name: sec.Name,
		Outcome: outcomeOK, UserID: p.UserID, TokenID: p.TokenID, Via: via}
	if failure := routine.AsError(err); err != nil {
		use.Outcome, use.Reason = string(failure.Code), failure.Message
	}
	s.recordSecretUses(ctx, []routine.SecretUse{use})
	kind, name := "secret", sec.Name
	if session, ok := strings.CutPrefix(name, usesOfSession("")); ok {
		kind, name = "session", session
	}
	s.audit.SecretChanged(ctx, p, kind, what, name, err)
}

// recordSecretUses saves uses, also after ctx has ended. That they cannot be saved is only
// logged: what they record is done.
func (s *Service) recordSecretUses(ctx context.Context, uses []routine.SecretUse) {
	if len(uses) == 0 {
		return
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.store.RecordSecretUses(saving, uses); err != nil {
		s.log.ErrorContext(ctx, "uses of secrets could not be recorded", "secret", uses[0].Name, "error", err)
	}
}

// SecretTest says whether the value of a field can be read.
type SecretTest struct {
	Field string
	Err   error // nil: it can
}

// TestSecret reads each value of the secret that runs of p's project use, and returns which can
// be read. CodeUnauthenticated, CodeForbidden, CodeNotFound.
func (s *Service) TestSecret(ctx context.Context, p routine.Principal, name string) ([]SecretTest, error) {
	sec, err := s.readSecret(ctx, p, name, nil)
	if err != nil {
		return nil, err
	}
	var results []SecretTest
	for _, f := range sec.Fields {
		text, err := s.secretValue(ctx, sec, f)
		if err == nil && f.TOTP {
			_, err = totp.ParseKey(string(text))
		}
		results = append(results, SecretTest{f.Name, err})
	}
	return results, nil
}

// refused returns the record of a run that may not use a secret.
func (r *secretReader) refused(ref routine.SecretReference, err error) routine.SecretUse {
	failure := routine.AsError(err)
	return routine.SecretUse{At: r.service.now(), What: "read", Name: ref.Name, Field: ref.UsedField(), Outcome: string(failure.Code), Reason: failure.Message}
}

// complete adds to the records of a run who made it. e is nil for a lesson.
func (r *secretReader) complete(ctx context.Context, uses []routine.SecretUse, e *routine.Execution) []routine.SecretUse {
	for i := range uses {
		use := &uses[i]
		use.OrganizationID, use.ProjectID, use.UserID, use.TokenID = r.caller.OrganizationID, r.caller.ProjectID, r.caller.UserID, r.caller.TokenID
		if project, known := r.projects[use.Name]; known {
			use.ProjectID = project
		} else if sec, err := r.service.findSecret(ctx, r.caller, use.Name, nil); err == nil {
			use.ProjectID = sec.ProjectID
		}
		if e != nil {
			use.ExecutionID, use.RoutineID, use.RoutineVersion, use.Via = e.ID, e.RoutineID, e.RoutineVersion, e.Via
		}
	}
	return uses
}
