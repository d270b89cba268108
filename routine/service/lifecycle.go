package service

import (
	"context"
	"errors"
	"rote/routine"
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
func (s *Service) ReplaceRoutine(ctx context.Context, p routine.Principal, id string, text []byte, expected []int) (*routine.Routine, []routine.Problem, error) {
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

// RestoreRoutine makes the definition of an earlier version the newest one
// again. The status stays. It is checked like a new one: the problems are
// warnings. CodeNotFound for an unknown version too; see PatchRoutine for
// expected and errors.
func (s *Service) RestoreRoutine(ctx context.Context, p routine.Principal, id string, version int, expected []int) (*routine.Routine, []routine.Problem, error) {
	r, err := s.find(ctx, p, toChange, id)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.version(ctx, p, r, version)
	if err != nil {
		return nil, nil, err
	}
	r, warnings, err := s.ReplaceRoutine(ctx, p, id, routine.RawJSON(v.Definition), expected)
	clearLines(warnings)
	if err != nil {
		clearLines(routine.AsError(err).Problems)
	}
	if may(p, toRead, nil) != nil {
		warnings, err = withheldProblems(warnings, err, func(found []routine.Problem) []routine.Problem { return withhold(found, nil) })
	}
	return r, warnings, err
}

// clearLines removes the lines and columns of problems in a text that the caller
// did not send.
func clearLines(problems []routine.Problem) {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
}

// Versions lists the versions of a routine of p's organization without their
// definitions, newest first, with the number of all. CodeNotFound,
// CodeForbidden.
func (s *Service) Versions(ctx context.Context, p routine.Principal, id string, limit, offset int) ([]*routine.Version, int, error) {
	if _, err := s.find(ctx, p, toReadHistory, id); err != nil {
		return nil, 0, err
	}
	vs, total, err := s.store.Versions(ctx, id, limit, offset)
	if err != nil {
		return nil, 0, storeError(ctx, "list versions", err)
	}
	return vs, total, nil
}

// Version reads one version of a routine of p's organization. CodeNotFound,
// CodeForbidden.
func (s *Service) Version(ctx context.Context, p routine.Principal, id string, number int) (*routine.Version, error) {
	r, err := s.find(ctx, p, toReadHistory, id)
	if err != nil {
		return nil, err
	}
	return s.version(ctx, p, r, number)
}

func (s *Service) version(ctx context.Context, p routine.Principal, r *routine.Routine, number int) (*routine.Version, error) {
	done, err := s.admitStored(ctx, p, r.ID, number)
	if routine.CodeOf(err) == routine.CodeBusy {
		return nil, err
	}
	var v *routine.Version
	if err == nil {
		v, err = s.store.Version(ctx, r.ID, number)
		done()
	}
	if errors.Is(err, routine.ErrNotFound) {
		return nil, routine.Errorf(routine.CodeNotFound, "the routine has no version %d: it is at version %d", number, r.Version)
	}
	if err != nil {
		return nil, storeError(ctx, "read version", err)
	}
	return v, nil
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
