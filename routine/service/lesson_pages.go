package service

import (
	"context"
	"time"

	"rote/routine"
	"rote/routine/engine"
)

// A lesson is a live page on which a caller makes a routine; package lesson has them. Its
// page is opened and its operations are run with the settings of an execution, but outside
// the queue: it holds no place of a run.

// MayTeach returns nil if p may open lessons. p needs the scopes for changing and for
// executing routines. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayTeach(p routine.Principal) error {
	if err := may(p, toTeach, nil); err != nil {
		return err
	}
	return may(p, toExecute, nil)
}

// OpenLessonPage opens a page for a lesson of p, which the caller closes. Its requests are
// recorded. Unless it is incognito, it starts with the saved browser state of p's project;
// the lesson never saves that state. It does not load the resources that block names. The
// page has the network for lifetime, which is as long
// as the lesson may keep it open. CodeShuttingDown, CodeBrowserUnavailable,
// CodeStoreUnavailable.
func (s *Service) OpenLessonPage(ctx context.Context, p routine.Principal, incognito bool, block []string, lifetime time.Duration) (
	routine.Page, error) {

	if s.stopped() {
		return nil, errStopping
	}
	o, err := s.pageOptions(ctx, p, &routine.Definition{Incognito: incognito, Block: block}, nil)
	if err != nil {
		return nil, err
	}
	o.Watch, o.Lesson, o.Lifetime = true, true, lifetime
	page, err := s.browser.Open(ctx, o)
	s.browserHealth.record(err, s.now())
	return page, err
}

// LessonOptions returns the settings with which operations of a lesson of p are run. They can
// use the secrets that any routine of p's project may use, and given, which are not stored.
func (s *Service) LessonOptions(p routine.Principal, given map[string]GivenSecret) engine.Options {
	return engine.Options{MaxResult: s.maxResult, Now: s.now, LargeText: s.largeTexts.forOrganization(p.OrganizationID),
		Secrets: s.newSecretReader(p, "", given)}
}

// RecordLessonUses records the uses of secrets by an operation of a lesson of p.
func (s *Service) RecordLessonUses(ctx context.Context, p routine.Principal, uses []routine.SecretUse) {
	for i := range uses {
		uses[i].Operation = 0 // that of a lesson can change
	}
	s.recordSecretUses(ctx, s.newSecretReader(p, "", nil).complete(context.WithoutCancel(ctx), uses, nil))
}
