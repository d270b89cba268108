package lesson

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

// acquire returns a lesson of p for one call, which is the only one that uses it until release.
// The returned context also ends when the lesson does. doing says what the call does, as in
// "operation 4". The lesson may have no page. CodeNotFound also if the lesson belongs to
// somebody else; CodeConflict while another call uses it; the codes of MayTeach.
func (s *Lessons) acquire(ctx context.Context, p routine.Principal, id, doing string) (_ context.Context, _ *lesson, release func(), _ error) {
	if err := s.service.MayTeach(p); err != nil {
		return nil, nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acquireLocked(ctx, p, id, doing)
}

// acquireWithPage is acquire for a call that needs the page. CodePageLost.
func (s *Lessons) acquireWithPage(ctx context.Context, p routine.Principal, id, doing string) (_ context.Context, _ *lesson, release func(), _ error) {
	if err := s.service.MayTeach(p); err != nil {
		return nil, nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, err := s.find(p, id); err == nil && l.state != Open {
		return nil, nil, nil, l.pageLost()
	}
	return s.acquireLocked(ctx, p, id, doing)
}

// acquireLocked is acquire after the check of the scopes. s.mu is locked.
func (s *Lessons) acquireLocked(ctx context.Context, p routine.Principal, id, doing string) (_ context.Context, _ *lesson, release func(), _ error) {
	l, err := s.find(p, id)
	if err != nil {
		return nil, nil, nil, err
	}
	if l.busy != "" {
		return nil, nil, nil, routine.Errorf(routine.CodeConflict, "the lesson is busy with %s; ask again", l.busy)
	}
	ctx, release = s.beginCall(ctx, l, doing)
	return ctx, l, release, nil
}

// beginCall starts a call that uses l. s.mu is locked.
func (s *Lessons) beginCall(ctx context.Context, l *lesson, doing string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.busy, l.cancelCall = doing, cancel
	l.uses++
	stopTimer(l.idleTimer)
	s.calls.Add(1)
	return ctx, func() {
		defer s.calls.Done()
		defer cancel(nil)
		s.endCall(l)
	}
}

// endCall ends a call that uses l. A lesson that was removed meanwhile, or has ended, is
// cleared.
func (s *Lessons) endCall(l *lesson) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.busy, l.cancelCall = "", nil
	if l.state == Open && l.page == nil { // it could not be opened
		s.closePage(l, routine.LessonLost, "its page could not be opened")
	}
	switch removed := s.all[l.id] != l; {
	case removed, l.state == Ended:
		l.clear()
	case l.state == Open:
		uses := l.uses
		l.idleTimer = time.AfterFunc(s.idle, func() {
			s.expire(l, func() bool { return l.uses == uses }, "after "+spell(s.idle)+" without a call")
		})
	default:
		l.dropPage()
		stopTimer(l.forgetTimer)
		l.forgetTimer = time.AfterFunc(keepTime, func() { s.forget(l) })
	}
	l.lastInfo, l.lastTries = l.info(), l.tries
}

// reopen makes a lesson that the caller uses an open one again. It needs a new page then.
// CodeBusy, CodeShuttingDown, CodeNotFound if it has ended.
func (s *Lessons) reopen(l *lesson) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l.state {
	case Open:
		return nil
	case Ended:
		return l.ended()
	}
	stopTimer(l.forgetTimer)
	return s.open(l)
}

// describe returns the lesson as it is now. The caller uses it.
func (s *Lessons) describe(l *lesson) Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.info()
}

// markSaved notes that a routine was made of the lesson. finished reports whether nothing is
// left to mend.
func (s *Lessons) markSaved(l *lesson, finished bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.saved, l.finished = true, finished
}

// markChanged notes that the operations of a lesson may differ from those that were saved.
func (s *Lessons) markChanged(l *lesson) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.finished = false
}

// setDoing changes what other calls are told that l is busy with.
func (s *Lessons) setDoing(l *lesson, doing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.busy = doing
}

// find returns a lesson of p that has not ended. s.mu is locked. CodeNotFound.
func (s *Lessons) find(p routine.Principal, id string) (*lesson, error) {
	l, ok := s.all[id]
	switch {
	case !ok || !l.ownedBy(p):
		return nil, routine.Errorf(routine.CodeNotFound, "there is no lesson %s; start_lesson opens one", routine.Quote(routine.Truncate(id, 60)))
	case l.state == Ended:
		return nil, l.ended()
	}
	return l, nil
}

// ended returns the error of a call for a lesson that has ended. Lessons.mu is locked.
func (l *lesson) ended() *routine.Error {
	return routine.Errorf(routine.CodeNotFound, "there is no lesson %s: it ended %s ago, %s; start_lesson opens another",
		l.id, spell(l.lessons.now().Sub(l.closedAt)), l.why)
}

// List returns the lessons of p, oldest first. An administrator gets all lessons of the
// project, without the operations of others. The codes of MayTeach.
func (s *Lessons) List(p routine.Principal) ([]Info, error) {
	if err := s.service.MayTeach(p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Info{}
	for _, l := range s.all {
		info := l.lastInfo
		switch {
		case l.state == Ended:
			continue
		case l.ownedBy(p):
		case p.Has(routine.ScopeAdmin) && l.owner.OrganizationID == p.OrganizationID && l.owner.ProjectID == p.ProjectID:
			info.Operations, info.Remaining = []Operation{}, nil
		default:
			continue
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b Info) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// Get returns a lesson of p, as it was after the last call that has ended. CodeNotFound and
// the codes of MayTeach.
func (s *Lessons) Get(p routine.Principal, id string) (Info, error) {
	if err := s.service.MayTeach(p); err != nil {
		return Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.find(p, id)
	if err != nil {
		return Info{}, err
	}
	return l.lastInfo, nil
}

// End ends a lesson of p: its page is closed and its operations are forgotten. A call that
// uses it is cancelled. CodeNotFound and the codes of MayTeach.
func (s *Lessons) End(_ context.Context, p routine.Principal, id string) (Info, error) {
	if err := s.service.MayTeach(p); err != nil {
		return Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.find(p, id)
	if err != nil {
		return Info{}, err
	}
	return s.end(l, "when end_lesson was called"), nil
}

// end ends a lesson and returns it as it was. why completes "it ended 3 minutes ago, …".
// s.mu is locked.
func (s *Lessons) end(l *lesson, why string) Info {
	s.closePage(l, routine.LessonEnded, why)
	info := l.lastInfo
	if l.busy != "" {
		l.cancelCall(routine.Errorf(routine.CodeNotFound, "the lesson was ended by another call"))
	}
	info.State, info.EndsAt = Ended, s.now()
	l.state, l.closedAt, l.why = Ended, info.EndsAt, why
	if l.busy == "" {
		l.clear()
	}
	return info
}

// spell writes a duration in words: 12 hours, 10 minutes, 1 second.
func spell(d time.Duration) string {
	n, unit := int(d/time.Second), "second"
	switch {
	case d >= 2*time.Hour:
		n, unit = int(d/time.Hour), "hour"
	case d >= 2*time.Minute:
		n, unit = int(d/time.Minute), "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
