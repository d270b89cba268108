package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"rote/routine"
)

// rateWindow is the period of the rate limit.
const rateWindow = time.Minute

// maxSignIns is how often one address may try to sign in to the console in a window.
const maxSignIns = 10

// rateLimit limits the calls of each token, and of each address without a valid
// token.
type rateLimit struct {
	maxCalls int
	counted  string // what the calls are in error messages
	limiter  *httprate.RateLimiter
}

// newRateLimit returns nil, which limits nothing, if calls is 0.
func newRateLimit(calls int, counted string) *rateLimit {
	if calls <= 0 {
		return nil
	}
	// httprate's own headers are not those of the draft.
	return &rateLimit{calls, counted, httprate.NewRateLimiter(calls, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{}))}
}

// count counts a call and sets the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers). It returns CodeRateLimited if the
// limit is exceeded.
func (l *rateLimit) count(w http.ResponseWriter, r *http.Request, p routine.Principal, address string) error {
	if l == nil {
		return nil
	}
	policy, key := "token", "token "+p.TokenID
	if p.TokenID == "" {
		policy, key = "address", "address "+address
		if !p.Anonymous() { // ROTE_SERVICE_TOKEN
			policy, key = "token", "configured"
		}
	}
	limited := l.limiter.OnLimit(w, r, key)
	_, used, err := l.limiter.Status(key)
	if err != nil {
		return routine.Internal("count calls", err)
	}
	seconds := int(rateWindow.Seconds())
	w.Header().Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", policy, l.maxCalls, seconds))
	w.Header().Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", policy, max(0, l.maxCalls-int(math.Ceil(used))), seconds))
	if limited {
		return &routine.Error{Code: routine.CodeRateLimited, RetryAfter: rateWindow,
			Message: fmt.Sprintf("more than %d %s in %v: try again later", l.maxCalls, l.counted, rateWindow)}
	}
	return nil
}
