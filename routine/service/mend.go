package service

import (
	"context"
	"strings"

	"rote/routine"
)

// RoutineToMend returns a routine, by its id or tool name, and the definition of one of its
// versions, to a caller who may change and execute it. version 0 is the newest one.
// CodeUnauthenticated, CodeForbidden, CodeNotFound, CodeConflict (archived), CodeBusy.
func (s *Service) RoutineToMend(ctx context.Context, p routine.Principal, key string, version int) (*routine.Routine, *routine.Definition, error) {
	if err := s.MayTeach(p); err != nil {
		return nil, nil, err
	}
	id := key
	if !strings.HasPrefix(key, "Routine_") {
		var err error
		if id, err = s.ToolOwner(ctx, p, key); err != nil {
			return nil, nil, err
		}
	}
	r, err := s.find(ctx, p, toChange, id)
	if err != nil {
		return nil, nil, err
	}
	for _, do := range []action{toExecute, toReadHistory} {
		if err := may(p, do, routineObject(r)); err != nil {
			return nil, nil, err
		}
	}
	if version == 0 || version == r.Version {
		return r, &r.Definition, nil
	}
	v, err := s.version(ctx, p, r, version)
	if err != nil {
		return nil, nil, err
	}
	return r, v.Definition, nil
}
