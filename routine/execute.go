package routine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
)

// Call is what an execution is asked with.
type Call struct {
	// Parameters is a JSON object of parameter name to value; empty: none.
	Parameters json.RawMessage
	// Timeout bounds the whole run, waiting for a browser included; 0: the
	// default. From MinRunTimeout to MaxRunTimeout.
	Timeout time.Duration
	// Progress, when set, is told of each operation before it begins. It is
	// called by the run and must not block.
	Progress func(Progress)
}

// Execute runs a routine and returns when it has ended. A run that fails gives
// its execution and an error with a run-failed code. Without execution the run
// never began: CodeNotFound, CodeForbidden, CodeConflict (archived),
// CodeInvalid, CodeBusy, CodeShuttingDown, CodeStoreUnavailable. When ctx ends
// the run ends, as cancelled.
func (s *Service) Execute(ctx context.Context, p Principal, id string, call Call) (*Execution, error) {
	r, err := s.find(ctx, p, toExecute, id)
	if err != nil {
		return nil, err
	}
	timeout, err := call.timeout()
	if err != nil {
		return nil, err
	}
	values, err := Bind(&r.Definition, call.Parameters)
	if err != nil {
		return nil, err
	}
	e := &Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineID: r.ID, RoutineName: r.Name, RoutineVersion: r.Version,
		Status: ExecutionPending, CreatedAt: s.now(), Parameters: values.Mask(r.Parameters), CreatedBy: p.UserID, OrganizationID: r.OrganizationID}
	ctx, end, err := s.begin(ctx, e.ID, timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	ticket, err := s.queue.enter()
	if err != nil {
		return nil, err
	}
	defer ticket.leave()
	if err := s.store.CreateExecution(ctx, e); err != nil {
		return nil, storeError(ctx, "create execution", err)
	}
	return e, s.finish(ctx, e, s.attempt(ctx, ticket, e, &r.Definition, values, call.Progress))
}

// RunOnce runs a definition that is not stored, with no row in the ledger: what
// the command line does with a file.
func (s *Service) RunOnce(ctx context.Context, d *Definition, call Call) (*Execution, error) {
	timeout, err := call.timeout()
	if err != nil {
		return nil, err
	}
	values, err := Bind(d, call.Parameters)
	if err != nil {
		return nil, err
	}
	e := &Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineName: d.Name, Status: ExecutionPending, CreatedAt: s.now()}
	ctx, end, err := s.begin(ctx, e.ID, timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	err = s.runPage(ctx, e, d, values, call.Progress)
	s.end(e, err)
	return e, err
}

func (c Call) timeout() (time.Duration, error) {
	if c.Timeout == 0 {
		return DefaultRunTimeout, nil
	}
	if c.Timeout < MinRunTimeout || c.Timeout > MaxRunTimeout {
		return 0, &Error{Code: CodeInvalid, Message: fmt.Sprintf("timeout_seconds must be from %v to %v", MinRunTimeout.Seconds(), MaxRunTimeout.Seconds()),
			Problems: []Problem{{Pointer: "/timeout_seconds", Code: "range", Message: fmt.Sprintf("must be from %v to %v, not %v", MinRunTimeout.Seconds(), MaxRunTimeout.Seconds(), c.Timeout.Seconds())}}}
	}
	return c.Timeout, nil
}

// errStopping answers calls that come after Close.
var errStopping = &Error{Code: CodeShuttingDown, Message: "the service is stopping: try again", RetryAfter: 5 * time.Second}

// begin puts the execution under its own clock and under Close.
func (s *Service) begin(ctx context.Context, id string, timeout time.Duration) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errStopping
	}
	ctx, stop := context.WithTimeoutCause(ctx, timeout, &Error{Code: CodeTimeout, Message: fmt.Sprintf("the run took longer than its timeout_seconds of %v", timeout.Seconds())})
	ctx, cancel := context.WithCancelCause(ctx)
	s.running[id] = cancel
	s.done.Add(1)
	return ctx, func() {
		cancel(nil)
		stop()
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		s.done.Done()
	}, nil
}

// attempt waits for a slot and runs.
func (s *Service) attempt(ctx context.Context, t *ticket, e *Execution, d *Definition, values Values, progress func(Progress)) error {
	if err := t.wait(ctx); err != nil {
		return err
	}
	started := s.now()
	if err := s.store.StartExecution(ctx, e.ID, started); err != nil {
		return storeError(ctx, "start execution", err)
	}
	e.Status, e.StartedAt = ExecutionRunning, &started
	return s.runPage(ctx, e, d, values, progress)
}

// runPage opens a page, runs the definition on it and closes it, whatever
// happens.
func (s *Service) runPage(ctx context.Context, e *Execution, d *Definition, values Values, progress func(Progress)) (err error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	e.Result = &Result{PlaceholderResolution: map[string]*string{}, OperationsMetadata: []OperationRecord{}}
	defer func() {
		if p := recover(); p != nil {
			err = Internal("run", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	page, err := s.browser.Open(ctx, Opening{})
	if err != nil {
		if ctx.Err() != nil {
			return causeOf(ctx)
		}
		return err
	}
	defer func() {
		if closing := page.Close(); closing != nil {
			s.log.WarnContext(ctx, "page did not close", "execution_id", e.ID, "error", closing)
		}
	}()
	r := &Run{page: page, params: values, values: map[string]string{}, result: e.Result, maxResult: s.maxResult, now: s.now, progress: progress}
	err = r.run(ctx, d)
	hidden := secretsOf(d.Parameters, values)
	hidden.result(e.Result)
	return hidden.err(err)
}

// finish ends the execution in the ledger and logs it. It works after the run's
// own context has ended. What it returns is why the run failed.
func (s *Service) finish(ctx context.Context, e *Execution, err error) error {
	s.end(e, err)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	saved := s.store.FinishExecution(saving, e)
	attrs := []any{"execution_id", e.ID, "routine_id", e.RoutineID, "status", e.Status, "duration", *e.DurationSeconds}
	if err != nil {
		attrs = append(attrs, "code", e.ErrorCode)
		if e.ErrorCode == CodeInternal {
			attrs = append(attrs, "error", err)
		}
	}
	if saved != nil {
		s.log.ErrorContext(ctx, "execution could not be saved", append(attrs, "error", saved)...)
		if err == nil {
			err = storeError(saving, "finish execution", saved)
		}
		return err
	}
	s.log.InfoContext(ctx, "execution", attrs...)
	return err
}

// end fills in how and when the execution ended.
func (s *Service) end(e *Execution, err error) {
	at := s.now()
	took := at.Sub(e.CreatedAt).Seconds()
	e.Status, e.CompletedAt, e.DurationSeconds = ExecutionCompleted, &at, &took
	if err == nil {
		return
	}
	failure := AsError(err)
	e.Status, e.Error, e.ErrorCode = ExecutionFailed, &failure.Message, failure.Code
	if e.Result != nil {
		e.Result.OK, e.Result.Error = false, &failure.Message
	}
}

// causeOf says why a run's context ended, as an Error.
func causeOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	var e *Error
	switch {
	case errors.As(cause, &e):
		return e
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Message: "the caller's deadline is over", cause: cause}
	}
	return &Error{Code: CodeCancelled, Message: "the run was cancelled", cause: cause}
}
