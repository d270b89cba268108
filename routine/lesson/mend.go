package lesson

import (
	"context"
	"fmt"
	"time"

	"rote/routine"
	"rote/routine/lesson/candidate"
	"rote/routine/operation"
)

// startMend opens a lesson in which the operations of a routine are done, up to the one that
// fails. The errors are those of planMend and Start; CodeConflict if an operation may act on
// the site again and the caller did not say until.
func (s *Lessons) startMend(ctx context.Context, p routine.Principal, q StartRequest) (*Started, error) {
	plan, err := s.planMend(ctx, p, q)
	if err != nil {
		return nil, err
	}
	incognito := plan.definition.Incognito
	if q.Incognito != nil {
		incognito = *q.Incognito
	}
	ctx, l, release, err := s.create(ctx, p, incognito && q.Session == "", q.Session, plan.definition.Block)
	if err != nil {
		return nil, err
	}
	defer release()
	started, err := l.startMend(ctx, plan, q)
	if err == nil && ctx.Err() != nil {
		err = routine.CauseOf(ctx) // nobody learns which lesson it is
	}
	if err != nil {
		s.discard(l)
		return nil, err
	}
	return started, nil
}

// startMend opens the page of a new lesson, does the operations of the plan and says what
// could take the place of the one that fails.
func (l *lesson) startMend(ctx context.Context, plan *mendPlan, q StartRequest) (*Started, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, replayTime, errReplayTime)
	defer cancel()
	l.mendedRoutine, l.version, l.declared = plan.routine.ID, plan.version, plan.definition.Parameters
	l.newest = plan.routine.Version
	if err := l.setValues(plan.values); err != nil {
		return nil, err
	}
	operations := plan.definition.Operations
	if _, _, err := l.valuesOf(operations[:plan.until]); err != nil {
		return nil, err
	}
	if !l.incognito && l.newSession == "" {
		var err error
		if l.startsFrom, err = l.sessionOf(plan.definition); err != nil {
			return nil, err
		}
	}
	if err := l.openPage(ctx); err != nil {
		return nil, err
	}
	l.addRemaining(operations)
	done, err := l.doUntil(ctx, plan, q.Progress)
	if err != nil {
		return nil, err
	}
	started := &Started{Done: done, Failure: plan.failure(), SessionWarning: l.sessionWarning, Ended: l.endedForIt, idle: l.lessons.idle}
	if plan.routine.Version != plan.version {
		started.Newest = plan.routine.Version
	}
	if n := len(done); n > 0 && !done[n-1].OK {
		started.Failure = l.failureNow(done[n-1], plan.failed)
	}
	scope := ""
	if f := started.Failure; f != nil && f.Operation == len(l.kept)+1 && l.page != nil {
		started.Candidates, scope = l.candidates(ctx, f.Code)
	}
	if l.page != nil {
		started.Snapshot = l.mendSnapshot(ctx, scope)
	}
	started.Info = l.lessons.describe(l)
	return started, nil
}

// addRemaining adds operations that are to be done to a lesson that has none.
func (l *lesson) addRemaining(operations []routine.Operation) {
	for i, text := range operation.DescribeAll(operations) {
		k := &keptOperation{raw: operations[i].Raw(), operation: operations[i], text: text, fromStoredRoutine: l.mendedRoutine != ""}
		l.remaining = append(l.remaining, k)
	}
}

var errReplayTime = &routine.Error{Code: routine.CodeTimeout, Message: fmt.Sprintf("the operations of one call take at most %v", replayTime)}

// failureNow describes the next operation, which fails in the lesson. then is the index of the
// one that failed in the execution; -1 if there is none.
func (l *lesson) failureNow(step Step, then int) *Failure {
	f := &Failure{Operation: len(l.kept) + 1, Of: len(l.kept) + len(l.remaining), Summary: operation.Describe(l.remaining[0].operation),
		Code: step.Error.Code, Message: ownMessage(l.remaining[0].operation, step.Error.Message), At: l.lessons.now()}
	if then >= 0 && then+1 != f.Operation {
		f.Then = then + 1
	}
	return f
}

// doUntil does the operations of the plan and moves them from the remaining ones to the kept
// ones. It stops at the first that fails, or that the server answers with an error status.
// CodeConflict before one that may act on the site, if the caller has not confirmed it.
func (l *lesson) doUntil(ctx context.Context, plan *mendPlan, progress func(routine.Progress)) ([]Step, error) {
	steps := []Step{}
	for i := range plan.until {
		if !plan.confirmed {
			what, absent, err := l.mayAct(ctx, l.remaining[0])
			switch {
			case err != nil:
				return nil, err
			case what != "":
				return nil, refuseToAct(plan, i, what)
			case absent != nil && absent.OK:
				steps = append(steps, l.skipNext(*absent))
				continue
			case absent != nil:
				absent.Record.Index = i
				return append(steps, *absent), nil
			}
		}
		step := l.doNext(ctx, len(plan.definition.Operations), progress)
		if step.OK && !plan.confirmed && answeredWithError(step.Record) {
			step.OK, step.Number, step.Error = false, 0, &StepError{routine.CodeHTTPError, refusal(step.Record)}
			last := len(l.kept) - 1
			l.remaining = append([]*keptOperation{l.kept[last]}, l.remaining...)
			l.kept = l.kept[:last]
		}
		steps = append(steps, step)
		if !step.OK {
			break
		}
	}
	return steps, nil
}

// doNext does the first of the remaining operations and keeps it if it works. total is the
// number of operations for the progress.
func (l *lesson) doNext(ctx context.Context, total int, progress func(routine.Progress)) Step {
	k, at := l.remaining[0], len(l.kept)
	if progress != nil {
		progress(routine.Progress{Index: at, Total: total, Operation: operation.Describe(k.operation)})
	}
	step := l.replay(ctx, []*keptOperation{k}, nil)[0]
	step.Record.Index, k.record.Index = at, at
	if step.OK {
		step.Number = at + 1
		l.kept, l.remaining = append(l.kept, k), l.remaining[1:]
	}
	return step
}

// skipNext keeps the first of the remaining operations, an optional one, without doing it: its
// element is not there.
func (l *lesson) skipNext(step Step) Step {
	k, at := l.remaining[0], len(l.kept)
	step.Number, step.Record.Index, step.subject = at+1, at, k.subject()
	k.record, k.element, k.acting, k.unproved = step.Record, nil, nil, false
	k.firstRequest, k.lastRequest = l.lastRequest+1, l.lastRequest
	if at > 0 {
		k.url = l.kept[at-1].url
	}
	l.kept, l.remaining = append(l.kept, k), l.remaining[1:]
	return step
}

func refuseToAct(plan *mendPlan, i int, what string) error {
	return routine.Errorf(routine.CodeConflict, "doing the first %d operations again may act on the site: operation %d, %s, %s. "+
		"Say until %d to do them all the same, or until %d to stop before it",
		plan.until, i+1, operation.Describe(plan.definition.Operations[i]), what, plan.until, i)
}

// mayAct says what a remaining operation may do to the site when it is done; empty if nothing. An
// operation whose element does not come is not done at all: absent is its failure then, or says
// that it was skipped if it is optional.
func (l *lesson) mayAct(ctx context.Context, k *keptOperation) (what string, absent *Step, err error) {
	effectOf := effectOf
	if l.imported != nil {
		effectOf = importedEffect
	}
	f, request := effectOf(k.operation)
	switch {
	case f == acts:
		return actingText(k.operation, request), nil, nil
	case f == reads:
		return "", nil, nil
	case l.imported != nil && acceptsDialog(k.operation):
		return "may act on the site: it accepts the dialog that it opens", nil, nil
	case k.operation.Type() == "press":
		if n := len(l.kept); n > 0 && l.kept[n-1].element != nil && !pressMayAct(*l.kept[n-1].element) {
			return "", nil, nil
		}
		return "may send a form", nil, nil
	}
	_, values, err := l.valuesOf([]routine.Operation{k.operation})
	if err != nil {
		if k.operation.Type() == "input_text" {
			err = nil // which doing it will say
		}
		return "", nil, err
	}
	selector := selectorOf(k.operation, values)
	kind, _ := operation.KindOf(k.operation.Type())
	d, err := awaitElement(ctx, l.page, selector, kind.Use, waitFor(k.operation), l.session.Secrets())
	if err != nil {
		return "", nil, err
	}
	if d.Matches == 0 {
		message := fmt.Sprintf("no element matches %s", routine.Quote(selector))
		if isOptional(k.operation) {
			return "", &Step{OK: true, Record: routine.OperationRecord{Type: k.operation.Type(),
				Details: map[string]any{"skipped": true, "reason": message}}}, nil
		}
		return "", &Step{Record: routine.OperationRecord{Type: k.operation.Type(), Error: &message},
			Error: &StepError{routine.CodeElementNotFound, message}}, nil
	}
	switch {
	case l.imported != nil:
		l.hideLiteral(k, d)
		return importedMayAct(k.operation, values, d), nil, nil
	case elementMayAct(d):
		return clickMayAct(d), nil, nil
	}
	return "", nil, nil
}

// clickMayAct says that a click on an element may send something.
func clickMayAct(d routine.ElementDescription) string {
	what := "may send something: it is a " + d.Target.Role + " "
	if d.Target.Name == "" && d.Hint != "" {
		return what + "without a name, with the attributes " + candidate.Quoted(d.Hint)
	}
	return what + candidate.Quoted(d.Target.Name)
}

// actingText says what an operation does that acts on the site by a request; request is that of
// effectOf.
func actingText(o routine.Operation, request string) string {
	if o.Type() == "js_evaluate" && request == scriptRequest {
		return "may act on the site: its script clicks or sends something"
	}
	return "sends " + request
}

// waitFor is how long an operation waits for its element while it is tried.
func waitFor(o routine.Operation) time.Duration {
	wait := tryTimeout * time.Millisecond
	if op, err := operation.Decode(o); err == nil {
		if limit, _, ok := operation.LimitOf(op); ok {
			wait = min(wait, limit)
		}
	}
	return wait
}

// awaitElement describes the element of a page that an operation would act on. It waits for
// it, also while the page cannot be asked because it is being replaced.
func awaitElement(ctx context.Context, page livePage, selector string, use routine.ElementUse, wait time.Duration, secrets []string) (
	routine.ElementDescription, error) {

	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		d, err := page.Describe(ctx, selector, use, secrets)
		if d.Matches > 0 || routine.CodeOf(err) == routine.CodeElementNotFound { // which says that it is no selector
			return d, err
		}
		select {
		case <-tick.C:
		case <-end.C:
			return d, err
		case <-ctx.Done():
			return d, routine.CauseOf(ctx)
		}
	}
}

// candidatesTime bounds the search for candidates.
const candidatesTime = 5 * time.Second

// candidates returns what could take the place of the first remaining operation, which fails
// with a code, and the selector of the part of the page to look at.
func (l *lesson) candidates(ctx context.Context, code routine.Code) ([]candidate.Candidate, string) {
	ctx, cancel := context.WithTimeout(ctx, candidatesTime)
	defer cancel()
	s := &search{page: l.page, secrets: l.session.Secrets(), at: len(l.kept), code: code, before: "about:blank"}
	for _, k := range append(append([]*keptOperation{}, l.kept...), l.remaining...) {
		s.operations = append(s.operations, k.operation)
	}
	if n := len(l.kept); n > 1 {
		s.before = l.kept[n-2].url
	}
	var err error
	if s.parameters, s.values, err = l.valuesOf(s.operations[:s.at+1]); err != nil {
		return nil, ""
	}
	found, scope := s.candidates(ctx)
	return l.withoutSecrets(found), scope
}

// withoutSecrets masks the secrets of the lesson in candidates, and leaves out those whose
// operation would hold one.
func (l *lesson) withoutSecrets(cs []candidate.Candidate) []candidate.Candidate {
	var open []candidate.Candidate
	for _, c := range cs {
		text := string(c.Operation) + c.Selector
		for _, o := range c.Needs {
			text += string(o)
		}
		if l.session.Mask(text) == text {
			c.Why = l.session.Mask(c.Why)
			open = append(open, c)
		}
	}
	return open
}

// mendLook bounds the look at the page of a routine that is mended, in bytes.
const mendLook = 3000

// mendSnapshot looks at the part of the page in which the failed operation belongs; nil if
// the page is busy.
func (l *lesson) mendSnapshot(ctx context.Context, scope string) *Snapshot {
	seen, err := l.snapshot(ctx, SnapshotRequest{Scope: scope, MaxBytes: mendLook})
	if err != nil && scope != "" {
		seen, err = l.snapshot(ctx, SnapshotRequest{MaxBytes: mendLook})
	}
	if err != nil {
		return nil
	}
	return seen
}
