package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/service"
)

// Many runs that need the same login share one, also if each of them has a place that the login
// would need, and in several processes.
func TestRunsLogInOnce(t *testing.T) {
	for _, c := range []struct{ services, places int }{{1, 1}, {1, 4}, {1, 50}, {2, 2}, {3, 20}} {
		t.Run(fmt.Sprintf("%d services with %d places", c.services, c.places), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoginCase(t, c.services, service.Config{Concurrency: c.places, Queue: 200})
				es, errs := l.runAll(50)
				for i, err := range errs {
					if err != nil {
						t.Fatalf("run %d: %v", i, err)
					}
				}
				l.wantLogins(1, 1)
				if session := l.session(); session.Condition != routine.SessionFresh || session.Failures != 0 || session.LoggedInAt == nil {
					t.Errorf("session: %+v", session)
				}
				if !slices.ContainsFunc(es, func(e *routine.Execution) bool { return e.Session.LoginExecutionID != "" }) {
					t.Error("no run names its login")
				}
				for _, b := range l.browsers {
					if b.MostOpen() > c.places {
						t.Errorf("%d pages at once in %d places", b.MostOpen(), c.places)
					}
				}
				l.wantLeases()
			})
		})
	}
}

// A login that fails is tried twice in all, and then no more until somebody asks for it.
func TestFailingLoginIsTriedTwice(t *testing.T) {
	for _, places := range []int{1, 4, 50} {
		synctest.Test(t, func(t *testing.T) {
			l := newLoginCase(t, 2, service.Config{Concurrency: places, Queue: 200})
			l.site.refuses = true
			_, errs := l.runAll(50)
			for i, err := range errs {
				if routine.CodeOf(err) != routine.CodeSessionLoginFailed {
					t.Fatalf("run %d: %v", i, err)
				}
			}
			l.wantLogins(0, 2)
			if session := l.session(); session.Condition != routine.SessionFailed || session.Failures != 2 || session.Reason == "" {
				t.Errorf("session: %+v", session)
			}
			opened := l.browsers[0].Opened()
			if _, err := l.run(l.login); routine.CodeOf(err) != routine.CodeSessionLoginFailed {
				t.Errorf("a direct run of the login: %v", err)
			}
			if _, err := l.run(l.orders); routine.CodeOf(err) != routine.CodeSessionLoginFailed || l.browsers[0].Opened() != opened {
				t.Errorf("a later run: %v, %d more pages", err, l.browsers[0].Opened()-opened)
			}

			l.site.set(func() { l.site.refuses = false })
			e, err := l.services[0].LoginSession(t.Context(), l.caller, "shop", service.Call{Via: routine.ViaREST})
			if err != nil {
				t.Fatal(err)
			}
			if e, err = l.services[0].Wait(t.Context(), l.caller, e.ID); err != nil || e.Status != routine.ExecutionCompleted {
				t.Fatalf("login: %+v, %v", e, err)
			}
			if _, err := l.run(l.orders); err != nil {
				t.Errorf("a run after the login: %v", err)
			}
			l.wantLogins(1, 3)
		})
	}
}

// A run whose login the site has ended before anything acted logs in and starts again. Each
// operation is recorded once.
func TestRunStartsAgainAfterALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		if e, err := l.run(l.orders); err != nil || e.Session.LoginExecutionID == "" {
			t.Fatalf("first run: %v", err)
		}
		l.site.set(func() { l.site.loggedIn = false })
		e, err := l.run(l.orders)
		if err != nil {
			t.Fatal(err)
		}
		l.wantLogins(2, 2)
		var events []int
		err = l.services[0].Watch(t.Context(), l.caller, e.ID, 0, func(event routine.Event) error {
			if event.Operation != nil {
				events = append(events, event.Operation.Index)
			}
			return nil
		})
		stored, err2 := l.services[0].Execution(t.Context(), l.caller, e.ID)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		var recorded []int
		for _, o := range stored.Result.OperationsMetadata {
			recorded = append(recorded, o.Index)
		}
		if want := []int{0, 1, 2, 3}; !slices.Equal(recorded, want) || !slices.Equal(events, want) || stored.OperationsDone != len(want) {
			t.Errorf("recorded %v, events %v, done %d", recorded, events, stored.OperationsDone)
		}
		if e.Session.LoginExecutionID == "" {
			t.Error("the run does not name its login")
		}
		if b := l.browsers[0]; b.Opened() != b.Closed() || b.MostOpen() != 1 {
			t.Errorf("%d pages opened, %d closed, %d at once", b.Opened(), b.Closed(), b.MostOpen())
		}
	})
}

// After an operation that acted nothing is repeated: the run fails, and the next one logs in.
func TestEndOfLoginAfterAnAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		buy := create(t, l.services[0], l.caller, buys).ID
		if _, err := l.run(buy); err != nil {
			t.Fatal(err)
		}
		l.site.set(func() { l.site.loggedIn = false })
		e, err := l.run(buy)
		if routine.CodeOf(err) != routine.CodeSessionExpired || len(e.Result.OperationsMetadata) != 3 {
			t.Errorf("%v, %d operations", err, len(e.Result.OperationsMetadata))
		}
		l.wantLogins(1, 1)
		if session := l.session(); session.Condition != routine.SessionStale {
			t.Errorf("session: %+v", session)
		}
		if _, err := l.run(buy); err != nil {
			t.Errorf("the next run: %v", err)
		}
		l.wantLogins(2, 2)
	})
}

// A login that is too old, or whose cookies have expired, is renewed before the run.
func TestOldLoginsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		run := func(logins int) {
			t.Helper()
			if _, err := l.run(l.orders); err != nil {
				t.Fatal(err)
			}
			l.wantLogins(logins, logins)
		}
		run(1)
		l.change(func(s *routine.Session) { s.MaxAge = time.Hour })
		run(1)
		time.Sleep(time.Hour)
		run(2)
		run(2)
		l.change(func(s *routine.Session) { s.ExpiresAt = new(time.Now().Add(time.Minute)) })
		run(2)
		time.Sleep(time.Minute)
		run(3)
	})
}

// A login that is stopped counts as a failure only if it had used a secret. The run that has
// started it may end before.
func TestLoginThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		stop := func(cancelLogin bool) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan struct{})
			l.site.onPassword = func(ctx context.Context) {
				if !cancelLogin {
					cancel()
					<-ended
					return
				}
				id, _ := l.store.SessionLessee(ctx, l.caller.OrganizationID, l.caller.ProjectID, "shop", routine.LeaseForLogin)
				if _, err := l.services[0].Cancel(context.WithoutCancel(ctx), l.caller, id); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
			}
			_, err := l.services[0].Execute(ctx, l.caller, l.orders, service.Call{})
			if err == nil {
				t.Error("the run did not end")
			}
			close(ended)
			synctest.Wait()
		}
		stop(true)
		if session := l.session(); session.Failures != 1 || session.Condition != routine.SessionStale {
			t.Errorf("after a login was cancelled: %+v", session)
		}
		l.wantLeases()
		stop(false)
		l.wantLogins(1, 2)
		if session := l.session(); session.Failures != 0 || session.Condition != routine.SessionFresh {
			t.Errorf("a login whose run was cancelled: %+v", session)
		}
		l.browsers[0].OpenError = routine.Errorf(routine.CodeBrowserUnavailable, "no browser")
		l.change(func(s *routine.Session) { s.Condition = routine.SessionStale })
		if _, err := l.run(l.orders); routine.CodeOf(err) != routine.CodeSessionLoginFailed {
			t.Errorf("a run without a browser: %v", err)
		}
		if session := l.session(); session.Failures != 0 {
			t.Errorf("a login that used no secret counts: %+v", session)
		}
	})
}

// A login whose process died after it had used a secret counts as a failure.
func TestKilledLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		l.change(func(s *routine.Session) { s.Failures, s.Reason = 2, "it was interrupted" })
		if _, err := l.run(l.orders); routine.CodeOf(err) != routine.CodeSessionLoginFailed {
			t.Errorf("a third login: %v", err)
		}
		l.wantLogins(0, 0)
	})
}

// A login that ends on a page that shows that nobody is logged in has failed, whatever its
// operations did, and so has one that leaves nothing.
func TestLoginThatDidNotLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoginCase(t, 1, service.Config{})
		l.change(func(s *routine.Session) {
			s.Login = json.RawMessage(`{"login":{"routine_id":"` + l.login + `"},"signed_out":{"selector":"#home"}}`)
		})
		if _, err := l.run(l.orders); routine.CodeOf(err) != routine.CodeSessionLoginFailed {
			t.Errorf("a login that stays on the page: %v", err)
		}
		l.change(func(s *routine.Session) {
			s.Hosts, s.Failures = []string{"other.test"}, 0
			s.Login = json.RawMessage(`{"login":{"routine_id":"` + l.login + `"}}`)
		})
		if _, err := l.run(l.orders); routine.CodeOf(err) != routine.CodeSessionLoginFailed {
			t.Errorf("a login that leaves nothing: %v", err)
		}
		if session := l.session(); session.Failures != 1 || session.Condition == routine.SessionFresh {
			t.Errorf("session: %+v", session)
		}
	})
}
