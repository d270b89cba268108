package service

import (
	"fmt"
	"slices"

	"rote/routine"
	"rote/routine/definition"
)

// action is a kind of call that has access rules of its own.
type action int

const (
	toList action = iota
	toRead
	toReadNamed
	toReadHistory
	toCreate
	toChange
	toExecute
	toExecuteUnsaved
	toListTools
	toReadExecutions
	toCancel
	toReadWebhookSecret
	toReadStatistics
	toTeach
	toSchedule
	toReadSchedules
	toReadSecrets
	toSaveSecret
	toSaveSharedSecret
	toSaveReference
	toGiveCode
	toLogIn
	toManageTokens
)

// accessRule says who may do an action.
type accessRule struct {
	doing string // the action in error messages
	// scope is the scope that a token needs, also for public objects.
	scope routine.Scopes
	// public reports whether everybody may do the action with a public object. Other
	// objects are only for the organization that they belong to.
	public bool
	// token reports whether the action needs a token: a caller without one gets
	// CodeUnauthenticated.
	token bool
	// notArchived reports whether the action is refused with an archived object.
	notArchived bool
}

var accessRules = map[action]accessRule{
	toList:        {doing: "listing routines", scope: routine.ScopeRoutinesRead, public: true},
	toRead:        {doing: "reading a routine", scope: routine.ScopeRoutinesRead, public: true},
	toReadNamed:   {doing: "reading a routine by its name", scope: routine.ScopeRoutinesRead, token: true},
	toReadHistory: {doing: "reading a routine's history", scope: routine.ScopeRoutinesRead},
	toCreate:      {doing: "creating a routine", scope: routine.ScopeRoutinesWrite, token: true},
	toChange:      {doing: "changing a routine", scope: routine.ScopeRoutinesWrite, token: true},
	toExecute:     {doing: "executing a routine", scope: routine.ScopeExecutionsRun, notArchived: true},
	toListTools:   {doing: "listing tools", scope: routine.ScopeExecutionsRun, token: true},

	// It also needs the right toExecute: see MayExecuteUnsaved.
	toExecuteUnsaved: {doing: "executing a routine that is not saved", scope: routine.ScopeRoutinesWrite, token: true},

	// It also needs the right toExecute: see MayTeach.
	toTeach:             {doing: "making a routine on a live page", scope: routine.ScopeRoutinesWrite, token: true},
	toReadExecutions:    {doing: "reading executions", scope: routine.ScopeExecutionsRead, token: true},
	toCancel:            {doing: "cancelling an execution", scope: routine.ScopeExecutionsRun, token: true},
	toSchedule:          {doing: "changing schedules", scope: routine.ScopeExecutionsRun, token: true},
	toReadSchedules:     {doing: "reading schedules", scope: routine.ScopeExecutionsRead, token: true},
	toReadWebhookSecret: {doing: "reading the webhook secret", scope: routine.ScopeAdmin, token: true},
	toReadSecrets:       {doing: "reading secrets", scope: routine.ScopeSecretsRead, token: true},
	toSaveSecret:        {doing: "changing secrets", scope: routine.ScopeSecretsWrite, token: true},
	toSaveSharedSecret:  {doing: "changing a secret of the whole organization", scope: routine.ScopeAdmin, token: true},
	toSaveReference:     {doing: "referring to a value outside of rote", scope: routine.ScopeAdmin, token: true},
	toGiveCode:          {doing: "giving a one-time code", scope: routine.ScopeSecretsWrite, token: true},
	toLogIn:             {doing: "logging in", scope: routine.ScopeSecretsWrite, token: true},
	toManageTokens:      {doing: "managing tokens", scope: routine.ScopeAdmin, token: true},
	toReadStatistics:    {doing: "reading the metrics", scope: routine.ScopeAdmin, token: true},
}

// object has the properties of a routine or an execution on which access depends.
type object struct {
	kind             string // in error messages
	organization     string
	public, archived bool
}

func routineObject(r *routine.Routine) *object {
	return &object{"routine", r.OrganizationID, r.IsPublic, r.Status == routine.StatusArchived}
}

func executionObject(e *routine.Execution) *object {
	return &object{kind: "execution", organization: e.OrganizationID}
}

func scheduleObject(sc *routine.Schedule) *object {
	return &object{kind: "schedule", organization: sc.OrganizationID}
}

// MayCreate returns nil if p may create routines, so that a front end can refuse a call
// before it reads the definition. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayCreate(p routine.Principal) error { return may(p, toCreate, nil) }

// MayChange returns nil if p may change routines at all, so that a front end can refuse a
// call before it reads the change. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayChange(p routine.Principal) error { return may(p, toChange, nil) }

// may applies the access rules: it returns nil if p may do an action with an object.
// Without an object it checks what can be checked before the object is read, so that
// callers without the right cannot find out which ids exist. CodeUnauthenticated,
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
	case r.notArchived && on.archived:
		return routine.Errorf(routine.CodeConflict, "the routine is archived: make it active first")
	}
	return nil
}

// shownTo returns r as p may see it. Everybody may read a public routine, but only its own
// organization may see the values in the declarations of its secret parameters.
func shownTo(r *routine.Routine, p routine.Principal) *routine.Routine {
	if !p.Anonymous() && p.OrganizationID == r.OrganizationID || !slices.ContainsFunc(r.Parameters, declaresValues) {
		return r
	}
	shown := *r
	shown.Redacted = true
	shown.Parameters = slices.Clone(r.Parameters)
	for i, p := range shown.Parameters {
		if declaresValues(p) {
			shown.Parameters[i] = withoutValues(p)
		}
	}
	return &shown
}

// withoutValues returns a parameter without the fields that can reveal its values. It
// copies the fields that may be shown, so that a field that is added later is not shown.
func withoutValues(p routine.Parameter) routine.Parameter {
	return routine.Parameter{Name: p.Name, Type: p.Type, Required: p.Required, Description: p.Description, Secret: p.Secret}
}

// declaresValues reports whether a parameter is secret and its declaration has rules,
// values or extra fields, which withoutValues removes.
func declaresValues(p routine.Parameter) bool {
	return p.Secret && (p.Validation != nil || p.Default != nil || p.Examples != nil || p.Observed != nil || p.FromSecret != "" || p.Extra != nil)
}

// The right to act on an object is not the right to read it: a token may change routines
// and cancel executions that it may not read. The answer to such a call has only what the
// caller needs to refer to the object.

// routineAnswer returns r as the answer to a change by p. If p may not read routines, the
// definition is withheld.
func routineAnswer(r *routine.Routine, p routine.Principal) *routine.Routine {
	if may(p, toRead, routineObject(r)) == nil {
		return r
	}
	return &routine.Routine{ID: r.ID, ToolName: r.ToolName, OrganizationID: r.OrganizationID, Status: r.Status, Version: r.Version, Withheld: true,
		Definition: routine.Definition{Name: r.Name, IsMCPToolDesignated: r.IsMCPToolDesignated}}
}

// executionAnswer returns e as the answer to a call of p that acted on it. If p may not
// read executions, everything but its status is withheld.
func executionAnswer(e *routine.Execution, p routine.Principal) *routine.Execution {
	if may(p, toReadExecutions, executionObject(e)) == nil {
		return e
	}
	return &routine.Execution{ID: e.ID, Status: e.Status, OrganizationID: e.OrganizationID, Withheld: true}
}

// scheduleAnswer returns sc as the answer to a call of p that changed it. If p may not read
// executions, the settings and what came of them are withheld.
func scheduleAnswer(sc *routine.Schedule, p routine.Principal) *routine.Schedule {
	if may(p, toReadSchedules, scheduleObject(sc)) == nil {
		return sc
	}
	return &routine.Schedule{ID: sc.ID, Enabled: sc.Enabled, NextAt: sc.NextAt, OrganizationID: sc.OrganizationID, Withheld: true}
}

// sampleDefinition is a definition without any problem. A patch of a routine that the
// caller may not read is checked against it.
const sampleDefinition = `{"name": "routine", "description": "Reads a page.",
	"operations": [{"type": "navigate", "url": "https://example.com/"}, {"type": "return_html"}]}`

// patchProblems returns the problems of a patch for a caller who may not read the routine:
// those that the text of the patch has by itself, with messages that quote nothing of the
// routine, and one problem that counts the others. found are the problems of the patched
// routine.
func patchProblems(text []byte, status routine.Status, found []routine.Problem) []routine.Problem {
	if len(found) == 0 {
		return nil
	}
	d, _, err := definition.Parse([]byte(sampleDefinition))
	if err != nil {
		return withhold(found, nil)
	}
	r := routine.Routine{Definition: *d, Status: status}
	own, err := applyMergePatch(&r, text)
	if err != nil {
		own = append(own, routine.AsError(err).Problems...)
	}
	return withhold(found, own)
}

// withhold returns the problems of own that are also in found, by place and code, and one
// problem with the number of the others in found.
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

// withheldProblems applies hide to the warnings and to the problems of the error of a
// change to a routine that the caller may not read.
func withheldProblems(warnings []routine.Problem, err error, hide func([]routine.Problem) []routine.Problem) ([]routine.Problem, error) {
	warnings = hide(warnings)
	if e := routine.AsError(err); err != nil && len(e.Problems) > 0 {
		err = routine.Invalid("routine", hide(e.Problems))
	}
	return warnings, err
}
