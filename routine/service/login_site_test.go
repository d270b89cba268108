package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

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

// wantLeases checks that no login is under way.
func (l *loginCase) wantLeases() {
	l.t.Helper()
	if id, err := l.store.SessionLessee(l.t.Context(), l.caller.OrganizationID, l.caller.ProjectID, "shop", routine.LeaseForLogin); id != "" || err != nil {
		l.t.Errorf("the execution %q still has the session, %v", id, err)
	}
}
