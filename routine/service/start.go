package service

import (
	"context"
	"errors"
	"fmt"
	"rote/routine"
	"rote/routine/definition"
	"time"

	"github.com/google/uuid"
)

// Start begins to run a routine and returns its pending execution as soon as
// that is in the ledger. The run goes on after ctx has ended, until it is done,
// its timeout is over, it is cancelled or the service closes. A call that is
// repeated under its key gives the execution of the first, as it is now.
// CodeNotFound, CodeForbidden, CodeConflict (archived), CodeInvalid, CodeBusy,
// CodeIdempotencyMismatch, CodeShuttingDown, CodeStoreUnavailable.
func (s *Service) Start(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Execution, error) {
	l, before, err := s.start(ctx, p, id, call)
	if err != nil || before != nil {
		return before, err
	}
	return l.accepted, nil
}

// start gives the run that it has begun, or the execution that the same call
// has made before.
func (s *Service) start(ctx context.Context, p routine.Principal, id string, call Call) (_ *live, before *routine.Execution, _ error) {
	if err := may(p, toExecute, nil); err != nil {
		return nil, nil, err
	}
	key, err := call.Once.record(p, "execute "+id, s.now())
	if err != nil {
		return nil, nil, err
	}
	if before, err = s.findExecutionByKey(ctx, p, key); before != nil || err != nil {
		return nil, before, err
	}
	l, err := s.launch(ctx, p, id, call, key)
	if errors.Is(err, routine.ErrKeyTaken) { // just now, by another
		before, err = s.findExecutionByKey(ctx, p, key)
	}
	return l, before, err
}

// launch begins a run. ErrKeyTaken.
func (s *Service) launch(ctx context.Context, p routine.Principal, id string, call Call, key *routine.IdempotencyKey) (*live, error) {
	r, err := s.find(ctx, p, toExecute, id)
	if err != nil {
		return nil, err
	}
	timeout, err := call.timeout()
	if err != nil {
		return nil, err
	}
	values, err := definition.Bind(&r.Definition, call.Parameters)
	if err != nil {
		return nil, err
	}
	callback, err := s.callback(ctx, p, call.CallbackURL)
	if err != nil {
		return nil, err
	}
	e := &routine.Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineID: r.ID, RoutineName: r.Name, RoutineVersion: r.Version,
		Status: routine.ExecutionPending, CreatedAt: s.now(), Parameters: values.Mask(r.Parameters), CreatedBy: p.UserID, TokenID: p.TokenID, Via: call.Via,
		OperationsTotal: len(r.Operations), OrganizationID: r.OrganizationID, Key: key, Callback: callback}
	l := newLive(e, p)
	running, end, err := s.trackRun(context.WithoutCancel(ctx), l, timeout)
	if err != nil {
		return nil, err
	}
	t, err := s.queue.enter(e.OrganizationID)
	if err != nil {
		end()
		return nil, err
	}
	// Not under ctx: a caller that leaves now would leave open whether there is
	// a row.
	saving, cancel := context.WithTimeout(running, saveTime)
	defer cancel()
	if err := s.store.CreateExecution(saving, e); err != nil {
		err = storeError(running, "create execution", err)
		t.leave()
		end()
		return nil, err
	}
	if call.Queued != nil && !t.isRunning() {
		call.Queued(t.ahead)
	}
	go func() {
		defer close(l.ended)
		defer end()
		defer t.leave()
		s.runAndRecord(running, t, l, &r.Definition, values, call.Progress)
	}()
	return l, nil
}

// errStopping answers calls that come after Close.
var errStopping = &routine.Error{Code: routine.CodeShuttingDown, Message: "the service is stopping: try again", RetryAfter: 5 * time.Second}

// trackRun registers l for Cancel and Close and returns a context that ends after
// timeout, and the function that ends both.
func (s *Service) trackRun(ctx context.Context, l *live, timeout time.Duration) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		return nil, nil, errStopping
	}
	ctx, stop := context.WithTimeoutCause(ctx, timeout, &routine.Error{Code: routine.CodeTimeout, Message: fmt.Sprintf("the run took longer than its timeout_seconds of %v",
		timeout.Seconds())})
	ctx, l.cancel = context.WithCancelCause(ctx)
	id := l.last.ID
	s.running[id] = l
	s.done.Add(1)
	return ctx, func() {
		l.cancel(nil)
		stop()
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		s.done.Done()
	}, nil
}
