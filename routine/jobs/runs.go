package jobs

import (
	"cmp"
	"context"

	"rote/routine"
)

// runs finds queued executions for one handler, and counts those in flight. One goroutine
// uses it.
type runs struct {
	*Poller
	handler  routine.JobHandler
	inFlight map[string]map[string]bool // ids by organization
	count    int
}

func newRuns(p *Poller, h routine.JobHandler) *runs {
	return &runs{Poller: p, handler: h, inFlight: map[string]map[string]bool{}}
}

// find returns attempts at queued executions for which there are places. It asks the store
// only if there may be a place.
func (r *runs) find(ctx context.Context) ([]attempt, error) {
	if !r.mayStart(0) {
		return nil, nil
	}
	// Those in flight may be in the list, because they are not claimed yet.
	queued, err := r.Store.QueuedExecutions(ctx, r.handler.Places+1)
	if err != nil {
		return nil, err
	}
	var attempts []attempt
	for {
		q, ok := r.next(queued)
		if !ok {
			return attempts, nil
		}
		r.add(q)
		attempts = append(attempts, attempt{
			do: func(ctx context.Context) (postponed bool, err error) {
				result, err := r.handler.Do(ctx, &routine.Job{Kind: routine.JobRun, Run: &q})
				return result.Retry > 0, err
			},
			end: func() { r.remove(q) },
		})
	}
}

// next returns the execution that is handed out next: of the organization with the fewest
// in flight, and among equals the oldest.
func (r *runs) next(queued []routine.QueuedExecution) (first routine.QueuedExecution, ok bool) {
	for _, q := range queued {
		own := r.inFlight[q.OrganizationID]
		if own[q.ID] || !r.mayStart(len(own)) {
			continue
		}
		if !ok || cmp.Compare(len(own), len(r.inFlight[first.OrganizationID])) < 0 {
			first, ok = q, true
		}
	}
	return first, ok
}

// mayStart reports whether there is a place for an organization with a number of executions
// in flight. One that has none gets one more than there are if another has them all:
// otherwise it would wait until a run ends, which can take minutes.
func (r *runs) mayStart(own int) bool {
	places := r.handler.Places
	return r.count < places || own == 0 && places > 1 && r.count == places && len(r.inFlight) == 1
}

func (r *runs) add(q routine.QueuedExecution) {
	if r.inFlight[q.OrganizationID] == nil {
		r.inFlight[q.OrganizationID] = map[string]bool{}
	}
	r.inFlight[q.OrganizationID][q.ID] = true
	r.count++
}

func (r *runs) remove(q routine.QueuedExecution) {
	own := r.inFlight[q.OrganizationID]
	delete(own, q.ID)
	if len(own) == 0 {
		delete(r.inFlight, q.OrganizationID)
	}
	r.count--
}
