package httpapi

import (
	"fmt"
	"sync"
	"time"

	"rote/routine"
)

// Limits on requests that are open at the same time: event streams, calls that
// wait for a run and bodies that are still being received.
const (
	maxOpenPerUser         = 200
	maxOpenPerOrganization = 500
	// maxOpenPerAddress applies to callers without a token.
	maxOpenPerAddress = 100
)

// openRetryAfter is the Retry-After of a request that was refused because too
// many are open.
const openRetryAfter = 5 * time.Second

// openRequests limits how many requests each caller has open, so that no caller
// can use up the file descriptors or the memory.
type openRequests struct {
	mu    sync.Mutex
	count map[openRequestKey]int
}

// openRequestKey identifies whose open requests are counted: an address, an
// organization, or a user of an organization.
type openRequestKey struct{ address, organization, user string }

// openRequestLimit is a limit and how an error message names its owner.
type openRequestLimit struct {
	key   openRequestKey
	max   int
	owner string
}

func openRequestLimits(p routine.Principal, address string) []openRequestLimit {
	if p.Anonymous() {
		return []openRequestLimit{{openRequestKey{address: address}, maxOpenPerAddress, "your address, without a token"}}
	}
	return []openRequestLimit{
		{openRequestKey{organization: p.OrganizationID, user: p.UserID}, maxOpenPerUser, "your user"},
		{openRequestKey{organization: p.OrganizationID}, maxOpenPerOrganization, "your organization"},
	}
}

// start counts a request of p from address as open until done is called. It
// returns CodeRateLimited if there are too many.
func (o *openRequests) start(p routine.Principal, address string) (done func(), err error) {
	limits := openRequestLimits(p, address)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range limits {
		if o.count[l.key] >= l.max {
			return nil, &routine.Error{Code: routine.CodeRateLimited, RetryAfter: openRetryAfter,
				Message: fmt.Sprintf("%d requests of %s are open, which is the limit. Close streams that are not needed, or wait for some of the answers", l.max, l.owner)}
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
