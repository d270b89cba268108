package lesson

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/spelling"
)

// keeper may change the sessions of the author's project.
var keeper = routine.Principal{UserID: "kim", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes | routine.ScopeSecretsWrite}

// logIn gives the classroom a saved session for shop.test with an HttpOnly cookie, and returns its
// state.
func (c *classroom) logIn(t *testing.T, name, cookie string) []byte {
	t.Helper()
	s := &browserstate.State{Cookies: []browserstate.Cookie{{Name: "sid", Value: cookie, Path: "/", Secure: true, HTTPOnly: true}}}
	s.Cookies[0].ForHost("shop.test")
	exported, err := s.Export([]string{"shop.test"}, "Agent/1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.service.ImportSession(t.Context(), keeper, routine.ViaREST, name, exported, nil, service.PutCondition{}); err != nil {
		t.Fatal(err)
	}
	state, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// set changes the settings of a session, or makes one.
func (c *classroom) set(t *testing.T, name, settings string) *service.SessionInfo {
	t.Helper()
	info, _, err := c.service.SaveSession(t.Context(), keeper, routine.ViaREST, name, []byte(settings), service.PutCondition{})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// opened returns the value of the cookie sid with which the last page was opened; empty: none.
func (c *classroom) opened(t *testing.T) string {
	t.Helper()
	s, err := browserstate.Parse(c.browser.LastOpening().State)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cookies) == 0 {
		return ""
	}
	return s.Cookies[0].Value
}

// A lesson starts from a saved session and changes nothing in it. No answer has the values of the
// session's cookies, neither of those that it starts with nor of those that come while a page
// settles. The saved routine has the session, and its proof runs with it.
func TestLessonStartsFromASession(t *testing.T) {
	const first, renewed = "first-login-value", "renewed-login-value"
	page := routinetest.Page{HTML: "<p>" + first + " " + renewed + "</p>", URL: "https://shop.test/"}
	c := newClassroom(t, page)
	c.browser.Page.State = c.logIn(t, "shop", first)
	c.browser.OnOpen = func(_ context.Context, p *routinetest.Page) error {
		p.WaitQuiet = func(context.Context) (time.Duration, error) {
			p.Cookies = []routine.Cookie{{Name: "sid", Value: renewed, Domain: "shop.test", Path: "/", HTTPOnly: true}}
			return 0, nil
		}
		return nil
	}
	started, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/", Session: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if o := c.browser.LastOpening(); c.opened(t) != first || !o.Lesson || o.UserAgent != "Agent/1" {
		t.Errorf("the page was opened with %q, %+v", c.opened(t), o)
	}
	if started.Session != "shop" || started.SessionWarning != "" || !strings.Contains(started.Text(), "the saved session shop, in which the lesson changes nothing") {
		t.Errorf("%q %q %s", started.Session, started.SessionWarning, started.Text())
	}
	tried := c.tried(t, started.ID, TryRequest{Operations: raw(`{"type":"get_cookies","session_storage_key":"all"}`,
		`{"type":"return","session_storage_key":"all"}`, `{"type":"return_html"}`)})
	if said := routine.JSONText(tried); !tried.OK || !strings.Contains(said, routine.Masked+" "+routine.Masked) {
		t.Errorf("%s", said)
	}
	before, err := c.service.Session(t.Context(), keeper, "shop")
	if err != nil || before.Version != 1 {
		t.Errorf("the lesson has changed the session: %+v %v", before, err)
	}
	saved, err := c.Save(t.Context(), author, started.ID, SaveRequest{Name: "orders", Description: "Reads the orders."})
	if err != nil {
		t.Fatal(routine.JSONText(saved), err)
	}
	r, err := c.service.Routine(t.Context(), author, saved.Routine.ID)
	if err != nil || r.Session != "shop" || r.Incognito {
		t.Errorf("%+v %v", r, err)
	}
	e, err := c.service.Execution(t.Context(), author, saved.Proof.Execution)
	if err != nil || e.Session == nil || e.Session.Name != "shop" || c.opened(t) != first {
		t.Errorf("the proof ran with %+v and %q, %v", e.Session, c.opened(t), err)
	}
	undone, err := c.Undo(t.Context(), author, started.ID, UndoRequest{To: 1})
	if err != nil || c.opened(t) != first {
		t.Errorf("the next page was opened with %q, %v", c.opened(t), err)
	}
	said := routine.JSONText([]any{started, tried, saved, undone}) + started.Text() + tried.Text()
	for _, value := range []string{first, renewed} {
		for _, spelled := range spelling.All(value) {
			if strings.Contains(said, spelled) {
				t.Errorf("an answer has %q: %s", spelled, said)
			}
		}
	}
}

// A session that a lesson cannot use is refused with what to do, and no page is opened.
func TestLessonSessionIsRefused(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	c.set(t, "seat", `{"hosts":["shop.test"],"mode":"exclusive"}`)
	for _, row := range []struct {
		session   string
		incognito *bool
		code      routine.Code
		says      string
	}{
		{"unknown", nil, routine.CodeSessionMissing, "rote session set unknown --host HOST"},
		{"seat", nil, routine.CodeConflict, "rote session set seat --no-exclusive"},
		{"my shop", nil, routine.CodeInvalid, "session names no session"},
		{"{{account}}", nil, routine.CodeInvalid, "session names no session"},
		{"seat", new(true), routine.CodeInvalid, "a lesson with a session is not incognito"},
	} {
		_, err := c.Start(t.Context(), author, StartRequest{URL: "https://shop.test/", Session: row.session, Incognito: row.incognito})
		wantError(t, err, row.code, row.says)
	}
	if c.browser.Opened() != 0 {
		t.Errorf("%d pages were opened", c.browser.Opened())
	}
}

// A lesson whose session nobody is logged in with says who can log in, and how.
func TestLessonSaysThatNobodyIsLoggedIn(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	c.set(t, "shop", `{"hosts":["shop.test"]}`)
	r, _, err := c.service.CreateRoutine(t.Context(), author,
		[]byte(`{"name":"log_in","description":"Logs in.","session":"shop","operations":[{"type":"navigate","url":"https://shop.test/"}]}`), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	want := func(q StartRequest, warning string) {
		t.Helper()
		started, err := c.Start(t.Context(), author, q)
		if err != nil {
			t.Fatal(err)
		}
		if started.Session != "shop" || !strings.Contains(started.SessionWarning, warning) || warning == "" && started.SessionWarning != "" ||
			!strings.Contains(started.Text(), started.SessionWarning) {
			t.Errorf("%q, want %q", started.SessionWarning, warning)
		}
		if _, err := c.End(t.Context(), author, started.ID); err != nil {
			t.Fatal(err)
		}
	}
	at := StartRequest{URL: "https://shop.test/", Session: "shop"}
	want(at, "session shop: nobody has logged in. Ask a person to run: rote login URL --session shop")
	c.set(t, "shop", `{"login":{"routine_id":"`+r.ID+`"}}`)
	want(at, "run rote session login shop, or POST /sessions/shop/login")
	c.logIn(t, "shop", "first-login-value")
	want(at, "")
	if c.opened(t) == "" {
		t.Error("the page was opened without the login")
	}
	want(StartRequest{Routine: r.ID}, "")
	if got := c.opened(t); got != "" { // as a run that logs in is
		t.Errorf("the login routine is mended with the cookie %q", got)
	}
}

// A routine that is mended has its own session with the values of the lesson, unless the caller
// gives another one, which the routine then gets, or wants none.
func TestMendedRoutineHasItsSession(t *testing.T) {
	c := newClassroom(t, routinetest.Page{})
	c.logIn(t, "anna", "login-of-anna")
	c.logIn(t, "ben", "login-of-ben")
	r, _, err := c.service.CreateRoutine(t.Context(), author, []byte(`{"name":"n","description":"d","session":"{{account}}",
		"parameters":[{"name":"account"},{"name":"other","required":false}],"operations":[{"type":"navigate","url":"https://shop.test/"},{"type":"return_html"}]}`),
		service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		values, session string
		incognito       *bool
		opened, saved   string
	}{
		{`{"account":"anna"}`, "", nil, "login-of-anna", "{{account}}"},
		{`{"account":"anna"}`, "", new(false), "login-of-anna", "{{account}}"},
		{`{"account":"anna"}`, "", new(true), "", "{{account}}"},
		{`{"account":"anna"}`, "ben", nil, "login-of-ben", "ben"},
	} {
		started, err := c.Start(t.Context(), author, StartRequest{Routine: r.ID, Session: row.session, Incognito: row.incognito, Values: valuesOf(t, row.values)})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.opened(t); got != row.opened {
			t.Errorf("%+v: the page was opened with %q", row, got)
		}
		dry, err := c.Save(t.Context(), author, started.ID, SaveRequest{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		var d routine.Definition
		if err := json.Unmarshal(dry.Definition, &d); err != nil || d.Session != row.saved || d.Incognito {
			t.Errorf("%+v: %s %v", row, dry.Definition, err)
		}
		if _, err := c.End(t.Context(), author, started.ID); err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.Start(t.Context(), author, StartRequest{Routine: r.ID})
	wantError(t, err, routine.CodeInvalid, "account")
}
