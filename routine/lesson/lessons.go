package lesson

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/service"
)

// Lessons are the lessons of a process. They are not stored: a lesson is work in hand, and
// what is worth keeping is saved as a routine.
type Lessons struct {
	service  *service.Service
	secrets  SecretSource
	observer routine.Observer
	log      *slog.Logger
	now      func() time.Time

	max, maxPerOwner int
	idle, total      time.Duration

	mu     sync.Mutex
	all    map[string]*lesson // by id; also those without a page, for keepTime
	closed bool
	// calls counts the calls that use a lesson, for which Close waits.
	calls sync.WaitGroup
}

// Config has the parts and settings of Lessons. Service is required; the zero value of any
// other field means its default.
type Config struct {
	Service *service.Service
	// Max is how many lessons may be open at the same time (default 2), MaxPerOwner how
	// many of one owner (default 2).
	Max, MaxPerOwner int
	// Idle is how long a lesson stays open without a call (default 10 minutes), Total how
	// long at most (default 60 minutes).
	Idle, Total time.Duration
	// Secrets has the operator's secrets; nil means that there are none.
	Secrets SecretSource
	// Log is the logger; nil discards what is logged.
	Log *slog.Logger
	// Observer is called for lessons and their operations; nil means no observer.
	Observer routine.Observer
	// Now is the clock; nil means the system's clock.
	Now func() time.Time
}

// The bounds of lessons and the defaults of a Config.
const (
	defaultOpen  = 2
	defaultIdle  = 10 * time.Minute
	defaultTotal = 60 * time.Minute

	// keepTime is how long the operations of a lesson without a page are kept, and how
	// long it is known why a lesson ended.
	keepTime = time.Hour
	// maxWithoutPage bounds the lessons that are kept without a page. The one whose page
	// was closed first is forgotten first.
	maxWithoutPage = 20
)

// New returns Lessons. They must be closed before their service.
func New(c Config) *Lessons {
	s := &Lessons{service: c.Service, secrets: c.Secrets, observer: c.Observer, log: c.Log, now: c.Now, max: cmp.Or(c.Max, defaultOpen),
		maxPerOwner: cmp.Or(c.MaxPerOwner, defaultOpen), idle: cmp.Or(c.Idle, defaultIdle), total: cmp.Or(c.Total, defaultTotal), all: map[string]*lesson{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.observer == nil {
		s.observer = routine.NoObserver{}
	}
	if s.now == nil {
		s.now = func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
	}
	return s
}

// Close ends all lessons, and the calls that use one. It waits for these calls.
func (s *Lessons) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.all {
		s.closePage(l, routine.LessonLost, "the service was stopped")
		s.remove(l)
	}
	s.mu.Unlock()
	s.calls.Wait()
}

// create makes an open lesson of p without a page yet. The caller uses it until release. If
// too many lessons are open, the oldest lesson of p that is finished ends. CodeBusy if there is
// none, CodeShuttingDown.
func (s *Lessons) create(ctx context.Context, p routine.Principal, incognito bool, session string, block []string) (
	_ context.Context, _ *lesson, release func(), _ error) {

	s.mu.Lock()
	defer s.mu.Unlock()
	l := &lesson{lessons: s, id: "Lesson_" + uuid.NewString(), owner: p, incognito: incognito, block: block, createdAt: s.now(),
		newSession: session, startsFrom: session, given: map[string]givenValue{}}
	if full, _ := s.full(p); full && !s.closed {
		l.endedForIt = s.endFinished(p)
	}
	if err := s.open(l); err != nil {
		return nil, nil, nil, err
	}
	s.all[l.id] = l
	l.lastInfo = l.info()
	ctx, release = s.beginCall(ctx, l, "its start")
	return ctx, l, release, nil
}

// open makes a lesson an open one, if there is room for it, and starts its timer. s.mu is
// locked. CodeBusy, CodeShuttingDown.
func (s *Lessons) open(l *lesson) error {
	if s.closed {
		return &routine.Error{Code: routine.CodeShuttingDown, Message: "the service is stopping: try again", RetryAfter: 5 * time.Second}
	}
	if full, err := s.full(l.owner); full {
		return err
	}
	l.state, l.openedAt, l.saved, l.finished = Open, s.now(), false, false
	l.openings++
	opening := l.openings
	l.totalTimer = time.AfterFunc(s.total, func() {
		s.expire(l, func() bool { return l.openings == opening }, "after it was open for "+spell(s.total))
	})
	s.observer.LessonStarted()
	s.log.Info("lesson started", "lesson", l.id, "owner", l.owner.UserID, "project", l.owner.ProjectID)
	return nil
}

// full reports whether p can open no lesson, and returns the error that says so. If p has as
// many lessons as one owner may have, waiting does not help: the error names one to end. s.mu
// is locked.
func (s *Lessons) full(p routine.Principal) (bool, *routine.Error) {
	open := 0
	var own []*lesson
	for _, l := range s.all {
		if l.state == Open {
			open++
		}
		if l.state == Open && l.ownedBy(p) {
			own = append(own, l)
		}
	}
	slices.SortFunc(own, func(a, b *lesson) int { return cmp.Or(a.createdAt.Compare(b.createdAt), strings.Compare(a.id, b.id)) })
	var ids []string
	for _, l := range own {
		ids = append(ids, l.id)
	}
	switch {
	case len(own) >= s.maxPerOwner || open >= s.max && len(own) == open:
		return true, &routine.Error{Code: routine.CodeBusy, Message: fmt.Sprintf("%d of your %d lessons are open: %s. Save one if it is worth keeping, then end it: "+
			"end_lesson {\"lesson\":%s}", len(own), min(s.maxPerOwner, s.max), strings.Join(ids, ", "), routine.JSONText(ids[0]))}
	case open >= s.max && len(own) > 0:
		return true, &routine.Error{Code: routine.CodeBusy, RetryAfter: busyRetry,
			Message: fmt.Sprintf("%d of %d lessons are open; end_lesson ends one of yours: %s", open, s.max, strings.Join(ids, ", "))}
	case open >= s.max:
		return true, &routine.Error{Code: routine.CodeBusy, RetryAfter: busyRetry, Message: fmt.Sprintf("%d of %d lessons are open", open, s.max)}
	}
	return false, nil
}

// busyRetry is the Retry-After when others have too many lessons open.
const busyRetry = 30 * time.Second

// endFinished ends the oldest lesson of p that is finished and that no call uses, and returns
// its id; empty if there is none. s.mu is locked.
func (s *Lessons) endFinished(p routine.Principal) string {
	var oldest *lesson
	for _, l := range s.all {
		if l.state == Open && l.finished && l.busy == "" && l.ownedBy(p) && (oldest == nil || l.createdAt.Before(oldest.createdAt)) {
			oldest = l
		}
	}
	if oldest == nil {
		return ""
	}
	s.end(oldest, "because it was saved and start_lesson opened another one")
	return oldest.id
}

// expire closes the page of a lesson whose time is over, if due still holds.
func (s *Lessons) expire(l *lesson, due func() bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if due() {
		s.closePage(l, routine.LessonIdle, why)
	}
}

// closePage closes the page of an open lesson and cancels the call that uses it. The
// operations are kept for keepTime. s.mu is locked.
func (s *Lessons) closePage(l *lesson, end routine.LessonEnd, why string) {
	if l.state != Open {
		return
	}
	if l.saved {
		end = routine.LessonSaved
	}
	l.state, l.closedAt, l.why = PageLost, s.now(), why
	l.lastInfo.State, l.lastInfo.EndsAt = PageLost, l.closedAt.Add(keepTime)
	stopTimer(l.totalTimer)
	stopTimer(l.idleTimer)
	if l.busy != "" {
		l.cancelCall(l.pageLost())
	} else {
		l.dropPage()
	}
	l.forgetTimer = time.AfterFunc(keepTime, func() { s.forget(l) })
	s.observer.LessonEnded(end)
	s.log.Info("lesson ended", "lesson", l.id, "owner", l.owner.UserID, "project", l.owner.ProjectID, "operations", len(l.lastInfo.Operations),
		"tries", l.lastTries, "seconds", l.closedAt.Sub(l.openedAt).Seconds(), "end", string(end), "reason", why)
	s.forgetOldest()
}

// lose closes the page of a lesson that the caller uses, because it no longer works, and
// returns the error that says so.
func (s *Lessons) lose(l *lesson, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closePage(l, routine.LessonLost, why)
	return l.pageLost()
}

// discard ends a lesson that the caller uses, because it could not be started.
func (s *Lessons) discard(l *lesson) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closePage(l, routine.LessonLost, "because it could not be started")
	s.remove(l)
}

// forget removes a lesson that has had no page for keepTime.
func (s *Lessons) forget(l *lesson) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.state != Open && l.busy == "" {
		s.remove(l)
	}
}

// forgetOldest removes the lessons without a page that are more than maxWithoutPage. s.mu
// is locked.
func (s *Lessons) forgetOldest() {
	var closed []*lesson
	for _, l := range s.all {
		if l.state != Open && l.busy == "" {
			closed = append(closed, l)
		}
	}
	slices.SortFunc(closed, func(a, b *lesson) int { return a.closedAt.Compare(b.closedAt) })
	for _, l := range closed[:max(0, len(closed)-maxWithoutPage)] {
		s.remove(l)
	}
}

// remove removes a lesson without a page. s.mu is locked.
func (s *Lessons) remove(l *lesson) {
	stopTimer(l.forgetTimer)
	delete(s.all, l.id)
}

// stopTimer stops a timer that may be nil.
func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}
