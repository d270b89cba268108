package routinetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// Session returns a session of acme's project p in which nobody has logged in.
func Session(edits ...func(*routine.Session)) *routine.Session {
	s := &routine.Session{OrganizationID: "acme", ProjectID: "p", Name: "shop", Hosts: []string{"shop.example"}, Mode: routine.SessionShared,
		Condition: routine.SessionEmpty}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func wantSession(t *testing.T, s routine.Store, want *routine.Session, state string) {
	t.Helper()
	got, err := s.Session(t.Context(), want.OrganizationID, want.ProjectID, want.Name)
	must(t, err)
	equal(t, "session", got, want)
	got, kept, err := s.SessionState(t.Context(), want.OrganizationID, want.ProjectID, want.Name)
	must(t, err)
	equal(t, "session with its state", got, want)
	if string(kept) != state || (kept == nil) != (state == "") {
		t.Errorf("state of %.40q, want %.40q", kept, state)
	}
}

var sessionPromises = []promise{
	{"a session is kept whole, and its state apart", sessionIsKept},
	{"only who has read the last generation changes a session", sessionGenerations},
	{"a session is its project's own", sessionsOfProjects},
	{"a deleted session is gone with its state and leases", sessionIsDeleted},
	{"one execution has a session for a purpose, until it ends", sessionLeases},
	{"of many that want a session at once, one gets it", sessionRace},
}

func sessionIsKept(t *testing.T, s routine.Store) {
	session := Session()
	must(t, s.SaveSession(t.Context(), session, nil, 0))
	if session.Generation != 1 {
		t.Errorf("generation %d", session.Generation)
	}
	wantSession(t, s, session, "")
	whole := Session(func(s *routine.Session) {
		s.Hosts, s.Mode, s.Readable, s.Condition = []string{"*.shop.example", "b.example:8443"}, routine.SessionExclusive, true, routine.SessionFailed
		s.Login, s.Failures, s.Reason, s.MaxAge, s.UserAgent = json.RawMessage(`{"routine_id":"r"}`), 2, "NUL \x00", 90*time.Minute, "Agent/1 \xff"
		s.LoggedInAt, s.SavedAt, s.ExpiresAt = new(Time), new(Time.Add(time.Hour)), new(Time.Add(48*time.Hour))
	})
	long := strings.Repeat("cookie \x00\xff", 100_000)
	must(t, s.SaveSession(t.Context(), whole, []byte(long), 1))
	wantSession(t, s, whole, long)
	must(t, s.SaveSession(t.Context(), whole, nil, 2))
	wantSession(t, s, whole, long)
	must(t, s.SaveSession(t.Context(), session, []byte{}, 3))
	wantSession(t, s, session, "")
}

func sessionGenerations(t *testing.T, s routine.Store) {
	const attempts = 4
	for before := range 2 {
		errs := race(attempts, func(i int) error { return s.SaveSession(t.Context(), Session(), fmt.Append(nil, i), before) })
		winner := onlyWinner(t, errs, routine.ErrChanged)
		wantSession(t, s, Session(func(s *routine.Session) { s.Generation = before + 1 }), fmt.Sprint(winner))
	}
	for _, before := range []int{0, 1, 3} {
		session := Session()
		wantErr(t, "save of another generation", s.SaveSession(t.Context(), session, []byte("lost"), before), routine.ErrChanged)
		if session.Generation != 0 {
			t.Errorf("generation %d of a session that was not saved", session.Generation)
		}
	}
}

func sessionsOfProjects(t *testing.T, s routine.Store) {
	var mine []*routine.Session
	for _, w := range [][3]string{{"acme", "p", "a"}, {"acme", "p", "b"}, {"acme", "q", "a"}, {"other", "p", "a"}} {
		session := Session(func(s *routine.Session) { s.OrganizationID, s.ProjectID, s.Name = w[0], w[1], w[2] })
		must(t, s.SaveSession(t.Context(), session, []byte(strings.Join(w[:], "/")), 0))
		wantSession(t, s, session, strings.Join(w[:], "/"))
		if w[0] == "acme" && w[1] == "p" {
			mine = append(mine, session)
		}
	}
	list, err := s.Sessions(t.Context(), "acme", "p")
	must(t, err)
	equal(t, "sessions", list, mine)
	if list, err = s.Sessions(t.Context(), "acme", "none"); list == nil || len(list) > 0 || err != nil {
		t.Errorf("sessions of a project without: %v, %v", list, err)
	}
}

func lease(t *testing.T, s routine.Store, purpose routine.LeasePurpose, e *routine.Execution) bool {
	t.Helper()
	leased, err := s.LeaseSession(t.Context(), routine.SessionLease{OrganizationID: "acme", ProjectID: "p", Name: "shop", Purpose: purpose, ExecutionID: e.ID})
	must(t, err)
	return leased
}

// lessee checks which execution has the session for a login; nil: none.
func lessee(t *testing.T, s routine.Store, want *routine.Execution) {
	t.Helper()
	id := ""
	if want != nil {
		id = want.ID
	}
	if got, err := s.SessionLessee(t.Context(), "acme", "p", "shop", routine.LeaseForLogin); got != id || err != nil {
		t.Errorf("the execution %q has the session for a login (%v), want %q", got, err, id)
	}
}

func sessionIsDeleted(t *testing.T, s routine.Store) {
	wantErr(t, "delete", s.DeleteSession(t.Context(), "acme", "p", "shop"), routine.ErrNotFound)
	must(t, s.SaveSession(t.Context(), Session(), []byte("state"), 0))
	if !lease(t, s, routine.LeaseForRun, create(t, s)) {
		t.Error("not leased")
	}
	must(t, s.DeleteSession(t.Context(), "acme", "p", "shop"))
	_, _, err := s.SessionState(t.Context(), "acme", "p", "shop")
	wantErr(t, "state", err, routine.ErrNotFound)
	_, err = s.LeaseSession(t.Context(), routine.SessionLease{OrganizationID: "acme", ProjectID: "p", Name: "shop", Purpose: routine.LeaseForRun})
	wantErr(t, "lease", err, routine.ErrNotFound)
	must(t, s.SaveSession(t.Context(), Session(), nil, 0))
	if !lease(t, s, routine.LeaseForRun, create(t, s)) {
		t.Error("the lease of the deleted session is still there")
	}
}

func sessionLeases(t *testing.T, s routine.Store) {
	must(t, s.SaveSession(t.Context(), Session(), nil, 0))
	first, second := create(t, s), create(t, s)
	lessee(t, s, nil)
	if lease(t, s, routine.LeaseForRun, Execution(t)) {
		t.Error("an unknown execution has the session")
	}
	for range 2 { // again is no harm
		if !lease(t, s, routine.LeaseForRun, first) || lease(t, s, routine.LeaseForRun, second) {
			t.Error("not only the first execution has the session")
		}
	}
	if !lease(t, s, routine.LeaseForLogin, second) || lease(t, s, routine.LeaseForLogin, first) {
		t.Error("not only the second execution has the session for a login")
	}
	lessee(t, s, second)
	must(t, s.FinishExecution(t.Context(), Failed(first)))
	if !lease(t, s, routine.LeaseForRun, second) || lease(t, s, routine.LeaseForRun, first) {
		t.Error("the session was not free after its execution had ended, or one that has ended got it")
	}
	must(t, s.FinishExecution(t.Context(), Failed(second)))
	lessee(t, s, nil)
}

func sessionRace(t *testing.T, s routine.Store) {
	must(t, s.SaveSession(t.Context(), Session(), nil, 0))
	must(t, s.FinishExecution(t.Context(), Failed(func() *routine.Execution {
		e := create(t, s)
		lease(t, s, routine.LeaseForRun, e)
		return e
	}())))
	leased := make(chan bool, 6)
	for _, err := range race(cap(leased), func(int) error {
		e := Execution(t)
		if err := s.CreateExecution(t.Context(), e); err != nil {
			return err
		}
		mine, err := s.LeaseSession(t.Context(), routine.SessionLease{OrganizationID: "acme", ProjectID: "p", Name: "shop", Purpose: routine.LeaseForRun,
			ExecutionID: e.ID})
		leased <- mine
		return err
	}) {
		must(t, err)
	}
	n := 0
	for range cap(leased) {
		if <-leased {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d executions have the session", n)
	}
}
