package service

import (
	"context"
	"errors"
	"fmt"
	"rote/routine"
)

// pageOptions returns the options with which the page of a run is opened. A run that is
// not incognito starts with the saved browser state of the caller's project, whoever wrote
// the routine. CodeStoreUnavailable.
func (s *Service) pageOptions(ctx context.Context, caller routine.Principal, d *routine.Definition) (routine.PageOptions, error) {
	o := routine.PageOptions{AllowedHosts: caller.AllowedHosts, KeepState: !d.Incognito, MaxFiles: s.maxResult,
		Turn: s.transfers.forOrganization(caller.OrganizationID)}
	if d.Incognito {
		return o, nil
	}
	var err error
	o.State, err = s.store.ProjectState(ctx, caller.OrganizationID, caller.ProjectID)
	if errors.Is(err, routine.ErrSealed) {
		return o, routine.Errorf(routine.CodeStoreUnavailable, "the saved browser state of project %s cannot be read: it was sealed with another key: "+
			"bring back its key file (--state-key), or run the routine with incognito true", routine.Quote(caller.ProjectID))
	}
	if errors.Is(err, routine.ErrStateKey) {
		return o, &routine.Error{Code: routine.CodeStoreUnavailable, Cause: err,
			Message: fmt.Sprintf("the saved browser state of project %s cannot be read: the service cannot use its key file, "+
				"and its log says why; or run the routine with incognito true", routine.Quote(caller.ProjectID))}
	}
	if err != nil {
		return o, storeError(ctx, "read project state", err)
	}
	return o, nil
}

// saveProjectState saves the browser state of a completed run for the next run of the
// caller's project. If that fails, the run has still done its work: the result gets a
// warning.
func (s *Service) saveProjectState(ctx context.Context, caller routine.Principal, page routine.Page, result *routine.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	state, err := page.State(ctx)
	if err == nil {
		err = s.store.SaveProjectState(ctx, caller.OrganizationID, caller.ProjectID, state, s.now())
	}
	var known *routine.Error
	switch {
	case err == nil:
	case errors.As(err, &known):
		result.Warnings = append(result.Warnings, "the browser state was not saved: "+known.Message)
	default:
		s.log.ErrorContext(ctx, "browser state could not be saved", "error", err)
		result.Warnings = append(result.Warnings, fmt.Sprintf("the browser state was not saved for the next run of project %s: the service's log says why",
			routine.Quote(caller.ProjectID)))
	}
}
