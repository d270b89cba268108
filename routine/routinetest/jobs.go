package routinetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// jobPromise is one sentence of the contract of a JobQueue.
type jobPromise struct {
	name  string
	holds func(t *testing.T, s routine.Store, process func() routine.JobQueue)
}

var jobPromises = []jobPromise{
	{"of many processes one gets each job", jobsAreHandedOutOnce},
	{"the job of a process that died is handed out again", jobsOfTheDead},
	{"a job that a process could not do is handed out again", jobsOfTheStopped},
	{"a job that failed is handed out again after the delay", jobsAreRetried},
	{"a repeated job is done by one of many processes each time", jobsAreRepeated},
	{"a repeated job of every process is done by each of them each time", jobsAreDoneEverywhere},
	{"work ends when its handlers have, and what they did is saved", workWaits},
	{"an organization with many jobs does not delay those of another", jobsAreFair},
	{"only jobs of the kinds that have handlers are handed out", jobsNeedHandlers},

	{"of many processes one runs each queued execution", runsOnce},
	{"a process runs no more queued executions at once than it has places", runsHavePlaces},
	{"an organization with many queued executions does not delay those of another", runsAreFair},
	{"a queued execution that a process had no place for is handed out again", runsArePostponed},
	{"a queued execution that a process could not claim is handed out again", runsOfTheFailing},
	{"an execution that ended in the queue is not run", endedRunsAreSkipped},
	{"work ends when its runs have", runsAreAwaited},
}

// TestJobs checks that a JobQueue fulfils its contract. open returns a new, empty store, and
// a function that makes a queue on it for each of several processes. Their clock must be
// time.Now: the test runs with the clock of synctest, so that hours pass in an instant.
func TestJobs(t *testing.T, open func(t *testing.T) (s routine.Store, process func() routine.JobQueue)) {
	for _, p := range jobPromises {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, process := open(t)
				p.holds(t, s, process)
			})
		})
	}
}

// handOut is one time that a job was handed out.
type handOut struct {
	execution string
	process   int
	attempt   int
	at        time.Time
}

// office is a set of processes that do jobs, and records what they get.
type office struct {
	mu   sync.Mutex
	got  []handOut
	all  sync.WaitGroup
	stop context.CancelFunc
	ctx  context.Context
}

func newOffice(t *testing.T) *office {
	o := &office{}
	o.ctx, o.stop = context.WithCancel(context.Background())
	t.Cleanup(o.close)
	return o
}

// close ends the work of all processes and waits for it.
func (o *office) close() {
	o.stop()
	o.all.Wait()
}

// employ adds a process that does webhooks with do.
func (o *office) employ(process int, q routine.JobQueue, do func(context.Context, *routine.Webhook) (routine.JobResult, error)) {
	o.all.Go(func() {
		q.Work(o.ctx, map[routine.JobKind]routine.JobHandler{routine.JobWebhook: {Do: func(ctx context.Context, j *routine.Job) (routine.JobResult, error) {
			o.add(handOut{j.Webhook.ExecutionID, process, j.Webhook.Attempt, time.Now()})
			return do(ctx, j.Webhook)
		}}})
	})
}

func (o *office) add(h handOut) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, h)
}

// handOuts returns what was handed out so far, in this order.
func (o *office) handOuts() []handOut {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]handOut(nil), o.got...)
}

func done(context.Context, *routine.Webhook) (routine.JobResult, error) {
	return routine.JobResult{Outcome: "status 200"}, nil
}

// addJobs makes n jobs of an organization, which are due now, and returns the ids of their
// executions.
func addJobs(t *testing.T, s routine.Store, organization string, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		e := create(t, s, func(e *routine.Execution) {
			e.OrganizationID, e.CreatedAt = organization, time.Now().UTC()
			e.Callback = &routine.Callback{URL: fmt.Sprintf("https://%s%d.example/", organization, i%50)}
		})
		must(t, s.FinishExecution(t.Context(), Failed(e)))
		ids = append(ids, e.ID)
	}
	return ids
}

func jobsAreHandedOutOnce(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	o := newOffice(t)
	for i := range 8 {
		o.employ(i, process(), done)
	}
	ids := addJobs(t, s, "acme", 300)
	time.Sleep(2 * time.Minute)
	times := map[string]int{}
	for _, h := range o.handOuts() {
		times[h.execution]++
		equal(t, "attempt", h.attempt, 1)
	}
	for _, id := range ids {
		equal(t, "times that "+id+" was handed out", times[id], 1)
	}
	equal(t, "jobs", len(times), len(ids))
}

func jobsOfTheDead(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	id := addJobs(t, s, "acme", 1)[0]
	dead, living, end := newOffice(t), newOffice(t), make(chan struct{})
	defer close(end)
	dead.employ(1, process(), func(context.Context, *routine.Webhook) (routine.JobResult, error) {
		<-end
		return routine.JobResult{}, errors.New("it died")
	})
	time.Sleep(5 * time.Second)
	dead.stop() // as if it had died: it takes no other job, and saves nothing
	equal(t, "got by the first process", len(dead.handOuts()), 1)
	living.employ(2, process(), done)
	time.Sleep(2 * time.Minute)
	got := living.handOuts()
	if len(got) != 1 || got[0].execution != id || got[0].attempt != 2 {
		t.Errorf("handed out to the second process: %+v", got)
	}
	time.Sleep(2 * time.Minute)
	equal(t, "handed out after it was done", len(living.handOuts()), 1)
}

func jobsOfTheStopped(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	addJobs(t, s, "acme", 1)
	first, second := newOffice(t), newOffice(t)
	first.employ(1, process(), func(ctx context.Context, _ *routine.Webhook) (routine.JobResult, error) {
		<-ctx.Done()
		return routine.JobResult{}, ctx.Err()
	})
	time.Sleep(5 * time.Second)
	first.close()
	equal(t, "got by the first process", len(first.handOuts()), 1)
	second.employ(2, process(), done)
	time.Sleep(2 * time.Minute)
	got := second.handOuts()
	if len(got) != 1 || got[0].attempt != 2 {
		t.Errorf("handed out to the second process: %+v", got)
	}
}

func jobsAreRetried(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	delays := []time.Duration{5 * time.Second, time.Minute, 3 * time.Minute, 0}
	o := newOffice(t)
	for i := range 2 {
		o.employ(i, process(), func(_ context.Context, w *routine.Webhook) (routine.JobResult, error) {
			return routine.JobResult{Outcome: "status 500", Retry: delays[w.Attempt-1]}, nil
		})
	}
	addJobs(t, s, "acme", 1)
	time.Sleep(8 * time.Minute)
	got := o.handOuts()
	equal(t, "attempts", len(got), len(delays))
	for i := 1; i < len(got); i++ {
		waited := got[i].at.Sub(got[i-1].at)
		if late := waited - delays[i-1]; got[i].attempt != i+1 || late < 0 || late > 5*time.Second {
			t.Errorf("attempt %d came after %v, want %v", got[i].attempt, waited, delays[i-1])
		}
	}
}

func jobsAreRepeated(t *testing.T, _ routine.Store, process func() routine.JobQueue) {
	const every, tolerance = time.Minute, 15 * time.Second
	o := newOffice(t)
	for i := range 3 {
		o.all.Go(func() {
			process().Work(o.ctx, map[routine.JobKind]routine.JobHandler{routine.JobPrune: {Every: every,
				Do: func(_ context.Context, j *routine.Job) (routine.JobResult, error) {
					o.add(handOut{process: i, at: time.Now()})
					if j.Kind != routine.JobPrune {
						t.Errorf("a job of kind %s", j.Kind)
					}
					return routine.JobResult{}, errors.New("it failed, and is done again the next time")
				}}})
		})
	}
	time.Sleep(6*every + every/2)
	got := o.handOuts()
	if len(got) < 6 || len(got) > 7 {
		t.Errorf("done %d times", len(got))
	}
	for i := 1; i < len(got); i++ {
		if apart := got[i].at.Sub(got[i-1].at); apart < every-tolerance || apart > every+tolerance {
			t.Errorf("done again after %v", apart)
		}
	}
}

func jobsAreDoneEverywhere(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	const processes, every, times = 3, 2 * time.Second, 10
	o := newOffice(t)
	for i := range processes {
		o.all.Go(func() {
			process().Work(o.ctx, map[routine.JobKind]routine.JobHandler{routine.JobSchedule: {Every: every, Everywhere: true,
				Do: func(context.Context, *routine.Job) (routine.JobResult, error) {
					o.add(handOut{process: i, at: time.Now()})
					return routine.JobResult{}, nil
				}}})
		})
	}
	time.Sleep(times*every + every/2)
	done := map[int]int{}
	for _, h := range o.handOuts() {
		done[h.process]++
	}
	equal(t, "times by process", done, map[int]int{0: times, 1: times, 2: times})
	claimed, err := s.ClaimRepeated(t.Context(), routine.JobSchedule, time.Now(), time.Now().Add(time.Minute))
	must(t, err)
	equal(t, "nobody had claimed it", claimed, true)
}

func workWaits(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	addJobs(t, s, "acme", 1)
	o, end := newOffice(t), make(chan struct{})
	o.employ(1, process(), func(context.Context, *routine.Webhook) (routine.JobResult, error) {
		<-end
		return routine.JobResult{Outcome: "status 200"}, nil
	})
	time.Sleep(5 * time.Second)
	stopped := make(chan struct{})
	go func() { defer close(stopped); o.close() }()
	time.Sleep(5 * time.Second)
	select {
	case <-stopped:
		t.Error("it has stopped before its handler")
	default:
	}
	close(end)
	<-stopped
	next := newOffice(t)
	next.employ(2, process(), done)
	time.Sleep(5 * time.Minute)
	equal(t, "handed out after it was done", len(next.handOuts()), 0)
}

func jobsAreFair(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	o := newOffice(t)
	many := addJobs(t, s, "many", 400)
	slow := func(ctx context.Context, w *routine.Webhook) (routine.JobResult, error) {
		time.Sleep(5 * time.Second)
		return done(ctx, w)
	}
	for i := range 2 {
		o.employ(i, process(), slow)
	}
	time.Sleep(7 * time.Second)
	began := time.Now()
	one := addJobs(t, s, "one", 1)[0]
	time.Sleep(time.Minute)
	waited, others := time.Duration(-1), 0
	for _, h := range o.handOuts() {
		if h.execution == one {
			waited = h.at.Sub(began)
		} else if waited < 0 {
			others++
		}
	}
	if waited < 0 || waited > 3*time.Second || others == 0 || others == len(many) {
		t.Errorf("the job of another organization waited %v (negative: for ever), with %d of %d done before", waited, others, len(many))
	}
}

func jobsNeedHandlers(t *testing.T, s routine.Store, process func() routine.JobQueue) {
	addJobs(t, s, "acme", 1)
	o := newOffice(t)
	o.all.Go(func() { process().Work(o.ctx, nil) })
	time.Sleep(5 * time.Minute)
	o.employ(1, process(), done)
	time.Sleep(5 * time.Second)
	got := o.handOuts()
	if len(got) != 1 || got[0].attempt != 1 {
		t.Errorf("handed out: %+v", got)
	}
}
