package service

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/tracing"
)

// tracedRun is what a run needs for its spans.
type tracedRun struct {
	// parent is the span of the call of a queued run, which another process may have got.
	parent tracing.Parent
	// current is the context of the operation that is done; nil before the first one. Connections
	// are made by other goroutines than that of the run.
	current     atomic.Pointer[context.Context]
	connections atomic.Int32
}

// traceOf returns the span of ctx as it is stored with a queued run; nil: it has none.
func (s *Service) traceOf(ctx context.Context) *tracing.Parent {
	if p := s.tracer.Parent(ctx); p.Traceparent != "" {
		return &p
	}
	return nil
}

// startRunSpan starts the span of a run, which begins when its call was accepted. A run that
// nobody called, such as that of a schedule, begins a trace.
func (s *Service) startRunSpan(ctx context.Context, run *activeRun) (context.Context, *tracing.Span) {
	e := run.execution
	ctx, span := s.tracer.Start(ctx, tracing.Internal, "run "+e.RoutineName, e.CreatedAt)
	span.Set("rote.execution.id", e.ID)
	span.Set("rote.routine.id", e.RoutineID)
	span.Set("rote.routine.name", e.RoutineName)
	span.Set("rote.via", string(e.Via))
	return ctx, span
}

// endRunSpan ends the span of a run whose execution is final.
func endRunSpan(span *tracing.Span, e *routine.Execution) {
	span.SetInt("rote.operations.done", e.OperationsDone)
	span.End(string(e.ErrorCode))
}

// waitInQueue is waitForTurn with a span. A run that comes from the queue of the store has
// waited there.
func (s *Service) waitInQueue(ctx context.Context, run *activeRun) error {
	var since, until time.Time
	if run.async && run.startedAt != nil {
		since, until = run.execution.CreatedAt, *run.startedAt
	}
	waiting, span := tracing.StartAt(ctx, tracing.Internal, "queue", since)
	err := s.waitForTurn(waiting, run)
	span.EndAt(errorType(err), until)
	return err
}

// errorType returns the code of an error for a span; empty: there is no error.
func errorType(err error) string {
	if err == nil {
		return ""
	}
	return string(routine.CodeOf(err))
}

// traceOperation is [engine.Options].Around.
func (run *activeRun) traceOperation(ctx context.Context, index int, operationType string) (context.Context, func(error)) {
	ctx, span := tracing.Start(ctx, tracing.Internal, "operation "+operationType)
	span.SetInt("rote.operation.index", index)
	span.Set("rote.operation.type", operationType)
	run.traced.current.Store(&ctx)
	return ctx, func(err error) { span.End(errorType(err)) }
}

// maxConnectionSpans limits the spans of connections of one run, because pages decide how many
// they make.
const maxConnectionSpans = 200

// watchConnections returns the Connecting of the run's pages; nil if nobody wants to know. ctx is
// that of the run.
func (run *activeRun) watchConnections(ctx context.Context) func(host string) func(error) {
	if run.reached == nil && !tracing.Active(ctx) {
		return nil
	}
	return func(host string) func(error) {
		if run.reached != nil {
			run.reached(host)
		}
		at := ctx
		if current := run.traced.current.Load(); current != nil {
			at = *current
		}
		if run.traced.connections.Add(1) > maxConnectionSpans {
			return func(error) {}
		}
		return run.traceConnection(at, host)
	}
}

// traceConnection starts the span of a connection to a host that the run wants, which the
// egress policy may refuse. A secret in the name of the host is masked.
func (run *activeRun) traceConnection(ctx context.Context, address string) (ended func(error)) {
	_, span := tracing.Start(ctx, tracing.Client, "egress")
	if span == nil {
		return func(error) {}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	masked := engine.RedactError(run.definition, run.values, &routine.Error{Code: routine.CodeInvalid, Message: host})
	span.Set("server.address", routine.AsError(masked).Message)
	if n, err := strconv.Atoi(port); err == nil {
		span.SetInt("server.port", n)
	}
	return func(err error) {
		decision := "allowed"
		if routine.CodeOf(err) == routine.CodeEgressDenied {
			decision = "denied"
		}
		span.Set("rote.egress.decision", decision)
		switch {
		case err == nil:
			span.End("")
		case decision == "denied":
			span.End(string(routine.CodeEgressDenied))
		default:
			span.End(string(routine.CodeNetworkError))
		}
	}
}
