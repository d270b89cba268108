package routine

import "strings"

// Principal is the caller on whose behalf something is done. The zero value is the
// anonymous caller.
type Principal struct {
	UserID         string
	OrganizationID string
	ProjectID      string
	// Scopes are the caller's permissions in the organization.
	Scopes Scopes
	// AllowedHosts narrows what the caller's runs may reach, in the notation of
	// --allow-host; empty: all that the operator's policy allows.
	AllowedHosts []string
	// TokenID is the token of the call; empty if it had none.
	TokenID string
}

// Anonymous reports whether the caller gave no credentials.
func (p Principal) Anonymous() bool { return p.UserID == "" }

// Has reports whether the caller has a scope.
func (p Principal) Has(scope Scopes) bool { return p.Scopes.Covers(scope) }

// Scopes is a set of permissions of a token. The zero value has none.
type Scopes uint8

// The scopes. ScopeAdmin includes all others.
const (
	ScopeRoutinesRead Scopes = 1 << iota
	ScopeRoutinesWrite
	ScopeExecutionsRun
	ScopeExecutionsRead
	ScopeAdmin
	// ScopeSecretsRead is for reading everything about secrets but their values, which
	// nobody can read. ScopeSecretsWrite is for saving and deleting them.
	ScopeSecretsRead
	ScopeSecretsWrite
)

// DefaultScopes are the scopes of a token that is created without naming any: all but
// ScopeSecretsWrite and ScopeAdmin.
const DefaultScopes = ScopeRoutinesRead | ScopeRoutinesWrite | ScopeExecutionsRun | ScopeExecutionsRead | ScopeSecretsRead

// scopeNames are the names of the scopes, by bit from the lowest.
var scopeNames = []string{"routines:read", "routines:write", "executions:run", "executions:read", "admin", "secrets:read", "secrets:write"}

// ParseScopes returns the set of the scopes with these names. An unknown name is
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

// scopeNamed returns the scope with a name, or 0.
func scopeNamed(name string) Scopes {
	for i, known := range scopeNames {
		if name == known {
			return 1 << i
		}
	}
	return 0
}

// Names returns the names of the scopes in a fixed order.
func (s Scopes) Names() []string {
	var names []string
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the names separated by spaces.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// Covers reports whether s includes a scope or ScopeAdmin.
func (s Scopes) Covers(scope Scopes) bool { return s&(scope|ScopeAdmin) != 0 }
