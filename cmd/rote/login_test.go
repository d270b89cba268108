package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rote/browser/chromium"
	"rote/browser/window"
	"rote/routine"
	"rote/routine/service"
)

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
		{"the server refuses the state", loggedIn, nil, map[string]int{"PUT /sessions/shop/state": http.StatusRequestEntityTooLarge},
			[]string{"413", "nothing was saved"}},
		{"the server redirects", loggedIn, nil, map[string]int{"PUT /sessions/shop/state": http.StatusTemporaryRedirect},
			[]string{"307", "nothing was saved"}},
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

// Mistakes in the command are reported before a browser opens.
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
