package service

import (
	"context"
	"errors"
	"fmt"

	"rote/routine"
)

// pageOptions returns the options with which the page of a run is opened. A run that is
// not incognito starts with the state of its session or, if that is nil, with the saved browser
// state of the caller's project, independent of who wrote the routine. CodeStoreUnavailable.
func (s *Service) pageOptions(ctx context.Context, caller routine.Principal, d *routine.Definition, session *runSession) (routine.PageOptions, error) {
	o := routine.PageOptions{AllowedHosts: caller.AllowedHosts, KeepState: !d.Incognito, Block: d.Block, MaxFiles: s.maxResult,
		Turn: s.transfers.forOrganization(caller.OrganizationID)}
	switch {
	case d.Incognito:
		return o, nil
	case session != nil:
		session.addTo(&o)
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

// readProjectState reads the browser state of a completed run from its page. It is saved
// with the end of the execution, for the next run of the project.
func (s *Service) readProjectState(ctx context.Context, e *routine.Execution, projectID string, page routine.Page) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	e.State = &routine.BrowserState{ProjectID: projectID}
	var err error
	if e.State.Data, err = page.State(ctx); err != nil {
		s.dropState(ctx, e, err)
	}
}

// saveProjectState saves the browser state of a completed run that is not stored.
func (s *Service) saveProjectState(ctx context.Context, run *activeRun) {
	if run.execution.State == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := s.store.SaveProjectState(ctx, run.caller.OrganizationID, run.execution.State, s.now()); err != nil {
		s.dropState(ctx, run.execution, err)
	}
}

// dropState leaves out the browser state of a run that has done its work, because of err.
// The result gets a warning.
func (s *Service) dropState(ctx context.Context, e *routine.Execution, err error) {
	projectID := e.State.ProjectID
	e.State = nil
	warning := fmt.Sprintf("the browser state was not saved for the next run of project %s: the service's log says why", routine.Quote(projectID))
	if known, ok := errors.AsType[*routine.Error](err); ok {
		warning = "the browser state was not saved: " + known.Message
	} else {
		s.log.ErrorContext(ctx, "browser state could not be saved", "error", err)
	}
	e.Result.Warnings = append(e.Result.Warnings, warning)
}
