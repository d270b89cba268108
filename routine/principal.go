package routine

// Principal is who makes a call. The zero value is the anonymous caller.
type Principal struct {
	UserID         string
	OrganizationID string
	ProjectID      string
}

// Anonymous tells that the caller gave no credentials.
func (p Principal) Anonymous() bool { return p.UserID == "" }

// mayRead: what is public, or of the caller's organization.
func (p Principal) mayRead(r *Routine) bool {
	return r.IsPublic || p.owns(r)
}

// owns: executing and changing is for the routine's own organization.
func (p Principal) owns(r *Routine) bool {
	return !p.Anonymous() && r.OrganizationID == p.OrganizationID
}
