package lesson

import (
	"context"
	"fmt"
	"strings"

	"rote/routine"
)

// Save makes a routine of a lesson of p. The routine is stored as a draft, run once from the
// beginning by an ordinary execution and judged; if it passes it becomes active. A routine
// that is mended stays as it is until its new definition has passed, which is then its next
// version. Without a name, or with DryRun, nothing is stored and the answer says what would be.
// The lesson stays open.
//
// CodeNotProved comes with the answer, which says what failed and what was stored. CodeInvalid
// for a definition or parameters with problems; CodeConflict if the proof would repeat what
// acts on the site and nothing says that it may, or if the routine cannot be changed as it is;
// CodePreconditionFailed if the routine is at another version than expected; the codes of Get
// and of service.Execute.
func (s *Lessons) Save(ctx context.Context, p routine.Principal, id string, q SaveRequest) (*Saved, error) {
	ctx, l, release, err := s.acquire(ctx, p, id, "saving")
	if err != nil {
		return nil, err
	}
	defer release()
	if len(l.kept)+len(l.remaining) == 0 {
		return nil, routine.Errorf(routine.CodeInvalid, "the lesson has no operations to save: try_operation adds one")
	}
	l.noteLateRequests(ctx)
	target, err := s.target(ctx, p, l, q)
	if err != nil {
		return nil, err
	}
	d, err := l.assemble(q, target)
	if err != nil {
		return nil, err
	}
	checked, warnings, err := s.service.Validate(ctx, p, d.text())
	if err != nil {
		return nil, d.withRequestPointers(withoutLines(err))
	}
	d.definition = *checked
	for _, w := range warnings {
		w.Line, w.Column = 0, 0
		d.warnings = append(d.warnings, w)
	}
	w := &saving{lessons: s, lesson: l, caller: p, request: q, draft: d, target: target}
	if err := w.plan(); err != nil {
		return nil, err
	}
	if w.dry() {
		saved := w.dryRun()
		if !q.Whole {
			saved.bound()
		}
		return saved, nil
	}
	saved, err := w.save(ctx)
	if saved != nil {
		saved.bound()
	}
	if saved != nil && saved.Routine != nil {
		s.markSaved(l, err == nil)
	}
	if err == nil && saved.Proof != nil {
		l.dropped = 0 // the proof did not need what the dropped operations have done
	}
	return saved, err
}

// withoutLines removes the places in a text that the caller did not write.
func withoutLines(err error) error {
	e := routine.AsError(err)
	if e.Code != routine.CodeInvalid {
		return err
	}
	problems := append([]routine.Problem{}, e.Problems...)
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	if len(problems) == 0 {
		return err
	}
	return routine.Invalid("routine", problems)
}

// target returns the routine that a save changes: the one that is mended, or the one that
// the lesson was saved as under the same name. It is nil if there is none yet.
func (s *Lessons) target(ctx context.Context, p routine.Principal, l *lesson, q SaveRequest) (*routine.Routine, error) {
	id := l.mendedRoutine
	if id == "" {
		id = l.savedRoutine
	}
	if id == "" {
		return nil, nil
	}
	r, err := s.service.Routine(ctx, p, id)
	if routine.CodeOf(err) == routine.CodeNotFound && l.mendedRoutine == "" {
		return nil, nil // it was deleted
	}
	if err != nil {
		return nil, err
	}
	if l.mendedRoutine == "" && q.Name != "" && q.Name != r.Name {
		return nil, nil // another routine of the same lesson
	}
	if r.Status == routine.StatusArchived {
		return nil, routine.Errorf(routine.CodeConflict, "the routine %s is archived: make it active first, or save under a name as a new one", r.ID)
	}
	return r, nil
}

// saving is one call of Save.
type saving struct {
	lessons *Lessons
	lesson  *lesson
	caller  routine.Principal
	request SaveRequest
	draft   *draft
	target  *routine.Routine // that is changed; nil: a new one is made
	prove   Prove
	// lastActing is the index of the last operation that acts on the site; -1: none does.
	lastActing int
}

// dry reports whether nothing is to be stored.
func (w *saving) dry() bool {
	return w.request.DryRun || w.request.Name == "" && (w.target == nil || w.request.ExpectedVersion == nil)
}

// dryRun says what would be saved.
func (w *saving) dryRun() *Saved {
	next := map[Prove]string{
		ProveAll:       fmt.Sprintf("Saving runs all %d operations again from the beginning.", len(w.draft.steps)),
		ProveCheckLast: fmt.Sprintf("Saving runs the operations before %d again, and only looks for what %d needs.", w.lastActing+1, w.lastActing+1),
		ProveNo:        "Saving stores a draft and runs nothing.",
	}[w.prove]
	if len(w.draft.proposals) > 0 {
		next += ` A text becomes a parameter with "parameters":[{"name":"…","from":"the text"}].`
	}
	return &Saved{Saved: false, Definition: w.draft.text(), Proposals: w.draft.proposals, Replaced: w.draft.replaced, Warnings: w.draft.warnings,
		Next: next + " Nothing is stored yet: call again with a name."}
}

// save stores and proves the definition.
func (w *saving) save(ctx context.Context) (*Saved, error) {
	saved := &Saved{Saved: false, Proposals: w.draft.proposals, Replaced: w.draft.replaced, Warnings: w.draft.warnings}
	expected, err := w.expected()
	if err != nil {
		return nil, err
	}
	draft := w.target == nil || w.target.Status == routine.StatusDraft
	var stored *routine.Routine
	if draft {
		if stored, err = w.storeDraft(ctx, expected, saved); err != nil {
			return nil, err
		}
		w.setRoutine(saved, stored, "draft")
	}
	if w.prove == ProveNo {
		if !draft {
			return w.storeNext(ctx, expected, saved)
		}
		saved.Next = fmt.Sprintf("It is a draft, which nothing has proved. Run it, or save again with prove all; publish_routine %s makes it a tool.", stored.ID)
		return saved, nil
	}
	id := ""
	if draft {
		id = stored.ID
	}
	if saved.Proof, err = w.proof(ctx, id); err != nil {
		return nil, w.notRun(err, saved)
	}
	saved.Warnings = append(saved.Warnings, w.effectWarnings(saved.Proof)...)
	if !saved.Proof.Passed {
		return w.notProved(saved)
	}
	if !draft {
		return w.storeNext(ctx, expected, saved)
	}
	active, _, err := w.lessons.service.PatchRoutine(ctx, w.caller, stored.ID, []byte(`{"routine_status":"active"}`), []int{stored.Version})
	if err != nil {
		return nil, err
	}
	w.setRoutine(saved, active, true)
	saved.Next = w.activeNext(active)
	return saved, nil
}

// expected returns the versions of the target that may be changed; nil without a target.
func (w *saving) expected() ([]int, error) {
	l, r := w.lesson, w.target
	if r == nil {
		if w.request.ExpectedVersion != nil {
			return nil, routine.Errorf(routine.CodeInvalid, "expected_version is for a routine that is mended: this lesson makes a new one")
		}
		return nil, nil
	}
	version := l.version
	if l.mendedRoutine == "" {
		version = l.savedVersion
	}
	if w.request.ExpectedVersion != nil {
		version = *w.request.ExpectedVersion
	}
	if version != r.Version {
		return nil, routine.Errorf(routine.CodePreconditionFailed, "the routine is at version %d, not %d: somebody has changed it. "+
			`Look at that version first, then save with "expected_version":%d`, r.Version, version, r.Version)
	}
	return []int{version}, nil
}

// storeDraft stores the definition as a draft: a new one, or the next version of one.
func (w *saving) storeDraft(ctx context.Context, expected []int, saved *Saved) (*routine.Routine, error) {
	var stored *routine.Routine
	var warnings []routine.Problem
	var err error
	if w.target == nil {
		stored, warnings, err = w.lessons.service.CreateDraft(ctx, w.caller, w.draft.text())
	} else {
		stored, warnings, err = w.lessons.service.ReplaceRoutine(ctx, w.caller, w.target.ID, w.draft.text(), expected)
	}
	if err != nil {
		return nil, withoutLines(err)
	}
	for _, p := range warnings {
		if strings.HasPrefix(p.Code, "duplicate_") { // the others are in the list already
			p.Line, p.Column = 0, 0
			saved.Warnings = append(saved.Warnings, p)
		}
	}
	return stored, nil
}

// storeNext stores the definition as the next version of an active routine.
func (w *saving) storeNext(ctx context.Context, expected []int, saved *Saved) (*Saved, error) {
	r, _, err := w.lessons.service.ReplaceRoutine(ctx, w.caller, w.target.ID, w.draft.text(), expected)
	if err != nil {
		return nil, withoutLines(err)
	}
	if saved.Patch, err = w.lessons.service.DiffVersions(ctx, w.caller, r.ID, w.target.Version, r.Version); err != nil {
		w.lessons.log.WarnContext(ctx, "cannot compare versions", "routine_id", r.ID, "error", err)
	}
	w.setRoutine(saved, r, true)
	saved.Next = w.activeNext(r)
	if w.prove == ProveNo {
		saved.Next += " Nothing has proved this version."
	}
	return saved, nil
}

// setRoutine notes what was stored, in the answer and in the lesson.
func (w *saving) setRoutine(saved *Saved, r *routine.Routine, how any) {
	saved.Saved = how
	saved.Routine = &SavedRoutine{ID: r.ID, Name: r.Name, Version: r.Version, Status: r.Status}
	if r.Published() {
		saved.Routine.ToolName = r.ToolName
	}
	if w.lesson.mendedRoutine != "" {
		w.lesson.version = r.Version
		return
	}
	w.lesson.savedRoutine, w.lesson.savedVersion = r.ID, r.Version
}

// activeNext says what can be done with an active routine.
func (w *saving) activeNext(r *routine.Routine) string {
	if r.Published() {
		return fmt.Sprintf("The tool %s calls it. The lesson is still open: end_lesson ends it.", r.ToolName)
	}
	return "run_routine runs it. The lesson is still open: end_lesson ends it."
}

// notProved returns the answer for a definition that has not passed its proof.
func (w *saving) notProved(saved *Saved) (*Saved, error) {
	what := "the draft is kept"
	if saved.Routine == nil {
		what = fmt.Sprintf("the routine stays at version %d", w.target.Version)
	}
	why := ""
	for _, c := range saved.Proof.Checks {
		if !c.Passed {
			why = routine.Truncate(c.Message, maxCheckMessage)
			break
		}
	}
	saved.Next = "Mend the operation here and save again: try_operation with at replaces it."
	if f := saved.Proof.Failure; f != nil && f.Operation > 0 {
		saved.Next = fmt.Sprintf("Mend operation %d here with try_operation and \"at\":%d, then save again. get_execution %s has the evidence.",
			f.Operation, f.Operation, f.Execution)
		if saved.Routine != nil && f.Execution != "" && w.prove == ProveAll {
			saved.Next += fmt.Sprintf(" Or start_lesson {\"routine\":%q,\"execution\":%q} goes on from there.", saved.Routine.ID, f.Execution)
		}
		if i := f.Operation - 1; i < len(w.lesson.kept) && isAbsence(f.Code) && w.lesson.clicksInDialog(i) {
			saved.Next += " " + optionalAdvice
		}
	}
	return saved, &routine.Error{Code: routine.CodeNotProved, Message: fmt.Sprintf("the proof failed, %s: %s", what, why)}
}

// notRun returns the error of a proof that could not be run, and says what is stored.
func (w *saving) notRun(err error, saved *Saved) error {
	e := routine.AsError(err)
	if saved.Routine == nil {
		return err
	}
	return &routine.Error{Code: e.Code, Problems: e.Problems, RetryAfter: e.RetryAfter, Cause: err,
		Message: fmt.Sprintf("the proof could not be run: %s. The draft %s is kept: save again", strings.TrimRight(e.Message, "."), saved.Routine.ID)}
}
