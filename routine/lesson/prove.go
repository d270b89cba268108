package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/lesson/judge"
	"rote/routine/lesson/parameters"
	"rote/routine/operation"
	"rote/routine/service"
)

// targetTime is how long a proof waits for the element of an operation that it does not do.
const targetTime = 5 * time.Second

// plan decides how the definition is proved. CodeConflict if that would act on the site and
// the request does not say that it may; CodeInvalid.
func (w *saving) plan() error {
	w.prove, w.lastActing = w.request.Prove, -1
	var acting []string
	for _, o := range w.lesson.actingOperations() {
		w.lastActing = o.index
		acting = append(acting, fmt.Sprintf("operation %d %s", o.index+1, o.does))
	}
	switch w.prove {
	case ProveAll, ProveNo:
	case ProveCheckLast:
		if w.lastActing < 0 {
			w.prove = ProveAll // nothing acts
		}
	case "":
		w.prove = ProveAll
		if len(acting) > 0 && !w.dry() {
			return routine.Errorf(routine.CodeConflict, "%s: say prove all, check_last (which stops before operation %d) or no",
				strings.Join(acting, "; "), w.lastActing+1)
		}
		if len(acting) > 0 {
			w.prove = ProveCheckLast
		}
	default:
		return routine.Errorf(routine.CodeInvalid, "prove must be all, check_last or no, not %s", routine.Quote(routine.Truncate(string(w.prove), 40)))
	}
	w.warnOfRepeated()
	if w.prove != ProveNo {
		if _, err := w.bind(w.draft.values); err != nil {
			return err
		}
	}
	if len(w.request.OtherValues) > 0 {
		others, err := w.otherValues()
		if err != nil {
			return err
		}
		if _, err := w.bind(others); err != nil {
			return err
		}
	}
	return nil
}

// warnOfRepeated names the operations that act on the site again although the last one is
// only looked for.
func (w *saving) warnOfRepeated() {
	for _, o := range w.lesson.actingOperations() {
		if w.prove == ProveCheckLast && o.index < w.lastActing {
			w.draft.warnings = append(w.draft.warnings, routine.Problem{Pointer: fmt.Sprintf("/operations/%d", o.index), Code: "acts_again",
				Message: fmt.Sprintf("operation %d %s: check_last leaves out only operation %d", o.index+1, o.does, w.lastActing+1),
				Hint:    "prove no runs nothing"})
		}
	}
}

// bind checks values and converts them to the types of their parameters.
func (w *saving) bind(values map[string]any) (routine.Values, error) {
	return definition.Bind(&w.draft.definition, routine.RawJSON(values))
}

// otherValues returns the values of the second run.
func (w *saving) otherValues() (map[string]any, error) {
	values := maps.Clone(w.draft.values)
	for _, name := range slices.Sorted(maps.Keys(w.request.OtherValues)) {
		g, err := w.lesson.readValue(name, w.request.OtherValues[name])
		if err != nil {
			return nil, err
		}
		if g.from != "" {
			return nil, routine.Errorf(routine.CodeInvalid, "other_values cannot have a stored secret: leave out %s, "+
				"and the second run has the value of the lesson, or give it another value", routine.Quote(routine.Truncate(name, 60)))
		}
		values[name] = g.value
		if p := w.draft.parameter(name); p != nil {
			values[name] = parameters.Value(*p, g.value)
		}
	}
	return values, nil
}

// proof runs the definition and judges what it did. id is the stored draft; empty if the
// definition is not stored yet. The error says why nothing was run.
func (w *saving) proof(ctx context.Context, id string) (*Proof, error) {
	if w.prove == ProveCheckLast {
		return w.proveBeforeLast(ctx)
	}
	former := w.formerResult(ctx)
	first, proof, err := w.run(ctx, id, &w.draft.definition, w.draft.values)
	if err != nil || proof.Failure != nil {
		return proof, err
	}
	known := len(w.lesson.remaining) == 0 // else the lesson does not know the result
	proof.Checks = append(judge.Run(w.outcome(len(w.lesson.kept)), first, known), w.judgeFormer(first.Result, former)...)
	if proof.conclude(); !proof.Passed || len(w.request.OtherValues) == 0 {
		return proof, nil
	}
	values, err := w.otherValues()
	if err != nil {
		return nil, err
	}
	second, other, err := w.run(ctx, id, &w.draft.definition, values)
	if err != nil {
		return nil, err
	}
	if other.Failure != nil {
		proof.Checks = append(proof.Checks, judge.Failed(judge.CheckOtherValues, "%s: %s", judge.ShowValues(w.shown(w.request.OtherValues)), other.Failure.Message))
		proof.Failure, proof.Nearest = other.Failure, other.Nearest
	} else {
		second.Values = w.shown(w.request.OtherValues)
		proof.Checks = append(proof.Checks, judge.OtherValues(first, second)...)
	}
	proof.conclude()
	return proof, nil
}

// conclude sets whether a proof has passed.
func (p *Proof) conclude() {
	p.Passed = !slices.ContainsFunc(p.Checks, func(c judge.Check) bool { return !c.Passed })
}

// shown returns values for a message, secret ones masked.
func (w *saving) shown(given map[string]json.RawMessage) map[string]any {
	values := map[string]any{}
	for name, raw := range given {
		var v any
		if p := w.draft.parameter(name); p != nil && p.Secret || routine.DecodeJSON(raw, &v) != nil {
			v = routine.Masked
		}
		values[name] = v
	}
	return values
}

// open returns the values that are no secrets.
func (w *saving) open(values map[string]any) map[string]any {
	open := maps.Clone(values)
	for _, p := range w.draft.definition.Parameters {
		if p.Secret {
			delete(open, p.Name)
		}
	}
	return open
}

// run runs a definition by an ordinary execution. If an operation fails, the proof says so,
// and the error is nil: that is for what kept the definition from being run.
func (w *saving) run(ctx context.Context, id string, d *routine.Definition, values map[string]any) (judge.Outcome, *Proof, error) {
	return w.runUntil(ctx, id, d, values, func(context.Context, routine.Page) {})
}

// runUntil is run with a function that is called with the page at the end.
func (w *saving) runUntil(ctx context.Context, id string, d *routine.Definition, values map[string]any, ended func(context.Context, routine.Page)) (
	judge.Outcome, *Proof, error) {

	o := judge.Outcome{Values: w.open(values)}
	call := service.Call{Via: routine.ViaProof, Parameters: routine.RawJSON(values), Progress: w.request.Progress,
		Secrets: w.lessons.secretsOf(w.caller),
		Ended: func(ctx context.Context, page routine.Page) {
			if url, err := page.URL(ctx); err == nil {
				o.URL = w.mask(url)
			}
			ended(ctx, page)
		}}
	if id == "" {
		call.Definition = d
	}
	e, err := w.lessons.service.Execute(ctx, w.caller, id, call)
	if e == nil {
		return o, nil, err
	}
	proof := &Proof{Execution: e.ID, Checks: []judge.Check{}}
	if e.DurationSeconds != nil {
		proof.Seconds, o.Seconds = *e.DurationSeconds, *e.DurationSeconds
	}
	if e.Result != nil {
		o.Result, o.Warnings, o.Records = e.Result, e.Result.Warnings, e.Result.OperationsMetadata
	}
	if err != nil {
		proof.Failure = w.failure(e, d, err)
		if e.Evidence != nil {
			proof.Nearest = slices.Clone(e.Evidence.Elements)
		}
		proof.Checks = append(proof.Checks, judge.Failed(judge.CheckStatus, "%s", proof.Failure.Message))
	}
	return o, proof, nil
}

// mask returns a text without the secrets of the lesson.
func (w *saving) mask(text string) string {
	if w.lesson.session == nil {
		return text
	}
	return w.lesson.session.Mask(text)
}

// failure describes the operation at which an execution failed.
func (w *saving) failure(e *routine.Execution, d *routine.Definition, err error) *Failure {
	f := &Failure{Of: len(d.Operations), Code: routine.CodeOf(err), Message: routine.AsError(err).Message, Execution: e.ID, At: w.lessons.now()}
	if e.Result == nil {
		return f
	}
	for _, r := range e.Result.OperationsMetadata {
		if r.Error != nil && r.Index < len(d.Operations) {
			f.Operation, f.Summary = r.Index+1, operation.DescribeAll(d.Operations[:r.Index+1])[r.Index]
			f.Message = ownMessage(d.Operations[r.Index], f.Message)
		}
	}
	return f
}

// outcome is what the first n kept operations came to in the lesson.
func (w *saving) outcome(n int) judge.Outcome {
	o := judge.Outcome{Values: w.open(w.draft.values)}
	for _, k := range w.lesson.kept[:n] {
		o.Records = append(o.Records, k.record)
		o.Warnings = append(o.Warnings, k.warnings...)
		o.Seconds += k.seconds
		if k.result != nil {
			o.Result = k.result
		}
		if k.url != "" {
			o.URL = w.mask(k.url)
		}
	}
	return o
}

// proveBeforeLast runs the operations before the last one that acts on the site, and looks
// for the element that this one needs. It never does that operation.
func (w *saving) proveBeforeLast(ctx context.Context) (*Proof, error) {
	last := w.draft.definition.Operations[w.lastActing]
	number := w.lastActing + 1
	values, err := w.bind(w.draft.values)
	if err != nil {
		return nil, err
	}
	kind, _ := operation.KindOf(last.Type())
	selector := selectorOf(last, values)
	if w.lastActing == 0 {
		return &Proof{Passed: true, Checks: []judge.Check{judge.Warned(judge.CheckLast,
			"operation 1 (%s) was not done, and there is none before it", operation.Describe(last))}}, nil
	}
	before := w.draft.definition
	before.Operations = before.Operations[:w.lastActing]
	found := judge.Warned(judge.CheckLast, "operation %d (%s) was not done, and nothing of it was tried: it names no element to look for",
		number, operation.Describe(last))
	first, proof, err := w.runUntil(ctx, "", &before, w.draft.values, func(ctx context.Context, page routine.Page) {
		if selector != "" {
			found = w.lookFor(ctx, page, number, selector, kind.Use)
		}
	})
	if err != nil || proof.Failure != nil {
		return proof, err
	}
	proof.Checks = append(judge.Run(w.outcome(min(w.lastActing, len(w.lesson.kept))), first, false), found)
	if len(w.request.OtherValues) > 0 {
		proof.Checks = append(proof.Checks, judge.Warned(judge.CheckOtherValues, "the other values were not tried, because operation %d was not done", number))
	}
	proof.conclude()
	return proof, nil
}

// lookFor waits until an operation with the selector could act on an element of the page, and
// says whether it could.
func (w *saving) lookFor(ctx context.Context, page routine.Page, number int, selector string, use routine.ElementUse) judge.Check {
	ctx, cancel := context.WithTimeout(ctx, targetTime)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	live, ok := page.(livePage)
	if !ok {
		return judge.Failed(judge.CheckLast, "this browser cannot describe its pages")
	}
	why := ""
	for {
		elements, err := live.Nearest(ctx, routine.Inspection{Use: use, Selector: selector, Secrets: w.secrets()})
		if err == nil {
			why = "nothing matches " + selector
			for _, e := range elements {
				switch {
				case e.Matched && e.Problem == "":
					return judge.Passed(judge.CheckLast, "operation %d was not done: %s is there and could be used", number, selector)
				case e.Matched:
					why = selector + " " + e.Problem
				}
			}
		}
		select {
		case <-ctx.Done():
			if why == "" {
				why = "the page did not answer"
			}
			return judge.Failed(judge.CheckLast, "operation %d was not done, and it could not be: %s", number, w.mask(why))
		case <-tick.C:
		}
	}
}

// secrets are the texts that nothing may show.
func (w *saving) secrets() []string {
	if w.lesson.session == nil {
		return nil
	}
	return w.lesson.session.Secrets()
}

// effectWarnings names the parameters that have no effect on the result.
func (w *saving) effectWarnings(proof *Proof) []routine.Problem {
	same := func(c judge.Check) bool {
		return c.Check == judge.CheckOtherValues && c.Warning && strings.HasSuffix(c.Message, judge.SameResult)
	}
	if !slices.ContainsFunc(proof.Checks, same) {
		return nil
	}
	var warnings []routine.Problem
	for i, p := range w.draft.definition.Parameters {
		if _, other := w.request.OtherValues[p.Name]; other {
			warnings = append(warnings, routine.Problem{Pointer: fmt.Sprintf("/parameters/%d", i), Code: "parameter_without_effect",
				Message: fmt.Sprintf("with another value of %q the result is the very same", p.Name),
				Hint:    "perhaps an operation still has the first value as a literal: see the proposals"})
		}
	}
	return warnings
}
