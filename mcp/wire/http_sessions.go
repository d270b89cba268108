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

// sessionLimits are the largest numbers of open sessions over HTTP: of all
// callers, of one organization and of one user.
type sessionLimits struct{ all, organization, user int }

// defaultSessionLimits leave sessions for others when one user, or all users of
// one organization, open as many as they can. A session takes about 10 KB.
var defaultSessionLimits = sessionLimits{all: 1000, organization: 200, user: 50}

const (
	// maxIdle is how long a session without requests is kept. While a request is
	// answered or a stream is open, the session is not idle.
	maxIdle = 30 * time.Minute
	// maxUncalled is how many sessions without a single call a user may have
	// before these are ended first. It gives clients that start at the same time
	// the chance to make their first call.
	maxUncalled = 10
)

// owner identifies whom a session belongs to. Nobody else can use it.
type owner struct{ user, organization, project string }

// allProjects returns the owner without its project.
func (o owner) allProjects() owner { return owner{o.user, o.organization, ""} }

func (o owner) sameUser(other owner) bool { return o.allProjects() == other.allProjects() }

func (o owner) sameOrganization(other owner) bool { return o.organization == other.organization }

func ownerOf(p routine.Principal) owner { return owner{p.UserID, p.OrganizationID, p.ProjectID} }

// sessions are the open sessions over HTTP, of all principals. A session id is a
// secret that works for its owner only.
type sessions struct {
	limits sessionLimits
	now    func() time.Time

	mu   sync.Mutex
	open map[string]*httpSession
}

// httpSession is one session over HTTP. Its fields that change are guarded by
// sessions.mu, but for calls.
type httpSession struct {
	id       string
	owner    owner
	peer     Peer
	busy     int  // open requests and streams
	called   bool // a tool was called, or a resource or prompt was read
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

// errNoSession is also the answer for a session that is not the caller's.
var errNoSession = routine.Errorf(routine.CodeNotFound, "there is no such session, or it has ended. A session ends after %d minutes without a request, "+
	"and idle ones end sooner when a user opens more than %d or an organization more than %d. Begin a new one with initialize",
	maxIdle/time.Minute, defaultSessionLimits.user, defaultSessionLimits.organization)

func newSessions() *sessions {
	return &sessions{limits: defaultSessionLimits, now: time.Now, open: map[string]*httpSession{}}
}

// add makes a session, which is in use until release. If the limit of the user,
// the organization or the service is reached, one of the idle sessions is ended
// for it: see evictable. If none is idle, the error is CodeRateLimited for the
// user's and the organization's limit, and CodeBusy for the service's. ended are
// the sessions that were ended for it or had expired.
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

// tooManySessions returns the error for a caller who has reached a limit with
// sessions that are all in use.
func tooManySessions(whose string, limit int) error {
	return &routine.Error{Code: routine.CodeRateLimited, RetryAfter: time.Minute,
		Message: fmt.Sprintf("%d MCP sessions %s are in use, which is the limit. "+
			"End some with DELETE /mcp, or close their streams, then try again", limit, whose)}
}

var errAllSessions = &routine.Error{Code: routine.CodeBusy, RetryAfter: time.Minute,
	Message: "the service has as many MCP sessions in use as it can have. Try again later"}

// count returns the number of sessions of the owners for which among is true.
func (t *sessions) count(among func(owner) bool) (n int) {
	for _, s := range t.open {
		if among(s.owner) {
			n++
		}
	}
	return n
}

// evictable returns the session that is ended first among those of some owners,
// or nil if all of them are in use. It is an idle session of the organization
// that has the most sessions, and there of the user who has the most. Of a user's
// sessions it is the least recently used one; while the user has more than
// maxUncalled sessions without a call, only these count, because their clients
// have probably abandoned them.
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

// remove ends a session. t.mu must be held.
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

// use returns an open session of p, which is in use until release. It returns
// CodeNotFound for a session that does not exist, belongs to another user, or
// uses the other transport.
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

// markCalled records that the client of a session has made a call.
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

// ResolveSessionIdManager returns the session of the request to mcp-go.
func (t *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager { //nolint:staticcheck // the name is mcp-go's
	return sessionIDs{t, requestOf(r.Context()).session}
}

// sessionIDs shows mcp-go one session only, the one of its request.
type sessionIDs struct {
	all     *sessions
	session *httpSession
}

func (k sessionIDs) Generate() string { return k.session.id }

// Validate accepts every id: a request whose session is not its caller's has been
// refused before.
func (k sessionIDs) Validate(string) (isTerminated bool, err error) { return false, nil }

func (k sessionIDs) Terminate(string) (isNotAllowed bool, err error) {
	k.all.end(k.session)
	return false, nil
}
