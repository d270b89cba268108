package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// inSession is a routine that runs with a session.
const inSession = `{"name":"n","description":"d","session":"%s","parameters":[{"name":"account","required":false}],
	"operations":[{"type":"navigate","url":"https://shop.example/{{account}}"},{"type":"return_html"}]}`

// stateText is a state with cookies of hosts, written as "shop.example sid=value".
func stateText(cookies ...string) []byte {
	s := &browserstate.State{}
	for _, c := range cookies {
		host, pair, _ := strings.Cut(c, " ")
		name, value, _ := strings.Cut(pair, "=")
		cookie := browserstate.Cookie{Name: name, Value: value, Path: "/", Secure: true, HTTPOnly: true}
		cookie.ForHost(host)
		s.Cookies = append(s.Cookies, cookie)
	}
	text, err := s.Encode()
	if err != nil {
		panic(err)
	}
	return text
}

// cookiesOf returns the cookies of a state as stateText takes them, in order.
func cookiesOf(t *testing.T, text []byte) string {
	t.Helper()
	s, err := browserstate.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range s.Cookies {
		all = append(all, c.Host()+" "+c.Name+"="+c.Value)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// sessions are runs with the session shop of acme's project p.
type sessions struct {
	*testing.T
	store   *routinetest.Store
	browser *routinetest.Browser
	service *service.Service
	routine *routine.Routine
}

func newSessions(t *testing.T, state []byte, edits ...func(*routine.Session)) *sessions {
	t.Helper()
	s, store, b := newSecretService(t)
	c := &sessions{T: t, store: store, browser: b, service: s}
	if err := store.SaveSession(t.Context(), routinetest.Session(edits...), state, 0); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.routine, _, err = s.CreateRoutine(t.Context(), ann, fmt.Appendf(nil, inSession, "shop"), service.Idempotency{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// run does a run whose browser has a state at its end.
func (c *sessions) run(state []byte) (*routine.Execution, error) {
	c.Helper()
	c.browser.Page.State = state
	return c.service.Execute(c.Context(), ann, c.routine.ID, service.Call{})
}

// stored returns the session and its cookies.
func (c *sessions) stored() (*routine.Session, string) {
	c.Helper()
	found, state, err := c.store.SessionState(c.Context(), "acme", "p", "shop")
	if err != nil {
		c.Fatal(err)
	}
	return found, cookiesOf(c.T, state)
}

func (c *sessions) want(what, cookies string, generation int) {
	c.Helper()
	if found, got := c.stored(); got != cookies || found.Generation != generation {
		c.Errorf("%s: %q in generation %d, want %q in %d", what, got, found.Generation, cookies, generation)
	}
}

// A run starts from the state of its session and saves what it has changed, of the session's hosts only.
func TestRunInSession(t *testing.T) {
	c := newSessions(t, stateText("shop.example sid=first-value", "other.example sid=no"), func(s *routine.Session) { s.UserAgent = "Agent/1" })
	e, err := c.run(stateText("shop.example sid=second-value", "ads.example id=ad"))
	if err != nil || len(e.Result.Warnings) > 0 {
		t.Fatal(e, err)
	}
	o := c.browser.LastOpening()
	if got := cookiesOf(t, o.State); got != "shop.example sid=first-value" || !o.KeepState || o.UserAgent != "Agent/1" {
		t.Errorf("the page starts with %q, %+v", got, o)
	}
	c.want("after a change", "shop.example sid=second-value", 2)
	if found, _ := c.stored(); found.SavedAt == nil || found.Condition != routine.SessionFresh {
		t.Errorf("%+v", found)
	}
	if _, err := c.run(stateText("shop.example sid=second-value", "ads.example id=other")); err != nil {
		t.Fatal(err)
	}
	c.want("an unchanged state is not written", "shop.example sid=second-value", 2)
	c.browser.Page.Navigate = func(context.Context, string) (routine.Navigation, error) {
		return routine.Navigation{}, routine.Errorf(routine.CodeNavigationFailed, "down")
	}
	if _, err := c.run(stateText("shop.example sid=of-a-failure")); routine.CodeOf(err) != routine.CodeNavigationFailed {
		t.Fatal(err)
	}
	c.want("a failed run saves nothing", "shop.example sid=second-value", 2)
	if state, err := c.store.ProjectState(t.Context(), "acme", "p"); state != nil || err != nil {
		t.Errorf("the project has a state of %d bytes, %v", len(state), err)
	}
}

// A call chooses the session with a parameter, whose value has to make a name.
func TestCallChoosesSession(t *testing.T) {
	c := newSessions(t, stateText("shop.example sid=value-of-shop"))
	r, warnings, err := c.service.CreateRoutine(t.Context(), ann, fmt.Appendf(nil, inSession, "{{account}}"), service.Idempotency{})
	if err != nil || len(warnings) != 1 || warnings[0].Pointer != "/name" {
		t.Fatal(warnings, err)
	}
	for account, want := range map[string]routine.Code{"shop": "", "gone": routine.CodeSessionMissing, "no name": routine.CodeInvalid} {
		e, err := c.service.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"account":"` + account + `"}`)})
		if want == "" && err != nil || want != "" && routine.CodeOf(err) != want || (e == nil) != (want == routine.CodeInvalid) {
			t.Errorf("%s: %v", account, err)
		}
	}
	if c.browser.Opened() != 1 {
		t.Errorf("%d pages", c.browser.Opened())
	}
}

// A run without its session fails before a browser is taken, and says what to do. Saving the
// routine gives a warning.
func TestRunWithoutItsSession(t *testing.T) {
	s, store, b := newSecretService(t)
	const missing = "there is no session shop for project p: ask a person to run: rote session set shop --host HOST"
	r, warnings, err := s.CreateRoutine(t.Context(), ann, fmt.Appendf(nil, inSession, "shop"), service.Idempotency{})
	if err != nil || len(warnings) != 1 || warnings[0].Code != "unknown_session" || warnings[0].Pointer != "/session" || warnings[0].Message != missing {
		t.Fatal(warnings, err)
	}
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeSessionMissing || routine.AsError(err).Message != missing || e.ErrorCode != routine.CodeSessionMissing || b.Opened() != 0 {
		t.Errorf("%+v %v, %d pages", e, err, b.Opened())
	}
	if err := store.SaveSession(t.Context(), routinetest.Session(), nil, 0); err != nil {
		t.Fatal(err)
	}
	if _, warnings, err := s.Validate(t.Context(), ann, fmt.Appendf(nil, inSession, "shop")); err != nil || len(warnings) > 0 {
		t.Error(warnings, err)
	}
	if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil {
		t.Error(err)
	}
	elsewhere := ann
	elsewhere.ProjectID = "q"
	if _, err := s.Execute(t.Context(), elsewhere, r.ID, service.Call{}); routine.CodeOf(err) != routine.CodeSessionMissing {
		t.Error("a run of another project: ", err)
	}
}

// What happens to a session while a run uses it stays: two runs that change different cookies
// keep both, and a login, a deletion of the state and one of the session win.
func TestSessionIsChangedMeanwhile(t *testing.T) {
	for _, row := range []struct {
		name      string
		meanwhile func(c *sessions)
		want      string
	}{
		{"nothing", func(*sessions) {}, "shop.example a=mine-own-value, shop.example b=first-value-b"},
		{"another cookie", func(c *sessions) {
			c.save(stateText("shop.example a=first-value-a", "shop.example b=theirs-value"), nil)
		},
			"shop.example a=mine-own-value, shop.example b=theirs-value"},
		{"a cookie of its own", func(c *sessions) { c.save(stateText("shop.example a=first-value-a", "shop.example n=new-value"), nil) },
			"shop.example a=mine-own-value, shop.example n=new-value"},
		{"a login", func(c *sessions) {
			c.save(stateText("shop.example a=login-value-a"), func(s *routine.Session) { s.LoggedInAt = new(routinetest.Time) })
		}, "shop.example a=login-value-a"},
		{"the state is deleted", func(c *sessions) { c.save([]byte{}, func(s *routine.Session) { s.Condition = routine.SessionEmpty }) }, ""},
		{"other hosts", func(c *sessions) { c.save(nil, func(s *routine.Session) { s.Hosts = []string{"b.example"} }) }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newSessions(t, stateText("shop.example a=first-value-a", "shop.example b=first-value-b"))
			c.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
				row.meanwhile(c)
				return routine.Navigation{URL: url, Status: 200}, nil
			}
			e, err := c.run(stateText("shop.example a=mine-own-value", "shop.example b=first-value-b"))
			if err != nil || len(e.Result.Warnings) > 0 {
				t.Fatal(e.Result.Warnings, err)
			}
			if _, got := c.stored(); got != row.want {
				t.Errorf("the session has %q, want %q", got, row.want)
			}
		})
	}
	c := newSessions(t, stateText("shop.example a=first-value-a"))
	c.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
		return routine.Navigation{URL: url, Status: 200}, c.store.DeleteSession(t.Context(), "acme", "p", "shop")
	}
	if e, err := c.run(stateText("shop.example a=mine-own-value")); err != nil || len(e.Result.Warnings) > 0 {
		t.Error(e.Result.Warnings, err)
	}
	if _, err := c.store.Session(t.Context(), "acme", "p", "shop"); err == nil {
		t.Error("the run made the deleted session again")
	}
}

// save changes the stored session as somebody else would.
func (c *sessions) save(state []byte, edit func(*routine.Session)) {
	c.Helper()
	found, _ := c.stored()
	if edit != nil {
		edit(found)
	}
	if err := c.store.SaveSession(c.Context(), found, state, found.Generation); err != nil {
		c.Fatal(err)
	}
}

// Cookies that expire are not taken for removed ones, and those that others have renewed stay.
func TestExpiredCookiesOfSession(t *testing.T) {
	expiring := func(value string, at time.Time) []byte {
		s := &browserstate.State{Cookies: []browserstate.Cookie{{Name: "sid", Value: value, Path: "/", Secure: true, HTTPOnly: true, Expires: float64(at.Unix())}}}
		s.Cookies[0].ForHost("shop.example")
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	c := newSessions(t, expiring("expired-value", time.Now().Add(-time.Hour)))
	c.browser.Page.Navigate = func(_ context.Context, url string) (routine.Navigation, error) {
		if o := c.browser.LastOpening(); strings.Contains(string(o.State), "expired-value") {
			t.Error("the page starts with an expired cookie")
		}
		c.save(expiring("renewed-value", time.Now().Add(time.Hour)), nil)
		return routine.Navigation{URL: url, Status: 200}, nil
	}
	if _, err := c.run(stateText("shop.example other=value-of-another")); err != nil {
		t.Fatal(err)
	}
	c.want("after the run", "shop.example other=value-of-another, shop.example sid=renewed-value", 3)
	if found, _ := c.stored(); found.ExpiresAt == nil || time.Until(*found.ExpiresAt) > time.Hour {
		t.Errorf("expires at %v", found.ExpiresAt)
	}
	// A browser keeps a cookie for 400 days at most, which is no change by the run.
	c = newSessions(t, expiring("long-lived-value", time.Now().Add(800*24*time.Hour)))
	if _, err := c.run(expiring("long-lived-value", time.Now().Add(400*24*time.Hour))); err != nil {
		t.Fatal(err)
	}
	c.want("after a run that changed nothing", "shop.example sid=long-lived-value", 1)
}

// changingStore has sessions that others change each time before they are saved.
type changingStore struct{ *routinetest.Store }

func (s changingStore) SaveSession(context.Context, *routine.Session, []byte, int) error {
	return fmt.Errorf("save: %w", routine.ErrChanged)
}

// sealedSessions has sessions that it cannot open.
type sealedSessions struct{ *routinetest.Store }

func (sealedSessions) SessionState(context.Context, string, string, string) (*routine.Session, []byte, error) {
	return nil, nil, routine.ErrSealed
}

// A session that cannot be saved is a warning, because the run has done its work. One that cannot
// be read fails the run before a browser is taken.
func TestSessionOfStoreThatFails(t *testing.T) {
	c := newSessions(t, stateText("shop.example sid=first-value"))
	b := &routinetest.Browser{Page: routinetest.Page{State: stateText("shop.example sid=second-value")}}
	e, err := service.New(service.Config{Store: changingStore{c.store}, Browser: b}).Execute(t.Context(), ann, c.routine.ID, service.Call{})
	if err != nil || len(e.Result.Warnings) != 1 || e.Result.Warnings[0] != "the session shop was not saved: others changed it again and again meanwhile" {
		t.Errorf("%+v %v", e, err)
	}
	b = &routinetest.Browser{}
	_, err = service.New(service.Config{Store: sealedSessions{c.store}, Browser: b}).Execute(t.Context(), ann, c.routine.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeSecretUnavailable || !strings.Contains(err.Error(), "--state-key") || b.Opened() != 0 {
		t.Errorf("%v, %d pages", err, b.Opened())
	}
}

// The answers of a run have no HttpOnly cookie of its session, unless the session is readable.
func TestSessionIsMasked(t *testing.T) {
	for _, readable := range []bool{false, true} {
		c := newSessions(t, stateText("shop.example sid=echoed-value"), func(s *routine.Session) { s.Readable = readable })
		c.browser.Page.HTML = "<p>echoed-value"
		e, err := c.run(stateText("shop.example sid=echoed-value"))
		if err != nil || strings.Contains(string(e.Result.Data), "echoed-value") != readable {
			t.Errorf("readable %v: %s %v", readable, e.Result.Data, err)
		}
	}
}
