package httpapi

import (
	"fmt"
	"sync"
	"time"

	"rote/routine"
)

// How many requests may be open at once: streams, calls that wait for a run and
// bodies that are still coming.
const (
	maxOpenPerUser         = 200
	maxOpenPerOrganization = 500
	// maxOpenPerAddress is for callers without a token.
	maxOpenPerAddress = 100
)

// retryOpen is when to try again after too many requests were open.
const retryOpen = 5 * time.Second

// openRequests bounds how many requests each caller has open, so that none can
// take the descriptors and the memory of all.
type openRequests struct {
	mu    sync.Mutex
	count map[openKey]int
}

// openKey is whom open requests are counted for: an address, an organization, or
// with both names a user.
type openKey struct{ address, organization, user string }

// openLimit is a bound with the words for it.
type openLimit struct {
	key   openKey
	max   int
	whose string
}

func limitsOf(p routine.Principal, address string) []openLimit {
	if p.Anonymous() {
		return []openLimit{{openKey{address: address}, maxOpenPerAddress, "your address, without a token"}}
	}
	return []openLimit{
		{openKey{organization: p.OrganizationID, user: p.UserID}, maxOpenPerUser, "your user"},
		{openKey{organization: p.OrganizationID}, maxOpenPerOrganization, "your organization"},
	}
}

// begin counts a request of p, which comes from address, until done is called.
// CodeRateLimited when there are too many.
func (o *openRequests) begin(p routine.Principal, address string) (done func(), err error) {
	limits := limitsOf(p, address)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range limits {
		if o.count[l.key] >= l.max {
			return nil, &routine.Error{Code: routine.CodeRateLimited, RetryAfter: retryOpen,
				Message: fmt.Sprintf("%d requests of %s are open, which is the limit. Close streams that are not needed, or wait for some of the answers", l.max, l.whose)}
		}
	}
	for _, l := range limits {
		o.count[l.key]++
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, l := range limits {
			if o.count[l.key]--; o.count[l.key] == 0 {
				delete(o.count, l.key)
			}
		}
	}, nil
}
