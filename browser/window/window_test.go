package window

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/routine/browserstate"
	"rote/routine/routinetest/display"
)

// testTime bounds one test; what a test waits for comes much sooner.
const testTime = 90 * time.Second

// shop is a site with a login: a cookie for the session, and a token in local storage that the
// page after the login fetches.
func shop(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	page := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><link rel=icon href='data:,'>"+body)
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		page(w, `<form method=post><input name=user><input name=password type=password><button>Log in</button></form>`)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("password") != "hunter2" {
			http.Error(w, "wrong", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s-" + r.FormValue("user"), Path: "/", HttpOnly: true})
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, _ *http.Request) {
		page(w, `<script>fetch("/token").then(r => r.text()).then(t => { localStorage.token = t; localStorage.half = "\ud800" })</script>`)
	})
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "t0ken") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// lacks skips a test that needs a program that is not installed; in CI it fails.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip(what)
	}
	t.Fatal(what)
}

func open(t *testing.T, c Config) *Window {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	var err error
	if c.Executable, err = chromium.FindWindowed(""); err != nil {
		lacks(t, err.Error())
	}
	c.Warn = func(lacks string, _ error) { t.Log(lacks) }
	w, err := Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// person is somebody at the window: a session of its own with the first page.
type person struct {
	t       *testing.T
	w       *Window
	target  proto.TargetTargetID
	session proto.TargetSessionID
}

// Send implements [cdp.Session].
func (p *person) Send(m proto.Request) *cdp.Future {
	return p.w.client.Send(p.session, m.ProtoReq(), m)
}

// SendAll implements [cdp.Session].
func (p *person) SendAll(ms ...proto.Request) []*cdp.Future {
	return p.w.client.SendAll(p.session, ms...)
}

// Await implements [cdp.Session].
func (p *person) Await(ctx context.Context, f *cdp.Future) ([]byte, error) { return f.Wait(ctx) }

func newPerson(t *testing.T, w *Window) *person {
	t.Helper()
	targets, err := proto.TargetGetTargets{}.Call(w.client.Browser(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(targets.TargetInfos, func(i *proto.TargetTargetInfo) bool { return i.Type == "page" })
	target := targets.TargetInfos[i].TargetID
	attached, err := proto.TargetAttachToTarget{TargetID: target, Flatten: true}.Call(w.client.Browser(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, w, target, attached.SessionID}
}

// sees waits until an expression is true in the page.
func (p *person) sees(expression string) {
	p.t.Helper()
	soon(p.t, expression, func() bool {
		v, err := cdp.Evaluate(p.t.Context(), p, proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true})
		return err == nil && string(v.Value) == "true"
	})
}

// soon waits until something holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(testTime / 3)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, testTime/3)
		}
	}
}

func (p *person) logIn() {
	p.t.Helper()
	p.sees(`document.readyState === "complete" && !!document.forms[0]`)
	p.sees(`(document.forms[0].user.value = "ann", document.forms[0].password.value = "hunter2", document.forms[0].submit(), true)`)
}

func (p *person) closePage() {
	p.w.client.Send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: p.target}).Forget()
}

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testTime):
		t.Fatal("it never happened: ", what)
	}
}

// checkLoggedIn checks that a state has what the shop left.
func checkLoggedIn(t *testing.T, s *browserstate.State, site string) {
	t.Helper()
	host := strings.TrimPrefix(site, "http://")
	if len(s.Cookies) != 1 || s.Cookies[0].Name != "sid" || s.Cookies[0].Value != "s-ann" || !s.Cookies[0].HTTPOnly ||
		s.Cookies[0].Host() != host[:strings.LastIndexByte(host, ':')] {
		t.Errorf("cookies %+v", s.Cookies)
	}
	want := `[["token","t0ken"],["half","\ud800"]]`
	if len(s.Storage) != 1 || s.Storage[0].Origin != site || string(s.Storage[0].Items) != want {
		t.Errorf("storage %s, want %s", s.Storage, want)
	}
	if text, err := s.Encode(); err != nil {
		t.Error(err)
	} else if again, err := browserstate.Parse(text); err != nil {
		t.Errorf("%s: %v", text, err)
	} else if same, err := browserstate.Same(s, again); !same || err != nil {
		t.Errorf("another state from %s: %v", text, err)
	}
}

func state(t *testing.T, w *Window) *browserstate.State {
	t.Helper()
	s, err := w.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A login ends at a URL, with what the page there has still fetched.
func TestLoginEndsAtAURL(t *testing.T) {
	site := shop(t)
	w := open(t, Config{URL: site + "/login", Until: regexp.MustCompile(`/account$`), Headless: true})
	newPerson(t, w).logIn()
	wait(t, "the URL", w.Reached())
	checkLoggedIn(t, state(t, w), site)
	if !strings.Contains(w.UserAgent(), "Chrome/") {
		t.Errorf("user agent %q", w.UserAgent())
	}
	select {
	case <-w.Closed():
		t.Error("the window is said to be closed")
	default:
	}
}

// Closing the last page loses nothing, session cookies included.
func TestLoginEndsByClosingTheWindow(t *testing.T) {
	site := shop(t)
	w := open(t, Config{URL: site + "/login", Headless: true})
	p := newPerson(t, w)
	p.logIn()
	p.sees(`localStorage.half === "\ud800"`)
	p.closePage()
	wait(t, "the end of the window", w.Closed())
	checkLoggedIn(t, state(t, w), site)
}

// A page that closes while another is open does not end the login.
func TestPopupOfALogin(t *testing.T) {
	site := shop(t)
	w := open(t, Config{URL: site + "/login", Until: regexp.MustCompile(`/account$`), Headless: true})
	p := newPerson(t, w)
	p.sees(`document.readyState === "complete" && !!document.forms[0]`)
	if _, err := cdp.Evaluate(t.Context(), p, proto.RuntimeEvaluate{Expression: `window.popup = open("/login"); 1`, UserGesture: true}); err != nil {
		t.Fatal(err)
	}
	p.sees(`!!popup.document.forms[0]`)
	p.sees(`(popup.close(), true)`)
	p.sees(`popup.closed`)
	p.logIn()
	wait(t, "the URL", w.Reached())
	select {
	case <-w.Closed():
		t.Error("the window is said to be closed")
	default:
	}
}

// If the browser ends at once, the state that was read before is kept.
func TestQuitBrowser(t *testing.T) {
	site := shop(t)
	w := open(t, Config{URL: site + "/login", Headless: true})
	p := newPerson(t, w)
	p.logIn()
	p.sees(`localStorage.half === "\ud800"`)
	soon(t, "the state is read without being asked for", func() bool {
		w.reading.Lock()
		defer w.reading.Unlock()
		return w.last != nil && len(w.last.Storage) > 0
	})
	if err := syscall.Kill(w.process.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait(t, "the end of the browser", w.Closed())
	checkLoggedIn(t, state(t, w), site)
}

// Close removes the profile, also twice and while the state is read.
func TestCloseLeavesNothing(t *testing.T) {
	w := open(t, Config{URL: shop(t) + "/account", Headless: true})
	home := w.process.Home()
	go func() { _, _ = w.State(t.Context()) }()
	w.Close()
	w.Close()
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the profile is still there: %v", err)
	}
	soon(t, "the processes of the browser end", func() bool { return errors.Is(syscall.Kill(-w.process.PID(), 0), syscall.ESRCH) })
}

// In a window, pages and the person see an ordinary browser without a bar about automation, and
// closing the window loses nothing.
func TestWindow(t *testing.T) {
	display.Use(t)
	site := shop(t)
	w := open(t, Config{URL: site + "/login", Until: regexp.MustCompile(`/never$`)})
	p := newPerson(t, w)
	p.sees(`!!document.forms[0] && navigator.webdriver === false`)
	// A bar would add 56 pixels to the 87 of tabs and address.
	p.sees(`innerHeight > 0 && outerHeight > innerHeight && outerHeight - innerHeight < 120`)
	if strings.Contains(w.UserAgent(), "Headless") {
		t.Errorf("user agent %q", w.UserAgent())
	}
	p.logIn()
	p.sees(`localStorage.half === "\ud800"`)
	p.closePage()
	wait(t, "the end of the window", w.Closed())
	checkLoggedIn(t, state(t, w), site)
}

// Without a display there is an error.
func TestNoDisplay(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	path, err := chromium.FindWindowed("")
	if err != nil {
		lacks(t, err.Error())
	}
	w, err := Open(t.Context(), Config{Executable: path, URL: "about:blank", Warn: func(string, error) {}})
	if err == nil {
		w.Close()
		t.Fatal("there is a window without a display")
	}
}
