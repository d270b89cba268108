// Package engine runs one definition on one page: it fills in placeholders, runs the
// operations in order within their limits, records them, masks secrets in the records,
// and gathers evidence of a failure. It knows nothing of the store or of who called.
package engine

import (
	"context"
	"errors"
	"fmt"
	"rote/routine"
	"rote/routine/operation"
	"time"
)

// Options are the settings of a run besides its definition, values and page.
type Options struct {
	// MaxResult bounds the bytes of the result and, separately, those of all
	// session values; 0: no bound.
	MaxResult int64
	Now       func() time.Time
	// LargeText waits until a sanitizer may work on a large text. The run calls
	// release afterwards.
	LargeText func(ctx context.Context) (release func(), err error)
	// Progress is called before each operation, Recorded after it with its record,
	// in which secrets are masked. Both may be nil.
	Progress func(routine.Progress)
	Recorded func(routine.OperationRecord)
}

// Outcome is the outcome of a run. Secrets are masked in it, except in the data of the
// result, which is the routine's own answer.
type Outcome struct {
	Result *routine.Result
	// Evidence is that of the failure; nil: there is none.
	Evidence *routine.Evidence
	// Files are those that the pages were sent.
	Files []routine.File
}

// NewResult returns the result of a run that has not started.
func NewResult() *routine.Result {
	return &routine.Result{PlaceholderResolution: map[string]*string{}, OperationsMetadata: []routine.OperationRecord{}}
}

// Run does the operations of d in order on a page, until the first one fails, and returns
// its error. A panic is an internal error. The outcome is never nil: it has what was done
// before the failure.
func Run(ctx context.Context, d *routine.Definition, values routine.Values, page routine.Page, o Options) (*Outcome, error) {
	r := &runner{Run: operation.Run{Page: page, Parameters: values, Values: map[string]string{}, Result: NewResult(), MaxResult: o.MaxResult,
		LargeText: o.LargeText}, total: len(d.Operations),
		now: o.Now, progress: o.Progress, recorded: o.Recorded, hidden: secretsOf(d.Parameters, values), secret: secretTokens(d.Parameters)}
	r.Secrets = r
	err := r.recoverPanic(func() error {
		for i, o := range d.Operations {
			r.startOperation(i, o)
			if err := r.endOperation(ctx, o, r.do(ctx, o)); err != nil {
				return err
			}
		}
		r.Result.OK = true
		return nil
	})
	r.hidden.result(r.Result)
	return &Outcome{r.Result, r.evidence, r.files}, r.hidden.err(err)
}

// RedactError masks the values of the secret parameters in an error.
func RedactError(d *routine.Definition, values routine.Values, err error) error {
	return secretsOf(d.Parameters, values).err(err)
}

// runner runs the operations of one definition on a page. One goroutine uses it,
// and nothing of it outlives the execution.
type runner struct {
	operation.Run
	total      int              // operations of the definition
	started    time.Time        // when the running operation was started
	shownBytes int              // of the texts in placeholder_resolution
	op         operation.Action // that is running, its placeholders filled in
	hidden     secrets
	secret     map[string]bool   // the keys of the tokens whose values are among hidden
	evidence   *routine.Evidence // of the failure
	now        func() time.Time
	progress   func(routine.Progress)
	files      []routine.File // that the pages were sent
	// resultSet reports whether an operation has set the result since the last click.
	// A file does not replace it then.
	resultSet bool
	recorded  func(routine.OperationRecord) // is called with each operation that has ended
}

// recoverPanic calls do and turns a panic into an internal error.
func (r *runner) recoverPanic(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = routine.Internal("run", routine.PanicError(p))
		}
	}()
	return do()
}

// startOperation reports the progress of the run and starts the record of an operation.
func (r *runner) startOperation(index int, o routine.Operation) {
	if r.progress != nil {
		r.progress(routine.Progress{Index: index, Total: r.total, Operation: operation.Describe(o)})
	}
	r.Result.OperationsMetadata = append(r.Result.OperationsMetadata, routine.OperationRecord{Index: index, Type: o.Type()})
	r.Record = &r.Result.OperationsMetadata[index]
	r.started = r.now()
}

// endOperation takes the files that arrived during an operation and completes its record.
// err is the error of the operation. If it or the files failed, endOperation collects the
// evidence and returns the error of the run.
func (r *runner) endOperation(ctx context.Context, o routine.Operation, err error) error {
	if err == nil {
		err = r.takeFiles(ctx, r.Record.Index == r.total-1)
	}
	r.Record.DurationSeconds = r.now().Sub(r.started).Seconds()
	for _, w := range r.Page.Warnings() {
		r.Warn(w)
	}
	if denied := r.Page.Denials(); len(denied) > 0 {
		r.Record.EgressDenied = denied
	}
	if err != nil {
		r.Record.Error = new(routine.AsError(err).Message)
	}
	if r.recorded != nil {
		r.recorded(r.hidden.record(*r.Record))
	}
	if err == nil {
		return nil
	}
	e := routine.AsError(err)
	r.evidence = r.inspect(ctx, o)
	message := fmt.Sprintf("operation %d of %d (%s): %s", r.Record.Index+1, r.total, o.Type(), e.Message) + hintOf(r.evidence, o, e)
	r.Result.Error = &message
	return &routine.Error{Code: e.Code, Message: message, Cause: err}
}

// do decodes an operation, fills in its placeholders and does it within the operation's
// own time limit. If ctx, the context of the run, has ended, its cause is the error,
// whatever error the operation returned. If the operation is skipped, do notes the reason
// in its record and returns no error.
func (r *runner) do(ctx context.Context, o routine.Operation) error {
	op, err := operation.Decode(o)
	r.op = op
	if routine.CodeOf(err) == routine.CodeInvalid {
		return err
	}
	if err != nil {
		return routine.Internal("decode operation", err)
	}
	limitCtx := ctx
	if d, field, ok := operation.LimitOf(op); ok {
		cause := &routine.Error{Code: routine.CodeTimeout, Message: fmt.Sprintf("%s of %v is over", field, d), Cause: routine.ErrOperationLimit}
		var cancel context.CancelFunc
		limitCtx, cancel = context.WithTimeoutCause(ctx, d, cause)
		defer cancel()
	}
	if err = r.fill(limitCtx, op); err == nil {
		err = op.Do(limitCtx, &r.Run)
	}
	if err != nil && ctx.Err() == nil && operation.Skips(op, err) {
		r.Record.Details = map[string]any{"skipped": true, "reason": routine.AsError(err).Message}
		err = nil
	}
	if err == nil && operation.PopupOf(o) == operation.ClosePopup {
		err = r.Page.ClosePopup(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return mergeTimeout(routine.CauseOf(ctx), err)
	}
	return err
}

// mergeTimeout returns timeout, the run's timeout error, extended by what the
// interrupted operation was waiting for. It returns timeout unchanged if operationErr
// does not say that.
func mergeTimeout(timeout, operationErr error) error {
	e, o := routine.AsError(timeout), routine.AsError(operationErr)
	waited := o.Code == routine.CodeElementNotFound || o.Code == routine.CodeElementNotActionable || o.Code == routine.CodeTimeout
	if e.Code != routine.CodeTimeout || !waited || o == e {
		return timeout
	}
	var inner *routine.Error
	if errors.As(o.Cause, &inner) && inner.Code == o.Code { // without the operation's own limit, which it did not reach
		o = inner
	}
	return &routine.Error{Code: e.Code, Message: e.Message + ": " + o.Message, Cause: o}
}
