package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/service"
)

// livePage is the page of a lesson.
type livePage interface {
	routine.Page
	routine.Teachable
}

// lesson is a live page and the operations that were kept. The fields of the first group do
// not change. Those of the second belong to the call that uses the lesson; see
// [Lessons.acquire]. Those of the third are guarded by Lessons.mu.
type lesson struct {
	lessons   *Lessons
	id        string
	owner     routine.Principal
	incognito bool
	block     []string // routine.Definition.Block of the routine that is mended or imported
	createdAt time.Time
	// newSession is the saved session that saving gives the routine; empty: a routine that is
	// mended keeps its own, and a new one has none.
	newSession string
	// endedForIt is the id of the lesson that ended so that this one could be opened; empty
	// if none did.
	endedForIt string

	// startsFrom is the saved session from which the page starts; empty: none.
	startsFrom string
	// sessionWarning says that nobody was logged in with that session when the last page was
	// opened; empty: somebody was.
	sessionWarning string
	// page is nil while there is none. session runs operations on it; after the page is
	// closed it still masks secrets.
	page    livePage
	session *engine.Session
	kept    []*keptOperation
	// remaining are the operations of a mended or imported routine that were not done yet.
	remaining []*keptOperation
	// parameters declare the given values, in the order in which they were first given.
	parameters []routine.Parameter
	given      map[string]givenValue
	// lastRequest is the number of the page's last request that was seen.
	lastRequest int
	// droppedRequests is how many requests the page's log had dropped then.
	droppedRequests int
	// lastActive is the last operation on the page that did more than wait or read. Requests
	// that come late are of it. It is also set if that operation was not kept.
	lastActive *keptOperation
	tries      int
	// typedInLoginForm reports whether the last operation typed into a form with a password
	// field.
	typedInLoginForm bool
	// entered are the documents that operations gave values to, by when they were opened, in
	// milliseconds since 1970; 0 for operations without an element.
	entered map[float64]bool
	// lost says why the page no longer works; nil if it does.
	lost error
	// dropped counts the operations that were undone and whose effects the page still has.
	dropped int
	// mendedRoutine is the routine that is mended, at a version; empty for a new one.
	mendedRoutine string
	version       int
	// newest is the newest version of the mended routine.
	newest int
	// imported is the routine, not stored, with whose operations the lesson was started; nil if
	// it was not. replaced are the operations of it that got a selector.
	imported *routine.Definition
	replaced []ReplacedTarget
	// declared are the parameters of the mended or imported routine.
	declared []routine.Parameter
	// savedRoutine is the routine that a new lesson was saved as, with its version; empty if it
	// was not saved. Saving again changes that routine.
	savedRoutine string
	savedVersion int

	state State
	// saved reports whether a routine was made of the lesson since its page was opened.
	// finished reports whether nothing was changed since, and nothing is left to mend.
	saved, finished bool
	// busy says what the call does that uses the lesson, and cancelCall cancels it; busy is
	// empty if there is none. uses counts these calls.
	busy       string
	cancelCall context.CancelCauseFunc
	uses       int
	// openings counts the pages that were opened.
	openings int
	openedAt time.Time
	closedAt time.Time
	why      string // the page was closed, as in "after 10 minutes without a call"
	idleTimer, totalTimer,
	forgetTimer *time.Timer
	// lastInfo and lastTries describe the lesson as it was when the last call ended.
	lastInfo  Info
	lastTries int
}

// keptOperation is an operation that was done and kept.
type keptOperation struct {
	// raw is the operation as it is saved.
	raw       json.RawMessage
	operation routine.Operation
	// text is a short description; empty for the one that [operation.Describe] gives.
	text string
	// fromStoredRoutine reports whether it is done with the time limits of a run: it is from a stored
	// routine.
	fromStoredRoutine bool
	// element is the element that it acted on, as it was before; nil if it needs none.
	element *routine.ElementDescription
	// inDialog reports whether it is a click on an element in a dialog that has to be there.
	inDialog bool
	// values are those that its placeholders had, and parameters their declarations.
	values     routine.Values
	parameters []routine.Parameter
	record     routine.OperationRecord
	warnings   []string
	// result is what it made the result; nil if it set none.
	result *routine.Result
	// storedKey is the key of the session value that it stored, and stored its text.
	storedKey, stored string
	// url is the page's URL afterwards.
	url string
	// firstRequest and lastRequest are the numbers of the page's requests while it ran and
	// until the page was quiet. There were none if lastRequest is less.
	firstRequest, lastRequest int
	// acting names the requests of it that may have changed something on the site.
	acting []string
	// login reports whether it submitted a form with a password field.
	login bool
	// awaited reports whether its element was not there yet when it began.
	awaited bool
	// seconds is how long it took.
	seconds float64
	// pageValues are what the page held afterwards.
	pageValues routine.PageValues
	// unproved reports whether an operation before it was replaced since it was done, or doing
	// it again was interrupted.
	unproved bool
}

// ownedBy reports whether p is the owner of the lesson. A token of the same user that may
// reach other hosts is not: the page was opened for those of the first call.
func (l *lesson) ownedBy(p routine.Principal) bool {
	return !p.Anonymous() && p.UserID == l.owner.UserID && p.OrganizationID == l.owner.OrganizationID && p.ProjectID == l.owner.ProjectID &&
		slices.Equal(p.AllowedHosts, l.owner.AllowedHosts)
}

// hasRoutine reports whether the lesson was started with the operations of a routine.
func (l *lesson) hasRoutine() bool { return l.mendedRoutine != "" || l.imported != nil }

// closeTime is how long a page may use the network after the time of its lesson, in which
// the lesson closes it.
const closeTime = 10 * time.Second

// freshPage opens another page with the options of the lesson, which the caller closes, and
// a session on it that hides the secrets of the lesson.
func (l *lesson) freshPage(ctx context.Context) (livePage, *engine.Session, error) {
	start := service.LessonPage{Incognito: l.incognito, Block: l.block, Lifetime: l.lessons.total + closeTime}
	if l.startsFrom != "" {
		var err error
		if start.Session, err = l.lessons.service.OpenLessonSession(ctx, l.owner, l.startsFrom, l.mendedRoutine); err != nil {
			return nil, nil, err
		}
		l.sessionWarning = start.Session.Warning
	}
	opened, err := l.lessons.service.OpenLessonPage(ctx, l.owner, start)
	if err != nil {
		return nil, nil, err
	}
	page, ok := opened.(livePage)
	if !ok {
		opened.Close()
		return nil, nil, routine.Errorf(routine.CodeBrowserUnavailable, "this browser cannot describe its pages, as lessons need it")
	}
	session := engine.NewSession(page, l.lessons.service.LessonOptions(l.owner, l.lessons.secretsOf(l.owner), start.Session))
	if l.session != nil {
		session.CopySecrets(l.session)
	}
	return page, session, nil
}

// openPage gives the lesson a new page. The one that it has is closed.
func (l *lesson) openPage(ctx context.Context) error {
	page, session, err := l.freshPage(ctx)
	if err != nil {
		return err
	}
	l.dropPage()
	l.page, l.session, l.lastRequest, l.dropped, l.typedInLoginForm, l.lost = page, session, 0, 0, false, nil
	l.droppedRequests, l.lastActive, l.entered = 0, nil, nil
	return nil
}

// dropPage closes the page of the lesson, if it has one.
func (l *lesson) dropPage() {
	if l.page != nil {
		l.page.Close()
		l.page = nil
		l.session.Detach()
	}
}

// clear closes the page and forgets the operations and the values.
func (l *lesson) clear() {
	l.dropPage()
	l.kept, l.remaining, l.parameters, l.given, l.session, l.lastActive = nil, nil, nil, nil, nil, nil
}

// pageLost returns the error of a call that needs the page when there is none. Lessons.mu
// is locked.
func (l *lesson) pageLost() *routine.Error {
	text := fmt.Sprintf("the page of %s was closed %s", l.id, l.why)
	if n := len(l.lastInfo.Operations); n > 0 {
		are := "operations are"
		if n == 1 {
			are = "operation is"
		}
		text += fmt.Sprintf("; its %d %s kept: undo_operations with to %d does that again on a new page, save_lesson saves it", n, are, n)
	} else {
		text += "; start_lesson opens another"
	}
	return &routine.Error{Code: routine.CodePageLost, Message: text}
}

// info describes the lesson.
func (l *lesson) info() Info {
	i := Info{ID: l.id, State: l.state, Routine: l.mendedRoutine, Version: l.version, Session: l.startsFrom, CreatedBy: l.owner.UserID, CreatedAt: l.createdAt,
		Operations: operations(l.kept, 1), Dropped: l.dropped, Saved: l.finished, EndsAt: l.closedAt.Add(keepTime)}
	if l.imported != nil {
		i.Imported = l.imported.Name
	}
	if len(l.remaining) > 0 {
		i.Remaining = operations(l.remaining, len(l.kept)+1)
	}
	if l.state == Open {
		i.EndsAt = l.lessons.now().Add(l.lessons.idle)
		if last := l.openedAt.Add(l.lessons.total); last.Before(i.EndsAt) {
			i.EndsAt = last
		}
	}
	return i
}

// operations describes operations, the first of which has a number.
func operations(all []*keptOperation, first int) []Operation {
	list := make([]Operation, len(all))
	for i, k := range all {
		list[i] = Operation{Number: first + i, Type: k.operation.Type(), Summary: k.summary(), Acting: k.acting, Unproved: k.unproved, Definition: k.raw}
	}
	return list
}
