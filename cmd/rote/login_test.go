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

	"rote/browser/chromium"
	"rote/browser/window"
	"rote/routine"
	"rote/routine/service"
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

// visitor is a person at the window of a login.
type visitor struct {
	t       *testing.T
	w       *window.Window
	target  string
	session string
}

func newVisitor(t *testing.T, w *window.Window) *visitor {
	v := &visitor{t: t, w: w}
	var all struct {
		Targets []struct {
			ID   string `json:"targetId"`
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	v.call("", "Target.getTargets", nil, &all)
	for _, target := range all.Targets {
		if target.Type == "page" {
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

// terminal is where a person types, who reads what is printed.
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
	done := make(chan struct{})
	login.open = func(ctx context.Context, c window.Config) (*window.Window, error) {
		c.Headless = true
		w, err := window.Open(ctx, c)
		if err != nil {
			close(done)
			return nil, err
		}
		go func() {
			defer close(done)
			person(newVisitor(t, w), screen)
		}()
		return w, nil
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

// A person logs in at another site and comes back. The login ends at a URL, with Enter, or with
// the window. The cookies of the other site are left out unless a flag names it.
func TestLogin(t *testing.T) {
	needsWindowed(t)
	for _, row := range []struct {
		name   string
		person func(v *visitor, terminal *terminal)
		args   []string
		had    []string // hosts of the session before
		hosts  []string
		kept   []string
	}{
		{"a URL ends it", func(v *visitor, terminal *terminal) { v.logIn(); terminal.answer("n") },
			[]string{"--until", "/account$"}, nil, []string{"shop.localhost"}, []string{"sid"}},
		{"Enter ends it", func(v *visitor, terminal *terminal) { v.logIn(); terminal.enter(""); terminal.answer("y") },
			nil, nil, []string{"shop.localhost", "www.shop.localhost"}, []string{"sid", "www"}},
		{"closing the window ends it", func(v *visitor, terminal *terminal) { v.logIn(); v.closePage(); terminal.answer("") },
			[]string{"--host", "idp.localhost"}, nil, []string{"shop.localhost", "idp.localhost"}, []string{"idp", "sid"}},
		{"a session that has hosts", func(v *visitor, terminal *terminal) { v.logIn(); terminal.enter("") },
			nil, []string{"shop.localhost", "*.shop.localhost"}, []string{"shop.localhost", "*.shop.localhost"}, []string{"sid", "www"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := newSessionServer(t)
			server.hosts = row.had
			got := loginInWindow(t, row.person, append([]string{idpSite(t) + "/login", "--session", "shop", "--server", server.URL}, row.args...)...)
			if got.err != nil {
				t.Fatalf("%v\n%s", got.err, got.errs)
			}
			if !slices.Equal(server.hosts, row.hosts) || !slices.Equal(server.cookies(), row.kept) {
				t.Errorf("hosts %q and cookies %q, want %q and %q", server.hosts, server.cookies(), row.hosts, row.kept)
			}
			origins, _ := server.state["origins"].([]any)
			if text, _ := json.Marshal(origins); len(origins) != 1 || !strings.Contains(string(text), "token-secret") {
				t.Errorf("local storage %s", text)
			}
			if agent, _ := server.state["user_agent"].(string); !strings.Contains(agent, "Chrome/") {
				t.Errorf("user agent %q", agent)
			}
			if leftOut := strings.Contains(got.errs, "idp.localhost (1 cookie)"); leftOut == slices.Contains(row.kept, "idp") {
				t.Errorf("the other site is not as expected in\n%s", got.errs)
			}
			if !strings.Contains(got.out, "saved session shop for shop.localhost") || strings.Contains(got.out+got.errs, "-secret") {
				t.Errorf("printed\n%s%s", got.out, got.errs)
			}
		})
	}
}

// A login in the database has the same hosts afterwards, and nothing of it can be read.
func TestLoginIntoDatabase(t *testing.T) {
	needsWindowed(t)
	db, site := filepath.Join(t.TempDir(), "rote.db"), idpSite(t)
	for range 2 { // a new session, and one that is there
		got := loginInWindow(t, func(v *visitor, terminal *terminal) { v.logIn(); terminal.enter(""); terminal.answer("") },
			site+"/login", "--session", "shop", "--db", db)
		if got.err != nil || got.out != "saved session shop for shop.localhost: 1 cookie and local storage\n" {
			t.Fatalf("%v\n%s%s", got.err, got.out, got.errs)
		}
	}
	s := streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	_, g, err := parse([]string{"list", "--db", db}, s)
	if err != nil {
		t.Fatal(err)
	}
	err = withDatabase(t.Context(), g, s, func(service *service.Service) error {
		info, err := service.Session(t.Context(), g.localPrincipal(), "shop")
		if err != nil {
			return err
		}
		if info.Condition != routine.SessionFresh || !slices.Equal(info.Hosts, []string{"shop.localhost"}) || len(info.State) != 2 {
			t.Errorf("session %+v", info)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, file := range allFiles(t, filepath.Dir(db)) {
		if strings.Contains(string(file.text), "sid-secret") || strings.Contains(string(file.text), "token-secret") {
			t.Errorf("%s has the login", file.name)
		}
	}
}

// A run starts logged in, as the browser of the person, with the login that a server was sent.
func TestRunWithLoginOfAPerson(t *testing.T) {
	needsWindowed(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: fmt.Sprintf("%x", r.UserAgent()), Path: "/", HttpOnly: true})
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if c, err := r.Cookie("sid"); err != nil || c.Value != fmt.Sprintf("%x", r.UserAgent()) {
			fmt.Fprint(w, "<h1>Log in first</h1>")
			return
		}
		fmt.Fprint(w, "<h1>Welcome back</h1>")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	r := newRote(t)
	token, errs, code := r.run("token", "create", "--scope", "secrets:read", "--scope", "secrets:write", "--scope", "executions:run")
	if code != 0 {
		t.Fatal(errs)
	}
	host := strings.TrimPrefix(site.URL, "http://")
	server := r.serve("--allow-host", host)
	t.Setenv(adminTokenVariable, strings.TrimSpace(token))
	got := loginInWindow(t, func(v *visitor, _ *terminal) { v.does(`document.title === ""`) },
		site.URL+"/login", "--session", "shop", "--server", server.url, "--until", "/account$")
	if got.err != nil {
		t.Fatalf("%v\n%s", got.err, got.errs)
	}
	file := r.file("account.json", `{"name": "account", "description": "Reads the account.", "session": "shop", "operations": [
		{"type": "navigate", "url": "`+site.URL+`/account"}, {"type": "return_html", "scope": "element", "selector": "h1"}]}`)
	if out, errs, code := r.run("run", file, "--allow-host", host); code != 0 || !strings.Contains(out, "Welcome back") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// What goes wrong leaves nothing at the server, and the person knows.
func TestLoginSavesNothing(t *testing.T) {
	needsWindowed(t)
	loggedIn := func(v *visitor, terminal *terminal) { v.logIn(); terminal.enter(""); terminal.answer("") }
	for _, row := range []struct {
		name   string
		person func(v *visitor, terminal *terminal)
		args   []string
		refuse map[string]int
		words  []string
	}{
		{"the server refuses the token", loggedIn, nil, map[string]int{"PUT /sessions/shop/state": http.StatusForbidden},
			[]string{"403 Forbidden: no, thank you", "secrets:write", "nothing was saved"}},
		{"the server refuses the state", loggedIn, nil, map[string]int{"PUT /sessions/shop/state": http.StatusRequestEntityTooLarge}, []string{"413", "nothing was saved"}},
		{"the server redirects", loggedIn, nil, map[string]int{"PUT /sessions/shop/state": http.StatusTemporaryRedirect}, []string{"307", "nothing was saved"}},
		{"the window closes too early", func(v *visitor, terminal *terminal) { v.closePage(); terminal.answer("n") }, []string{"--until", "/account$"}, nil,
			[]string{"nothing was saved"}},
		{"nobody logs in", func(v *visitor, _ *terminal) { v.closePage() }, nil, nil, []string{"no cookie and no local storage of shop.localhost", "nothing was saved"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := newSessionServer(t)
			server.refuse = row.refuse
			got := loginInWindow(t, row.person, append([]string{idpSite(t) + "/login", "--session", "shop", "--server", server.URL}, row.args...)...)
			for _, words := range row.words {
				if got.err == nil || !strings.Contains(got.err.Error(), words) {
					t.Errorf("%v, want %s", got.err, words)
				}
			}
			if server.state != nil || got.out != "" {
				t.Errorf("saved %v, and printed %s", server.state, got.out)
			}
		})
	}
}

// An interrupt ends the browser and saves nothing.
func TestInterruptedLogin(t *testing.T) {
	needsWindowed(t)
	server := newSessionServer(t)
	t.Setenv("DISPLAY", ":not-used")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	terminal, typing := io.Pipe()
	defer typing.Close()
	var errs strings.Builder
	c := loginCommand{URL: idpSite(t) + "/login", Session: "shop", Server: server.URL, open: func(ctx context.Context, c window.Config) (*window.Window, error) {
		c.Headless = true
		w, err := window.Open(ctx, c)
		interrupt()
		return w, err
	}}
	err := c.Run(ctx, &globals{}, streams{in: terminal, out: io.Discard, err: &errs})
	if err == nil || !strings.Contains(err.Error(), "nothing was saved") || server.state != nil {
		t.Errorf("%v, saved %v", err, server.state)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), chromium.ProfilePrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// What is wrong before the login is said before a browser opens.
func TestLoginThatCannotBegin(t *testing.T) {
	server := newSessionServer(t)
	ok := []string{"https://shop.example/login", "--session", "shop"}
	for _, row := range []struct {
		name  string
		env   []string
		args  []string
		words string
	}{
		{"no display", []string{"DISPLAY="}, ok, "Run the command on your own machine, with --server"},
		{"no browser", nil, append(ok, "--browser", "/nowhere/chrome"), "there is no file /nowhere/chrome"},
		{"a browser without windows", nil, append(ok, "--browser", "SHELL"), "has no windows"},
		{"no URL", nil, []string{"shop.example", "--session", "shop"}, "write it with its scheme"},
		{"no name", nil, []string{"https://shop.example", "--session", "my shop"}, "cannot be the name of a session"},
		{"a wrong expression", nil, append(ok, "--until", "("), "--until: error parsing regexp"},
		{"a host of many owners", nil, append(ok, "--host", "*.co.uk", "--server", server.URL), "many owners"},
		{"a server without https", nil, append(ok, "--server", "http://rote.example"), "has no https"},
		{"a server that is none", nil, append(ok, "--server", "rote.example"), "write it as in https://rote.example"},
		{"no token", []string{"ROTE_SERVICE_TOKEN="}, append(ok, "--server", server.URL), "--server needs a token of scope secrets:write"},
		{"a foreign token", []string{"ROTE_SERVICE_TOKEN=other"}, append(ok, "--server", server.URL), "must have a token of this server"},
		{"no server", nil, append(ok, "--server", "http://127.0.0.1:1"), "connection refused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			file := func(name string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				return path
			}
			t.Setenv("DISPLAY", ":not-used")
			t.Setenv("WAYLAND_DISPLAY", "")
			t.Setenv("PATH", dir)
			file("google-chrome") // which is found
			for _, v := range row.env {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			args := slices.Clone(row.args)
			if i := slices.Index(args, "SHELL"); i >= 0 {
				args[i] = file("chromium-headless-shell")
			}
			var out strings.Builder
			s := streams{in: strings.NewReader(""), out: &out, err: &out}
			command, g, err := parse(append([]string{"login", "--db", filepath.Join(dir, "rote.db")}, args...), s)
			if err != nil {
				t.Fatal(err)
			}
			login := command.(*loginCommand)
			login.open = func(context.Context, window.Config) (*window.Window, error) {
				t.Error("a browser opens")
				return nil, io.EOF
			}
			if err := login.Run(t.Context(), g, s); err == nil || !strings.Contains(err.Error(), row.words) {
				t.Errorf("%v, want %s", err, row.words)
			}
		})
	}
}
