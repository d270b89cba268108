package httpapi

import (
	"net/http"

	"rote/routine"
)

// Door is what every request on the listener passes before a front end sees
// it. Front ends that are mounted beside this one ask it, so that one listener
// has one rule.
type Door struct {
	service *routine.Service
	local   *routine.Principal
	guard   guard
}

// NewDoor makes the door of c's Service, Local and AllowedHosts.
func NewDoor(c Config) *Door {
	return &Door{service: c.Service, local: c.Local, guard: newGuard(c.AllowedHosts, c.CORSOrigins)}
}

// Admit refuses requests that name a foreign host, or come from a page of a
// foreign origin: CodeForbidden.
func (d *Door) Admit(r *http.Request) error { return d.guard.admit(r) }

// Caller is who makes a request; without a token, the anonymous caller.
// CodeUnauthenticated when the token is no good, CodeStoreUnavailable.
func (d *Door) Caller(r *http.Request) (routine.Principal, error) {
	return caller(d.service, d.local, r)
}
