package routine

import "strings"

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
func (p Principal) Has(scope Scopes) bool { return p.Scopes.Covers(scope) }

// Scopes is a set of what a token is good for. The zero value is good for
// nothing that needs one.
type Scopes uint8

// The scopes. ScopeAdmin includes all others.
const (
	ScopeRoutinesRead Scopes = 1 << iota
	ScopeRoutinesWrite
	ScopeExecutionsRun
	ScopeExecutionsRead
	ScopeAdmin
)

// UsualScopes are all but ScopeAdmin: what a token has unless it is narrowed.
const UsualScopes = ScopeRoutinesRead | ScopeRoutinesWrite | ScopeExecutionsRun | ScopeExecutionsRead

// scopeNames are by bit, from the lowest.
var scopeNames = []string{"routines:read", "routines:write", "executions:run", "executions:read", "admin"}

// ParseScopes is the set of the scopes with these names. Another name is
// CodeInvalid.
func ParseScopes(names []string) (Scopes, error) {
	var all Scopes
	for _, name := range names {
		s := scopeNamed(name)
		if s == 0 {
			return 0, Errorf(CodeInvalid, "%s is no scope: there are %s", Quote(Truncate(name, 80)), strings.Join(scopeNames, ", "))
		}
		all |= s
	}
	return all, nil
}

func scopeNamed(name string) Scopes {
	for i, known := range scopeNames {
		if name == known {
			return 1 << i
		}
	}
	return 0
}

// Names are the names of the scopes, in a fixed order.
func (s Scopes) Names() []string {
	var names []string
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String is the names, separated by blanks.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// covers tells whether the set is enough for what needs the scope.
func (s Scopes) Covers(scope Scopes) bool { return s&(scope|ScopeAdmin) != 0 }
