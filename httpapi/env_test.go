package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/httpapi"
	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/sqlite"
)

var (
	admin = routine.Principal{UserID: "admin", OrganizationID: "default", ProjectID: "default", Scopes: routine.DefaultScopes}
	guest = routine.Principal{UserID: "gus", OrganizationID: "guests", ProjectID: "visits", Scopes: routine.DefaultScopes}
)

const adminToken = "the-admin-token"

// readPage opens the page that its caller names: what the fake page does
// follows from the URL.
const readPage = `{
	"name": "read_page",
	"description": "Reads one page & gives its <HTML>.",
	"parameters": [{"name": "page", "type": "url", "description": "The page"}],
	"operations": [{"type": "navigate", "url": "{{page}}"}, {"type": "return_html"}]
}`

// env is the front end on a real listener, over a real database and a fake
// browser, with some routines: of the admin's organization $private, $public
// and $archived. In requests $admin and $guest are tokens.
type env struct {
	*httptest.Server
	service *service.Service
	store   *watchedStore
	browser *fakeBrowser
	lessons *fakeLessons
	log     *logBuffer
	pairs   []string // of placeholders and their values
	base    string   // of all paths
	names   *strings.Replacer
}

type envConfig struct {
	http    httpapi.Config
	service service.Config
}

var emptyDatabaseOnce struct {
	sync.Mutex
	file []byte
}

// emptyDatabase returns the file of a database without content. It is made once,
// because the migrations take a quarter of the time of a usual test.
func emptyDatabase(t testing.TB) []byte {
	t.Helper()
	emptyDatabaseOnce.Lock()
	defer emptyDatabaseOnce.Unlock()
	if emptyDatabaseOnce.file != nil {
		return emptyDatabaseOnce.file
	}
	path := filepath.Join(t.TempDir(), "rote.db")
	db, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	emptyDatabaseOnce.file = file
	return file
}

func newEnv(t testing.TB, edits ...func(*envConfig)) *env {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "rote.db")
	if err := os.WriteFile(path, emptyDatabase(t), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{store: &watchedStore{Store: db, created: make(chan string, 100), finished: make(chan *routine.Execution, 100)},
		browser: newFakeBrowser(), lessons: &fakeLessons{}, log: &logBuffer{}}
	log := slog.New(slog.NewJSONHandler(e.log, nil))
	metrics := httpapi.NewMetrics()
	c := envConfig{
		http: httpapi.Config{Log: log, Metrics: metrics, Lessons: e.lessons},
		service: service.Config{Store: e.store, Browser: e.browser, Observer: metrics, Concurrency: 4, AdminToken: adminToken,
			Now: func() time.Time { return routinetest.Time }},
	}
	for _, edit := range edits {
		edit(&c)
	}
	e.service, e.base = service.New(c.service), c.http.BasePath
	c.http.Service = e.service
	e.seed(t)
	e.Server = httptest.NewUnstartedServer(nil)
	e.Config = httpapi.NewServer("", httpapi.NewHandler(c.http))
	e.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	e.Start()
	t.Cleanup(func() {
		e.Server.Close()
		e.service.Close(ctx)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if n := e.browser.Opened() - e.browser.Closed(); n != 0 {
			t.Errorf("%d pages were left open", n)
		}
	})
	return e
}

func (e *env) seed(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	create := func(text string) string {
		r, _, err := e.service.CreateRoutine(ctx, admin, []byte(text), service.Idempotency{})
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	archived := routinetest.Routine(t, func(r *routine.Routine) {
		r.Status, r.OrganizationID = routine.StatusArchived, admin.OrganizationID
	})
	if err := e.store.CreateRoutine(ctx, archived); err != nil {
		t.Fatal(err)
	}
	guestToken, _, err := e.service.CreateToken(ctx, guest, 0)
	if err != nil {
		t.Fatal(err)
	}
	keeper := admin
	keeper.Scopes |= routine.ScopeSecretsWrite
	keeperToken, _, err := e.service.CreateToken(ctx, keeper, 0)
	if err != nil {
		t.Fatal(err)
	}
	e.pairs = []string{"$keeper", keeperToken, "$private", create(readPage), "$public", create(strings.Replace(readPage, "{", `{"is_public": true,`, 1)),
		"$archived", archived.ID, "$admin", adminToken, "$guest", guestToken}
	e.names = strings.NewReplacer(e.pairs...)
}

// response is the result of a successful call.
type response struct {
	status int
	header http.Header
	// encoded as JSON, unless it is a document
	body string
}

// do makes a request. A header named Host sets the request's host; the content
// type is JSON when none is given.
func (e *env) do(ctx context.Context, method, path string, headers map[string]string, body string) (response, error) {
	var text io.Reader
	if body != "" {
		text = strings.NewReader(e.names.Replace(body))
	}
	r, err := http.NewRequestWithContext(ctx, method, e.URL+e.names.Replace(path), text)
	if err != nil {
		return response{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := e.names.Replace(headers[name])
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	got, err := e.Client().Do(r)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	all, err := io.ReadAll(got.Body)
	if err != nil {
		return response{}, err
	}
	answer := response{got.StatusCode, got.Header, string(all)}
	if described, ours := strings.CutPrefix(r.URL.EscapedPath(), e.base); ours {
		err = published().check(method, described, answer)
	}
	return answer, err
}

// must is do with a request that has to be answered.
func (e *env) must(t *testing.T, method, path string, headers map[string]string, body string) response {
	t.Helper()
	r, err := e.do(t.Context(), method, path, headers, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var asAdmin = map[string]string{"X-Service-Token": "$admin"}

// lines closes the server, after which the log is complete, and returns the log's
// lines that are of requests.
func (e *env) lines() []string {
	e.Server.Close()
	var lines []string
	for line := range strings.Lines(e.log.String()) {
		if strings.Contains(line, `"msg":"request"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
