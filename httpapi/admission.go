package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"rote/routine"
)

// Door is what every request on the listener passes before a front end sees
// it. Front ends that are mounted beside this one ask it, so that one listener
// has one rule, and a token one budget of calls.
type Door struct {
	service *routine.Service
	local   *routine.Principal
	guard   guard
	rate    *rateLimit
	open    openRequests
	proxies trustedProxies
}

// NewDoor makes the door of c's Service, Local, AllowedHosts, CORSOrigins,
// RateLimit and TrustedProxies.
func NewDoor(c Config) *Door {
	return &Door{service: c.Service, local: c.Local, guard: newGuard(c.AllowedHosts, c.CORSOrigins), rate: newRateLimit(c.RateLimit),
		open: openRequests{count: map[openKey]int{}}, proxies: c.TrustedProxies}
}

// Admit refuses requests that name a foreign host, or come from a page of a
// foreign origin: CodeForbidden.
func (d *Door) Admit(r *http.Request) error { return d.guard.admit(r) }

// Caller is who makes a request; without a token, the anonymous caller. It
// counts the call, and tells in headers of w what is left. CodeUnauthenticated
// when the token is no good, CodeRateLimited, CodeStoreUnavailable.
func (d *Door) Caller(w http.ResponseWriter, r *http.Request) (routine.Principal, error) {
	p, unknown := caller(d.service, d.local, r)
	if routine.CodeOf(unknown) == routine.CodeStoreUnavailable {
		return routine.Principal{}, unknown
	}
	if err := d.rate.admit(w, r, p, d.proxies.clientAddress(r)); err != nil {
		return routine.Principal{}, err
	}
	return p, unknown
}

// Begin counts a request of p as open until done is called. It refuses one too
// many of a user, of an organization, or of an address without a token:
// CodeRateLimited.
func (d *Door) Begin(r *http.Request, p routine.Principal) (done func(), err error) {
	return d.open.begin(p, d.proxies.clientAddress(r))
}

// Refuse gives the status that answers err, and sets in h the headers that go
// with it.
func (d *Door) Refuse(h http.Header, err error) (status int) {
	status = statusOf(routine.CodeOf(err))
	setRefusal(h, status, err)
	return status
}

// setRefusal tells how to do better: with a token, or later.
func setRefusal(h http.Header, status int, err error) {
	wait := int(math.Ceil(routine.AsError(err).RetryAfter.Seconds()))
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		wait = max(1, wait)
	}
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(wait))
	}
}
