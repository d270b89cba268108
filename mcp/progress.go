package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/mcp/wire"
	"rote/routine"
)

// reportInterval is after how long without progress a client is notified that its
// call is still running. Many clients give up calls without notifications.
const reportInterval = 5 * time.Second

// progressParams are the parameters of a notifications/progress. Progress is how
// many operations are done, and grows each time. Message names the running one.
type progressParams struct {
	ProgressToken any     `json:"progressToken"`
	Progress      float64 `json:"progress"`
	Total         int     `json:"total"`
	Message       string  `json:"message"`
}

// reporter notifies a client of the progress of its call: when an operation starts,
// and at intervals while one is running. The run never waits for the client.
type reporter struct {
	send     func(progressParams)
	interval time.Duration

	mu      sync.Mutex
	total   int // operations
	queue   []routine.Progress
	ahead   func() int    // how many calls are queued before this one; nil: it was not queued
	wake    chan struct{} // has room for one
	stopped chan struct{}
	done    chan struct{}
}

// startReporter starts to notify the client of the progress of a call. It returns
// nil, on which all methods work, if the client has not asked for that. The caller
// calls stop before it answers.
func (s *Server) startReporter(ctx context.Context, request mcp.CallToolRequest, total int) *reporter {
	notify, meta := wire.NotifierOf(ctx), request.Params.Meta
	if notify == nil || meta == nil || meta.ProgressToken == nil {
		return nil
	}
	token := any(meta.ProgressToken)
	if written := wire.ProgressTokenOf(ctx); written != nil {
		token = written
	}
	r := &reporter{interval: s.reportInterval, total: total,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), done: make(chan struct{})}
	r.send = func(p progressParams) {
		p.ProgressToken = token
		_ = notify("notifications/progress", p) // a write error ends the session elsewhere
	}
	go r.run()
	return r
}

// progress returns the function to call when an operation starts, or nil.
func (r *reporter) progress() func(routine.Progress) {
	if r == nil {
		return nil
	}
	return func(p routine.Progress) {
		r.mu.Lock()
		r.queue = append(r.queue, p)
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// continuousProgress is progress for a call that may do a list of operations several
// times, as a proof does: the numbers of the later times continue those of the
// earlier ones.
func (r *reporter) continuousProgress() func(routine.Progress) {
	report := r.progress()
	if report == nil {
		return nil
	}
	done, last := 0, routine.Progress{Index: -1}
	return func(p routine.Progress) {
		if p.Index <= last.Index && p.WaitsFor == "" {
			done += last.Total
		}
		last = p
		report(routine.Progress{Index: done + p.Index, Total: done + p.Total, Operation: p.Operation})
	}
}

// event handles an event of an execution that another call has started.
func (r *reporter) event(e routine.Event) error {
	done := 0
	switch {
	case e.Begun != nil: // the end of the operation before it has said so
		return nil
	case e.Execution != nil:
		r.mu.Lock()
		r.total = e.Execution.OperationsTotal
		r.mu.Unlock()
		if e.Execution.Status != routine.ExecutionRunning {
			return nil
		}
	default:
		done = e.Operation.Index + 1
	}
	if total := r.operations(); done < total { // else the answer follows
		r.progress()(routine.Progress{Index: done, Total: total})
	}
	return nil
}

func (r *reporter) operations() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// queued returns the function to call when the call is queued, or nil.
func (r *reporter) queued() func(ahead func() int) {
	if r == nil {
		return nil
	}
	return func(ahead func() int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ahead = ahead
	}
}

// waiting returns how many calls are queued before this one.
func (r *reporter) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ahead == nil {
		return 0
	}
	return r.ahead()
}

// stop returns when all notifications have been sent. No more are sent then.
func (r *reporter) stop() {
	if r == nil {
		return
	}
	close(r.stopped)
	<-r.done
}

func (r *reporter) run() {
	defer close(r.done)
	tick := time.NewTicker(r.interval)
	defer tick.Stop()
	began, at := time.Now(), runPosition{}
	for over := false; !over; {
		select {
		case <-r.wake:
		case <-r.stopped:
			over = true
		case <-tick.C:
			r.send(at.heartbeat(time.Since(began), r))
			continue
		}
		for _, p := range r.takeQueue() {
			if p.WaitsFor != "" {
				at.operation = p.Operation
				r.send(at.heartbeat(time.Since(began), r))
				continue
			}
			began, at = time.Now(), runPosition{index: p.Index, operation: p.Operation, begun: true}
			r.send(progressParams{Progress: float64(p.Index), Total: p.Total, Message: at.message(p.Total)})
			tick.Reset(r.interval)
		}
	}
}

func (r *reporter) takeQueue() []routine.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.queue
	r.queue = nil
	return list
}

// runPosition is a run's progress as last reported.
type runPosition struct {
	begun     bool
	index     int
	operation string
	ticks     int
}

func (p *runPosition) message(total int) string {
	if p.operation == "" { // the run was started by another call
		return fmt.Sprintf("%d of %d operations are done", p.index, total)
	}
	return fmt.Sprintf("%d/%d %s", p.index+1, total, truncate(routine.OneLine(p.operation), 100))
}

// heartbeat returns the notification that the run is still at the same operation.
// Its number is between the last one and that of the next operation, because
// clients expect numbers that grow. Before the first operation it is negative.
func (p *runPosition) heartbeat(since time.Duration, r *reporter) progressParams {
	p.ticks++
	part := float64(p.ticks) / float64(p.ticks+1)
	total := r.operations()
	if p.begun {
		return progressParams{Progress: float64(p.index) + part, Total: total, Message: fmt.Sprintf("%s (%d s)", p.message(total), int(since.Seconds()))}
	}
	message := "starting a browser"
	if n := r.waiting(); n > 0 {
		message = fmt.Sprintf("queued, %d ahead", n)
	}
	return progressParams{Progress: part - 1, Total: total, Message: message}
}
