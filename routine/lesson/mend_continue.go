package lesson

import (
	"context"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// continueRemaining does the operations of a mended or imported routine that come after the ones
// just tried, up to one that fails or may act on the site. inserted reports whether the tried ones
// were added in front of the operation that failed, which is then done only if its element is
// there.
func (l *lesson) continueRemaining(ctx context.Context, inserted bool, progress func(routine.Progress), t *Tried) {
	if inserted && !l.nextIsThere(ctx) {
		t.Stopped = fmt.Sprintf("Operation %d, %s, still finds no element.", len(l.kept)+1, l.remaining[0].summary())
		return
	}
	total := len(l.kept) + len(l.remaining)
	for len(l.remaining) > 0 && l.lost == nil {
		number := len(l.kept) + 1
		what, absent, err := l.mayAct(ctx, l.remaining[0])
		switch {
		case err != nil:
			t.Stopped = fmt.Sprintf("Operation %d was not done: %s.", number, l.session.Mask(routine.AsError(err).Message))
			return
		case what != "":
			t.Stopped = fmt.Sprintf("Operation %d, %s, %s: it was not done by itself.", number, l.remaining[0].summary(), what)
			t.proposed = fmt.Sprintf("try_operation {\"lesson\":%s,\"at\":%d,\"operation\":%s}",
				routine.JSONText(l.id), number, routine.Truncate(string(l.remaining[0].raw), maxOperationText))
			return
		}
		var step Step
		switch {
		case absent != nil && absent.OK:
			step = l.skipNext(*absent)
		case absent != nil:
			step = *absent
			step.Record.Index = number - 1
		default:
			step = l.doNext(ctx, total, progress)
		}
		if step.OK && l.imported != nil && l.replaceTextForm(ctx) {
			continue
		}
		t.Steps = append(t.Steps, step)
		if !step.OK {
			t.OK = false
			t.Failure = l.failureNow(step, -1)
			if l.lost == nil {
				t.Candidates, _ = l.candidates(ctx, step.Error.Code)
			}
			return
		}
	}
}

// nextIsThere reports whether the element of the next remaining operation is on the page. It
// is true for an operation that needs none.
func (l *lesson) nextIsThere(ctx context.Context) bool {
	k := l.remaining[0]
	_, values, err := l.valuesOf([]routine.Operation{k.operation})
	if err != nil {
		return true // which doing it will say
	}
	selector := selectorOf(k.operation, values)
	kind, _ := operation.KindOf(k.operation.Type())
	if selector == "" {
		return true
	}
	d, err := l.page.Describe(ctx, selector, kind.Use, l.session.Secrets())
	return err != nil || d.Matches > 0
}

// nextSave is the call that saves a mended or imported routine. It says what to do about the operations
// that act on the site.
func (l *lesson) nextSave() string {
	prove, repeated := "", ""
	acting := l.actingOperations()
	if len(acting) > 0 {
		prove = `,"prove":"check_last"`
		for _, o := range acting[:len(acting)-1] {
			repeated += fmt.Sprintf(" Operation %d %s.", o.index+1, o.does)
		}
	}
	if l.imported != nil {
		return fmt.Sprintf(`save_lesson {"lesson":%s,"name":%s%s}%s`, routine.JSONText(l.id), routine.JSONText(l.imported.Name), prove, repeated)
	}
	return fmt.Sprintf(`save_lesson {"lesson":%s,"expected_version":%d%s}%s`, routine.JSONText(l.id), l.newest, prove, repeated)
}

// mended adds what came of the routine that is mended.
func (a *answer) mended(t *Tried) {
	if t.Stopped != "" {
		a.page("%s", t.Stopped)
	}
	if t.proposed != "" {
		a.line("To do it: %s", t.proposed)
	}
	if t.Failure != nil {
		a.page("%s", strings.TrimSuffix(candidatesText(t.ID, t.Failure.Operation, t.Candidates), "\n"))
	}
	if t.Next != "" {
		a.line("Next: %s", t.Next)
	}
}
