package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/operation"
)

const (
	// tryTimeout is the timeout_ms of an operation that has none while it is tried, in
	// milliseconds. It is shorter than a run's, because an author waits for the answer.
	tryTimeout = 5000
	// slowOperation is how long an operation may take before its saved form gets a
	// timeout_ms: twice what it took, at most maxTimeout milliseconds.
	slowOperation = 10 * time.Second
	maxTimeout    = 60000
	// afterTime bounds what is done after an operation to describe what it did.
	afterTime = 5 * time.Second
)

// perform does an operation on the page of the lesson by the code of a run. k has the
// operation and gets what is known of it afterwards. The step says whether it failed; the
// page is left as it is then. If the page no longer works, the lesson loses it.
func (l *lesson) perform(ctx context.Context, k *keptOperation) Step {
	started := time.Now()
	var err error
	if k.parameters, k.values, err = l.valuesOf([]routine.Operation{k.operation}); err != nil {
		return l.notDone(k, err)
	}
	before, _ := l.page.URL(ctx)
	k.element = l.describe(ctx, k)
	k.awaited = k.element == nil && selectorOf(k.operation, k.values) != ""
	if err := l.refuseLiteral(k); err != nil {
		return l.notDone(k, err)
	}
	l.takeField(k)
	former := formerText(k)
	o := k.operation
	if !k.fromStoredRoutine {
		o = withTryTimeout(o)
	}
	began := time.Now()
	done, err := l.session.Do(ctx, k.parameters, k.values, o)
	l.lessons.service.RecordLessonUses(ctx, l.owner, done.SecretUses)
	k.seconds = time.Since(started).Seconds()
	after, cancel := afterCall(ctx)
	defer cancel()
	quiet := l.settle(after)
	if err == nil && l.lost == nil {
		done, err = l.session.TakeFiles(after, false)
	}
	if err == nil && l.lost == nil && k.element == nil { // it came while the operation waited for it
		k.element = l.describe(after, k)
		err = l.refuseLiteral(k)
		l.takeField(k)
	}
	step := Step{QuietAfter: quiet, subject: k.subject(), selector: k.givenSelector()}
	l.note(k, &step, done, err)
	l.noteEntered(k)
	k.noteDialog()
	if step.inDialog = k.inDialog; err != nil {
		step.inDialog = l.wasInDialog(k.operation, step.Error.Code)
	}
	l.lessons.observer.LessonOperation(k.operation.Type(), step.OK)
	if l.lost != nil {
		l.missRequests(k)
		return step
	}
	l.notePage(after, k, &step, before, began)
	l.warnOfFormerText(after, k, &step, former)
	return step
}

// note adds to k and step what an operation did.
func (l *lesson) note(k *keptOperation, step *Step, done engine.Done, err error) {
	k.record, k.warnings, k.result, k.storedKey, k.stored = done.Record, done.Warnings, done.Result, done.StoredKey, done.Stored
	step.OK, step.Record, step.Warnings, step.Element, step.Parameters = err == nil, done.Record, done.Warnings, k.element, k.parameters
	step.Result, step.storedKey = l.stepResult(done), done.StoredKey
	if err != nil {
		step.Error, step.Nearest = l.stepError(err), done.Nearest
		step.Error.Message = ownMessage(k.operation, step.Error.Message)
	}
}

// awaitFile waits for a download that a click may still start. It is called if the click has
// done nothing else.
func (l *lesson) awaitFile(ctx context.Context, k *keptOperation, step *Step) {
	after, cancel := afterCall(ctx)
	defer cancel()
	if done, err := l.session.TakeFiles(after, true); err != nil || done.Result != nil {
		l.note(k, step, done, err)
	}
}

// notDone returns the step of an operation that was not done.
func (l *lesson) notDone(k *keptOperation, err error) Step {
	l.lessons.observer.LessonOperation(k.operation.Type(), false)
	return Step{Record: routine.OperationRecord{Type: k.operation.Type()}, Error: l.stepError(err), Element: k.element, subject: k.subject()}
}

func (l *lesson) stepError(err error) *StepError {
	return &StepError{routine.CodeOf(err), l.session.Mask(routine.AsError(err).Message)}
}

// afterCall returns a context for what follows an operation. It has its own time, also if
// that of the call is over, and it ends if the call was cancelled.
func afterCall(ctx context.Context) (context.Context, context.CancelFunc) {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTime)
	stop := context.AfterFunc(ctx, func() {
		if routine.CodeOf(routine.CauseOf(ctx)) != routine.CodeTimeout {
			cancel()
		}
	})
	return after, func() { stop(); cancel() }
}

// settle waits until the page is quiet and returns how long that took. If the page no longer
// works, the lesson loses it.
func (l *lesson) settle(ctx context.Context) time.Duration {
	if err := l.page.Usable(ctx); err != nil {
		l.lost = l.lessons.lose(l, "because "+l.session.Mask(routine.AsError(err).Message))
		return 0
	}
	quiet, err := l.page.WaitQuiet(ctx)
	if err != nil {
		return 0 // the page is busy
	}
	l.session.HideCookies(ctx)
	return quiet
}

// notePage adds to k and step what an operation did to the page.
func (l *lesson) notePage(ctx context.Context, k *keptOperation, step *Step, before string, began time.Time) {
	l.noteRequests(ctx, k, step, began)
	l.noteConsoleErrors(step, began)
	l.typedInLoginForm = k.operation.Type() == "input_text" && k.element != nil && k.element.InLoginForm
	if values, err := l.page.PageValues(ctx); err == nil {
		k.pageValues = values
	}
	if url, err := l.page.URL(ctx); err == nil {
		k.url = url
		step.URL, step.Moved = l.session.Mask(routine.ShownURL(url)), url != before
		step.sameOrigin = originOf(url) == originOf(before)
	}
}

// How many errors of the console a step has at most, and how long each may be, in characters.
const (
	maxConsoleErrors = 3
	maxConsoleError  = 200
)

// noteConsoleErrors adds to step the errors that the page has written to its console since the
// operation began.
func (l *lesson) noteConsoleErrors(step *Step, began time.Time) {
	for _, line := range l.page.ConsoleErrors(began) {
		if len(step.ConsoleErrors) == maxConsoleErrors {
			step.MoreConsoleErrors++
			continue
		}
		text := routine.OneLine(routine.PlainText(l.session.Mask(line)))
		step.ConsoleErrors = append(step.ConsoleErrors, routine.Truncate(text, maxConsoleError))
	}
}

// describe describes the element that an operation is about to act on; nil if it names none
// or there is none yet.
func (l *lesson) describe(ctx context.Context, k *keptOperation) *routine.ElementDescription {
	selector := selectorOf(k.operation, k.values)
	kind, _ := operation.KindOf(k.operation.Type())
	if selector == "" {
		return nil
	}
	e, err := l.page.Describe(ctx, selector, kind.Use, l.session.Secrets())
	if err != nil || e.Matches == 0 {
		return nil
	}
	if e.Field != nil && len(e.Field.Options) > 0 && l.enteredElsewhere(e.DocumentAt) {
		e.Field.OptionsVary = true
	}
	return &e
}

// withTryTimeout returns an operation with the time limit for trying it, unless it has one
// of its own.
func withTryTimeout(o routine.Operation) routine.Operation {
	op, err := operation.Decode(o)
	if err != nil {
		return o
	}
	limit, field, ok := operation.LimitOf(op)
	if !ok || field != "timeout_ms" || limit <= tryTimeout*time.Millisecond {
		return o // also one that is optional, which waits a shorter time
	}
	return withTimeout(o, tryTimeout, false)
}

// withMeasuredTimeout returns the operation as it is saved: with a timeout_ms if it took so
// long that it could exceed that of a run.
func withMeasuredTimeout(k *keptOperation) json.RawMessage {
	op, err := operation.Decode(k.operation)
	if err != nil {
		return k.raw
	}
	took := time.Duration(k.seconds * float64(time.Second))
	limit, field, ok := operation.LimitOf(op)
	ms := min(int(2*took/time.Millisecond), maxTimeout)
	if !ok || field != "timeout_ms" || took <= slowOperation || limit >= time.Duration(ms)*time.Millisecond {
		return k.raw
	}
	return withTimeout(k.operation, ms, true).Raw()
}

// withTimeout returns an operation with a timeout_ms. One that it has is replaced only if
// replace is set.
func withTimeout(o routine.Operation, ms int, replace bool) routine.Operation {
	var fields map[string]json.RawMessage
	if json.Unmarshal(o.Raw(), &fields) != nil || fields["timeout_ms"] != nil && !replace {
		return o
	}
	fields["timeout_ms"] = routine.RawJSON(ms)
	return routine.NewOperation(o.Type(), routine.RawJSON(fields))
}

// replay does operations again in order, until the first one fails, and returns what they
// did. They get what is known of them now.
func (l *lesson) replay(ctx context.Context, ks []*keptOperation, progress func(routine.Progress)) []Step {
	steps := []Step{}
	for i, k := range ks {
		if progress != nil {
			progress(routine.Progress{Index: i, Total: len(ks), Operation: operation.Describe(k.operation)})
		}
		l.lessons.setDoing(l, fmt.Sprintf("operation %d", i+1))
		former := *k
		step := l.perform(ctx, k)
		switch {
		case step.OK:
			step.Number, k.unproved = i+1, false
		case ctx.Err() != nil || l.lost != nil: // interrupted: what was known of it still holds
			former.acting = slices.Clone(former.acting)
			for _, name := range k.acting {
				former.addActing(name)
			}
			*k = former
		}
		steps = append(steps, step)
		if !step.OK || l.lost != nil {
			break
		}
	}
	return steps
}
