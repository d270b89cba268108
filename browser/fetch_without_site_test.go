package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// openAs opens pages with RequestsOnly as the service asks, or never.
type openAs struct {
	*Browser
	ordinary bool
	asked    bool // whether the service has asked for RequestsOnly
}

func (b *openAs) Open(ctx context.Context, o routine.PageOptions) (routine.Page, error) {
	b.asked = b.asked || o.RequestsOnly
	o.RequestsOnly = o.RequestsOnly && !b.ordinary
	return b.Browser.Open(ctx, o)
}

// requestSite is a site that records the requests for its root page and the others.
type requestSite struct {
	url  string
	mu   sync.Mutex
	root int
	log  []string
	// onRequest, if not nil, is called for each request but those for the root page.
	onRequest func()
}

func newRequestSite(t *testing.T, root http.HandlerFunc, paths map[string]func(*requestSite) http.HandlerFunc) *requestSite {
	t.Helper()
	s := &requestSite{}
	mux := http.NewServeMux()
	for path, handler := range paths {
		mux.HandleFunc(path, handler(s))
	}
	mux.HandleFunc("/{$}", root)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if r.URL.Path == "/" {
			s.root++
		} else if r.URL.Path != "/favicon.ico" {
			line := fmt.Sprintf("%s %s cookie=%q", r.Method, r.URL, r.Header.Get("Cookie"))
			for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode"} {
				line += fmt.Sprintf(" %s=%q", name, r.Header.Get(name))
			}
			s.log = append(s.log, line)
			if s.onRequest != nil {
				s.onRequest()
			}
		}
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url = server.URL
	return s
}

// outcomeOf is what the caller of a run and the site see of it.
type outcomeOf struct {
	Execution, Error, State string
	Requests                []string
}

// changing are the parts of an execution that differ from run to run, such as a screenshot that
// a busy machine took no time for, and the text of the
// page in the evidence, which is that of the site or none.
var changing = regexp.MustCompile(`"(execution_id|created_at|started_at|completed_at|duration_seconds|date|screenshot|sourcePort)": *` +
	`("[^"]*"|[0-9.e-]+|null|\{[^}]*\})`)

// siteRow is a routine that only makes requests, and its outcome.
type siteRow struct {
	name, operations string
	root             http.HandlerFunc // nil: plain
	paths            map[string]func(*requestSite) http.HandlerFunc
	keep             bool
	// late ends the run when the site is asked; nil: nothing does.
	late  *routine.Error
	code  routine.Code
	words string
	// loads is how often the run without the site's page opened it.
	loads int
	// refusedOnce is set if the ordinary run is also refused the site's page. Then only the
	// errors are compared.
	refusedOnce bool
}

// run does the row's routine in an ordinary run or in one without the site. It returns its
// outcome and how often the site's page was opened.
func (row siteRow) run(t *testing.T, on *Browser, ordinary bool) (outcomeOf, int) {
	t.Helper()
	s := newRequestSite(t, row.root, row.paths)
	b, store := &openAs{Browser: on, ordinary: ordinary}, routinetest.NewStore()
	text := fmt.Sprintf(`{"name":"n","description":"d","incognito":%v,"operations":[%s]}`, !row.keep, strings.ReplaceAll(row.operations, "SITE", s.url))
	d, _, err := definition.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(testContext(t))
	defer end(nil)
	if row.late != nil {
		s.onRequest = func() { end(row.late) }
	}
	e, err := service.New(service.Config{Store: store, Browser: b, MaxResult: 1 << 20}).RunOnce(ctx, routine.Principal{}, d, service.Call{})
	if !b.asked {
		t.Fatal("the service has not asked for a page without the site")
	}
	if code := routine.CodeOf(err); (err != nil) != (row.code != "") || err != nil && code != row.code {
		t.Fatalf("%s: %v", code, err)
	}
	state, err := store.ProjectState(t.Context(), "", "")
	if err != nil || (len(state) > 0) != row.keep {
		t.Fatalf("the saved state is %q: %v", state, err)
	}
	shown, failure := "", ""
	if text, _ := json.MarshalIndent(e, "", " "); !row.refusedOnce {
		shown = string(text)
	}
	if e.Error != nil {
		failure = *e.Error
	}
	return s.outcome(shown, failure, string(state)), s.root
}

// A run that only makes requests has the same outcome without the site's page as with it.
func TestRequestsWithoutSite(t *testing.T) {
	t.Parallel()
	plain := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel=icon href="data:,"><h1>shop</h1>`)
	}
	with := func(h http.HandlerFunc) func(*requestSite) http.HandlerFunc {
		return func(*requestSite) http.HandlerFunc { return h }
	}
	answer := func(text string) func(*requestSite) http.HandlerFunc {
		return with(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	cookie := func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s3cretvalue", HttpOnly: true, Path: "/"})
		_, _ = io.WriteString(w, `{"in":true}`)
	}
	elsewhere := site(t, map[string]any{"/open": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = io.WriteString(w, "shared")
	}, "/closed": "x"})
	fetch := func(path, more string) string {
		return `{"type":"fetch","session_storage_key":"a","endpoint":{"url":"SITE` + path + `"` + more + `}}`
	}
	const returns = `,{"type":"return","session_storage_key":"a"}`
	type paths = map[string]func(*requestSite) http.HandlerFunc
	rows := []siteRow{
		{name: "two requests, the second with a value of the first", operations: fetch("/a", "") + `,` + fetch("/b?id={{sessionStorage:a.id}}", "") + returns,
			paths: paths{"/a": answer(`{"id":7}`), "/b": answer(`{"name":"lamp"}`)}, words: "lamp"},
		{name: "cookies of an answer are sent and read",
			operations: fetch("/in", "") + `,` + fetch("/b", "") + `,{"type":"get_cookies","session_storage_key":"a"}` + returns,
			paths:      paths{"/in": with(cookie), "/b": answer("b")}, words: "s3cretvalue"},
		{name: "credentials omit", operations: fetch("/in", "") + `,` + fetch("/b", `,"credentials":"omit"`) + returns,
			paths: paths{"/in": with(cookie), "/b": answer("b")}},
		{name: "a POST without cookies", operations: fetch("/b", `,"credentials":"omit","method":"POST","body":{"q":"x"}`) + returns,
			paths: paths{"/b": with(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })}, words: `"q": "x"`},
		{name: "a redirect on the site", operations: fetch("/r", "") + returns, paths: paths{"/r": with(redirect("/b")), "/b": answer("b")}},
		{name: "a redirect to another origin", operations: fetch("/r", "") + returns,
			paths: paths{"/r": with(redirect(elsewhere + "/open"))}, words: "shared"},
		{name: "a redirect that CORS forbids", operations: fetch("/r", "") + returns, paths: paths{"/r": with(redirect(elsewhere + "/closed"))},
			code: routine.CodeNetworkError, words: "CORS", loads: 1},
		{name: "a redirect to a refused host", operations: fetch("/r", "") + returns, paths: paths{"/r": with(redirect("http://192.0.2.1/"))},
			code: routine.CodeEgressDenied, words: "192.0.2.1"},
		{name: "a refused host", operations: `{"type":"fetch","endpoint":{"url":"http://192.0.2.1/x"}}`, code: routine.CodeEgressDenied, words: "192.0.2.1",
			refusedOnce: true},
		{name: "a dead port", operations: `{"type":"fetch","endpoint":{"url":"http://127.0.0.1:1/x"}}`,
			code: routine.CodeNetworkError, words: "127.0.0.1:1/x failed"},
		{name: "an HTTP error", operations: fetch("/none", `,"headers":{"Cookie":"a=b"}`) + returns, words: "HTTP status 404"},
		{name: "wrong credentials", operations: fetch("/b", `,"headers":{"Authorization":"Bearer x"}`) + returns,
			paths: paths{"/b": with(status(401, "no"))}, words: "HTTP status 401"},
		{name: "a site that expects the cookie of its page", operations: fetch("/a", "") + `,` + fetch("/b", "") + returns, root: cookie,
			paths: paths{"/a": answer("a"), "/b": with(func(w http.ResponseWriter, r *http.Request) {
				if _, err := r.Cookie("sid"); err != nil {
					w.WriteHeader(http.StatusForbidden)
				}
				_, _ = io.WriteString(w, "for visitors")
			})}, words: "for visitors", loads: 1},
		{name: "an answer that breaks off", operations: fetch("/b", "") + returns, paths: paths{"/b": with(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		})}, code: routine.CodeNetworkError, words: "broke off", loads: 1},
		{name: "more than the limit", operations: fetch("/b", "") + returns, paths: paths{"/b": answer(strings.Repeat("x", 2<<20))},
			code: routine.CodeResultTooLarge, words: "raise --max-result"},
		{name: "a policy of the page against requests", operations: fetch("/b", "") + returns, root: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", "connect-src 'none'")
			plain(w, r)
		}, paths: paths{"/b": answer("b")}},
		{name: "a root without a page", operations: fetch("/b", "") + returns, root: status(204, ""), paths: paths{"/b": answer("b")}},
		{name: "a download", operations: `{"type":"download","filename":"a.bin","endpoint":{"url":"SITE/b"}}`,
			paths: paths{"/b": answer("\x00\xff\x01bytes")}, words: "a.bin"},
		{name: "a download that fails", operations: `{"type":"download","filename":"a.bin","endpoint":{"url":"SITE/b"}}`,
			paths: paths{"/b": with(status(500, "no"))},
			code:  routine.CodeHTTPError, words: "HTTP status 500"},
		{name: "a sanitizer", operations: `{"type":"fetch","session_storage_key":"a","endpoint":{"url":"SITE/b"},` +
			`"data_sanitizer":{"type":"json_path","path":"$.a[*].b"}}` + returns,
			paths: paths{"/b": answer(`{"a":[{"b":1},{"b":2}]}`)}},
		{name: "the run's timeout", operations: fetch("/b", "") + returns,
			paths: paths{"/b": with(silence)}, late: &routine.Error{Code: routine.CodeTimeout, Message: "the run took longer"},
			code: routine.CodeTimeout, words: "the run took longer"},
		{name: "a cancelled run", operations: fetch("/b", "") + returns,
			paths: paths{"/b": with(silence)}, late: &routine.Error{Code: routine.CodeCancelled, Message: "the run was cancelled"},
			code: routine.CodeCancelled},
		{name: "a kept state", operations: fetch("/in", "") + `,` + fetch("/b", "") + returns,
			paths: paths{"/in": with(cookie), "/b": answer("b")}, keep: true},
	}
	for _, kind := range kinds {
		b := kind.browser()
		for i, row := range rows {
			if sampled(b, i) {
				continue
			}
			t.Run(kind.name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				if missing(b) {
					skipFull(t)
				}
				if row.root == nil {
					row.root = plain
				}
				row.holds(t, b)
			})
		}
	}
}

// holds compares both ways to run the row.
func (row siteRow) holds(t *testing.T, b *Browser) {
	t.Helper()
	want, _ := row.run(t, b, true)
	got, loads := row.run(t, b, false)
	if loads != row.loads {
		t.Errorf("the site's page was opened %d times, want %d", loads, row.loads)
	}
	if !strings.Contains(got.Execution+got.Error, row.words) {
		t.Errorf("%q is not in %s", row.words, got.Execution)
	}
	if row.loads > 0 { // the request that was refused was made once more
		got.Requests, want.Requests = slices.Compact(withoutCookies(got.Requests)), slices.Compact(withoutCookies(want.Requests))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an ordinary run (-) differs from one without the site (+):\n%s", diff)
	}
}

// outcome replaces what differs from run to run.
func (s *requestSite) outcome(execution, err, state string) outcomeOf {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, s.url, "SITE"), strings.TrimPrefix(s.url, "http://"), "HOST")
	}
	execution = pageText.ReplaceAllString(execution, "")
	o := outcomeOf{Execution: changing.ReplaceAllString(same(execution), `"$1":…`), Error: same(err),
		State: changing.ReplaceAllString(same(state), `"$1":…`)}
	for _, r := range s.log {
		o.Requests = append(o.Requests, same(r))
	}
	return o
}

var pageText = regexp.MustCompile(`\n *"text": "[^"]*",`)

var sentCookies = regexp.MustCompile(`cookie="[^"]*"`)

func withoutCookies(requests []string) []string {
	var out []string
	for _, r := range requests {
		out = append(out, sentCookies.ReplaceAllString(r, "cookie"))
	}
	return out
}
