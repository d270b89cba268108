package main

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"rote/routine"
	"rote/routine/spelling"
)

// The values of the secret shop in these tests. Each has several spellings that differ.
const (
	soughtUsername = `ada+lovelace"1815"`
	soughtPassword = `vX9 "correct"&horse/staple+<7>`
)

// wantNoSecret fails the test if a text has one of the values in any spelling, or in one that HTML
// escapes.
func wantNoSecret(t *testing.T, where string, text []byte) {
	t.Helper()
	for _, text := range [][]byte{text, []byte(html.UnescapeString(string(text)))} {
		lower := bytes.ToLower(text)
		for _, value := range []string{soughtUsername, soughtPassword} {
			reversed := []byte(value)
			slices.Reverse(reversed)
			for _, spelled := range append(spelling.All(value), string(reversed)) {
				if at := bytes.Index(lower, bytes.ToLower([]byte(spelled))); at >= 0 {
					t.Errorf("%s has the value as %q: …%q…", where, spelled, text[max(0, at-200):min(len(text), at+len(spelled)+100)])
					return
				}
			}
		}
	}
}

// wantNoSecretIn searches all files of directories, of which it wants at least n.
func wantNoSecretIn(t *testing.T, n int, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		files := allFiles(t, dir)
		n -= len(files)
		for _, file := range files {
			wantNoSecret(t, file.name, file.text)
		}
	}
	if n > 0 {
		t.Errorf("%d files fewer than expected", n)
	}
}

// echoSite is a site that repeats what it is sent in many ways, and says how often it got the
// password where it may.
type echoSite struct {
	*httptest.Server
	mu       sync.Mutex
	got      int
	webhooks bytes.Buffer
	at       func() // is called for each event of the page's fields; may be nil
}

func newEchoSite(t *testing.T) *echoSite {
	s := &echoSite{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// host is the host of the site, with its port.
func (s *echoSite) host() string { return strings.TrimPrefix(s.URL, "http://") }

func (s *echoSite) arrived() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

const echoForm = `<!doctype html><title>Shop</title><link rel=icon href="data:,"><form method=post action=/in>
	<input id=u name=user autocomplete=off><input id=p name=password type=password><button id=go>Log in</button></form><script>
	for (const event of ['pointerdown', 'focusin', 'beforeinput', 'input', 'change']) addEventListener(event, e => {
		if (e.target.name) { const x = new XMLHttpRequest(); x.open('GET', '/at', false); x.send() } }, true)</script>`

func (s *echoSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	text := form.Get("password") + r.Header.Get("X-Key")
	s.mu.Lock()
	if text == soughtPassword {
		s.got++
	}
	at := s.at
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch r.URL.Path {
	case "/at":
		if at != nil {
			at()
		}
	case "/hook":
		s.mu.Lock()
		s.webhooks.Write(body)
		s.mu.Unlock()
	case "/in":
		user := form.Get("user")
		w.Header().Set("X-Echo", url.QueryEscape(text))
		http.SetCookie(w, &http.Cookie{Name: "echo", Value: url.QueryEscape(text), HttpOnly: true})
		fmt.Fprintf(w, `<!doctype html><title>%[1]s</title><link rel=icon href="data:,"><h1>Welcome %[1]s with %[2]s</h1><a href="/?p=%[3]s">again</a>
			<input value="%[2]s" aria-label="%[1]s"><button>%[1]s</button><script>window.state = %[4]s; console.error(%[4]s)</script>`,
			html.EscapeString(user), html.EscapeString(text), url.QueryEscape(text), routine.JSONText([]string{user, text}))
	case "/api":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, routine.JSONText(map[string]any{"key": text, "list": []string{"x" + text + "y"}}))
	case "/text":
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "your key is "+text)
	case "/binary":
		w.Header().Set("Content-Type", "application/octet-stream")
		fmt.Fprint(w, "\x00\x01"+text)
	default:
		fmt.Fprint(w, echoForm)
	}
}

// transcript is a proxy before a server that keeps all that the server answers.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *transcript) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *transcript) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.text.Bytes())
}

// record makes the calls of a server's test go through a new transcript.
func (s *server) record() *transcript {
	s.t.Helper()
	kept := &transcript{}
	to, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	own := &http.Transport{} // other tests close the idle connections of the default one
	proxy := &httputil.ReverseProxy{Transport: own, FlushInterval: -1, Rewrite: func(q *httputil.ProxyRequest) {
		q.SetURL(to)
		q.Out.Header.Del("Accept-Encoding")
	}, ModifyResponse: func(r *http.Response) error {
		_ = r.Header.Write(kept)
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, kept), r.Body}
		return nil
	}}
	// Without full duplex, the proxy's server closes the body of a request as soon as it answers. The
	// transport, which may still look for the end of that body, then drops the connection with the answer.
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			s.t.Error(err)
		}
		proxy.ServeHTTP(w, q)
	}))
	s.t.Cleanup(func() { front.CloseClientConnections(); front.Close(); own.CloseIdleConnections() })
	s.url = front.URL
	return kept
}

// stores are the places to run the program in, by the name of the store.
var stores = map[string]func(*testing.T) *rote{"SQLite": newRote, "Postgres": newPostgresRote}

// skipSecondStore skips a long test of Postgres in the default run.
func skipSecondStore(t *testing.T, store string) {
	t.Helper()
	if store == "Postgres" && os.Getenv("ROTE_TEST_CRASHES") == "" {
		t.Skip("set ROTE_TEST_CRASHES for the long tests on both stores")
	}
}

// dump writes what a backup of the database has into the home.
func (r *rote) dump() {
	r.t.Helper()
	if len(r.env) == 0 || !strings.HasPrefix(r.env[0], "ROTE_DB=") {
		if _, errs, code := r.run("backup", r.home+"/copy.db"); code != 0 {
			r.t.Fatal(errs)
		}
		return
	}
	out, err := exec.CommandContext(r.t.Context(), postgresServer.Program("pg_dump"), "-d", strings.TrimPrefix(r.env[0], "ROTE_DB=")).Output()
	if err != nil || !strings.Contains(string(out), "secret_fields") {
		r.t.Fatalf("%v: %s", err, out)
	}
	r.file("dump.sql", string(out))
}

// keeper starts a server whose token may do everything.
func (r *rote) keeper(args ...string) *server {
	r.t.Helper()
	s := r.serve(args...)
	create := []string{"token", "create"}
	for _, scope := range []string{"routines:read", "routines:write", "executions:run", "executions:read", "secrets:read", "secrets:write", "admin"} {
		create = append(create, "--scope", scope)
	}
	token, errs, code := r.run(create...)
	if code != 0 {
		r.t.Fatal(errs)
	}
	s.token = strings.TrimSpace(token)
	return s
}

// Whatever is asked of a server over REST, MCP and in its console, nothing that it answers, sends, logs or stores
// has the value of a secret in any spelling, though the site repeats it in many ways.
func TestSecretsAreInNoAnswerAndNoFile(t *testing.T) {
	for name, newRote := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipSecondStore(t, name)
			r, site := newRote(t), newEchoSite(t)
			r.life, r.shop = 4*testTime, site.URL
			s := r.keeper("--toolsets", "run,authoring,teach")
			said := s.record()
			useSecretsOverREST(s, site)
			useSecretsInConsole(s, site)
			useSecretsOverMCP(t, site.URL, s.tool)
			speak, end := r.speak("--toolsets", "run,authoring,teach")
			useSecretsOverMCP(t, site.URL, speak)
			wantNoSecret(t, "stdio", end())
			s.stop(os.Interrupt)
			r.dump()
			if n := site.arrived(); n < 12 {
				t.Errorf("the password has reached the site %d times: the session shows nothing", n)
			}
			wantNoSecret(t, "an answer", said.bytes())
			wantNoSecret(t, "the log", []byte(s.log.String()+s.out.String()))
			wantNoSecret(t, "a webhook", site.webhooks.Bytes())
			if site.webhooks.Len() == 0 || len(said.bytes()) < 50_000 {
				t.Errorf("%d bytes of webhooks and %d of answers", site.webhooks.Len(), len(said.bytes()))
			}
			if wantNoSecretIn(t, 1, r.home); name == "Postgres" {
				wantNoSecretIn(t, 100, postgresServer.Dir())
			}
		})
	}
}
