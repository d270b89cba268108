package lesson

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/lesson/judge"
	"rote/routine/operation"
)

const (
	// maxTries bounds the operations that are tried in one lesson, maxKept those that are
	// kept, and maxOperations those of one call.
	maxTries      = 200
	maxKept       = 100
	maxOperations = 20
)

// Try does operations on the page of a lesson of p in order, until the first one fails, by
// the code of a run. Those that were done are kept. After a failure the page stays as it is:
// the failure is in the answer and not an error. CodeInvalid for operations, values or
// arguments that cannot be tried, CodeForbidden, CodeLessonLimit, CodePageLost, CodeConflict
// and the codes of Get.
func (s *Lessons) Try(ctx context.Context, p routine.Principal, id string, q TryRequest) (*Tried, error) {
	if n := len(q.Operations); n < 1 || n > maxOperations {
		return nil, routine.Errorf(routine.CodeInvalid, "give from 1 to %d operations, not %d", maxOperations, n)
	}
	ctx, l, release, err := s.acquireWithPage(ctx, p, id, "an operation")
	if err != nil {
		return nil, err
	}
	defer release()
	operations, err := l.prepare(ctx, p, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errCallTime)
	defer cancel()
	s.markChanged(l)
	t := &Tried{OK: true, Steps: []Step{}}
	l.try(ctx, q, operations, t)
	t.Info = s.describe(l)
	return t, nil
}

// prepare checks a request to try operations, takes its values and decodes its operations. If
// there is an error, the lesson is as before.
func (l *lesson) prepare(ctx context.Context, p routine.Principal, q TryRequest) ([]routine.Operation, error) {
	var err error
	if q.Operations, err = l.withTextForms(q.Operations); err != nil {
		return nil, err
	}
	last := len(l.kept) // the highest number that At may have
	if len(l.remaining) > 0 {
		last++
	}
	switch {
	case q.At < 0 || q.At > last:
		return nil, routine.Errorf(routine.CodeInvalid, "at must be the number of an operation of the lesson, from 1 to %d, not %d", last, q.At)
	case q.At > 0 && !keeps(q):
		return nil, routine.Errorf(routine.CodeInvalid, "at needs keep: an operation that is not kept replaces none")
	case l.tries+len(q.Operations) > maxTries:
		return nil, routine.Errorf(routine.CodeLessonLimit, "%d operations were tried in this lesson, %d at most: save_lesson saves those that are kept, "+
			"start_lesson opens another", l.tries, maxTries)
	case keeps(q) && len(l.kept)+len(q.Operations) > maxKept:
		return nil, routine.Errorf(routine.CodeLessonLimit, "%d operations are kept in this lesson, %d at most: undo_operations drops the last ones",
			len(l.kept), maxKept)
	}
	return l.checkWith(ctx, p, q.Values, q.Operations)
}

// checkPauses returns an error if the operations wait for longer than a call may take.
func checkPauses(operations []routine.Operation) error {
	pauses := time.Duration(0)
	for _, o := range operations {
		action, err := operation.Decode(o)
		if err != nil {
			return err
		}
		pauses += operation.PauseOf(action)
	}
	if pauses < callTime {
		return nil
	}
	return routine.Errorf(routine.CodeInvalid, "these operations wait for %v, and a call of a lesson takes at most %v: try them with a shorter pause, "+
		"or wait_for_url; the time of a sleep can be changed with update_routine when the routine is saved",
		pauses, callTime)
}

func keeps(q TryRequest) bool { return q.Keep == nil || *q.Keep }

// try does the operations and keeps those that were done.
func (l *lesson) try(ctx context.Context, q TryRequest, operations []routine.Operation, t *Tried) {
	from, to := len(l.kept), len(l.kept)
	if q.At > 0 {
		from, to = l.replacedBy(q.At, operations)
	}
	var done []*keptOperation
	before := l.look(ctx)
	texts := operation.DescribeAll(operations)
	for i, o := range operations {
		l.lessons.setDoing(l, fmt.Sprintf("operation %d", from+i+1))
		if q.Progress != nil {
			q.Progress(routine.Progress{Index: i, Total: len(operations), Operation: texts[i]})
		}
		k := &keptOperation{raw: o.Raw(), operation: o, text: texts[i]}
		l.tries++
		step := l.perform(ctx, k)
		after := l.look(ctx)
		step.Appeared, step.Gone, step.MoreChanges = changes(before, after, step, k)
		step.looked, step.busy = before != nil && after != nil, after == nil && l.lost == nil
		if step.idle() && l.lost == nil {
			l.awaitFile(ctx, k, &step)
		}
		before = after
		if step.OK && keeps(q) {
			k.raw = withMeasuredTimeout(k)
			done = append(done, k)
		}
		t.Steps = append(t.Steps, step)
		if t.OK = step.OK && l.lost == nil; !t.OK {
			break
		}
	}
	if l.lost != nil {
		t.PageLost = l.lost.Error()
	}
	if n := len(done); n > 0 && n < len(operations) && sameTextForm(operations[n-1].Raw(), operations[n].Raw()) {
		done = done[:n-1] // the action that belongs to this script failed
	}
	atEnd := q.At == 0 || to > len(l.kept)
	first := l.keep(done, from, to, len(done) == len(operations))
	for i := range done {
		t.Steps[i].Number = first + i + 1
	}
	if !l.hasRoutine() || !t.OK || len(done) == 0 {
		return
	}
	if len(l.remaining) > 0 && atEnd {
		l.continueRemaining(ctx, q.At == 0, q.Progress, t)
	}
	if t.OK {
		l.noteLateRequests(ctx)
		t.Next = l.nextSave()
	}
}

// idle reports whether a click or a key was done and nothing is seen of what it did.
func (s Step) idle() bool {
	return s.OK && (s.Record.Type == "click" || s.Record.Type == "press") && s.looked && !s.Moved && s.Result == nil && len(s.Requests) == 0 &&
		len(s.Appeared) == 0 && len(s.Gone) == 0 && len(s.Warnings) == 0
}

// replacedBy returns the range of the kept and remaining operations that the new ones replace
// when at is the number of one of them. It has both operations of a text form, unless exactly
// one of the new operations has the same "x-bridge" and so takes the place of one of them.
func (l *lesson) replacedBy(at int, operations []routine.Operation) (from, to int) {
	all := slices.Concat(l.kept, l.remaining)
	from, to = at-1, at
	halves := 0
	for _, o := range operations {
		if sameTextForm(o.Raw(), all[from].raw) {
			halves++
		}
	}
	if halves == 1 {
		return from, to
	}
	for from > 0 && sameTextForm(all[from-1].raw, all[from].raw) {
		from--
	}
	for to < len(all) && sameTextForm(all[to-1].raw, all[to].raw) {
		to++
	}
	return from, to
}

// keep puts operations in place of a range of the kept and remaining ones and returns the
// index of the first. If the range reaches into the remaining operations and complete is
// false, because some of the new operations failed, they replace nothing and are added at the
// end of the kept ones.
func (l *lesson) keep(done []*keptOperation, from, to int, complete bool) int {
	if len(done) == 0 {
		return from
	}
	n := len(l.kept)
	switch {
	case to > n && complete:
		l.kept, l.remaining = append(l.kept[:from:from], done...), l.remaining[to-n:]
	case to > n || from == n:
		from = n
		l.kept = append(l.kept, done...)
	default:
		l.kept = slices.Replace(l.kept, from, to, done...)
		for _, k := range l.kept[from+len(done):] {
			k.unproved = true
		}
	}
	l.limitMemory()
	return from
}

const (
	// maxKeptResults bounds the results and the stored values of kept operations, in bytes.
	maxKeptResults = 32 << 20
	// maxKeptPageValues is how many of the last kept operations have the values that the
	// page held.
	maxKeptPageValues = 16
)

// limitMemory forgets the oldest results and page values if there are too many.
func (l *lesson) limitMemory() {
	size := 0
	for i, k := range slices.Backward(l.kept) {
		mine := len(judge.Data(k.result)) + len(k.stored)
		if size += mine; size > maxKeptResults && size > mine {
			k.result, k.stored = nil, ""
		}
		if i < len(l.kept)-maxKeptPageValues {
			k.pageValues = routine.PageValues{}
		}
	}
}
