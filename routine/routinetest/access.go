package routinetest

import (
	"strings"

	"rote/routine"
)

// AccessCase is one cell of the access matrix.
type AccessCase struct {
	// Caller makes the call. The zero Principal is a call without a token.
	Caller routine.Principal
	// Action is what for, Object with which routine: private, public and
	// archived ones are of organization "acme"; unknown does not exist; - is
	// for actions that are done with none.
	Action, Object string
	// Want is empty where the action is allowed.
	Want routine.Code
	// Scope is the one without which a token is refused.
	Scope string
}

// callers are the columns of the matrix.
var callers = []routine.Principal{
	{},
	caller("owner", "acme", routine.DefaultScopes),
	caller("reader", "acme", routine.ScopeRoutinesRead),
	caller("writer", "acme", routine.ScopeRoutinesWrite),
	caller("runner", "acme", routine.ScopeExecutionsRun),
	caller("watcher", "acme", routine.ScopeExecutionsRead),
	caller("admin", "acme", routine.ScopeAdmin),
	caller("stranger", "globex", routine.DefaultScopes),
}

func caller(user, organization string, scopes routine.Scopes) routine.Principal {
	return routine.Principal{UserID: user, OrganizationID: organization, ProjectID: "prices", Scopes: scopes}
}

// matrix has a line for each action and object: allowed (ok), or the status as
// HTTP has it; then the scope that a token needs.
const matrix = `
                  nobody owner reader writer runner watcher admin stranger
list     -         ok     ok    ok     403    403    403     ok    ok       routines:read
read     private   403    ok    ok     403    403    403     ok    403      routines:read
read     public    ok     ok    ok     403    403    403     ok    ok       routines:read
read     archived  403    ok    ok     403    403    403     ok    403      routines:read
read     unknown   404    404   404    403    403    403     404   404      routines:read
history  private   403    ok    ok     403    403    403     ok    403      routines:read
history  public    403    ok    ok     403    403    403     ok    403      routines:read
history  archived  403    ok    ok     403    403    403     ok    403      routines:read
history  unknown   404    404   404    403    403    403     404   404      routines:read
version  private   403    ok    ok     403    403    403     ok    403      routines:read
version  public    403    ok    ok     403    403    403     ok    403      routines:read
version  archived  403    ok    ok     403    403    403     ok    403      routines:read
version  unknown   404    404   404    403    403    403     404   404      routines:read
diff     private   403    ok    ok     403    403    403     ok    403      routines:read
diff     public    403    ok    ok     403    403    403     ok    403      routines:read
diff     archived  403    ok    ok     403    403    403     ok    403      routines:read
diff     unknown   404    404   404    403    403    403     404   404      routines:read
patch    private   401    ok    403    ok     403    403     ok    403      routines:write
patch    public    401    ok    403    ok     403    403     ok    403      routines:write
patch    archived  401    ok    403    ok     403    403     ok    403      routines:write
patch    unknown   401    404   403    404    403    403     404   404      routines:write
replace  private   401    ok    403    ok     403    403     ok    403      routines:write
replace  public    401    ok    403    ok     403    403     ok    403      routines:write
replace  archived  401    409   403    409    403    403     409   403      routines:write
replace  unknown   401    404   403    404    403    403     404   404      routines:write
restore  private   401    ok    403    ok     403    403     ok    403      routines:write
restore  public    401    ok    403    ok     403    403     ok    403      routines:write
restore  archived  401    409   403    409    403    403     409   403      routines:write
restore  unknown   401    404   403    404    403    403     404   404      routines:write
archive  private   401    ok    403    ok     403    403     ok    403      routines:write
archive  public    401    ok    403    ok     403    403     ok    403      routines:write
archive  archived  401    ok    403    ok     403    403     ok    403      routines:write
archive  unknown   401    404   403    404    403    403     404   404      routines:write
publish  private   401    ok    403    ok     403    403     ok    403      routines:write
publish  public    401    ok    403    ok     403    403     ok    403      routines:write
publish  archived  401    ok    403    ok     403    403     ok    403      routines:write
publish  unknown   401    404   403    404    403    403     404   404      routines:write
create   -         401    ok    403    ok     403    403     ok    ok       routines:write
validate -         ok     ok    ok     ok     ok     ok      ok    ok       -
execute  private   403    ok    403    403    ok     403     ok    403      executions:run
execute  public    403    ok    403    403    ok     403     ok    403      executions:run
execute  archived  403    409   403    403    409    403     409   403      executions:run
execute  unknown   404    404   403    403    404    403     404   404      executions:run
tools    -         401    ok    403    403    ok     403     ok    ok       executions:run
metrics  -         401    403   403    403    403    403     ok    403      admin
`

var accessCodes = map[string]routine.Code{"ok": "", "401": routine.CodeUnauthenticated, "403": routine.CodeForbidden,
	"404": routine.CodeNotFound, "409": routine.CodeConflict}

// Access is the access matrix: who may do what, cell by cell. What serves
// callers is tested with all of it.
func Access() []AccessCase {
	var cases []AccessCase
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, c := range callers {
			want, known := accessCodes[fields[2+i]]
			if !known {
				panic("no code: " + line)
			}
			cases = append(cases, AccessCase{Caller: c, Action: fields[0], Object: fields[1], Want: want, Scope: fields[2+len(callers)]})
		}
	}
	return cases
}

// LacksScope reports whether the case is one of a token that is refused for its
// scopes alone, which the message has to name.
func (c AccessCase) LacksScope() bool {
	needed, err := routine.ParseScopes([]string{c.Scope})
	return err == nil && !c.Caller.Anonymous() && c.Caller.Scopes&(needed|routine.ScopeAdmin) == 0
}

func (c AccessCase) String() string {
	who := c.Caller.UserID
	if c.Caller.Anonymous() {
		who = "nobody"
	}
	return who + " " + c.Action + " " + c.Object
}
