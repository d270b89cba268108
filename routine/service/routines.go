package service

import (
	"cmp"
	"context"
	"errors"
	"rote/routine"
	"rote/routine/definition"
	"slices"
	"strings"
)

// maxRaces bounds how often a change is made anew because another was faster.
// Each time somebody's change has been saved.
const maxRaces = 100

// transitions are the statuses that a status can be changed to. Archiving has a
// door of its own, which is open from everywhere.
var transitions = map[routine.Status][]routine.Status{
	routine.StatusDraft:    {routine.StatusActive},
	routine.StatusActive:   {routine.StatusArchived, routine.StatusDraft},
	routine.StatusArchived: {routine.StatusActive},
}

// ArchiveRoutine archives a routine, whatever its status; one that is archived
// stays as it is. See PatchRoutine for expected and errors.
func (s *Service) ArchiveRoutine(ctx context.Context, p routine.Principal, id string, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.Status = routine.StatusArchived
		return nil
	})
}

// PublishRoutine turns on or off that a routine is offered as a tool. Turning it
// on also makes it active, whatever its status. See PatchRoutine for expected
// and errors.
func (s *Service) PublishRoutine(ctx context.Context, p routine.Principal, id string, on bool, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.IsMCPToolDesignated = on
		if on {
			r.Status = routine.StatusActive
		}
		return nil
	})
}

// ReplaceRoutine puts the definition in text in place of the routine's own. The
// problems are warnings. See PatchRoutine for expected and errors.
func (s *Service) ReplaceRoutine(ctx context.Context, p routine.Principal, id string, text []byte, expected []int) (
	*routine.Routine, []routine.Problem, error) {

	if err := may(p, toChange, nil); err != nil {
		return nil, nil, err
	}
	d, warnings, err := s.parse(ctx, p, text)
	if err != nil {
		return nil, warnings, err
	}
	r, err := s.replace(ctx, p, id, d, expected)
	return r, warnings, err
}

// replace makes d the definition of a routine.
func (s *Service) replace(ctx context.Context, p routine.Principal, id string, d *routine.Definition, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.Definition = *d
		return requireNotArchived(r)
	})
}

// change saves what edit makes of the routine as its next version, or nothing
// where edit changes nothing, and gives what p may see of the routine. When another change comes in between, edit is done
// anew on what that one left, so that neither is lost.
func (s *Service) change(ctx context.Context, p routine.Principal, id string, expected []int, edit func(*routine.Routine) error) (*routine.Routine, error) {
	for range maxRaces {
		was, err := s.find(ctx, p, toChange, id)
		if err != nil {
			return nil, err
		}
		if expected != nil && !slices.Contains(expected, was.Version) {
			return nil, routine.Errorf(routine.CodePreconditionFailed, "the routine is at version %d: read it again and repeat the change on that", was.Version)
		}
		r := *was
		if err := edit(&r); err != nil {
			return nil, err
		}
		if sameContent(was, &r) {
			return routineAnswer(was, p), nil
		}
		r.Version, r.UpdatedAt = was.Version+1, max(s.now().Unix(), was.UpdatedAt)
		err = s.store.UpdateRoutine(ctx, &r, p.UserID)
		if err == nil {
			return routineAnswer(&r, p), nil
		}
		if !errors.Is(err, routine.ErrStale) {
			return nil, storeError(ctx, "update routine", err)
		}
	}
	return nil, errBusyRoutine
}

// errBusyRoutine ends a change that lost every race against others.
var errBusyRoutine = routine.Errorf(routine.CodeConflict, "others change the routine all the time: try again")

// setStatus changes the status as a caller may. CodeConflict.
func setStatus(r *routine.Routine, status routine.Status) error {
	if status != r.Status && !slices.Contains(transitions[r.Status], status) {
		var ways []string
		for _, way := range transitions[r.Status] {
			ways = append(ways, string(way))
		}
		return routine.Errorf(routine.CodeConflict, "a routine that is %s cannot become %s, only %s", r.Status, status, strings.Join(ways, " or "))
	}
	r.Status = status
	return nil
}

// requireNotArchived refuses changes to what is archived.
func requireNotArchived(r *routine.Routine) error {
	if r.Status == routine.StatusArchived {
		return routine.Errorf(routine.CodeConflict, `the routine is archived: make it active first, with {"routine_status": "active"}`)
	}
	return nil
}

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
