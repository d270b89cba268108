package routine

import "slices"

// shownTo is r as p may see it. Everybody may read a public routine, but a value
// that its author wrote beside a secret parameter is for the organization.
func (r *Routine) shownTo(p Principal) *Routine {
	if !p.Anonymous() && p.OrganizationID == r.OrganizationID || !slices.ContainsFunc(r.Parameters, Parameter.tells) {
		return r
	}
	shown := *r
	shown.Redacted = true
	shown.Parameters = slices.Clone(r.Parameters)
	for i := range shown.Parameters {
		if p := &shown.Parameters[i]; p.Secret {
			p.Default, p.Examples, p.Observed = nil, nil, nil
		}
	}
	return &shown
}

// tells tells of a secret parameter whose declaration holds values.
func (p Parameter) tells() bool {
	return p.Secret && (p.Default != nil || p.Examples != nil || p.Observed != nil)
}
