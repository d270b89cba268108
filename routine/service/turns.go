package service

import (
	"context"
	"math"
	"runtime"
)

// turns bound how many runs do a costly kind of work at the same time, so that
// they leave room for the others. Waiting organizations are served in turns, as
// by a queue, however many runs each of them has.
type turns struct{ queue *queue }

// newTurns makes turns of which at most n are taken at the same time. One more is
// given to an organization that has none while another has all, unless n is 1.
func newTurns(n int) *turns { return &turns{newQueue(n, math.MaxInt)} }

// takeTurn waits for a turn, or until ctx ends, whose cause it then returns. The
// caller calls release afterwards; further calls do nothing.
type takeTurn func(ctx context.Context) (release func(), err error)

// of gives the function that takes a turn for an organization.
func (t *turns) of(organization string) takeTurn {
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

// transfersAtOnce is how many runs move large data out of their pages at the same
// time. Each of them keeps a core busy: one of the page, the browser and the
// service works while the others wait for it. Half of the cores are left to the
// other runs.
func transfersAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }
