package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealedCookie and sealedToken are a login as a session has it.
const sealedCookie, sealedToken = "cookie-that-nobody-reads", "token-that-nobody-reads"

// membersOnly serves a page that greets who is logged in, by a cookie and by a token in local
// storage, and shows the cookie. It returns its URL and a file with the login.
func membersOnly(t *testing.T, r *rote) (site, state string) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		name := "stranger"
		if c, err := r.Cookie("sid"); err == nil && c.Value == sealedCookie {
			name = "ann"
		}
		fmt.Fprintf(w, `<!doctype html><link rel=icon href="data:,"><h1>%s</h1><button id=go title=%q>Show %[2]s</button><p id=orders></p>
			<script>go.onclick = () => { orders.textContent = document.querySelector("h1").textContent + " with " + localStorage.token.length }</script>`,
			name, sealedCookie)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	r.shop = server.URL
	return server.URL, r.file("state.json", fmt.Sprintf(`{"cookies": [{"name": "sid", "value": %q, "domain": "127.0.0.1", "path": "/", "expires": -1,
		"httpOnly": true, "secure": false, "sameSite": "Lax"}], "origins": [{"origin": %q, "localStorage": [{"name": "token", "value": %q}]}]}`,
		sealedCookie, server.URL, sealedToken))
}

// succeed runs a command line that has to succeed.
func (r *rote) succeed(args ...string) {
	r.t.Helper()
	if out, errs, code := r.run(args...); code != 0 {
		r.t.Fatalf("%v: exit %d\n%s%s", args, code, out, errs)
	}
}

// With a session the person is logged in from the first page on. The routine has the session, and
// is proved with it. Nothing that is printed or written has the login, also when the page shows it.
func TestRecordWithASession(t *testing.T) {
	needsWindowed(t)
	r := newRote(t)
	site, state := membersOnly(t, r)
	db, file := filepath.Join(r.home, "rote.db"), filepath.Join(r.home, "orders.json")
	r.succeed("session", "import", "shop", state, "--host", "127.0.0.1", "--db", db)
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	run := recordInWindow(t, true, func(v *visitor, screen *terminal) {
		v.does(`document.querySelector("h1")?.textContent === "ann"`)
		v.click("#go", 0)
		v.does(`document.querySelector("#orders").textContent === "ann with 23"`)
		v.click("#orders", withAlt)
		screen.shows("return_html #orders")
		screen.enter("s")
	}, "--allow-host", strings.TrimPrefix(site, "http://"), site+"/", "--session", "shop", "-o", file, "--save", "orders", "--db", db)
	if run.err != nil || !strings.Contains(run.errs, "Proof passed") || !strings.Contains(run.errs, "Saved: orders is active") {
		t.Fatalf("%v\n%s", run.err, run.errs)
	}
	if d := readJSON(t, file); d["session"] != "shop" || len(d["operations"].([]any)) != 3 {
		t.Errorf("the routine is %v", d)
	}
	if out, errs, code := r.run("run", "orders", "--db", db); code != 0 || !strings.Contains(out, "ann with 23") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for _, f := range append(allFiles(t, r.home), namedText{"the terminal", []byte(run.errs + run.out)}) {
		for _, value := range []string{sealedCookie, sealedToken} {
			if strings.Contains(string(f.text), value) {
				t.Errorf("%s has %s", f.name, value)
			}
		}
	}
}

// A session that a recording cannot start from is refused before a window opens, with what to do.
func TestRecordSessionMistakes(t *testing.T) {
	needsWindowed(t)
	r := newRote(t)
	r.env = append(r.env, "DISPLAY=:not-used")
	site, state := membersOnly(t, r)
	r.succeed("session", "import", "shop", state, "--host", "127.0.0.1")
	r.succeed("session", "import", "seat", state, "--host", "127.0.0.1")
	r.succeed("session", "set", "seat", "--exclusive")
	r.succeed("session", "set", "empty", "--host", "127.0.0.1")
	refused := func(url, session, want string, args ...string) {
		t.Helper()
		_, errs, code := r.run(append([]string{"record", url, "--session", session}, args...)...)
		if code == 0 || !strings.Contains(errs, want) || strings.Contains(errs, "A browser opens") {
			t.Errorf("%s %s: exit %d: %s", url, session, code, errs)
		}
	}
	refused(site+"/", "none", "ask a person to run: rote session set none --host HOST")
	refused(site+"/", "my shop", `"my shop" cannot be the name of a session`)
	refused(site+"/", "seat", "rote session set seat --no-exclusive")
	refused(site+"/", "empty", "session empty: nobody has logged in. Log in with rote login "+site+"/ --session empty, then record again")
	refused("https://u:pw@other.example/a", "shop", "rote login https://u:xxxxx@other.example/a --session shop --host other.example")
	key := r.file("other.key", base64.StdEncoding.EncodeToString(make([]byte, 32)))
	refused(site+"/", "shop", "it was sealed with another key", "--state-key", key)
	refused(site+"/", "shop", "the environment variable OTHER of --state-key does not hold a key", "--state-key", "env:OTHER")
}
