package service

import (
	"context"
	"encoding/json"

	"rote/routine"
	"rote/routine/exporter"
)

// Export writes a routine in the format of another tool, one of [exporter.Formats]. p needs what
// reading the routine needs. CodeInvalid, CodeNotFound, CodeForbidden, CodeUnauthenticated, CodeBusy.
func (s *Service) Export(ctx context.Context, p routine.Principal, id, to string) (*exporter.Exported, error) {
	r, err := s.Routine(ctx, p, id)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(&r.Definition, "", "  ")
	if err != nil {
		return nil, routine.Internal("write the definition", err)
	}
	done, err := s.parseLimiter.admit(ctx, p, len(text))
	if err != nil {
		return nil, err
	}
	defer done()
	return exporter.Export(text, to)
}
