package service

import (
	"context"
	"rote/routine"
)

// everyStatus is a filter that routines of all statuses match.
var everyStatus = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}

// ToolHolder returns the id of the routine of p's organization that has a tool name. A
// routine never loses its tool name, whether it is published or not. CodeNotFound,
// CodeUnauthenticated; CodeForbidden when p may neither read nor change routines.
func (s *Service) ToolHolder(ctx context.Context, p routine.Principal, name string) (string, error) {
	if err := may(p, toChange, nil); err != nil {
		if p.Anonymous() {
			return "", err
		}
		if err := may(p, toRead, nil); err != nil {
			return "", err
		}
	}
	rs, _, err := s.store.Routines(ctx, routine.RoutineFilter{OrganizationID: p.OrganizationID, ToolName: name, Statuses: everyStatus, WithoutDefinitions: true})
	if err != nil {
		return "", storeError(ctx, "find tool", err)
	}
	if len(rs) == 0 {
		return "", routine.Errorf(routine.CodeNotFound, "no routine has the tool name %s", routine.Quote(routine.Truncate(name, 80)))
	}
	return rs[0].ID, nil
}

// Unpublished lists at most limit routines of p's organization, newest first, that are not
// published as tools and have each of the words in their name, description or tags. It also
// returns the number of all of them. CodeUnauthenticated; CodeForbidden unless p may both
// read and change routines.
func (s *Service) Unpublished(ctx context.Context, p routine.Principal, words []string, limit int) ([]*routine.Routine, int, error) {
	for _, do := range []action{toChange, toList} {
		if err := may(p, do, nil); err != nil {
			return nil, 0, err
		}
	}
	rs, total, err := s.store.Routines(ctx, routine.RoutineFilter{OrganizationID: p.OrganizationID, Unpublished: true, Words: words, Limit: limit,
		MaxDefinition: maxListedDefinition})
	if err != nil {
		return nil, 0, storeError(ctx, "list routines", err)
	}
	return rs, total, nil
}
