package routine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Run is the state of one execution while it goes. One goroutine uses it, and
// nothing of it outlives the execution.
type Run struct {
	page       Page
	params     Values
	values     map[string]string // session values, not bound to an origin
	valueBytes int64
	shownBytes int // of the texts in placeholder_resolution
	result     *Result
	record     *OperationRecord // of the operation that goes on
	op         operation        // which is that, its placeholders filled in
	hidden     secrets
	secret     map[string]bool // the keys of the tokens whose values are among hidden
	evidence   *Evidence       // of the failure
	failedAt   Place           // in the script of a js_evaluate that threw; zero: not known
	maxResult  int64
	largeText  takeTurn // waits until sanitizers may work on a large text
	now        func() time.Time
	progress   func(Progress)
	files      []File // that the pages were sent
	// fixed reports whether an operation has set the result since the last click:
	// a file does not replace it then.
	fixed    bool
	recorded func(OperationRecord) // told of each operation that has ended
}

// errOperationLimit marks the cause with which an operation's own limit ends
// its context.
var errOperationLimit = errors.New("operation limit")

// run does the operations of d in order; the first failure ends it. The result
// is complete either way: what was done before a failure is kept.
func (r *Run) run(ctx context.Context, d *Definition) error {
	total := len(d.Operations)
	for i, o := range d.Operations {
		r.progress(Progress{i, total, Describe(o)})
		r.result.OperationsMetadata = append(r.result.OperationsMetadata, OperationRecord{Index: i, Type: o.Type()})
		r.record = &r.result.OperationsMetadata[i]
		start := r.now()
		err := r.do(ctx, o)
		if err == nil {
			err = r.takeFiles(ctx, i == total-1)
		}
		r.record.DurationSeconds = r.now().Sub(start).Seconds()
		for _, w := range r.page.Warnings() {
			r.warn(w)
		}
		if denied := r.page.Denials(); len(denied) > 0 {
			r.record.EgressDenied = denied
		}
		if err != nil {
			r.record.Error = new(AsError(err).Message)
		}
		r.recorded(*r.record)
		if err != nil {
			e := AsError(err)
			r.evidence = r.inspect(ctx, o)
			message := fmt.Sprintf("operation %d of %d (%s): %s", i+1, total, o.Type(), e.Message) + hintOf(r.evidence, o, e)
			r.result.Error = &message
			return &Error{Code: e.Code, Message: message, Cause: err}
		}
	}
	r.result.OK = true
	return nil
}

// do decodes the operation afresh, fills in its placeholders and does it under
// its own limit. When the run's own clock has ended, that is the reason,
// whatever the operation says.
func (r *Run) do(ctx context.Context, o Operation) error {
	op, err := decodeOperation(o)
	if err != nil {
		return Internal("decode operation", err)
	}
	r.op = op
	limitCtx := ctx
	if l, ok := op.(limited); ok {
		d, field := l.limit()
		cause := &Error{Code: CodeTimeout, Message: fmt.Sprintf("%s of %v is over", field, d), Cause: errOperationLimit}
		var cancel context.CancelFunc
		limitCtx, cancel = context.WithTimeoutCause(ctx, d, cause)
		defer cancel()
	}
	if err = r.fill(limitCtx, op); err == nil {
		err = op.Do(limitCtx, r)
	}
	if err == nil && popupOf(o) == closePopup {
		err = r.page.ClosePopup(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return overdue(CauseOf(ctx), err)
	}
	return err
}

// overdue adds to the end of the run's time what the operation waited for then.
func overdue(end, of error) error {
	e, o := AsError(end), AsError(of)
	waited := o.Code == CodeElementNotFound || o.Code == CodeElementNotActionable || o.Code == CodeTimeout
	if e.Code != CodeTimeout || !waited || o == e {
		return end
	}
	var found *Error
	if errors.As(o.Cause, &found) && found.Code == o.Code { // without the limit of its own, which has not come
		o = found
	}
	return &Error{Code: e.Code, Message: e.Message + ": " + o.Message, Cause: o}
}

func (r *Run) detail(name string, value any) {
	if r.record.Details == nil {
		r.record.Details = map[string]any{}
	}
	r.record.Details[name] = value
}

func (r *Run) warn(text string) {
	r.result.Warnings = append(r.result.Warnings, text)
}

// setData makes data the result of the run so far; size is that of its raw
// bytes.
func (r *Run) setData(data json.RawMessage, size int) error {
	if r.maxResult > 0 && int64(size) > r.maxResult {
		return Errorf(CodeResultTooLarge, "the result has %d bytes, the limit is %d: return less, or raise --max-result", size, r.maxResult)
	}
	r.result.Data = data
	r.result.IsBase64, r.result.ContentType, r.result.Filename, r.result.Size = false, "", "", nil
	return nil
}

// store keeps a session value, and mirrors it into the page where authors'
// scripts read it back. The values of one run together are capped like its
// result.
func (r *Run) store(ctx context.Context, key, text string, mirror bool) error {
	r.valueBytes += int64(len(text) - len(r.values[key]))
	if r.maxResult > 0 && r.valueBytes > r.maxResult {
		return Errorf(CodeResultTooLarge, "the session values of the run have %d bytes, the limit is %d: store less (data_sanitizer), or raise --max-result", r.valueBytes, r.maxResult)
	}
	r.values[key] = text
	r.detail("stored", map[string]any{"key": key, "bytes": len(text)})
	if !mirror {
		return nil
	}
	return r.page.Mirror(ctx, key, text)
}

// maxNamedKeys is how many keys of a page's session storage a message names.
const maxNamedKeys = 10

// storedKeys names what there is instead of a missing session value: what the run
// has stored, and what the page has stored itself.
func (r *Run) storedKeys(ctx context.Context) string {
	stored := "nothing was stored before"
	if keys := slices.Sorted(maps.Keys(r.values)); len(keys) > 0 {
		stored = "stored are " + quotedList(keys)
	}
	of, err := r.page.StorageKeys(ctx)
	if err != nil {
		return stored // which is what matters
	}
	of = slices.DeleteFunc(of, func(key string) bool { _, own := r.values[key]; return own })
	slices.Sort(of)
	switch {
	case len(of) > maxNamedKeys:
		stored += fmt.Sprintf("; the page has stored %s and more", quotedList(of[:maxNamedKeys]))
	case len(of) > 0:
		stored += "; the page has stored " + quotedList(of)
	}
	return stored
}

func quotedList(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = Quote(t)
	}
	return strings.Join(all, ", ")
}
