package mcp

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"rote/routine"
)

const (
	// maxSessions bounds the sessions over HTTP; each takes about 10 KB.
	maxSessions = 1000
	// maxIdle is how long a session stays that nothing is asked of. It is far
	// above the longest run, during which a session is not idle anyway.
	maxIdle = 30 * time.Minute
)

// owner is whose a session is.
type owner struct{ user, organization, project string }

func ownerOf(p routine.Principal) owner { return owner{p.UserID, p.OrganizationID, p.ProjectID} }

// sessions are those over HTTP, of all principals. An id is a secret that only
// its owner can use.
type sessions struct {
	limit int
	now   func() time.Time

	mu   sync.Mutex
	open map[string]*httpSession
}

// httpSession is one session over HTTP. What changes of it is guarded by sessions.
type httpSession struct {
	id       string
	owner    owner
	of       *organization
	busy     int // requests and streams
	lastUsed time.Time
	ended    chan struct{}
	calls    atomic.Int32
	messages chan posted // of a session over SSE; nil over streamable HTTP
}

// posted is a message to a session over SSE, and on whose behalf it is: a token
// may be good for less than the one that the session was begun with.
type posted struct {
	by   routine.Principal
	text []byte
}

// errNoSession answers for sessions that are not the caller's too.
var errNoSession = routine.Errorf(routine.CodeNotFound, "there is no such session, or it has ended: begin a new one")

func newSessions() *sessions {
	return &sessions{limit: maxSessions, now: time.Now, open: map[string]*httpSession{}}
}

// begin makes a session and takes it into use. When there are too many, one of
// the owner who has the most gives way, so that nobody can take them all: that
// which has been idle longest. None is ended while it is in use: CodeBusy. What
// has given way, or has been idle too long, is returned.
func (t *sessions) begin(p routine.Principal, of *organization, messages chan posted) (s *httpSession, gone []*httpSession, err error) {
	secret := make([]byte, 24)
	rand.Read(secret) // never fails
	s = &httpSession{id: base64.RawURLEncoding.EncodeToString(secret), owner: ownerOf(p), of: of, busy: 1, ended: make(chan struct{}), messages: messages}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, other := range t.open {
		if t.expired(other) {
			t.remove(other)
			gone = append(gone, other)
		}
	}
	if len(t.open) >= t.limit {
		last := t.dispensable()
		if last == nil {
			return nil, gone, &routine.Error{Code: routine.CodeBusy, Message: "too many sessions are open: end some with DELETE, or try again later", RetryAfter: time.Minute}
		}
		t.remove(last)
		gone = append(gone, last)
	}
	t.open[s.id] = s
	return s, gone, nil
}

// dispensable is the session that gives way first; nil: all are in use.
func (t *sessions) dispensable() (first *httpSession) {
	held := map[owner]int{}
	for _, s := range t.open {
		held[s.owner]++
	}
	for _, s := range t.open {
		if s.busy == 0 && (first == nil || cmp.Or(cmp.Compare(held[first.owner], held[s.owner]), s.lastUsed.Compare(first.lastUsed)) < 0) {
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

func (t *sessions) release(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	s.lastUsed = t.now()
}

var (
	_ server.SessionIdManagerResolver = (*sessions)(nil)
	_ server.SessionIdManager         = keeper{}
)

type sessionKey struct{}

// ResolveSessionIdManager gives mcp-go the session that was found, or made, for
// the request.
func (t *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager { //nolint:staticcheck // the name is mcp-go's
	s, _ := r.Context().Value(sessionKey{}).(*httpSession)
	return keeper{t, s}
}

// keeper is what mcp-go may know of sessions: the one of its request.
type keeper struct {
	all     *sessions
	session *httpSession
}

func (k keeper) Generate() string { return k.session.id }

// Validate has nothing to find out: a request whose session is not its caller's
// does not come this far.
func (k keeper) Validate(string) (isTerminated bool, err error) { return false, nil }

func (k keeper) Terminate(string) (isNotAllowed bool, err error) {
	k.all.end(k.session)
	return false, nil
}
