package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// loginSite is a site with a login, for runs with the fake browser.
type loginSite struct {
	mu       sync.Mutex
	loggedIn bool
	// refuses makes it refuse logins; logins counts those that it accepted.
	refuses           bool
	logins, passwords int
	// onPassword, if set, is called when a password was typed.
	onPassword func(context.Context)
}

func (s *loginSite) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *loginSite) counts() (logins, passwords int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins, s.passwords
}

// browser returns a browser whose pages are those of the site.
func (s *loginSite) browser() *routinetest.Browser {
	return &routinetest.Browser{OnOpen: func(_ context.Context, p *routinetest.Page) error {
		var shown string // the address of the page
		p.Present = func(_ context.Context, selector string) (bool, error) {
			return selector == "form#login" && shown == "https://shop.test/login" || selector == "#home", nil
		}
		p.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if url == "https://shop.test/orders" && !s.loggedIn {
				url = "https://shop.test/login"
			}
			shown = url
			return routine.Navigation{URL: url, Status: 200}, nil
		}
		p.Type = func(ctx context.Context, t routine.Typing) (routine.Match, error) {
			if t.Release != nil {
				s.set(func() { s.passwords++ })
				if s.onPassword != nil {
					s.onPassword(ctx)
				}
			}
			return routine.Match{Matches: 1}, ctx.Err()
		}
		p.Click = func(_ context.Context, c routine.Click) (routine.Match, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if c.Selector != "#log-in" {
				return routine.Match{Matches: 1}, nil
			}
			if s.refuses {
				return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "wrong password")
			}
			s.loggedIn = true
			s.logins++
			p.State = fmt.Appendf(nil, `{"cookies":[{"name":"sid","value":"cookie-%d","url":"https://shop.test/","path":"/","secure":true,"httpOnly":true}]}`, s.logins)
			return routine.Match{Matches: 1}, nil
		}
		p.State = []byte(`{"cookies":[{"name":"sid","value":"cookie","url":"https://shop.test/","path":"/","secure":true,"httpOnly":true}]}`)
		return nil
	}}
}

const (
	logsIn = `{"name":"log_in","description":"d","session":"shop","operations":[{"type":"navigate","url":"https://shop.test/home"},` +
		`{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"},{"type":"click","selector":"#log-in"}]}`
	readsOrders = `{"name":"orders","description":"d","session":"shop","operations":[{"type":"navigate","url":"https://shop.test/home"},` +
		`{"type":"navigate","url":"https://shop.test/orders"},{"type":"scroll","y":9},{"type":"click","selector":"#show"}]}`
	buys = `{"name":"buy","description":"d","session":"shop","operations":[{"type":"navigate","url":"https://shop.test/home"},` +
		`{"type":"click","selector":"#buy"},{"type":"navigate","url":"https://shop.test/orders"}]}`
)

// loginCase is a service, or several that share a store, with a session that a routine logs in.
type loginCase struct {
	t        *testing.T
	site     loginSite
	store    *routinetest.Store
	services []*service.Service
	browsers []*routinetest.Browser
	login    string // the id of the login routine
	orders   string
	caller   routine.Principal
}

// newLoginCase returns n services with a stale session.
func newLoginCase(t *testing.T, n int, c service.Config) *loginCase {
	t.Helper()
	l := &loginCase{t: t, store: routinetest.NewStore(), caller: keeper}
	c.Store = l.store
	for range n {
		browser := l.site.browser()
		c.Browser = browser
		l.browsers, l.services = append(l.browsers, browser), append(l.services, service.New(c))
	}
	saveSecret(t, l.services[0], l.caller, "shop", `{"hosts":["shop.test"],"fields":{"password":"hunter2-very"}}`)
	l.login, l.orders = create(t, l.services[0], l.caller, logsIn).ID, create(t, l.services[0], l.caller, readsOrders).ID
	session := &routine.Session{OrganizationID: l.caller.OrganizationID, ProjectID: l.caller.ProjectID, Name: "shop", Hosts: []string{"shop.test"},
		Mode: routine.SessionShared, Condition: routine.SessionStale,
		Login: json.RawMessage(`{"login":{"routine_id":"` + l.login + `"},"signed_out":{"selector":"form#login"}}`)}
	if err := l.store.SaveSession(t.Context(), session, nil, 0); err != nil {
		t.Fatal(err)
	}
	return l
}

// session returns the session as it is stored.
func (l *loginCase) session() *routine.Session {
	l.t.Helper()
	found, err := l.store.Session(l.t.Context(), l.caller.OrganizationID, l.caller.ProjectID, "shop")
	if err != nil {
		l.t.Fatal(err)
	}
	return found
}

// change changes the stored session.
func (l *loginCase) change(edit func(*routine.Session)) {
	l.t.Helper()
	session := l.session()
	edit(session)
	if err := l.store.SaveSession(l.t.Context(), session, nil, session.Generation); err != nil {
		l.t.Fatal(err)
	}
}

func (l *loginCase) run(id string) (*routine.Execution, error) {
	return l.services[0].Execute(l.t.Context(), l.caller, id, service.Call{})
}

// runAll runs a routine many times at once, with all services in turn.
func (l *loginCase) runAll(n int) (es []*routine.Execution, errs []error) {
	es, errs = make([]*routine.Execution, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			es[i], errs[i] = l.services[i%len(l.services)].Execute(l.t.Context(), l.caller, l.orders, service.Call{})
		})
	}
	group.Wait()
	return es, errs
}

// wantLogins checks how often somebody has logged in.
func (l *loginCase) wantLogins(logins, passwords int) {
	l.t.Helper()
	if gotLogins, gotPasswords := l.site.counts(); gotLogins != logins || gotPasswords != passwords {
		l.t.Errorf("%d logins and %d typed passwords, want %d and %d", gotLogins, gotPasswords, logins, passwords)
	}
}

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

// wantLeases checks that no login is under way.
func (l *loginCase) wantLeases() {
	l.t.Helper()
	if id, err := l.store.SessionLessee(l.t.Context(), l.caller.OrganizationID, l.caller.ProjectID, "shop", routine.LeaseForLogin); id != "" || err != nil {
		l.t.Errorf("the execution %q still has the session, %v", id, err)
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
			e, err := l.services[0].LoginSession(t.Context(), l.caller, "shop", routine.ViaREST)
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
