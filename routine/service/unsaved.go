package service

import (
	"context"

	"rote/routine"
)

// An unsaved definition is run from the text of a call: nothing has to be stored to be
// tried. Its execution is like any other, except that it has no routine id and version 0.
// The definition itself is kept only as long as the run.

// MayExecuteUnsaved returns nil if p may execute unsaved definitions, so that a front end
// can refuse a call before it reads the definition. p needs the scopes for creating and
// for executing a routine. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayExecuteUnsaved(p routine.Principal) error {
	if err := may(p, toExecuteUnsaved, nil); err != nil {
		return err
	}
	return may(p, toExecute, nil)
}

// ParseUnsaved checks the text of a definition that p wants to execute without saving it.
// The result is for Call.Definition. The problems are warnings. CodeUnauthenticated,
// CodeForbidden, CodeInvalid, CodeTooLarge, CodeBusy.
func (s *Service) ParseUnsaved(ctx context.Context, p routine.Principal, text []byte) (*routine.Definition, []routine.Problem, error) {
	if err := s.MayExecuteUnsaved(p); err != nil {
		return nil, nil, err
	}
	return s.parse(ctx, p, text)
}

// mayStart returns nil if p may make a call that runs a stored routine or, if the call has
// one, an unsaved definition. CodeUnauthenticated, CodeForbidden.
func (s *Service) mayStart(p routine.Principal, call Call) error {
	if call.Definition != nil {
		return s.MayExecuteUnsaved(p)
	}
	return may(p, toExecute, nil)
}

// routineToRun returns the stored routine that a call runs. If the call has an unsaved
// definition, it returns a routine of p's organization without an id. It has the error
// codes of find.
func (s *Service) routineToRun(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Routine, error) {
	if call.Definition != nil {
		return &routine.Routine{Definition: *call.Definition, OrganizationID: p.OrganizationID}, nil
	}
	r, err := s.find(ctx, p, toExecute, id)
	if err != nil || call.Version == 0 || call.Version == r.Version {
		return r, err
	}
	v, err := s.version(ctx, p, r, call.Version)
	if err != nil {
		return nil, err
	}
	earlier := *r
	earlier.Definition, earlier.Version = *v.Definition, v.Number
	return &earlier, nil
}
