package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rote/routine"
)

// maxNamesakes limits how many routines of one name are read.
const maxNamesakes = 5

// PutCondition restricts what PutRoutine may do. The zero value allows everything.
type PutCondition struct {
	// Versions are the versions that the caller knows; nil means any. A routine at another
	// version is not changed, and no routine is created.
	Versions []int
	// New means that PutRoutine may only create a routine, and not change one.
	New bool
}

// RoutineNamed returns the routine of p's organization that has the name and is not
// archived. CodeNotFound; CodeConflict when several routines have the name;
// CodeUnauthenticated, CodeForbidden.
func (s *Service) RoutineNamed(ctx context.Context, p routine.Principal, name string) (*routine.Routine, error) {
	if err := may(p, toReadNamed, nil); err != nil {
		return nil, err
	}
	rs, err := s.routinesNamed(ctx, p, name)
	if err != nil {
		return nil, err
	}
	switch len(rs) {
	case 0:
		return nil, routine.Errorf(routine.CodeNotFound, "no routine is named %s", routine.Quote(routine.Truncate(name, 80)))
	case 1:
		return s.find(ctx, p, toReadNamed, rs[0].ID)
	}
	return nil, severalNamed(name, rs)
}

// PutRoutine checks text and makes it the newest version of the routine of that
// name in p's organization, or creates the routine when no routine has the name.
// Archived routines do not count. The definition's own name must be the same.
// created reports whether the routine is new; the problems are warnings.
//
// CodeUnauthenticated, CodeForbidden, CodeInvalid, CodeTooLarge; CodeConflict
// when several routines have the name; CodePreconditionFailed when c does not
// hold.
func (s *Service) PutRoutine(ctx context.Context, p routine.Principal, name string, text []byte, c PutCondition) (
	r *routine.Routine, created bool, warnings []routine.Problem, err error) {

	if err := may(p, toChange, nil); err != nil {
		return nil, false, nil, err
	}
	d, warnings, err := s.parse(ctx, p, text)
	if err != nil {
		return nil, false, warnings, err
	}
	if d.Name != name {
		return nil, false, warnings, routine.Invalid("routine", []routine.Problem{{Pointer: "/name", Code: "mismatch",
			Message: fmt.Sprintf("the definition is named %s, but it was sent for the name %s: make both the same",
				routine.Quote(routine.Truncate(d.Name, 80)), routine.Quote(routine.Truncate(name, 80)))}})
	}
	for range maxRaces {
		rs, err := s.routinesNamed(ctx, p, name)
		switch {
		case err != nil:
			return nil, false, warnings, err
		case len(rs) > 1:
			return nil, false, warnings, severalNamed(name, rs)
		case len(rs) == 1 && c.New:
			return nil, false, warnings, routine.Errorf(routine.CodePreconditionFailed, "the routine %s has this name already", rs[0].ID)
		case len(rs) == 1:
			r, err := s.replace(ctx, p, rs[0].ID, d, c.Versions)
			return r, false, warnings, err
		case c.Versions != nil:
			return nil, false, warnings, routine.Errorf(routine.CodePreconditionFailed, "no routine has this name: leave out the condition to create it")
		}
		r := s.newRoutine(p, d)
		r.UniqueName = true
		err = s.saveNew(ctx, p, r)
		if errors.Is(err, routine.ErrNameTaken) { // by a call that ran at the same time: change that routine
			continue
		}
		if err != nil {
			return nil, false, warnings, storeError(ctx, "create routine", err)
		}
		return routineAnswer(r, p), true, warnings, nil
	}
	return nil, false, warnings, errBusyRoutine
}

// routinesNamed reads the routines of p's organization that have a name and are
// not archived, newest first and without their definitions, at most maxNamesakes.
func (s *Service) routinesNamed(ctx context.Context, p routine.Principal, name string) ([]*routine.Routine, error) {
	rs, _, err := s.store.Routines(ctx, routine.RoutineFilter{OrganizationID: p.OrganizationID, Name: name, WithoutDefinitions: true, Limit: maxNamesakes})
	if err != nil {
		return nil, storeError(ctx, "find routine by name", err)
	}
	return rs, nil
}

// severalNamed returns the error of a call that names one routine by a name that several
// have.
func severalNamed(name string, rs []*routine.Routine) error {
	ids := make([]string, len(rs))
	for i, r := range rs {
		ids[i] = r.ID
	}
	return routine.Errorf(routine.CodeConflict, "several routines are named %s: name one by its id (%s), or archive the others",
		routine.Quote(routine.Truncate(name, 80)), strings.Join(ids, ", "))
}

// warnOfNamesakes returns a warning if older routines have the name of a new one, because
// its author may have wanted to change one of them. The definition of a withheld routine is
// not compared, because the comparison would reveal the definition of another routine. One
// definition is read at a time, because each takes memory.
func (s *Service) warnOfNamesakes(ctx context.Context, p routine.Principal, r *routine.Routine) ([]routine.Problem, error) {
	namesakes, err := s.routinesNamed(ctx, p, r.Name)
	if err != nil {
		return nil, err
	}
	older := slices.DeleteFunc(namesakes, func(other *routine.Routine) bool { return other.ID >= r.ID }) // ids grow with time
	if len(older) == 0 {
		return nil, nil
	}
	definition := routine.JSONText(r.Definition)
	for _, other := range older {
		if r.Withheld {
			break
		}
		same, err := s.hasDefinition(ctx, p, other.ID, definition)
		if err != nil {
			return nil, err
		}
		if same {
			return []routine.Problem{{Pointer: "/name", Code: "duplicate_routine", Hint: "archive one of the two",
				Message: fmt.Sprintf("the routine %s has the same name and the same definition", other.ID)}}, nil
		}
	}
	return []routine.Problem{{Pointer: "/name", Code: "duplicate_name", Message: fmt.Sprintf("the routine %s has the same name", older[0].ID),
		Hint: "to change a routine instead of adding another one, update it by its id or by its name"}}, nil
}

// hasDefinition reports whether the newest definition of a routine is equal to a given one
// in compact JSON. It does not read a definition that is larger.
func (s *Service) hasDefinition(ctx context.Context, p routine.Principal, id, definition string) (bool, error) {
	size, err := s.store.DefinitionSize(ctx, id, 0)
	if err != nil || size > len(definition)+1 { // the stored one ends with a line break
		return false, err
	}
	r, err := s.readRoutine(ctx, p, id)
	if err != nil {
		return false, err
	}
	return routine.JSONText(r.Definition) == definition, nil
}
