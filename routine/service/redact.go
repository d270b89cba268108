package service

import (
	"rote/routine"
	"slices"
)

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
