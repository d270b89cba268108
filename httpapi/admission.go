package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"rote/routine"
	"rote/routine/service"
)

// Admission checks hosts, authenticates and rate-limits every request before it
// reaches a front end. All front ends on one listener share one Admission, so
// that a token has one budget of calls.
type Admission struct {
	service      *service.Service
	local        *routine.Principal
	hosts        hostPolicy
	rate         *rateLimit
	signInRate   *rateLimit
	openRequests openRequests
	proxies      trustedProxies
}

// NewAdmission uses the Service, Local, AllowedHosts, CORSOrigins, RateLimit
// and TrustedProxies of c.
func NewAdmission(c Config) *Admission {
	return &Admission{service: c.Service, local: c.Local, hosts: newHostPolicy(c.AllowedHosts, c.CORSOrigins),
		rate: newRateLimit(c.RateLimit, "calls"), signInRate: newRateLimit(maxSignIns, "sign-ins"),
		openRequests: openRequests{count: map[openRequestKey]int{}}, proxies: c.TrustedProxies}
}

// Admit returns CodeForbidden for a request whose Host header or page origin is
// not allowed.
func (a *Admission) Admit(r *http.Request) error { return a.hosts.check(r) }

// ClientAddress returns the address of the sender of a request, as far as the proxies that it
// came through are trusted.
func (a *Admission) ClientAddress(r *http.Request) string { return a.proxies.clientAddress(r) }

// Caller authenticates the sender of a request and counts the request against
// the rate limit. Without a token it returns the anonymous principal. It sets
// the RateLimit headers of w. It fails with CodeUnauthenticated if the token is
// invalid, CodeRateLimited or CodeStoreUnavailable.
func (a *Admission) Caller(w http.ResponseWriter, r *http.Request) (routine.Principal, error) {
	p, unknown := principalOf(a.service, a.local, r)
	if routine.CodeOf(unknown) == routine.CodeStoreUnavailable {
		return routine.Principal{}, unknown
	}
	if err := a.Count(w, r, p); err != nil {
		return routine.Principal{}, err
	}
	return p, unknown
}

// SignInAllowed counts an attempt to sign in to the console, whether it succeeds or not. It
// returns CodeRateLimited, with RetryAfter, after ten attempts of the client address within
// a minute, also if Config.RateLimit is 0. It sets the RateLimit headers of w. A front end
// calls it before it authenticates the token.
func (a *Admission) SignInAllowed(w http.ResponseWriter, r *http.Request) error {
	return a.signInRate.count(w, r, routine.Principal{}, a.ClientAddress(r))
}

// Count counts a request of p against the rate limit and sets the RateLimit headers of w. It
// is for callers who are authenticated by other means than Caller's. CodeRateLimited.
func (a *Admission) Count(w http.ResponseWriter, r *http.Request, p routine.Principal) error {
	return a.rate.count(w, r, p, a.ClientAddress(r))
}

// StartRequest counts a request of p as open until done is called. It returns
// CodeRateLimited if the user, the organization or, without a token, the client
// address has too many open requests.
func (a *Admission) StartRequest(r *http.Request, p routine.Principal) (done func(), err error) {
	return a.openRequests.start(p, a.ClientAddress(r))
}

// Refuse returns the HTTP status for err and sets the headers that belong to it
// in h.
func (a *Admission) Refuse(h http.Header, err error) (status int) {
	status = statusOf(routine.CodeOf(err))
	setErrorHeaders(h, status, err)
	return status
}

// setErrorHeaders sets WWW-Authenticate and Retry-After as the status and err
// require.
func setErrorHeaders(h http.Header, status int, err error) {
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
