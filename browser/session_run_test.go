package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/definition"
	"rote/routine/lesson"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// Runs with a saved session pass the login on to each other: a site that renews its HttpOnly cookie
// at each visit knows all of them. What another site sets is not kept, and no answer has the cookie.
func TestRunsInSavedSession(t *testing.T) {
	t.Parallel()
	visits := 0
	home := site(t, map[string]any{"/": func(w http.ResponseWriter, r *http.Request) {
		sent := "none"
		if c, err := r.Cookie("sid"); err == nil {
			sent = c.Value
		}
		visits++
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: fmt.Sprintf("renewed-value-%d", visits), HttpOnly: true, Path: "/"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<link rel=icon href="data:,"><p>visit %d came with %s`, visits, sent)
	}})
	d, _, err := definition.Parse(fmt.Appendf(nil, `{"name":"n","description":"d","session":"shop","operations":[{"type":"navigate","url":%q},
		{"type":"navigate","url":%q},{"type":"return_html","scope":"element","selector":"p"}]}`, strings.Replace(home, "127.0.0.1", "localhost", 1)+"/", home+"/"))
	if err != nil {
		t.Fatal(err)
	}
	store := routinetest.NewStore()
	ann := routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes}
	session := routinetest.Session(func(s *routine.Session) { s.Hosts = []string{"127.0.0.1"} })
	if err := store.SaveSession(t.Context(), session, nil, 0); err != nil {
		t.Fatal(err)
	}
	s := service.New(service.Config{Store: store, Browser: shared})
	for run, want := range []string{`"<p>visit 2 came with none</p>"`, `"<p>visit 4 came with ***</p>"`} {
		e, err := s.RunOnce(testContext(t), ann, d, service.Call{})
		if err != nil || string(e.Result.Data) != want || len(e.Result.Warnings) > 0 {
			t.Fatalf("run %d: %s %q %v", run, e.Result.Data, e.Result.Warnings, err)
		}
		_, text, err := store.SessionState(t.Context(), "acme", "p", "shop")
		if err != nil {
			t.Fatal(err)
		}
		state, err := browserstate.Parse(text)
		if err != nil || len(state.Cookies) != 1 || state.Cookies[0].Host() != "127.0.0.1" || state.Cookies[0].Value != fmt.Sprintf("renewed-value-%d", visits) {
			t.Errorf("run %d: the session has %d cookies, %v", run, len(state.Cookies), err)
		}
	}
}

// A lesson starts from a saved session on a real page: the site knows the login, and neither its
// HttpOnly cookie nor one that comes while the page settles is in an answer. The session stays as
// it is, also when the lesson has another login at its end.
func TestLessonInSavedSession(t *testing.T) {
	t.Parallel()
	const saved, renewed = "saved-login-value", "renewed-login-value"
	home := site(t, map[string]any{
		"/": func(w http.ResponseWriter, r *http.Request) {
			sent := "nobody"
			if c, err := r.Cookie("sid"); err == nil {
				sent = c.Value
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<link rel=icon href="data:,"><h1>Hello %s with %s</h1>
				<button onclick="fetch('/renew').then(r => r.text()).then(t => document.querySelector('h1').textContent = t)">Renew</button>`, sent, r.UserAgent())
		},
		"/renew": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(200 * time.Millisecond):
			case <-r.Context().Done():
			}
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: renewed, HttpOnly: true, Path: "/"})
			fmt.Fprint(w, "Now "+renewed)
		},
	})
	store := routinetest.NewStore()
	state := &browserstate.State{Cookies: []browserstate.Cookie{{Name: "sid", Value: saved, Path: "/", HTTPOnly: true}}}
	state.Cookies[0].ForHost("127.0.0.1")
	text, err := state.Encode()
	if err != nil {
		t.Fatal(err)
	}
	session := routinetest.Session(func(s *routine.Session) {
		s.Hosts, s.Condition, s.UserAgent = []string{"127.0.0.1"}, routine.SessionFresh, "Agent/1"
		s.OrganizationID, s.ProjectID = lessonAuthor.OrganizationID, lessonAuthor.ProjectID
	})
	if err := store.SaveSession(t.Context(), session, text, 0); err != nil {
		t.Fatal(err)
	}
	l := lessonsIn(t, &watchedBrowser{Browser: shared}, func(c *lesson.Config) {
		c.Service = service.New(service.Config{Store: store, Browser: shared})
	})
	started, err := l.Start(testContext(t), lessonAuthor, lesson.StartRequest{URL: home + "/", Session: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	_, clicked := try(t, l, started.ID, nil, `{"type":"click","selector":"button"}`)
	seen, err := l.Snapshot(testContext(t), lessonAuthor, started.ID, lesson.SnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{started.Text(): "Hello *** with Agent/1", clicked: "Now ***", seen.Text(): "Now ***"} {
		if !strings.Contains(answer, want) || strings.Contains(answer, saved) || strings.Contains(answer, renewed) {
			t.Errorf("want %q:\n%s", want, answer)
		}
	}
	endLesson(t, l, started.ID)
	now, kept, err := store.SessionState(t.Context(), session.OrganizationID, session.ProjectID, "shop")
	if err != nil || now.Generation != 1 || string(kept) != string(text) {
		t.Errorf("the session was changed: %d %s %v", now.Generation, kept, err)
	}
}
