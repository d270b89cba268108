package lesson

import (
	"context"
	"encoding/json"
	"time"

	"rote/routine"
	"rote/routine/importer"
	"rote/routine/lesson/jsonobject"
	"rote/routine/lesson/textform"
	"rote/routine/operation"
)

// ImportRequest is a recording to import, whose operations are tried if Resolve is set.
type ImportRequest struct {
	importer.Request
	Resolve bool `json:"resolve,omitempty"`
	// Values and Session are those of a [ResolveRequest].
	Values   map[string]json.RawMessage `json:"values,omitempty"`
	Session  string                     `json:"session,omitempty"`
	Progress func(routine.Progress)     `json:"-"`
}

// Check returns an error if the request has fields that need another one. CodeInvalid.
func (q ImportRequest) Check() error {
	if !q.Resolve && (q.Values != nil || q.Session != "") {
		return routine.Errorf(routine.CodeInvalid, "values and session are for resolve, which tries the operations: set it to true")
	}
	return nil
}

// Imported is the answer to an ImportRequest.
type Imported struct {
	importer.Imported
	// Resolved is what trying the operations came to; nil if that was not asked for, or if the
	// routine is not valid.
	Resolved *Resolved `json:"resolved,omitempty"`
}

// Import makes a routine of a recording and, if that is valid, tries its operations. The errors
// are those of service.Import and Resolve.
func (s *Lessons) Import(ctx context.Context, p routine.Principal, q ImportRequest) (*Imported, error) {
	imported, err := s.service.Import(ctx, p, q.Request)
	if err != nil {
		return nil, err
	}
	r := &Imported{Imported: *imported}
	if !imported.Valid {
		return r, nil
	}
	r.Resolved, err = s.Resolve(ctx, p, ResolveRequest{Definition: imported.Routine, Values: q.Values, Session: q.Session, Progress: q.Progress})
	if err != nil {
		return nil, err
	}
	if saved, err := s.Save(ctx, p, r.Resolved.ID, SaveRequest{DryRun: true, Whole: true, Prove: ProveNo}); err == nil {
		r.Routine, r.Parameters = saved.Definition, saved.Proposals
	}
	return r, nil
}

// ResolveRequest begins a lesson with the operations of a routine that is not stored, as that of
// an imported recording.
type ResolveRequest struct {
	// Definition is the routine.
	Definition json.RawMessage
	// Values are those of its parameters; see [TryRequest].
	Values map[string]json.RawMessage
	// Session is the name of the saved session from which the lesson's pages start, and that the
	// saved routine has. Empty: none.
	Session  string
	Progress func(routine.Progress)
}

// Resolved is the answer to a ResolveRequest: the operations that were done, and the reason why others were not.
type Resolved struct {
	Tried
	// Replaced are the operations whose elements were found by their texts in the recording, and
	// that have a selector now.
	Replaced []ReplacedTarget `json:"replaced"`
	Snapshot *Snapshot        `json:"snapshot,omitempty"`
	// SessionWarning says that nobody is logged in with the lesson's session, and what to do.
	SessionWarning string `json:"session_warning,omitempty"`
	// Ended is the id of a saved lesson that was ended to open this one.
	Ended string `json:"ended_lesson,omitempty"`

	idle time.Duration
}

// ReplacedTarget is a selector that took the place of texts.
type ReplacedTarget struct {
	// Operation is the number of the operation, from 1.
	Operation int             `json:"operation"`
	Target    textform.Target `json:"target"`
	Selector  string          `json:"selector"`
	Grade     string          `json:"grade"`
}

// Resolve opens a lesson, in which it does the operations of a routine that is not stored, up to
// the first that fails, and stops before one that may buy, send, delete or cancel something.
// Elements that are named by their texts get a selector, if there is one that lasts. The
// operations that were not done are the remaining ones of the lesson. CodeInvalid for a
// definition or values that cannot be used, CodeBusy if too many lessons are open, and the codes
// of MayTeach: then there is no lesson.
func (s *Lessons) Resolve(ctx context.Context, p routine.Principal, q ResolveRequest) (*Resolved, error) {
	if err := s.service.MayTeach(p); err != nil {
		return nil, err
	}
	definition, _, err := s.service.Validate(ctx, p, q.Definition)
	if err != nil {
		return nil, withoutLines(err)
	}
	ctx, l, release, err := s.create(ctx, p, definition.Incognito && q.Session == "", q.Session, definition.Block)
	if err != nil {
		return nil, err
	}
	defer release()
	l.imported, l.declared = definition, definition.Parameters
	resolved, err := l.resolve(ctx, q)
	if err == nil && ctx.Err() != nil {
		err = routine.CauseOf(ctx) // nobody learns which lesson it is
	}
	if err != nil {
		s.discard(l)
		return nil, err
	}
	return resolved, nil
}

// resolve opens the page of a new lesson and does the operations.
func (l *lesson) resolve(ctx context.Context, q ResolveRequest) (*Resolved, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, replayTime, errReplayTime)
	defer cancel()
	if err := l.setValues(q.Values); err != nil {
		return nil, err
	}
	if err := l.openPage(ctx); err != nil {
		return nil, err
	}
	l.addRemaining(l.imported.Operations)
	t := Tried{OK: true, Steps: []Step{}}
	l.continueRemaining(ctx, false, q.Progress, &t)
	r := &Resolved{Tried: t, Replaced: append([]ReplacedTarget{}, l.replaced...), SessionWarning: l.sessionWarning, Ended: l.endedForIt, idle: l.lessons.idle}
	if r.OK {
		r.Next = l.nextSave()
	}
	if l.lost != nil {
		r.PageLost = l.lost.Error()
	} else if seen, err := l.snapshot(ctx, SnapshotRequest{MaxBytes: mendLook}); err == nil {
		r.Snapshot = seen
	}
	r.Info = l.lessons.describe(l)
	return r, nil
}

// lastingGrade is the lowest grade of a selector that takes the place of texts, which last longer
// than those below it.
const lastingGrade = "B"

// replaceTextForm gives the first of the remaining operations a selector in place of the script
// before it, the last kept operation, which has marked its element. It reports whether it did.
// The text form stays if no selector lasts, and if another element may be meant the next time:
// if the texts have a placeholder, or name one of several elements by its number.
func (l *lesson) replaceTextForm(ctx context.Context) bool {
	last := len(l.kept) - 1
	if len(l.remaining) == 0 || !sameTextForm(l.kept[last].raw, l.remaining[0].raw) {
		return false
	}
	mark, action := l.kept[last], l.remaining[0]
	var found struct {
		Target textform.Target `json:"x-target"`
	}
	if json.Unmarshal(mark.raw, &found) != nil || found.Target.Counts() || len(parameterTokens(mark.operation)) > 0 {
		return false
	}
	kind, _ := operation.KindOf(action.operation.Type())
	d, err := l.page.Describe(ctx, selectorOf(action.operation, nil), kind.Use, l.session.Secrets())
	if err != nil || d.Selector == "" || d.Grade > lastingGrade || l.session.Mask(d.Selector) != d.Selector {
		return false
	}
	raw := jsonobject.Replace(action.raw, []string{"selector", "x-bridge", "x-target"}, jsonobject.Member{Name: "selector", Value: routine.RawJSON(d.Selector)})
	l.kept, l.remaining[0] = l.kept[:last], &keptOperation{raw: raw, operation: parsedOperation(raw)}
	l.replaced = append(l.replaced, ReplacedTarget{Operation: last + 1, Target: found.Target, Selector: d.Selector, Grade: d.Grade})
	return true
}
