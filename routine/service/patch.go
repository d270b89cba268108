package service

import (
	"cmp"
	"context"
	"rote/routine"
	"rote/routine/definition"
)

// PatchRoutine applies a JSON Merge Patch (RFC 7396) to a routine: its
// definition's fields and routine_status. The result is checked like a new
// definition. Pointers of problems are relative to the result, lines count in
// the patch; a problem with what the patch leaves alone has none. The problems
// returned are warnings. The name can change, the tool name does not.
//
// expected, where it is not nil, are the versions that the caller knows: at
// another one CodePreconditionFailed. A patch that changes nothing makes no
// version. A caller who may not read routines gets a routine that is withheld,
// and of the problems only those of the patch itself.
//
// CodeUnauthenticated, CodeForbidden, CodeNotFound, CodeInvalid,
// CodeTooLarge; CodeConflict for a change of status that there is not, and for
// any other change to an archived routine.
func (s *Service) PatchRoutine(ctx context.Context, p routine.Principal, id string, text []byte, expected []int) (*routine.Routine, []routine.Problem, error) {
	if err := definition.CheckSize(text); err != nil {
		return nil, nil, err
	}
	var warnings []routine.Problem
	r, err := s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		status := r.Status
		done, err := s.admission.admit(ctx, p, len(text)+r.Size())
		if err != nil {
			return err
		}
		defer done()
		warnings, err = applyPatch(r, text)
		if may(p, toRead, nil) != nil {
			warnings, err = withheldProblems(warnings, err, func(found []routine.Problem) []routine.Problem { return problemsOfPatch(text, status, found) })
		}
		return err
	})
	return r, warnings, err
}

// applyPatch changes r as a merge patch says. The warnings are there beside an error
// too.
func applyPatch(r *routine.Routine, text []byte) ([]routine.Problem, error) {
	m, warnings, err := definition.Merge(&r.Definition, text)
	if err != nil {
		return warnings, err
	}
	was := *r
	r.Definition = m.Definition
	if err := setStatus(r, cmp.Or(m.Status, was.Status)); err != nil || was.Status != routine.StatusArchived || sameContent(&was, r) {
		return warnings, err
	}
	return warnings, requireNotArchived(r)
}

func sameContent(a, b *routine.Routine) bool {
	return a.Status == b.Status && routine.JSONText(a.Definition) == routine.JSONText(b.Definition)
}
