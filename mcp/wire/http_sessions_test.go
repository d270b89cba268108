package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

var (
	ann = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "prices"}
	bob = routine.Principal{UserID: "bob", OrganizationID: "acme", ProjectID: "prices"}
	eve = routine.Principal{UserID: "eve", OrganizationID: "other", ProjectID: "x"}
)

func TestSessionsAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	all := newSessions()
	all.limits, all.now = sessionLimits{all: 3, organization: 9, user: 9}, func() time.Time { return now }
	begin := func(p routine.Principal) *httpSession {
		now = now.Add(time.Second)
		s, _, err := all.add(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := begin(ann), begin(ann)
	all.release(first)
	busy := begin(bob)
	if _, gone, err := all.add(ann, nil, nil); err != nil || len(gone) != 1 || gone[0] != first {
		t.Fatalf("the own idle session did not give way: %v %v", gone, err)
	}
	if _, _, err := all.add(bob, nil, nil); routine.CodeOf(err) != routine.CodeBusy {
		t.Fatalf("a session in use, or of another, gave way: %v", err)
	}
	for s, user := range map[*httpSession]routine.Principal{second: ann, busy: bob} {
		if _, err := all.use(user, s.id, false); err != nil {
			t.Errorf("session of %s: %v", user.UserID, err)
		}
		all.release(s)
		all.release(s)
	}
	// A session of the user with most sessions is ended first, although another has been idle longer.
	crowd := newSessions()
	crowd.limits, crowd.now = sessionLimits{all: 4, organization: 9, user: 9}, all.now
	for _, p := range []routine.Principal{bob, ann, ann, ann} {
		now = now.Add(time.Second)
		s, _, err := crowd.add(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		crowd.release(s)
	}
	for _, p := range []routine.Principal{eve, ann} {
		if _, gone, err := crowd.add(p, nil, nil); err != nil || len(gone) != 1 || gone[0].owner != ownerOf(ann) {
			t.Errorf("%v gave way to %s: %v", gone, p.UserID, err)
		}
	}
	now = now.Add(maxIdle + time.Second)
	if _, err := all.use(ann, second.id, false); routine.CodeOf(err) != routine.CodeNotFound {
		t.Errorf("an expired session: %v", err)
	}
	if _, gone, err := all.add(eve, nil, nil); err != nil || len(gone) != 2 {
		t.Errorf("%d expired sessions gave way: %v", len(gone), err)
	}
	if _, open := <-second.ended; open {
		t.Error("an expired session has not ended")
	}
}

func TestOneOrganizationCannotTakeAllSessions(t *testing.T) {
	all := newSessions()
	fill := func(organization string) (n int, err error) {
		for {
			p := routine.Principal{UserID: fmt.Sprint("user", n/10), OrganizationID: organization}
			if _, _, err = all.add(p, nil, nil); err != nil {
				return n, err
			}
			n++
		}
	}
	for i := range defaultSessionLimits.all / defaultSessionLimits.organization {
		n, err := fill(fmt.Sprint("organization", i))
		e := routine.AsError(err)
		if n != defaultSessionLimits.organization || e.Code != routine.CodeRateLimited || e.RetryAfter == 0 ||
			!strings.Contains(e.Message, "200 MCP sessions of your organization") {
			t.Fatalf("%d sessions, then %v", n, err)
		}
	}
	if n, err := fill("last"); n != 0 || routine.CodeOf(err) != routine.CodeBusy {
		t.Errorf("%d more, then %v", n, err)
	}
}

// A client that opens sessions and never uses them ends only its own, even at
// the maximum number of sessions.
func TestUnusedSessionsEndNobodyElsesSessions(t *testing.T) {
	all := newSessions()
	now := time.Unix(0, 0)
	all.now = func() time.Time { return now }
	first, _, err := all.add(eve, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all.release(first)
	for user := range 50 {
		for range 60 {
			now = now.Add(time.Millisecond)
			p := routine.Principal{UserID: fmt.Sprint("user", user), OrganizationID: fmt.Sprint("organization", user%10)}
			s, _, err := all.add(p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			all.release(s)
		}
	}
	if len(all.open) != defaultSessionLimits.all {
		t.Errorf("%d sessions are open", len(all.open))
	}
	if _, err := all.use(eve, first.id, false); err != nil {
		t.Errorf("the session of another organization: %v", err)
	}
}

// The least recently used session of a user is ended first, in any of the user's
// projects. Clients that begin at the same time do not end each other's
// sessions.
func TestLeastRecentlyUsedSessionIsEndedFirst(t *testing.T) {
	all := newSessions()
	now := time.Unix(0, 0)
	all.now = func() time.Time { now = now.Add(time.Second); return now }
	begin := func(project string, called bool) *httpSession {
		p := ann
		p.ProjectID = project
		s, _, err := all.add(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if called {
			all.markCalled(s)
		}
		all.release(s)
		return s
	}
	oldest := begin("small", true)
	var busy []*httpSession
	for i := range defaultSessionLimits.user - 1 {
		s := begin("large", true)
		if i < 5 {
			p := ann
			p.ProjectID = "large"
			if _, err := all.use(p, s.id, false); err != nil {
				t.Fatal(err)
			}
			busy = append(busy, s)
		}
	}
	var begun []*httpSession
	for range 5 {
		begun = append(begun, begin("large", false))
	}
	if all.open[oldest.id] != nil {
		t.Error("the least recently used session is still open")
	}
	for _, s := range append(busy, begun...) {
		if all.open[s.id] == nil {
			t.Error("a session in use, or one that has just begun, was ended")
		}
	}
}
