package service

import (
	"context"
	"math"
	"runtime"
)

// turns limits how many runs do one kind of costly work at the same time, so that they
// leave CPU and memory for other runs. Waiting organizations are served in turn, however
// many runs each of them has.
type turns struct{ queue *queue }

// newTurns returns turns of which n can be taken at the same time. An organization without
// a turn can take one more while another has all of them, unless n is 1.
func newTurns(n int) *turns { return &turns{newQueue(n, math.MaxInt)} }

// takeTurn waits for a turn, or until ctx ends, whose cause it then returns. The caller
// calls release afterwards; a second call of release does nothing.
type takeTurn func(ctx context.Context) (release func(), err error)

// forOrganization returns the function that takes a turn for an organization.
func (t *turns) forOrganization(organization string) takeTurn {
	return func(ctx context.Context) (func(), error) {
		ticket, err := t.queue.enter(organization)
		if err != nil {
			return nil, err
		}
		if err := ticket.wait(ctx); err != nil {
			return nil, err
		}
		return ticket.leave, nil
	}
}

// maxTransfers returns how many runs may move large data out of their pages at the same
// time: half the number of cores. Each transfer keeps one core busy, because the page, the
// browser and the service work one after the other.
func maxTransfers() int { return max(1, runtime.GOMAXPROCS(0)/2) }
