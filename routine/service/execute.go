package service

import (
	"context"
	"encoding/json"
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

// saveTime bounds how long a write of the ledger may take.
const saveTime = 10 * time.Second

// unsavedWarning is in the result of an execution whose end could not be saved.
const unsavedWarning = "the database did not answer when the run ended: the execution is recorded as soon as it does. " +
	"The run itself is done: do not repeat it because of this"

// finish ends the execution in the ledger and logs it. It works after the run's
// own context has ended. What it returns is why the run failed. That the ledger
// could not be written is no failure of the run: a caller who was told so would
// run the routine again.
func (s *Service) finish(ctx context.Context, l *live, err error) error {
	e := l.last
	s.end(e, err)
	saved := s.save(context.WithoutCancel(ctx), e)
	attrs := []any{"execution_id", e.ID, "routine_id", e.RoutineID, "status", e.Status, "duration_seconds", *e.DurationSeconds}
	if err != nil {
		attrs = append(attrs, "code", e.ErrorCode)
		if cause := routine.HiddenCause(err); cause != nil {
			attrs = append(attrs, "error", cause)
		}
	}
	if saved != nil {
		s.log.ErrorContext(ctx, "execution could not be saved, which is tried again until it works", append(attrs, "error", saved)...)
		if e.Result != nil {
			e.Result.Warnings = append(e.Result.Warnings, unsavedWarning)
		}
		s.saveLater(e)
	} else {
		s.log.InfoContext(ctx, "execution", attrs...)
	}
	l.tellStatus()
	return err
}

// save writes the end of an execution. A panic of the store is an error like any
// other.
func (s *Service) save(ctx context.Context, e *routine.Execution) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	saving, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	return s.store.FinishExecution(saving, e)
}

// end fills in how and when the execution ended.
func (s *Service) end(e *routine.Execution, err error) {
	at := s.now()
	took := at.Sub(e.CreatedAt).Seconds()
	e.Status, e.CompletedAt, e.DurationSeconds = routine.ExecutionCompleted, &at, &took
	if e.Result != nil {
		e.OperationsDone = len(e.Result.OperationsMetadata)
	}
	if err == nil {
		return
	}
	failure := routine.AsError(err)
	e.Status, e.Error, e.ErrorCode = routine.ExecutionFailed, &failure.Message, failure.Code
	if e.Result != nil {
		e.Result.OK, e.Result.Error = false, &failure.Message
	}
}
