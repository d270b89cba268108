package service

import "rote/routine"

// action is what a caller wants to do, as far as access depends on it.
type action int

const (
	toList action = iota
	toRead
	toReadNamed
	toReadHistory
	toCreate
	toChange
	toExecute
	toListTools
	toReadExecutions
	toCancel
	toManageWebhooks
	toReadStatistics
)

// accessRule is who may do an action.
type accessRule struct {
	doing string // as messages call it
	// scope is what a token needs, also for what is public.
	scope routine.Scopes
	// public: what is public is open to everybody. Anything else is for the
	// organization that it belongs to.
	public bool
	// token: without one the caller is asked for it, rather than refused.
	token bool
	// live: not with what is archived.
	live bool
}

var accessRules = map[action]accessRule{
	toList:        {doing: "listing routines", scope: routine.ScopeRoutinesRead, public: true},
	toRead:        {doing: "reading a routine", scope: routine.ScopeRoutinesRead, public: true},
	toReadNamed:   {doing: "reading a routine by its name", scope: routine.ScopeRoutinesRead, token: true},
	toReadHistory: {doing: "reading a routine's history", scope: routine.ScopeRoutinesRead},
	toCreate:      {doing: "creating a routine", scope: routine.ScopeRoutinesWrite, token: true},
	toChange:      {doing: "changing a routine", scope: routine.ScopeRoutinesWrite, token: true},
	toExecute:     {doing: "executing a routine", scope: routine.ScopeExecutionsRun, live: true},
	toListTools:   {doing: "listing tools", scope: routine.ScopeExecutionsRun, token: true},

	toReadExecutions: {doing: "reading executions", scope: routine.ScopeExecutionsRead, token: true},
	toCancel:         {doing: "cancelling an execution", scope: routine.ScopeExecutionsRun, token: true},
	toManageWebhooks: {doing: "reading the webhook secret", scope: routine.ScopeAdmin, token: true},
	toReadStatistics: {doing: "reading the metrics", scope: routine.ScopeAdmin, token: true},
}

// object is what an action is done to, as far as access depends on it.
type object struct {
	kind             string // as messages call it
	organization     string
	public, archived bool
}

func routineObject(r *routine.Routine) *object {
	return &object{"routine", r.OrganizationID, r.IsPublic, r.Status == routine.StatusArchived}
}

func executionObject(e *routine.Execution) *object {
	return &object{kind: "execution", organization: e.OrganizationID}
}

// MayCreate returns, before a definition is read, why p may not create routines.
// CodeUnauthenticated, CodeForbidden.
func (s *Service) MayCreate(p routine.Principal) error { return may(p, toCreate, nil) }

// MayChange returns, before a change is read, why p may not change any routine.
// CodeUnauthenticated, CodeForbidden.
func (s *Service) MayChange(p routine.Principal) error { return may(p, toChange, nil) }

// may is the whole of the access rules: nil, or why p may not. Without an
// object it tells what can be told before one is looked up, so that those who
// may not ask do not learn which ids there are. CodeUnauthenticated,
// CodeForbidden, CodeConflict.
func may(p routine.Principal, do action, on *object) error {
	r := accessRules[do]
	switch {
	case p.Anonymous() && r.token:
		return routine.Errorf(routine.CodeUnauthenticated, "%s needs a service token", r.doing)
	case !p.Anonymous() && !p.Scopes.Covers(r.scope):
		return routine.Errorf(routine.CodeForbidden, "%s needs the scope %s, which the token does not have", r.doing, r.scope)
	case on == nil:
		return nil
	case (p.Anonymous() || on.organization != p.OrganizationID) && (!r.public || !on.public):
		return routine.Errorf(routine.CodeForbidden, "no access to this %s: %s is for its organization", on.kind, r.doing)
	case r.live && on.archived:
		return routine.Errorf(routine.CodeConflict, "the routine is archived: make it active first")
	}
	return nil
}
