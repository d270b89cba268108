package service

import (
	"context"

	"rote/routine"
	"rote/routine/engine"
)

// runOnPage opens a page, which the caller closes, and runs the definition on it. It
// sets the result, the evidence and the files of the run, also when it fails.
func (s *Service) runOnPage(ctx context.Context, run *activeRun) (err error) {
	e := run.execution
	e.Result = engine.NewResult()
	secrets := s.newSecretReader(run.caller, e.RoutineID, run.given)
	defer func() {
		if p := recover(); p != nil {
			err = engine.RedactError(run.definition, run.values, routine.Internal("run", routine.PanicError(p)))
		}
		e.SecretUses = secrets.complete(ctx, e.SecretUses, e)
	}()
	if e.SecretUses, err = secrets.check(ctx, run.definition, run.values); err != nil {
		return err
	}
	if err := s.openRunSession(ctx, run); err != nil {
		return err
	}
	options, err := s.pageOptions(ctx, run.caller, run.definition, run.session)
	if err != nil {
		return err
	}
	options.RequestsTo, options.RequestsOnly = run.requestsOnly()
	options.Reached = run.reached
	page, err := s.browser.Open(ctx, options)
	s.browserHealth.record(err, s.now())
	if err != nil {
		if ctx.Err() != nil {
			e := routine.AsError(routine.CauseOf(ctx))
			return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for the browser to open a page", Cause: e}
		}
		return err
	}
	run.page = page
	outcome, err := engine.Run(ctx, run.definition, run.values, page, engine.Options{MaxResult: s.maxResult, Now: s.now,
		LargeText: s.largeTexts.forOrganization(run.caller.OrganizationID), Progress: run.showProgress, Recorded: run.emitOperation,
		Outline: run.outline, Secrets: secrets, Session: run.session.cookies()})
	e.Result, e.Evidence, run.files, e.SecretUses = outcome.Result, outcome.Evidence, outcome.Files, outcome.SecretUses
	if err == nil && run.completed != nil {
		run.completed(ctx, page)
	}
	switch {
	case err != nil || !options.KeepState:
	case run.session == nil:
		s.readProjectState(ctx, e, run.caller.ProjectID, page)
	default:
		if warning := s.saveSession(ctx, run.session, page); warning != "" {
			e.Result.Warnings = append(e.Result.Warnings, warning)
		}
	}
	return err
}
