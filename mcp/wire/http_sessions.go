package wire

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
)

// sessionLimits bound the open sessions over HTTP.
type sessionLimits struct{ all, organization, user int }

// defaultSessionLimits leave room for others when one user, or all users of one
// organization, open as many sessions as they can. A session takes about 10 KB.
var defaultSessionLimits = sessionLimits{all: 1000, organization: 200, user: 50}

const (
	// maxIdle is how long a session stays that nothing is asked of. It is far
	// above the longest run, during which a session is not idle anyway.
	maxIdle = 30 * time.Minute
	// maxUncalled is how many sessions that have not called anything a user may
	// have before those are ended in favor of new ones. It leaves clients that
	// begin at the same time the time to make their first call.
	maxUncalled = 10
)

// owner is whose a session is.
type owner struct{ user, organization, project string }

// allProjects is the user without a project.
func (o owner) allProjects() owner { return owner{o.user, o.organization, ""} }

func (o owner) sameUser(other owner) bool { return o.allProjects() == other.allProjects() }

func (o owner) sameOrganization(other owner) bool { return o.organization == other.organization }

func ownerOf(p routine.Principal) owner { return owner{p.UserID, p.OrganizationID, p.ProjectID} }

// sessions are those over HTTP, of all principals. An id is a secret that only
// its owner can use.
type sessions struct {
	limits sessionLimits
	now    func() time.Time

	mu   sync.Mutex
	open map[string]*httpSession
}

// httpSession is one session over HTTP. What changes of it is guarded by sessions.
type httpSession struct {
	id       string
	owner    owner
	peer     Peer
	busy     int  // requests and streams
	called   bool // a tool, resource or prompt has been asked for
	lastUsed time.Time
	ended    chan struct{}
	calls    atomic.Int32
	messages chan sseMessage // of a session over SSE; nil over streamable HTTP
}

// sseMessage is a message that was posted to a session over SSE, and on whose
// behalf: its token may allow less than the one that began the session.
type sseMessage struct {
	principal routine.Principal
	text      []byte
}

// errNoSession answers for sessions that are not the caller's too.
var errNoSession = routine.Errorf(routine.CodeNotFound, "there is no such session, or it has ended. A session ends after %d minutes without a request, "+
	"and idle ones end sooner when a user opens more than %d or an organization more than %d. Begin a new one with initialize",
	maxIdle/time.Minute, defaultSessionLimits.user, defaultSessionLimits.organization)

func newSessions() *sessions {
	return &sessions{limits: defaultSessionLimits, now: time.Now, open: map[string]*httpSession{}}
}

// add makes a session and takes it into use. If the user, the organization or
// all together have as many as they may, an idle one of theirs is ended for it:
// see dispensable. CodeRateLimited when all sessions of the user or the
// organization are in use, CodeBusy when all that there may be are. The sessions
// that were ended, or have been idle too long, are returned.
func (t *sessions) add(p routine.Principal, peer Peer, messages chan sseMessage) (s *httpSession, ended []*httpSession, err error) {
	secret := make([]byte, 24)
	rand.Read(secret) // never fails
	s = &httpSession{id: base64.RawURLEncoding.EncodeToString(secret), owner: ownerOf(p), peer: peer, busy: 1, ended: make(chan struct{}), messages: messages}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, other := range t.open {
		if t.expired(other) {
			t.remove(other)
			ended = append(ended, other)
		}
	}
	for _, bound := range []struct {
		limit int
		among func(owner) bool
		full  error
	}{
		{t.limits.user, s.owner.sameUser, tooManySessions("of your user", t.limits.user)},
		{t.limits.organization, s.owner.sameOrganization, tooManySessions("of your organization", t.limits.organization)},
		{t.limits.all, func(owner) bool { return true }, errAllSessions},
	} {
		if t.count(bound.among) < bound.limit {
			continue
		}
		last := t.evictable(bound.among)
		if last == nil {
			return nil, ended, bound.full
		}
		t.remove(last)
		ended = append(ended, last)
	}
	t.open[s.id] = s
	return s, ended, nil
}

// tooManySessions is the error for a caller who has all that they may have in use.
func tooManySessions(whose string, limit int) error {
	return &routine.Error{Code: routine.CodeRateLimited, RetryAfter: time.Minute,
		Message: fmt.Sprintf("%d MCP sessions %s are in use, which is the limit. "+
			"End some with DELETE /mcp, or close their streams, then try again", limit, whose)}
}

var errAllSessions = &routine.Error{Code: routine.CodeBusy, RetryAfter: time.Minute, Message: "the service has as many MCP sessions in use as it can have. Try again later"}

// count is the number of sessions of some owners.
func (t *sessions) count(among func(owner) bool) (n int) {
	for _, s := range t.open {
		if among(s.owner) {
			n++
		}
	}
	return n
}

// evictable is which of the sessions of some owners is ended first: of the idle
// ones of the organization with the most, and there of the user with the most.
// Of a user's sessions the least recently used one is ended, but while the user
// has many that never called anything, only those are looked at: they have
// probably been abandoned. Nil when all are in use.
func (t *sessions) evictable(among func(owner) bool) (first *httpSession) {
	byOrganization, byUser, uncalled := map[string]int{}, map[owner]int{}, map[owner]int{}
	for _, s := range t.open {
		byOrganization[s.owner.organization]++
		byUser[s.owner.allProjects()]++
		if s.busy == 0 && !s.called {
			uncalled[s.owner.allProjects()]++
		}
	}
	abandoned := func(s *httpSession) int {
		if !s.called && uncalled[s.owner.allProjects()] > maxUncalled {
			return 1
		}
		return 0
	}
	sooner := func(a, b *httpSession) bool {
		return cmp.Or(cmp.Compare(byOrganization[b.owner.organization], byOrganization[a.owner.organization]),
			cmp.Compare(byUser[b.owner.allProjects()], byUser[a.owner.allProjects()]),
			cmp.Compare(abandoned(b), abandoned(a)), a.lastUsed.Compare(b.lastUsed)) < 0
	}
	for _, s := range t.open {
		if among(s.owner) && s.busy == 0 && (first == nil || sooner(s, first)) {
			first = s
		}
	}
	return first
}

func (t *sessions) expired(s *httpSession) bool {
	return s.busy == 0 && t.now().Sub(s.lastUsed) > maxIdle
}

// remove ends a session under the lock.
func (t *sessions) remove(s *httpSession) {
	if t.open[s.id] == s {
		delete(t.open, s.id)
		close(s.ended)
	}
}

func (t *sessions) end(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(s)
}

// use takes an open session of p into use until release. To others, and over
// the other transport, it is as one that does not exist: CodeNotFound.
func (t *sessions) use(p routine.Principal, id string, sse bool) (*httpSession, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open[id]
	if s == nil || s.owner != ownerOf(p) || (s.messages != nil) != sse || t.expired(s) {
		return nil, errNoSession
	}
	s.busy++
	return s, nil
}

// markCalled notes that the client of a session has called something.
func (t *sessions) markCalled(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.called = true
}

func (t *sessions) release(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	s.lastUsed = t.now()
}

var (
	_ server.SessionIdManagerResolver = (*sessions)(nil)
	_ server.SessionIdManager         = sessionIDs{}
)

// ResolveSessionIdManager gives mcp-go the session that was found, or made, for
// the request.
func (t *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager { //nolint:staticcheck // the name is mcp-go's
	return sessionIDs{t, requestOf(r.Context()).session}
}

// sessionIDs shows mcp-go one session only, the one of its request.
type sessionIDs struct {
	all     *sessions
	session *httpSession
}

func (k sessionIDs) Generate() string { return k.session.id }

// Validate has nothing to find out: a request whose session is not its caller's
// does not come this far.
func (k sessionIDs) Validate(string) (isTerminated bool, err error) { return false, nil }

func (k sessionIDs) Terminate(string) (isNotAllowed bool, err error) {
	k.all.end(k.session)
	return false, nil
}
