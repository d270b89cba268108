package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/browser/window"
)

// idpSite is a shop with a login at another site: shop.localhost sends people to
// idp.localhost, from where they come back by www.shop.localhost. Each of them sets a cookie.
func idpSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at := func(host string) string { return "http://" + host + ":" + port }
	page := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><link rel=icon href='data:,'>"+body)
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		page(w, `<form method=post action="`+at("idp.localhost")+`/auth"><input name=password type=password></form>`)
	})
	mux.HandleFunc("POST /auth", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("password") != "hunter2" {
			http.Error(w, "wrong", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "idp", Value: "idp-secret", Path: "/"})
		http.Redirect(w, r, at("www.shop.localhost")+"/back", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /back", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "www", Value: "www-secret", Path: "/"})
		http.Redirect(w, r, at("shop.localhost")+"/account", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "sid-secret", Path: "/", HttpOnly: true})
		page(w, `<script>localStorage.token = "token-secret"</script><p id=done>Welcome</p>`)
	})
	return at("shop.localhost")
}

// connected is a browser with a window.
type connected interface{ Client() *cdp.Client }

// visitor is a person at a window.
type visitor struct {
	t       *testing.T
	w       connected
	target  string
	session string
}

// withPerson returns open for a window in which a person acts, who also uses the terminal. done is
// closed when the person has ended, or the window could not be opened.
func withPerson[C any, W connected](t *testing.T, open func(context.Context, C) (W, error), screen *terminal, person func(*visitor, *terminal)) (
	_ func(context.Context, C) (W, error), done chan struct{}) {

	done = make(chan struct{})
	return func(ctx context.Context, c C) (W, error) {
		w, err := open(ctx, c)
		if err != nil {
			close(done)
			return w, err
		}
		go func() {
			defer close(done)
			person(newVisitor(t, w), screen)
		}()
		return w, nil
	}, done
}

func newVisitor(t *testing.T, w connected) *visitor {
	return newVisitorOf(t, w, func(string) bool { return true })
}

// newVisitorOf is a person at a page whose target is a wanted one.
func newVisitorOf(t *testing.T, w connected, wanted func(target string) bool) *visitor {
	v := &visitor{t: t, w: w}
	var all struct {
		Targets []struct {
			ID   string `json:"targetId"`
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	v.call("", "Target.getTargets", nil, &all)
	for _, target := range all.Targets {
		if target.Type == "page" && wanted(target.ID) {
			v.target = target.ID
		}
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	v.call("", "Target.attachToTarget", map[string]any{"targetId": v.target, "flatten": true}, &attached)
	v.session = attached.Session
	return v
}

// call makes a request. Its errors are not those of the test: the browser may end.
func (v *visitor) call(session, method string, params, into any) {
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	if text, err := v.w.Client().Send(proto.TargetSessionID(session), method, params).Wait(ctx); err == nil {
		_ = json.Unmarshal(text, into)
	}
}

// does repeats an expression until it is true in the page.
func (v *visitor) does(expression string) {
	for deadline := time.Now().Add(testTime); ; time.Sleep(5 * time.Millisecond) {
		var answer struct {
			Result struct {
				Value any `json:"value"`
			} `json:"result"`
		}
		v.call(v.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
		if answer.Result.Value == true {
			return
		}
		if time.Now().After(deadline) || v.w.Client().Err() != nil {
			v.t.Errorf("the person waits for %s", expression)
			return
		}
	}
}

// logIn sends the form of idpSite and waits for the page behind it.
func (v *visitor) logIn() {
	v.does(`document.readyState === "complete" && !!document.forms[0]`)
	v.does(`(document.forms[0].password.value = "hunter2", document.forms[0].submit(), true)`)
	v.does(`!!document.querySelector("#done")`)
}

// closePage closes the page when it has loaded: while it loads, the browser may not close it.
func (v *visitor) closePage() {
	v.does(`document.readyState === "complete" && location.protocol === "http:"`)
	v.call("", "Target.closeTarget", map[string]any{"targetId": v.target}, nil)
}

// terminal is a terminal in which a fake person types in answer to the output.
type terminal struct {
	t    *testing.T
	keys io.Writer
	output
}

// enter types a line.
func (s *terminal) enter(line string) { fmt.Fprintln(s.keys, line) }

// answer types a line when there is a question.
func (s *terminal) answer(line string) {
	s.wait(s.t, func(text string) string {
		_, question, _ := strings.Cut(text, "[y/N]")
		return question
	})
	s.enter(line)
}

// loginRun is a run of rote login in this process, in a browser without a window.
type loginRun struct {
	out, errs string
	err       error
}

// loginInWindow runs rote login with arguments. The person acts with the window and the terminal.
func loginInWindow(t *testing.T, person func(v *visitor, terminal *terminal), args ...string) loginRun {
	t.Helper()
	t.Setenv("DISPLAY", ":not-used") // the browser has no window
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	read, typing := io.Pipe()
	defer typing.Close()
	var out strings.Builder
	screen := &terminal{t: t, keys: typing, output: output{more: make(chan struct{}, 1)}}
	s := streams{in: read, out: &out, err: screen}
	command, g, err := parse(append([]string{"login", "--db", filepath.Join(t.TempDir(), "rote.db")}, args...), s)
	if err != nil {
		t.Fatal(err)
	}
	login := command.(*loginCommand)
	open, done := withPerson(t, window.Open, screen, person)
	login.open = func(ctx context.Context, c window.Config) (*window.Window, error) {
		c.Headless = true
		return open(ctx, c)
	}
	err = login.Run(ctx, g, s)
	typing.Close()
	<-done
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), chromium.ProfilePrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	return loginRun{out.String(), screen.String(), err}
}

// needsWindowed skips a test without a browser that can open windows; in CI it fails.
func needsWindowed(t *testing.T) {
	t.Helper()
	if _, err := chromium.FindWindowed(""); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

// sessionServer is a server that answers as the REST front end does, and keeps what it was sent.
type sessionServer struct {
	*httptest.Server
	hosts    []string // of the session, if there is one
	refuse   map[string]int
	requests []string
	state    map[string]any
}

func newSessionServer(t *testing.T) *sessionServer {
	s := &sessionServer{refuse: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := r.Method + " " + r.URL.Path
		s.requests = append(s.requests, request)
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.Header().Set("Content-Type", "application/json")
		status := s.refuse[request]
		switch {
		case r.Header.Get("Authorization") != "Bearer t0ken":
			status = http.StatusUnauthorized
		case status == 0 && r.Method == http.MethodGet && s.hosts == nil:
			status = http.StatusNotFound
		case status == 0 && request == "PUT /sessions/shop/state":
			s.state, s.hosts = body, nil
			for _, host := range body["hosts"].([]any) {
				s.hosts = append(s.hosts, host.(string))
			}
		}
		if status != 0 {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(status)
			fmt.Fprint(w, `{"detail": "no, thank you"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "shop", "hosts": s.hosts})
	}))
	t.Cleanup(s.Close)
	t.Setenv(adminTokenVariable, "t0ken")
	return s
}

// cookies are the names of the cookies of the state that the server was sent, sorted.
func (s *sessionServer) cookies() []string {
	names := []string{}
	list, _ := s.state["cookies"].([]any)
	for _, c := range list {
		names = append(names, c.(map[string]any)["name"].(string))
	}
	slices.Sort(names)
	return names
}
