package routine

// Principal is who makes a call. The zero value is the anonymous caller.
type Principal struct {
	UserID         string
	OrganizationID string
	ProjectID      string
	// Scopes are what the caller may do in the organization.
	Scopes Scopes
	// AllowedHosts narrow what runs of the caller may reach, in the notation of
	// --allow-host; none: all that the operator's policy allows.
	AllowedHosts []string
	// TokenID names the token that the call was made with; empty: none was.
	TokenID string
}

// Anonymous tells that the caller gave no credentials.
func (p Principal) Anonymous() bool { return p.UserID == "" }

// Has tells whether the caller's token is good for what needs the scope.
func (p Principal) Has(scope Scopes) bool { return p.Scopes.covers(scope) }
