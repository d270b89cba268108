package service

import (
	"context"

	"rote/routine"
)

// Tools lists the routines that are published to p's organization as tools, without their
// definitions, which Tool returns. CodeUnauthenticated, CodeForbidden.
func (s *Service) Tools(ctx context.Context, p routine.Principal) ([]*routine.Routine, error) {
	if err := may(p, toListTools, nil); err != nil {
		return nil, err
	}
	if p.OrganizationID == "" { // without it the filter matches the public routines of all organizations
		return nil, routine.Errorf(routine.CodeForbidden, "tools belong to an organization: name one")
	}
	rs, _, err := s.store.Routines(ctx, routine.RoutineFilter{OrganizationID: p.OrganizationID, Published: true, WithoutDefinitions: true})
	if err != nil {
		return nil, storeError(ctx, "list tools", err)
	}
	return rs, nil
}

// Tool returns a routine of p's organization for the list of its tools. Callers must not
// change what it refers to. CodeUnauthenticated, CodeNotFound, CodeForbidden, CodeBusy.
func (s *Service) Tool(ctx context.Context, p routine.Principal, id string) (*routine.Routine, error) {
	return s.find(ctx, p, toListTools, id)
}

// ToolsStamp returns a number that changes with every change to a routine, by any
// process: while it is the same, so is what Tools and Routines return. It is much
// cheaper than a list. CodeStoreUnavailable.
func (s *Service) ToolsStamp(ctx context.Context) (int64, error) {
	now, err := s.store.Changes(ctx)
	if err != nil {
		return 0, storeError(ctx, "look for changes", err)
	}
	return now.Routines, nil
}

// everyStatus selects routines of all statuses.
var everyStatus = []routine.Status{routine.StatusDraft, routine.StatusActive, routine.StatusArchived}

// ToolOwner returns the id of the routine of p's organization that has this tool name. A
// routine keeps its tool name for life, published or not. CodeNotFound,
// CodeUnauthenticated; CodeForbidden when p may neither read nor change routines.
func (s *Service) ToolOwner(ctx context.Context, p routine.Principal, name string) (string, error) {
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
