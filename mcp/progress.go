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

// reportInterval is after how long without news a client is told that its call
// goes on: many give up a call that says nothing.
const reportInterval = 5 * time.Second

// progressParams is the body of a notifications/progress. Progress is how many
// operations are done and grows each time, Message names the one that goes on.
type progressParams struct {
	ProgressToken any     `json:"progressToken"`
	Progress      float64 `json:"progress"`
	Total         int     `json:"total"`
	Message       string  `json:"message"`
}

// reporter tells a client how its call goes: each operation that begins, and
// that it still goes on. The run never waits for the client.
type reporter struct {
	send     func(progressParams)
	interval time.Duration

	mu      sync.Mutex
	total   int // operations
	queue   []routine.Progress
	ahead   func() int    // how many wait before this call; nil: it has not had to wait
	wake    chan struct{} // has room for one
	stopped chan struct{}
	done    chan struct{}
}

// startReporter begins to tell the client of a call, if it has asked to be told. The
// caller stops it before the answer; it is nil, and so stops at once, if not.
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
		_ = notify("notifications/progress", p) // a client that cannot be reached ends its session, not here
	}
	go r.run()
	return r
}

// progress is told of each operation that begins; nil where nobody listens.
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

// event is told of the events of an execution that another call has begun.
func (r *reporter) event(e routine.Event) error {
	done := 0
	if e.Execution != nil {
		r.mu.Lock()
		r.total = e.Execution.OperationsTotal
		r.mu.Unlock()
		if e.Execution.Status != routine.ExecutionRunning {
			return nil
		}
	} else {
		done = e.Operation.Index + 1
	}
	if total := r.operations(); done < total { // else the answer is next
		r.progress()(routine.Progress{Index: done, Total: total})
	}
	return nil
}

func (r *reporter) operations() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// queued is told of having to wait.
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

// waiting is how many wait before the call.
func (r *reporter) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ahead == nil {
		return 0
	}
	return r.ahead()
}

// stop ends the telling when all there is has been told.
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

// runPosition is how far a run is.
type runPosition struct {
	begun     bool
	index     int
	operation string
	ticks     int
}

func (p *runPosition) message(total int) string {
	if p.operation == "" { // only those that have ended are known
		return fmt.Sprintf("%d of %d operations are done", p.index, total)
	}
	return fmt.Sprintf("%d/%d %s", p.index+1, total, truncate(routine.OneLine(p.operation), 100))
}

// heartbeat says that the run has not moved, with a number a little larger than the
// last and smaller than that of the next operation. Before the first operation
// that is negative, as clients take only what grows.
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
