package service

import (
	"context"

	"rote/routine"
	"rote/routine/importer"
)

// Import makes a routine of a recording of another tool, and saves nothing. p needs what a lesson
// needs. CodeInvalid, CodeTooLarge, CodeForbidden, CodeUnauthenticated, CodeBusy.
func (s *Service) Import(ctx context.Context, p routine.Principal, q importer.Request) (*importer.Imported, error) {
	if err := s.MayTeach(p); err != nil {
		return nil, err
	}
	done, err := s.parseLimiter.admit(ctx, p, len(q.Source))
	if err != nil {
		return nil, err
	}
	defer done()
	return importer.Import(q)
}
