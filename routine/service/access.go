package service

import (
	"fmt"
	"rote/routine"
	"rote/routine/definition"
	"slices"
)

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

// shownTo is r as p may see it. Everybody may read a public routine, but the
// values in the declarations of its secret parameters are only shown to its own
// organization.
func shownTo(r *routine.Routine, p routine.Principal) *routine.Routine {
	if !p.Anonymous() && p.OrganizationID == r.OrganizationID || !slices.ContainsFunc(r.Parameters, redacts) {
		return r
	}
	shown := *r
	shown.Redacted = true
	shown.Parameters = slices.Clone(r.Parameters)
	for i, p := range shown.Parameters {
		if redacts(p) {
			shown.Parameters[i] = redacted(p)
		}
	}
	return &shown
}

// redacted is the parameter without anything that can tell a value of it. It
// lists what is shown, so that a field that is added later is not shown.
func redacted(p routine.Parameter) routine.Parameter {
	return routine.Parameter{Name: p.Name, Type: p.Type, Required: p.Required, Description: p.Description, Secret: p.Secret}
}

// redacts reports whether redacted hides anything: the parameter is secret, and
// its declaration has rules, values or fields of the author's own.
func redacts(p routine.Parameter) bool {
	return p.Secret && (p.Validation != nil || p.Default != nil || p.Examples != nil || p.Observed != nil || p.Extra != nil)
}

// A call that a caller may make does not give them the right to read what it
// acts on: a token may change routines that it may not read, and cancel
// executions that it may not read. Such a caller is answered what they need to
// refer to the object, and nothing of what another scope guards.

// routineAnswer returns r as the answer to a change that p made. If p may not read
// routines it is withheld.
func routineAnswer(r *routine.Routine, p routine.Principal) *routine.Routine {
	if may(p, toRead, routineObject(r)) == nil {
		return r
	}
	return &routine.Routine{ID: r.ID, ToolName: r.ToolName, OrganizationID: r.OrganizationID, Status: r.Status, Version: r.Version, Withheld: true,
		Definition: routine.Definition{Name: r.Name, IsMCPToolDesignated: r.IsMCPToolDesignated}}
}

// executionAnswer returns e as the answer to a call of p that acted on it. If p may not
// read executions it is withheld.
func executionAnswer(e *routine.Execution, p routine.Principal) *routine.Execution {
	if may(p, toReadExecutions, executionObject(e)) == nil {
		return e
	}
	return &routine.Execution{ID: e.ID, Status: e.Status, OrganizationID: e.OrganizationID, Withheld: true}
}

// standIn is a definition without any problem. It takes the place of a stored
// definition that the caller may not read.
const standIn = `{"name": "routine", "description": "Reads a page.",
	"operations": [{"type": "navigate", "url": "https://example.com/"}, {"type": "return_html"}]}`

// problemsOfPatch are the problems of a patch for a caller who may not read the
// routine that it changes: those that the text of the patch has by itself, in
// words that cite nothing of the routine, and one that counts the others. found
// are the problems that the patched routine has.
func problemsOfPatch(text []byte, status routine.Status, found []routine.Problem) []routine.Problem {
	if len(found) == 0 {
		return nil
	}
	d, _, err := definition.Parse([]byte(standIn))
	if err != nil {
		return withhold(found, nil)
	}
	r := routine.Routine{Definition: *d, Status: status}
	own, err := applyPatch(&r, text)
	if err != nil {
		own = append(own, routine.AsError(err).Problems...)
	}
	return withhold(found, own)
}

// withhold replaces each of the problems found by the one at the same place
// among own, and counts those without one.
func withhold(found, own []routine.Problem) []routine.Problem {
	type place struct{ pointer, code string }
	shown := map[place]routine.Problem{}
	for _, p := range own {
		shown[place{p.Pointer, p.Code}] = p
	}
	var kept []routine.Problem
	others := 0
	for _, p := range found {
		if known, ok := shown[place{p.Pointer, p.Code}]; ok {
			kept = append(kept, known)
		} else {
			others++
		}
	}
	if others > 0 {
		kept = append(kept, routine.Problem{Code: "withheld", Message: fmt.Sprintf("%d problems lie in parts of the routine that this token may not read", others),
			Hint: "use a token with the scope " + routine.ScopeRoutinesRead.String()})
	}
	return kept
}

// withheldProblems are the warnings and the error of a change to a routine that
// p may not read; hide tells what is shown of problems.
func withheldProblems(warnings []routine.Problem, err error, hide func([]routine.Problem) []routine.Problem) ([]routine.Problem, error) {
	warnings = hide(warnings)
	if e := routine.AsError(err); err != nil && len(e.Problems) > 0 {
		err = routine.Invalid("routine", hide(e.Problems))
	}
	return warnings, err
}
