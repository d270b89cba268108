package service

import (
	"context"
	"errors"

	"rote/routine"
	"rote/routine/engine"
)

// runOnPage opens a page, which the caller closes, and runs the definition on it. It
// sets the result, the evidence and the files of the run, also when it fails. If the site has
// ended the login of the run's session before an operation acted, it logs in and runs the
// definition again, once.
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
	repeat, err := s.runOnNewPage(ctx, run, secrets, true)
	if repeat {
		uses := e.SecretUses
		run.startAgain()
		e.Result, e.SecretUses = engine.NewResult(), nil
		_, err = s.runOnNewPage(ctx, run, secrets, false)
		e.SecretUses = append(uses, e.SecretUses...)
	}
	return err
}

// runOnNewPage is runOnPage with the secrets of the run. It returns repeat only if mayRepeat is
// set: the run has to be done again.
func (s *Service) runOnNewPage(ctx context.Context, run *activeRun, secrets *secretReader, mayRepeat bool) (repeat bool, err error) {
	e := run.execution
	err = s.openRunSession(ctx, run, secrets)
	if errors.Is(err, errLoginDone) {
		e.Result.OK = true
		e.Result.Warnings = append(e.Result.Warnings, err.Error())
		return false, nil
	}
	if err != nil {
		return false, err
	}
	options, err := s.pageOptions(ctx, run.caller, run.definition, run.session)
	if err != nil {
		return false, err
	}
	options.RequestsTo, options.RequestsOnly = run.requestsOnly()
	options.Connecting = run.watchConnections(ctx)
	page, err := s.openPage(ctx, options)
	if err != nil {
		return false, err
	}
	run.page = page
	run.view.show(page)
	set := engine.Options{MaxResult: s.maxResult, Now: s.now,
		LargeText: s.largeTexts.forOrganization(run.caller.OrganizationID), StartedAt: e.StartedAt,
		Progress: run.showProgress, Begun: run.emitBegun, Recorded: run.emitOperation,
		Outline: run.outline, Secrets: secrets, Session: run.session.cookies()}
	set.SignedOut, set.Repeatable = run.session.watchLogin(mayRepeat)
	set.MayGoOn = s.stillLeased(run)
	set.Around = run.traceOperation
	outcome, err := engine.Run(ctx, run.definition, run.values, page, set)
	e.Result, e.Evidence, run.files, e.SecretUses = outcome.Result, outcome.Evidence, outcome.Files, outcome.SecretUses
	if err == nil && run.completed != nil {
		run.completed(ctx, page)
	}
	return outcome.Repeat, s.keepState(ctx, run, page, options.KeepState, err)
}

// openPage opens the page of a run.
func (s *Service) openPage(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	page, err := s.browser.Open(ctx, o)
	s.browserHealth.record(err, s.now())
	if err != nil && ctx.Err() != nil {
		e := routine.AsError(routine.CauseOf(ctx))
		return nil, &routine.Error{Code: e.Code, Message: e.Message + ", waiting for the browser to open a page", Cause: e}
	}
	return page, err
}

// keepState keeps what a run has left on its page for the next one, or what its failure, err, says
// about its session. It returns the error of the run.
func (s *Service) keepState(ctx context.Context, run *activeRun, page routine.Page, keep bool, err error) error {
	switch {
	case run.session != nil && run.session.isLogin:
		return s.endLogin(ctx, run, page, err)
	case run.session != nil && routine.CodeOf(err) == routine.CodeSessionExpired:
		s.markStale(ctx, run.session.Session, err)
	case err != nil || !keep:
	case run.session == nil:
		s.readProjectState(ctx, run.execution, run.caller.ProjectID, page)
	default:
		if warning := s.saveSession(ctx, run.session, page); warning != "" {
			run.execution.Result.Warnings = append(run.execution.Result.Warnings, warning)
		}
	}
	return err
}
