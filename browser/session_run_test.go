package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/definition"
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
