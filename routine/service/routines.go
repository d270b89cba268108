package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"rote/routine"
	"rote/routine/audit"
	"rote/routine/definition"
)

// Routine returns one routine. For callers outside its organization the declarations of its
// secret parameters have no values and no rules. CodeNotFound; CodeForbidden when it is
// neither public nor of p's organization, or the token does not have the scope; CodeBusy.
func (s *Service) Routine(ctx context.Context, p routine.Principal, id string) (*routine.Routine, error) {
	r, err := s.find(ctx, p, toRead, id)
	if err != nil {
		return nil, err
	}
	return shownTo(r, p), nil
}

// find reads a routine and checks that p may do an action with it. It has the error codes of
// Routine and of may.
func (s *Service) find(ctx context.Context, p routine.Principal, do action, id string) (*routine.Routine, error) {
	if err := may(p, do, nil); err != nil {
		return nil, err
	}
	r, err := s.readRoutine(ctx, p, id)
	switch {
	case errors.Is(err, routine.ErrNotFound):
		return nil, routine.Errorf(routine.CodeNotFound, "there is no routine %s", routine.Quote(routine.Truncate(id, 80)))
	case routine.CodeOf(err) == routine.CodeBusy:
		return nil, err
	case err != nil:
		return nil, storeError(ctx, "read routine", err)
	}
	if err := may(p, do, routineObject(r)); err != nil {
		return nil, err
	}
	return r, nil
}

// Routines lists the routines that match f and that p may read, newest first, each as Routine
// returns it, and the total number without f.Limit. It ignores f.OrganizationID and f.Public. A
// routine with a large definition is listed without its parameters and operations, see
// Routine.Omitted. CodeForbidden, CodeBusy.
func (s *Service) Routines(ctx context.Context, p routine.Principal, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	return s.listRoutines(ctx, p, f, maxListedDefinition)
}

// RoutineBriefs is Routines for a list that shows no parameters and no operations: they are left
// out of all routines and not decoded, which takes most of the time of a list.
func (s *Service) RoutineBriefs(ctx context.Context, p routine.Principal, f routine.RoutineFilter) ([]*routine.Routine, int, error) {
	return s.listRoutines(ctx, p, f, 1) // no definition is that short
}

// listRoutines lists routines without the details of definitions of more than maxDefinition bytes.
func (s *Service) listRoutines(ctx context.Context, p routine.Principal, f routine.RoutineFilter, maxDefinition int) (
	[]*routine.Routine, int, error) {

	if err := may(p, toList, nil); err != nil {
		return nil, 0, err
	}
	f.OrganizationID, f.Public = p.OrganizationID, true
	f.MaxDefinition = maxDefinition
	done, err := s.parseLimiter.admitList(ctx, p, f.Limit)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	rs, total, err := s.store.Routines(ctx, f)
	if err != nil {
		return nil, 0, storeError(ctx, "list routines", err)
	}
	for i, r := range rs {
		rs[i] = shownTo(r, p)
	}
	return rs, total, nil
}

// maxRaces is how often a change is repeated because another change was saved first.
const maxRaces = 100

// transitions are the statuses that a patch may set, by the present status.
// ArchiveRoutine and PublishRoutine work from every status.
var transitions = map[routine.Status][]routine.Status{
	routine.StatusDraft:    {routine.StatusActive},
	routine.StatusActive:   {routine.StatusArchived, routine.StatusDraft},
	routine.StatusArchived: {routine.StatusActive},
}

// ArchiveRoutine archives a routine, whatever its status. An archived routine stays as it
// is. See PatchRoutine for expected and the errors.
func (s *Service) ArchiveRoutine(ctx context.Context, p routine.Principal, id string, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.Status = routine.StatusArchived
		return nil
	})
}

// PublishRoutine sets whether a routine is published as a tool. To publish it also makes
// it active, whatever its status. See PatchRoutine for expected and the errors.
func (s *Service) PublishRoutine(ctx context.Context, p routine.Principal, id string, on bool, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.IsMCPToolDesignated = on
		if on {
			r.Status = routine.StatusActive
		}
		return nil
	})
}

// ReplaceRoutine replaces the definition of a routine by the one in text. The problems are
// warnings. See PatchRoutine for expected and the errors.
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

// replace sets the definition of a routine. See PatchRoutine for expected and the errors.
func (s *Service) replace(ctx context.Context, p routine.Principal, id string, d *routine.Definition, expected []int) (*routine.Routine, error) {
	return s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		r.Definition = *d
		return requireNotArchived(r)
	})
}

// change saves the routine as edit changes it as its next version, or nothing if edit
// changes nothing. It returns what p may see of the routine. If another change is saved
// first, edit is repeated on the result of that, so that neither change is lost.
func (s *Service) change(ctx context.Context, p routine.Principal, id string, expected []int, edit func(*routine.Routine) error) (*routine.Routine, error) {
	for range maxRaces {
		was, err := s.find(ctx, p, toChange, id)
		if err != nil {
			return nil, err
		}
		if expected != nil && !slices.Contains(expected, was.Version) {
			return nil, routine.Errorf(routine.CodePreconditionFailed, "the routine is at version %d: read it again and repeat the change on that", was.Version)
		}
		if err := was.CheckKnown(); err != nil {
			return nil, err
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
			s.audit.Changed(ctx, p, audit.RoutineChanged, routineAttrs(&r)...)
			return routineAnswer(&r, p), nil
		}
		if !errors.Is(err, routine.ErrStale) {
			return nil, storeError(ctx, "update routine", err)
		}
	}
	return nil, errBusyRoutine
}

// errBusyRoutine is the error of a change that lost maxRaces races against others.
var errBusyRoutine = routine.Errorf(routine.CodeConflict, "others change the routine all the time: try again")

// setStatus changes the status of r if transitions allows that. CodeConflict.
func setStatus(r *routine.Routine, status routine.Status) error {
	if status != r.Status && !slices.Contains(transitions[r.Status], status) {
		var allowed []string
		for _, next := range transitions[r.Status] {
			allowed = append(allowed, string(next))
		}
		return routine.Errorf(routine.CodeConflict, "a routine that is %s cannot become %s, only %s", r.Status, status, strings.Join(allowed, " or "))
	}
	r.Status = status
	return nil
}

// requireNotArchived returns CodeConflict if r is archived.
func requireNotArchived(r *routine.Routine) error {
	if r.Status == routine.StatusArchived {
		return routine.Errorf(routine.CodeConflict, `the routine is archived: make it active first, with {"routine_status": "active"}`)
	}
	return nil
}

// PatchRoutine applies a JSON Merge Patch (RFC 7396) to a routine: its
// definition's fields and routine_status. The result is checked like a new definition.
// The pointers of problems refer to the result, their lines to the patch; a problem in a
// part that the patch does not change has no line. The problems returned are warnings. A
// patch may change the name, but the tool name stays.
//
// expected, if not nil, are the versions that the caller knows: if the routine is at
// another version, the error is CodePreconditionFailed. A patch that changes nothing makes
// no version. A caller who may not read routines gets a withheld routine, and only the
// problems of the patch itself.
//
// CodeUnauthenticated, CodeForbidden, CodeNotFound, CodeInvalid, CodeTooLarge; CodeConflict
// for a status that cannot follow the present one, and for any other change to an archived
// routine.
func (s *Service) PatchRoutine(ctx context.Context, p routine.Principal, id string, text []byte, expected []int) (*routine.Routine, []routine.Problem, error) {
	if err := definition.CheckSize(text); err != nil {
		return nil, nil, err
	}
	var warnings []routine.Problem
	r, err := s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		status := r.Status
		done, err := s.parseLimiter.admit(ctx, p, len(text)+r.Size())
		if err != nil {
			return err
		}
		defer done()
		warnings, err = applyMergePatch(r, text)
		if err == nil {
			warnings = s.withUnknown(ctx, p, &r.Definition, warnings)
		}
		if may(p, toRead, nil) != nil {
			warnings, err = withheldProblems(warnings, err, func(found []routine.Problem) []routine.Problem { return patchProblems(text, status, found) })
		}
		return err
	})
	return r, warnings, err
}

// applyMergePatch applies a merge patch to r. It returns the warnings also when it returns
// an error.
func applyMergePatch(r *routine.Routine, text []byte) ([]routine.Problem, error) {
	m, warnings, err := definition.Merge(&r.Definition, text)
	if err != nil {
		return warnings, err
	}
	return warnings, setMerged(r, m)
}

// setMerged gives r the definition and the status that a patch has led to.
func setMerged(r *routine.Routine, m *definition.Merged) error {
	was := *r
	r.Definition = m.Definition
	if err := setStatus(r, cmp.Or(m.Status, was.Status)); err != nil || was.Status != routine.StatusArchived || sameContent(&was, r) {
		return err
	}
	return requireNotArchived(r)
}

// JSONPatchRoutine applies a JSON Patch (RFC 6902) to the definition and routine_status of
// a routine, in the form in which DiffVersions compares them. Its test operations can
// reveal the definition, so p must be allowed to read the routine, too. Otherwise it is as
// PatchRoutine, see there for expected and the errors.
func (s *Service) JSONPatchRoutine(ctx context.Context, p routine.Principal, id string, text []byte, expected []int) (
	*routine.Routine, []routine.Problem, error) {

	if err := may(p, toRead, nil); err != nil {
		return nil, nil, err
	}
	if err := definition.CheckSize(text); err != nil {
		return nil, nil, err
	}
	var warnings []routine.Problem
	r, err := s.change(ctx, p, id, expected, func(r *routine.Routine) error {
		done, err := s.parseLimiter.admit(ctx, p, len(text)+r.Size())
		if err != nil {
			return err
		}
		defer done()
		var m *definition.Merged
		if m, warnings, err = definition.ApplyJSONPatch(&r.Definition, r.Status, text); err != nil {
			return err
		}
		warnings = s.withUnknown(ctx, p, &m.Definition, warnings)
		return setMerged(r, m)
	})
	return r, warnings, err
}

// sameContent reports whether two routines have the same status and definition.
func sameContent(a, b *routine.Routine) bool {
	return a.Status == b.Status && routine.JSONText(a.Definition) == routine.JSONText(b.Definition)
}
