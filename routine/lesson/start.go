package lesson

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	"rote/routine"
)

// replayTime bounds a call that does the operations of a lesson again. It is the default
// time of a run, as the operations are to be done by one.
const replayTime = routine.DefaultRunTimeout

// Start opens a lesson on a URL, which is its first operation, or with the operations of a
// routine, up to the one that fails. CodeInvalid, CodeBusy if too
// many lessons are open, the codes of MayTeach and those with which navigate fails: then
// there is no lesson.
func (s *Lessons) Start(ctx context.Context, p routine.Principal, q StartRequest) (*Started, error) {
	if err := s.service.MayTeach(p); err != nil {
		return nil, err
	}
	if err := q.checkSession(); err != nil {
		return nil, err
	}
	switch mends := q.Routine != "" || q.Execution != ""; {
	case mends && q.URL != "":
		return nil, routine.Errorf(routine.CodeInvalid, "give either url or routine")
	case mends:
		return s.startMend(ctx, p, q)
	case q.Until != nil:
		return nil, routine.Errorf(routine.CodeInvalid, "until is for a routine that is mended: give routine, not url")
	case q.URL == "":
		return nil, routine.Errorf(routine.CodeInvalid, "url is required: where the lesson begins; or routine, to mend one")
	case !schemeOrPlaceholder.MatchString(q.URL):
		return nil, routine.Errorf(routine.CodeInvalid, "url must begin with https:// or http://, not %s", routine.Quote(q.URL))
	}
	ctx, l, release, err := s.create(ctx, p, q.Session == "" && (q.Incognito == nil || *q.Incognito), q.Session, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	started, err := l.start(ctx, p, q)
	if err != nil {
		s.discard(l)
	}
	return started, err
}

// schemeOrPlaceholder matches the beginning of a URL that a new page can open: there is no
// page yet to which it could be relative.
var schemeOrPlaceholder = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9+.-]*:|\{\{)`)

// start opens the page of a new lesson and goes to its URL.
func (l *lesson) start(ctx context.Context, p routine.Principal, q StartRequest) (*Started, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errCallTime)
	defer cancel()
	if err := l.setValues(q.Values); err != nil {
		return nil, err
	}
	operations, err := l.check(ctx, p, []json.RawMessage{routine.RawJSON(map[string]string{"type": "navigate", "url": q.URL})})
	if err != nil {
		return nil, err
	}
	if err := l.openPage(ctx); err != nil {
		return nil, err
	}
	k := &keptOperation{raw: operations[0].Raw(), operation: operations[0]}
	steps := l.replay(ctx, []*keptOperation{k}, q.Progress)
	if failure := steps[0].Error; failure != nil {
		return nil, &routine.Error{Code: failure.Code, Message: failure.Message}
	}
	l.kept = append(l.kept, k)
	seen, err := l.snapshot(ctx, SnapshotRequest{})
	if err != nil {
		seen = nil // the page is busy: the author can look at it later
	}
	return &Started{Info: l.lessons.describe(l), Done: steps, Snapshot: seen, SessionWarning: l.sessionWarning, Ended: l.endedForIt, idle: l.lessons.idle}, nil
}

// callTime bounds the operations of one call. It is below the time after which clients of
// MCP give up.
const callTime = 36 * time.Second

var errCallTime = &routine.Error{Code: routine.CodeTimeout, Message: "a call of a lesson takes at most 40 seconds"}
