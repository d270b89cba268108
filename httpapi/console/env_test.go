package console_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/httpapi"
	"rote/httpapi/console"
	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/routinetest"
	"rote/routine/service"
)

var update = flag.Bool("update", false, "write the golden files anew")

const adminToken = "the-admin-token-of-these-tests"

// env is the console on a real listener, with the REST front end that serves it, over a store
// in memory and a browser whose pages are made up.
type env struct {
	*httptest.Server
	t       testing.TB
	service *service.Service
	store   *routinetest.Store
	browser *routinetest.Browser
	client  *http.Client

	closeLessons func()
}

// envConfig is what a test may change of an env.
type envConfig struct {
	http    httpapi.Config
	service service.Config
	console console.Config
	// lessons, if not nil, are the settings of the server's lessons.
	lessons *lesson.Config
}

func newEnv(t testing.TB, edits ...func(*envConfig)) *env {
	t.Helper()
	e := &env{t: t, store: routinetest.NewStore(), browser: &routinetest.Browser{}, closeLessons: func() {}}
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	c := envConfig{
		http:    httpapi.Config{Log: log, Metrics: httpapi.NewMetrics()},
		service: service.Config{Store: e.store, Browser: e.browser, Concurrency: 4, AdminToken: adminToken},
		console: console.Config{Log: log},
	}
	for _, edit := range edits {
		edit(&c)
	}
	e.service = service.New(c.service)
	c.http.Service = e.service
	c.http.Admission = httpapi.NewAdmission(c.http)
	c.console.Service, c.console.Admission = e.service, c.http.Admission
	c.console.BasePath, c.console.Local = c.http.BasePath, c.http.Local
	if c.lessons != nil {
		c.lessons.Service, c.lessons.Log = e.service, log
		lessons := lesson.New(*c.lessons)
		c.console.Lessons, e.closeLessons = lessons, lessons.Close
	}
	c.http.Console = console.New(c.console)
	e.Server = httptest.NewServer(httpapi.NewHandler(c.http))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	e.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		e.Close()
		e.closeLessons()
		e.service.Close(context.Background())
		if n := e.browser.Opened() - e.browser.Closed(); n != 0 {
			t.Errorf("%d pages were left open", n)
		}
	})
	return e
}

// answer is a response that has been read.
type answer struct {
	*http.Response
	body string
}

func (e *env) do(method, path string, header http.Header, body io.Reader) answer {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.URL+path, body)
	if err != nil {
		e.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	got, err := e.client.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer{got, string(text)}
}

// get returns a page, which must have a status.
func (e *env) get(path string, status int) answer {
	e.t.Helper()
	got := e.do("GET", path, nil, nil)
	if got.StatusCode != status {
		e.t.Fatalf("GET %s: status %d, want %d:\n%s", path, got.StatusCode, status, got.body)
	}
	return got
}

// post sends a form as a page of the console would, and returns the answer, which must have
// a status.
func (e *env) post(path string, status int, fields ...string) answer {
	e.t.Helper()
	got := e.postForm(path, fields...)
	if got.StatusCode != status {
		e.t.Fatalf("POST %s: status %d, want %d:\n%s", path, got.StatusCode, status, got.body)
	}
	return got
}

// postForm is post for any status.
func (e *env) postForm(path string, fields ...string) answer {
	e.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {e.URL}, "Sec-Fetch-Site": {"same-origin"}}
	return e.do("POST", path, header, strings.NewReader(form.Encode()))
}

// signIn signs in with the token of the administrator, or with a token that has other scopes.
func (e *env) signIn(scopes ...string) {
	e.t.Helper()
	token := adminToken
	if len(scopes) > 0 {
		set, err := routine.ParseScopes(scopes)
		if err != nil {
			e.t.Fatal(err)
		}
		if token, _, err = e.service.CreateToken(e.t.Context(),
			routine.Principal{UserID: "ada", OrganizationID: "default", ProjectID: "default", Scopes: set}, time.Hour); err != nil {
			e.t.Fatal(err)
		}
	}
	e.post("/console/login", http.StatusSeeOther, "token", token, "next", "/console/")
}

// golden compares a text with the file testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err, " (make it with -update)")
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s has changed; if that is meant, run with -update (-want +got):\n%s", path, diff)
	}
}
