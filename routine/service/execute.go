package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/definition"

	"github.com/google/uuid"
)

// Call is the request for one execution.
type Call struct {
	// Definition, if not nil, is an unsaved definition to run: see ParseUnsaved. Execute
	// and Start then run no stored routine, and their id is empty.
	Definition *routine.Definition
	// Parameters is a JSON object of parameter names and values; empty means none.
	Parameters json.RawMessage
	// Timeout limits the whole run: with Execute including the wait for a free browser, and
	// with Start from its start. It is from routine.MinRunTimeout to routine.MaxRunTimeout;
	// 0 means routine.DefaultRunTimeout.
	Timeout time.Duration
	// Via is the interface through which the call came. It is stored with the execution.
	Via routine.Via
	// CallbackURL, if not empty, receives a webhook when the execution ends. Only Start
	// accepts it.
	CallbackURL string
	// Idempotency, if it has a key, prevents a repeated call from running the routine again.
	Idempotency Idempotency
	// Progress, if not nil, is called before each operation. It runs on the goroutine of
	// the run and must not block.
	Progress func(routine.Progress)
	// Ended, if not nil, is called with the page after all operations are done, before it is
	// closed. It runs on the goroutine of the run, within its time, and must not close the
	// page. It is not called if the run fails.
	Ended func(ctx context.Context, page routine.Page)
	// Reached, if not nil, is called with each host and port to which the run's pages want to
	// connect, as [routine.PageOptions.Connecting] is. Start does not take it.
	Reached func(host string)
	// Version is the version of the stored routine that runs; 0: the newest.
	Version int
	// Secrets are secrets for this run only, by name. They win over stored ones. Start does
	// not take any.
	Secrets map[string]GivenSecret
	// schedule, if not nil, is what a call of a schedule needs besides.
	schedule *scheduledCall
	// Outline adds an outline of the last page to the result of a run that completes.
	Outline bool
	// Queued, if not nil, is called once if the run has to wait for a browser. Its
	// argument returns how many runs are ahead in the queue at that moment.
	Queued func(ahead func() int)
	// Patience is how long Execute waits. After that it returns the execution as it is,
	// and the run continues. 0 means that Execute waits for the end.
	Patience time.Duration
	// Detach lets the run continue when the context of Execute ends.
	Detach bool
}

// retryInFlight is the Retry-After of a repeated call whose first call still runs.
const retryInFlight = 2 * time.Second

// Execute runs a routine, or the definition of the call, and returns when the run has ended. If the run fails, it
// returns the execution and an error whose code says why. If no execution is returned,
// nothing was run: see Start for the codes; also CodeConflict while the first call with
// the same idempotency key still runs.
//
// If ctx ends, the run is cancelled, unless the call is detached or has an idempotency
// key, with which the caller can ask for the result later. In that case, and when
// Patience is over, Execute returns the execution while it is still open.
//
// The steps are Execute or Start, startRun, runAndRecord, runOnPage, engine.Run.
func (s *Service) Execute(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Execution, error) {
	run, before, err := s.startRun(ctx, p, id, call, false)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if before.Open() {
			err := routine.Errorf(routine.CodeConflict, "the first request with this idempotency key is still in flight, as execution %s: ask again later", before.ID)
			err.RetryAfter = retryInFlight
			return nil, err
		}
		return before, failureOf(before)
	}
	var patience <-chan time.Time
	if call.Patience > 0 {
		timer := time.NewTimer(call.Patience)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-run.ended:
		return run.execution, run.err
	case <-patience:
	case <-ctx.Done():
		if !call.Detach && call.Idempotency.Key == "" {
			run.cancel(routine.CauseOf(ctx))
			<-run.ended
			return run.execution, run.err
		}
	}
	if e := run.snapshot(); e.Open() {
		return e, nil
	}
	<-run.ended // it has ended just now
	return run.execution, run.err
}

// Start starts a run of a routine and returns its pending execution as soon as that is
// stored. The run continues after ctx has ended, until it is done, its timeout is over,
// it is cancelled or the service closes. If processes share their runs, any of them runs
// it. It waits for a place for at most Config.QueueTime, which does not count into its
// timeout. A call that repeats an idempotency key returns the execution of the first call
// in its present state.
//
// CodeNotFound, CodeForbidden, CodeConflict (archived), CodeInvalid, CodeBusy,
// CodeIdempotencyMismatch, CodeShuttingDown, CodeStoreUnavailable; CodeSecretUnavailable if
// the provider of a secret does not work at present.
func (s *Service) Start(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Execution, error) {
	if s.shareRuns {
		return s.enqueue(ctx, p, id, call)
	}
	run, before, err := s.startRun(ctx, p, id, call, true)
	if err != nil || before != nil {
		return before, err
	}
	return run.accepted, nil
}

// RunOnce runs a definition that is not stored, for example a file on the command line.
// The execution is not stored either, and does not wait in the queue. Callers over a
// network use Execute with Call.Definition.
func (s *Service) RunOnce(ctx context.Context, p routine.Principal, d *routine.Definition, call Call) (*routine.Execution, error) {
	timeout, err := call.runTimeout()
	if err != nil {
		return nil, err
	}
	values, err := definition.Bind(d, call.Parameters)
	if err != nil {
		return nil, err
	}
	run := newActiveRun(&routine.Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineName: d.Name, Status: routine.ExecutionPending, CreatedAt: s.now(),
		Parameters: values.Mask(d.Parameters), Via: call.Via, OperationsTotal: len(d.Operations)}, p)
	run.definition, run.values, run.progress, run.outline = d, values, call.Progress, call.Outline
	run.timeout, run.given = timeout, call.Secrets
	ctx, span := s.startRunSpan(ctx, run)
	defer func() { endRunSpan(span, run.execution) }()
	if name := definition.SessionOf(d, values); name != "" {
		run.execution.Session = &routine.ExecutionSession{Name: name}
	}
	ctx, end, err := s.trackRun(ctx, run)
	if err != nil {
		return nil, err
	}
	defer end()
	defer run.closePage()
	err = s.runOnPage(ctx, run)
	s.saveProjectState(ctx, run)
	warnNotKept(run.execution, run.files)
	s.setEnd(run.execution, err)
	s.recordSecretUses(ctx, run.execution.SecretUses)
	return run.execution, err
}

// startRun starts the run that a call asks for. If an earlier call with the same
// idempotency key has started it already, startRun returns the execution of that call as
// before, and no run. async reports whether the caller does not wait for the run.
func (s *Service) startRun(ctx context.Context, p routine.Principal, id string, call Call, async bool) (
	_ *activeRun, before *routine.Execution, _ error) {

	run, before, err := s.prepareCall(ctx, p, id, call)
	if err != nil || before != nil {
		return nil, before, err
	}
	run.async = async
	if run.ticket, err = s.queue.enter(run.execution.OrganizationID); err != nil {
		return nil, nil, err
	}
	if err := s.launch(ctx, run, call.Queued); err != nil {
		before, err = s.executionOfTakenKey(ctx, run, err)
		return nil, before, err
	}
	return run, nil, nil
}

// launch stores the execution of a run, which has a ticket, and starts the run. queued is
// Call.Queued. If it returns an error, nothing was started, and the ticket has left the queue.
func (s *Service) launch(ctx context.Context, run *activeRun, queued func(ahead func() int)) error {
	running, end, err := s.trackRun(context.WithoutCancel(ctx), run)
	if err != nil {
		run.ticket.leave()
		return err
	}
	if err := s.createExecution(running, run); err != nil {
		run.ticket.leave()
		end()
		return err
	}
	if queued != nil && !run.ticket.isRunning() {
		queued(run.ticket.ahead)
	}
	go func() {
		defer close(run.ended)
		defer end()
		defer run.ticket.leave()
		s.runAndRecord(running, run)
	}()
	return nil
}

// prepareCall returns the run that a call asks for, or the execution of an earlier call with
// the same idempotency key. Nothing is started or stored yet.
func (s *Service) prepareCall(ctx context.Context, p routine.Principal, id string, call Call) (_ *activeRun, before *routine.Execution, _ error) {
	if err := s.mayStart(p, call); err != nil {
		return nil, nil, err
	}
	key, err := call.Idempotency.record(p, "execute "+id, s.now())
	if err != nil {
		return nil, nil, err
	}
	if before, err = s.findExecutionByKey(ctx, p, key); before != nil || err != nil {
		return nil, before, err
	}
	run, err := s.prepareRun(ctx, p, id, call, key)
	return run, nil, err
}

// executionOfTakenKey returns the execution of a call with the same idempotency key that
// came at the same time as the call of run, if err says so, and otherwise err.
func (s *Service) executionOfTakenKey(ctx context.Context, run *activeRun, err error) (*routine.Execution, error) {
	if !errors.Is(err, routine.ErrKeyTaken) {
		return nil, err
	}
	before, err := s.findExecutionByKey(ctx, run.caller, run.execution.Key)
	if before == nil && err == nil {
		err = errKeyExpired
	}
	return before, err
}

// prepareRun reads the stored routine, if the call runs one, checks the call and returns the run that it asks for.
func (s *Service) prepareRun(ctx context.Context, p routine.Principal, id string, call Call, key *routine.IdempotencyKey) (*activeRun, error) {
	r, err := s.routineToRun(ctx, p, id, call)
	if err != nil {
		return nil, err
	}
	timeout, err := call.runTimeout()
	if err != nil {
		return nil, err
	}
	if err := call.schedule.checkSecrets(r); err != nil {
		return nil, err
	}
	values, err := definition.Bind(&r.Definition, call.Parameters)
	if err != nil {
		return nil, err
	}
	if err := s.newSecretReader(p, r.ID, call.Secrets).checkProviders(ctx, &r.Definition, values); err != nil {
		return nil, err
	}
	callback, err := s.checkCallback(ctx, p, call.CallbackURL)
	if err != nil {
		return nil, err
	}
	e := &routine.Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineID: r.ID, RoutineName: r.Name, RoutineVersion: r.Version,
		Status: routine.ExecutionPending, CreatedAt: s.now(), Parameters: values.Mask(r.Parameters), CreatedBy: p.UserID, TokenID: p.TokenID, Via: call.Via,
		OperationsTotal: len(r.Operations), OrganizationID: r.OrganizationID, Key: key, Callback: callback}
	if name := definition.SessionOf(&r.Definition, values); name != "" {
		e.Session = &routine.ExecutionSession{Name: name}
	}
	call.schedule.addTo(e)
	run := newActiveRun(e, p)
	run.definition, run.values, run.progress, run.completed, run.outline = &r.Definition, values, call.Progress, call.Ended, call.Outline
	run.timeout, run.given, run.reached = timeout, call.Secrets, call.Reached
	return run, nil
}

// runTimeout returns the timeout of the run: the call's own, or the default. CodeInvalid
// when it is out of bounds.
func (c Call) runTimeout() (time.Duration, error) {
	if c.Timeout == 0 {
		return routine.DefaultRunTimeout, nil
	}
	least, most := routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds()
	if !routine.ValidRunTimeout(c.Timeout.Seconds()) {
		return 0, &routine.Error{Code: routine.CodeInvalid, Message: fmt.Sprintf("timeout_seconds must be from %v to %v", least, most), Problems: []routine.Problem{
			{Pointer: "/timeout_seconds", Code: "range", Message: fmt.Sprintf("must be from %v to %v, not %v", least, most, c.Timeout.Seconds())}}}
	}
	return c.Timeout, nil
}

// errStopping is returned for calls that come after Close.
var errStopping = &routine.Error{Code: routine.CodeShuttingDown, Message: "the service is stopping: try again", RetryAfter: 5 * time.Second}

// trackRun registers a run, so that Cancel and Close can end the context that it returns.
// That of a run whose caller waits ends also with its timeout; for any other run,
// runAndRecord enforces it. The caller calls end when the run has ended. CodeShuttingDown.
func (s *Service) trackRun(ctx context.Context, run *activeRun) (_ context.Context, end func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		return nil, nil, errStopping
	}
	stop := func() {}
	if !run.async {
		ctx, stop = run.withTimeout(ctx)
	}
	ctx, run.cancel = context.WithCancelCause(ctx)
	id := run.execution.ID
	s.running[id] = run
	s.done.Add(1)
	return ctx, func() {
		run.cancel(nil)
		stop()
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		s.done.Done()
	}, nil
}

// runAndRecord waits for a free browser, does the run and records its end. A panic of
// the store or the browser must not end the process, and with it all other runs.
func (s *Service) runAndRecord(ctx context.Context, run *activeRun) {
	ctx, span := s.startRunSpan(ctx, run)
	defer func() { endRunSpan(span, run.execution) }()
	defer run.closePage()
	defer func() {
		s.observer.ExecutionEnded(run.execution)
		s.audit.ExecutionEnded(ctx, run.caller, run.execution)
	}()
	defer func() {
		if p := recover(); p != nil {
			run.err = routine.Internal("keep the ledger", routine.PanicError(p))
			s.log.ErrorContext(ctx, "execution could not be saved", "execution_id", run.execution.ID, "error", run.err)
			s.setEnd(run.execution, run.err)
			s.saveLater(run.execution)
		}
	}()
	err := s.waitForSession(ctx, run)
	if err == nil {
		err = s.waitInQueue(ctx, run)
	}
	if err == nil {
		if run.async {
			var stop func()
			ctx, stop = run.withTimeout(ctx)
			defer stop()
		}
		err = s.runOnPage(ctx, run)
		s.keepFiles(ctx, run.execution, run.files)
		s.keepScreenshot(ctx, run.execution)
	}
	run.err = s.recordEnd(ctx, run, err)
}

// waitForTurn waits until the queue lets the run start, and records that it has
// started, unless it was stored as running already.
func (s *Service) waitForTurn(ctx context.Context, run *activeRun) error {
	if run.refused != nil {
		return run.refused
	}
	if run.startedAt == nil || run.queuesAgain {
		waiting, stop := ctx, func() {}
		if run.async {
			waiting, stop = context.WithTimeoutCause(ctx, s.queueTime, errQueueTime)
		}
		err := run.ticket.wait(waiting)
		stop()
		if errors.Is(err, errQueueTime) {
			return err
		}
		if err != nil {
			e := routine.AsError(err)
			return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for a free browser", Cause: e}
		}
	}
	if run.startedAt == nil {
		run.startedAt = new(s.now())
		if err := s.store.StartExecution(ctx, run.execution.ID, *run.startedAt); err != nil {
			return storeError(ctx, "start execution", err)
		}
	}
	run.execution.Status, run.execution.StartedAt = routine.ExecutionRunning, run.startedAt
	run.emitStatus()
	return nil
}
