package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/go-chi/httprate"

	"rote/routine"
)

// rateWindow is the time that a rate limit counts calls in.
const rateWindow = time.Minute

// rateLimit bounds how many calls each token makes, and each address without a
// valid one.
type rateLimit struct {
	calls   int
	limiter *httprate.RateLimiter
}

// newRateLimit gives nil, which limits nothing, for calls 0.
func newRateLimit(calls int) *rateLimit {
	if calls <= 0 {
		return nil
	}
	// Its own headers are not those of the draft.
	return &rateLimit{calls, httprate.NewRateLimiter(calls, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{}))}
}

// admit counts a call, tells with the RateLimit headers of
// draft-ietf-httpapi-ratelimit-headers what is left, and refuses one too many:
// CodeRateLimited.
func (l *rateLimit) admit(w http.ResponseWriter, r *http.Request, p routine.Principal, address string) error {
	if l == nil {
		return nil
	}
	policy, key := "token", "token "+p.TokenID
	if p.TokenID == "" {
		policy, key = "address", "address "+address
		if !p.Anonymous() { // the token of the configuration
			policy, key = "token", "configured"
		}
	}
	limited := l.limiter.OnLimit(w, r, key)
	_, used, err := l.limiter.Status(key)
	if err != nil {
		return routine.Internal("count calls", err)
	}
	seconds := int(rateWindow.Seconds())
	w.Header().Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", policy, l.calls, seconds))
	w.Header().Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", policy, max(0, l.calls-int(math.Ceil(used))), seconds))
	if limited {
		return &routine.Error{Code: routine.CodeRateLimited, RetryAfter: rateWindow,
			Message: fmt.Sprintf("more than %d calls in %v: try again later", l.calls, rateWindow)}
	}
	return nil
}
