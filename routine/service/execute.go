package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"rote/routine"
	"rote/routine/definition"
	"rote/routine/engine"
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
	// Via is the door of the call, for the ledger.
	Via routine.Via
	// CallbackURL, when set, is told of the end of the execution; of Start only.
	CallbackURL string
	// Once, when set, keeps a repeated call from running again.
	Once Once
	// Progress, when set, is told of each operation before it begins. It is
	// called by the run and must not block.
	Progress func(routine.Progress)
	// Queued, when set, is called once if the run has to wait for a browser. What
	// it gets tells how many wait before the run, from then on.
	Queued func(ahead func() int)
	// Patience is how long Execute waits; after it the run goes on by itself. 0:
	// until the end.
	Patience time.Duration
	// Detach lets the run go on by itself also when Execute's ctx ends.
	Detach bool
}

// retryInFlight is when to ask again for the answer of a call that goes on.
const retryInFlight = 2 * time.Second

// Execute runs a routine and returns when it has ended. A run that fails gives
// its execution and an error with a run-failed code. Without execution the run
// never began: the codes of Start, and CodeConflict while the same call under
// the same key goes on. When ctx ends the run ends, as cancelled, unless the call
// is detached or has a key, under which who lost the answer asks for it again.
// Then, and when patience is over, it gives an execution that is open.
func (s *Service) Execute(ctx context.Context, p routine.Principal, id string, call Call) (*routine.Execution, error) {
	l, before, err := s.start(ctx, p, id, call)
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
	case <-l.ended:
		return l.last, l.err
	case <-patience:
	case <-ctx.Done():
		if !call.Detach && call.Once.Key == "" {
			l.cancel(routine.CauseOf(ctx))
			<-l.ended
			return l.last, l.err
		}
	}
	if e := l.standing(); e.Open() {
		return e, nil
	}
	<-l.ended // it has ended just now
	return l.last, l.err
}

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

// runAndRecord does the run and records its end. A panic of the store must not end
// the process, and every other run with it.
func (s *Service) runAndRecord(ctx context.Context, t *ticket, l *live, d *routine.Definition, values routine.Values, progress func(routine.Progress)) {
	defer l.closePage()
	defer func() { s.observer.ExecutionEnded(l.last) }()
	defer func() {
		if p := recover(); p != nil {
			l.err = routine.Internal("keep the ledger", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			s.log.ErrorContext(ctx, "execution could not be saved", "execution_id", l.last.ID, "error", l.err)
			s.end(l.last, l.err)
			s.saveLater(l.last)
		}
	}()
	l.err = s.finish(ctx, l, s.waitAndRun(ctx, t, l, d, values, progress))
}

// RunOnce runs a definition that is not stored for p, with no row in the ledger:
// what the command line does with a file.
func (s *Service) RunOnce(ctx context.Context, p routine.Principal, d *routine.Definition, call Call) (*routine.Execution, error) {
	timeout, err := call.timeout()
	if err != nil {
		return nil, err
	}
	values, err := definition.Bind(d, call.Parameters)
	if err != nil {
		return nil, err
	}
	l := newLive(&routine.Execution{ID: uuid.Must(uuid.NewV7()).String(), RoutineName: d.Name, Status: routine.ExecutionPending, CreatedAt: s.now(),
		Parameters: values.Mask(d.Parameters), Via: call.Via, OperationsTotal: len(d.Operations)}, p)
	ctx, end, err := s.trackRun(ctx, l, timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	defer l.closePage()
	err = s.runPage(ctx, l, d, values, call.Progress)
	warnNotKept(l.last, l.files)
	s.end(l.last, err)
	return l.last, err
}

// ValidRunTimeout reports whether a run may have a timeout of that many seconds:
// from [MinRunTimeout] to [MaxRunTimeout]. A Duration could not hold every number
// of seconds that a call may name.
func ValidRunTimeout(seconds float64) bool {
	return seconds >= routine.MinRunTimeout.Seconds() && seconds <= routine.MaxRunTimeout.Seconds()
}

// timeout returns how long the run may take.
func (c Call) timeout() (time.Duration, error) {
	if c.Timeout == 0 {
		return routine.DefaultRunTimeout, nil
	}
	least, most := routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds()
	if !ValidRunTimeout(c.Timeout.Seconds()) {
		return 0, &routine.Error{Code: routine.CodeInvalid, Message: fmt.Sprintf("timeout_seconds must be from %v to %v", least, most), Problems: []routine.Problem{
			{Pointer: "/timeout_seconds", Code: "range", Message: fmt.Sprintf("must be from %v to %v, not %v", least, most, c.Timeout.Seconds())}}}
	}
	return c.Timeout, nil
}

// waitAndRun waits for a free browser, runs the definition and keeps its files.
func (s *Service) waitAndRun(ctx context.Context, t *ticket, l *live, d *routine.Definition, values routine.Values, progress func(routine.Progress)) error {
	if err := t.wait(ctx); err != nil {
		e := routine.AsError(err)
		return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for a free browser", Cause: e}
	}
	started := s.now()
	if err := s.store.StartExecution(ctx, l.last.ID, started); err != nil {
		return storeError(ctx, "start execution", err)
	}
	l.last.Status, l.last.StartedAt = routine.ExecutionRunning, &started
	l.tellStatus()
	err := s.runPage(ctx, l, d, values, progress)
	s.keepFiles(ctx, l.last, l.files)
	s.keepScreenshot(ctx, l.last)
	return err
}

// runPage opens a page, which the caller closes, and runs the definition on it.
func (s *Service) runPage(ctx context.Context, l *live, d *routine.Definition, values routine.Values, progress func(routine.Progress)) (err error) {
	e := l.last
	e.Result = engine.NewResult()
	defer func() {
		if p := recover(); p != nil {
			err = engine.RedactError(d, values, routine.Internal("run", fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
		}
	}()
	opening, err := s.pageOptions(ctx, l.caller, d)
	if err != nil {
		return err
	}
	opening.MaxFiles = s.maxResult
	opening.Turn = s.transfers.of(l.caller.OrganizationID)
	page, err := s.browser.Open(ctx, opening)
	s.openings.note(err, s.now())
	if err != nil {
		if ctx.Err() != nil {
			e := routine.AsError(routine.CauseOf(ctx))
			return &routine.Error{Code: e.Code, Message: e.Message + ", waiting for the browser to open a page", Cause: e}
		}
		return err
	}
	l.page = page
	outcome, err := engine.Run(ctx, d, values, page, engine.Options{MaxResult: s.maxResult, Now: s.now,
		LargeText: s.largeTexts.of(l.caller.OrganizationID), Progress: progress, Recorded: l.tellOperation})
	e.Result, e.Evidence, l.files = outcome.Result, outcome.Evidence, outcome.Files
	if err == nil && opening.Keep {
		s.saveProjectState(ctx, l.caller, page, e.Result)
	}
	return err
}
