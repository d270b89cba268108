// Package engine runs one definition on one page: it fills in placeholders, runs the
// operations in order within their limits, records them, masks secrets in the records,
// and gathers evidence of a failure. It knows nothing of the store or of who called.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/operation"
)

// Options are the settings of a run besides its definition, values and page.
type Options struct {
	// MaxResult bounds the bytes of the result and, separately, those of all
	// session values; 0: no bound.
	MaxResult int64
	Now       func() time.Time
	// StartedAt is when the execution started: records say how long after it an operation
	// began. nil: they do not say it.
	StartedAt *time.Time
	// LargeText waits until a sanitizer may work on a large text. The run calls
	// release afterwards.
	LargeText func(ctx context.Context) (release func(), err error)
	// Progress is called before each operation, Begun when it has begun, if there is a
	// StartedAt, and Recorded after it with its record, in which secrets are masked. Each may
	// be nil.
	Progress func(routine.Progress)
	Begun    func(routine.BegunOperation)
	Recorded func(routine.OperationRecord)
	// Outline adds what is on the last page to the result of a run that completes.
	Outline bool
	// Secrets reads the stored secrets that placeholders refer to; nil: there are none.
	Secrets routine.SecretReader
	// Session says which cookies belong to the saved session of the run; nil: it has none, or
	// one whose cookies may be shown.
	Session *SessionCookies
	// SignedOut, if not nil, returns an error with CodeSessionExpired if the page shows that
	// the site has ended the login. See signedout.go for when it is asked.
	SignedOut func(context.Context, routine.Page) error
	// Repeatable reports whether the caller repeats a run that ends with Outcome.Repeat.
	Repeatable bool
	// MayGoOn, if not nil, is called before each operation. Its error is that of the operation,
	// which is not done.
	MayGoOn func(context.Context) error
	// Around, if not nil, is called before each operation. It returns the context in which the
	// operation is done, and what is called with its error when it has ended.
	Around func(ctx context.Context, index int, operationType string) (_ context.Context, ended func(error))
}

// Outcome is the outcome of a run. Secrets are masked in it. The data of the result and the
// files are the routine's own answer: in them, only the values of stored secrets are masked.
type Outcome struct {
	Result *routine.Result
	// Evidence is that of the failure; nil: there is none.
	Evidence *routine.Evidence
	// Files are those that the pages were sent.
	Files []routine.File
	// SecretUses are the uses and the refusals of stored secrets. They do not say who called,
	// nor for what execution.
	SecretUses []routine.SecretUse
	// Repeat reports whether the site had ended the login before an operation acted, so that
	// the run may be repeated on a new page after a login. The operation that noticed it is not
	// recorded.
	Repeat bool
}

// NewResult returns the result of a run that has not started.
func NewResult() *routine.Result {
	return &routine.Result{PlaceholderResolution: map[string]*string{}, OperationsMetadata: []routine.OperationRecord{}}
}

// Run does the operations of d in order on a page, until the first one fails, and returns
// its error. A panic is an internal error. The outcome is never nil: it has what was done
// before the failure.
func Run(ctx context.Context, d *routine.Definition, values routine.Values, page routine.Page, o Options) (*Outcome, error) {
	r := newRunner(page, o)
	r.evidenceOf = page.Evidence
	r.setValues(d.Parameters, values)
	r.Result.Unverified = page.Unverified()
	err := r.recoverPanic(func() error { return r.all(ctx, d.Operations) })
	if exposed := r.concealAll(); exposed != nil && err == nil {
		err = exposed
		r.Result.OK, r.Result.Error = false, new(routine.AsError(err).Message)
	}
	if err == nil && o.Outline {
		err = r.recoverPanic(func() error { r.addOutline(ctx); return nil })
	}
	r.hidden.result(r.Result)
	return &Outcome{r.Result, r.evidence, r.files, r.uses, r.login.repeat}, r.hidden.err(err)
}

// RedactError masks the values of the secret parameters in an error.
func RedactError(d *routine.Definition, values routine.Values, err error) error {
	return secretsOf(d.Parameters, values).err(err)
}

// runner runs operations on a page: those of one definition, or those of a [Session]. One
// goroutine uses it at a time.
type runner struct {
	operation.Run
	// evidenceOf collects the evidence of a failure, as [routine.Page.Evidence] does.
	evidenceOf func(context.Context, routine.Inspection) *routine.Evidence
	total      int              // how many operations there are
	started    time.Time        // when the running operation was started
	shownBytes int              // of the texts in placeholder_resolution
	op         operation.Action // that is running, its placeholders filled in
	hidden     secrets
	// stored are the values of stored secrets, which are also among hidden. They are masked in
	// data, files and session values, too.
	stored  secrets
	reader  routine.SecretReader
	session *SessionCookies // nil: there is nothing to hide
	// hiddenCookies are the values of its cookies that are hidden.
	hiddenCookies map[string]bool
	fromSecret    map[string]routine.SecretReference // by the name of the parameter whose value is that of a stored secret
	use           secretUse
	// texts are the stored secrets that a session has read; nil in a run, which needs none later.
	texts    map[routine.SecretReference]string
	uses     []routine.SecretUse
	secret   map[string]bool   // the keys of the tokens whose values are among hidden
	evidence *routine.Evidence // of the failure
	now      func() time.Time
	// startedAt is when the execution started; nil: it has no time.
	startedAt *time.Time
	progress  func(routine.Progress)
	begun     func(routine.BegunOperation)
	files     []routine.File // that the pages were sent
	// resultSet reports whether an operation has set the result since the last click.
	// A file does not replace it then.
	resultSet bool
	recorded  func(routine.OperationRecord) // is called with each operation that has ended
	login     loginWatch
	mayGoOn   func(context.Context) error
	around    func(context.Context, int, string) (context.Context, func(error))
}

// newRunner returns a runner without values.
func newRunner(page routine.Page, o Options) *runner {
	r := &runner{Run: operation.Run{Page: page, Values: map[string]string{}, Result: NewResult(), MaxResult: o.MaxResult, LargeText: o.LargeText},
		secret: map[string]bool{}, now: o.Now, startedAt: o.StartedAt, progress: o.Progress, begun: o.Begun, recorded: o.Recorded,
		reader: o.Secrets, session: o.Session, hiddenCookies: map[string]bool{}, login: loginWatch{signedOut: o.SignedOut, repeatable: o.Repeatable},
		mayGoOn: o.MayGoOn, around: o.Around}
	r.Secrets = r
	if r.mayGoOn == nil {
		r.mayGoOn = func(context.Context) error { return nil }
	}
	if o.Session != nil {
		r.hideSessionValues(o.Session.Values)
	}
	return r
}

// setValues sets the values of the parameters. Those of secret parameters are hidden from
// now on.
func (r *runner) setValues(ps []routine.Parameter, values routine.Values) {
	r.Parameters = values
	r.hidden = r.hidden.with(secretTexts(ps, values))
	r.fromSecret = map[string]routine.SecretReference{}
	for _, p := range ps {
		if ref, ok := routine.ParseSecretReference(p.FromSecret); ok && values[p.Name] == nil {
			r.fromSecret[p.Name] = ref
		}
		if p.Secret {
			r.secret[p.Name] = true
		}
	}
}

// all does the operations of a definition in order, until the first one fails.
func (r *runner) all(ctx context.Context, operations []routine.Operation) error {
	r.total = len(operations)
	for i, o := range operations {
		if r.progress != nil {
			r.progress(routine.Progress{Index: i, Total: len(operations), Operation: r.hidden.text(operation.Describe(o))})
		}
		if err := r.step(ctx, i, o, i == len(operations)-1); err != nil {
			e := routine.AsError(err)
			message := fmt.Sprintf("operation %d of %d (%s): %s", i+1, len(operations), o.Type(), e.Message)
			r.Result.Error = &message
			return &routine.Error{Code: e.Code, Message: message, Cause: err}
		}
	}
	r.Result.OK = true
	return nil
}

// showWait reports that the running operation waits for a one-time code of a secret.
func (r *runner) showWait(secret string) {
	if r.progress != nil {
		r.progress(routine.Progress{Index: r.Record.Index, Total: r.total, WaitsFor: secret,
			Operation: fmt.Sprintf("waiting for a one-time code of secret %s, which a person has to give: rote secret code %s", secret, secret)})
	}
}

// step does one operation and completes its record. index is its number in the record; last
// reports whether none follows. If the operation failed, the runner has the evidence, and
// the message of the error names what could have been meant.
func (r *runner) step(ctx context.Context, index int, o routine.Operation, last bool) (err error) {
	if r.around != nil {
		around, ended := r.around(ctx, index, o.Type())
		ctx = around
		defer func() { ended(err) }()
	}
	r.startOperation(index, o)
	err = r.mayGoOn(ctx)
	if err == nil {
		err = r.doLoggedIn(ctx, o)
	}
	if r.login.repeat {
		return err
	}
	return r.endOperation(ctx, o, err, last)
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

// startOperation starts the record of an operation.
func (r *runner) startOperation(index int, o routine.Operation) {
	r.Result.OperationsMetadata = append(r.Result.OperationsMetadata, routine.OperationRecord{Index: index, Type: o.Type()})
	r.Record = &r.Result.OperationsMetadata[len(r.Result.OperationsMetadata)-1]
	r.FailedAt, r.op, r.use, r.Release = routine.Place{}, nil, secretUse{}, nil
	r.started = r.now()
	if r.startedAt == nil {
		return
	}
	after := max(r.started.Sub(*r.startedAt), 0).Seconds() // clocks may differ, and be set back
	r.Record.StartSeconds = &after
	if r.begun != nil {
		r.begun(routine.BegunOperation{Index: index, Type: o.Type(), StartSeconds: after})
	}
}

// endOperation takes the files that arrived during an operation and completes its record.
// err is the error of the operation. If it or the files failed, endOperation collects the
// evidence and returns the error with what it adds.
func (r *runner) endOperation(ctx context.Context, o routine.Operation, err error, last bool) error {
	if err == nil {
		err = r.takeFiles(ctx, last)
	}
	r.hideNewCookies(ctx)
	r.Record.DurationSeconds = r.now().Sub(r.started).Seconds()
	for _, w := range r.Page.Warnings() {
		r.Warn(w)
	}
	if denied := r.Page.Denials(); len(denied) > 0 {
		r.Record.EgressDenied = denied
	}
	r.Record.BlockedRequests = r.Page.BlockedRequests()
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
	return &routine.Error{Code: e.Code, Message: e.Message + hintOf(r.evidence, o, e), Cause: err}
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
	err = r.fillAndDo(limitCtx, op)
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

// fillAndDo fills in the placeholders of an operation and does it.
func (r *runner) fillAndDo(ctx context.Context, op operation.Action) (err error) {
	host := ""
	defer func() { r.recordUses(cmp.Or(host, r.use.host), err) }() // also after a panic
	if err = r.fill(ctx, op); err == nil {
		if len(r.use.refs) > 0 {
			host = r.destination(ctx, op)
		}
		err = op.Do(ctx, &r.Run)
	}
	if err == nil {
		err = r.concealData()
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
		if inner == e {
			return o // it is timeout with what the run was waiting for
		}
		o = inner
	}
	return &routine.Error{Code: e.Code, Message: e.Message + ": " + o.Message, Cause: o}
}
