package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/browser"
	"rote/browser/egress"
	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// requestSite is a site whose pages ask its server for data at load. Each visitor, known by a
// cookie, has tokens of its own.
type requestSite struct {
	mu     sync.Mutex
	visits int
	posts  int
}

// requestPages are the scripts of the pages by path.
var requestPages = map[string]string{
	"/search": `const s = await (await fetch('/session')).json();
const headers = {'X-CSRF-Token': s.csrf, 'X-Client-Version': 'web-2026.11.3', 'X-Request-Id': crypto.randomUUID()};
await (await fetch('/api/search?q=lamp&_=' + Date.now(), {headers})).json();
headers['Content-Type'] = 'application/json';
await (await fetch('/api/search', {method: 'POST', headers, body: JSON.stringify({q: 'lamp', page: 1})})).json();`,
	"/news": `let cursor = '';
for (let i = 0; i < 3; i++) cursor = (await (await fetch('/api/news' + (cursor && '?after=' + cursor))).json()).next;`,
	"/form": `const body = new URLSearchParams({csrf: document.querySelector('meta').content, note: 'two lamps'});
await (await fetch('/orders', {method: 'POST', body})).text();`,
	"/graph": `await (await fetch('/graphql', {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Trace': 'on-5f2a91'},
	body: JSON.stringify({operationName: 'Lamps', query: 'query Lamps($q: String) { lamps(q: $q) { id name } }', variables: {q: 'lamp'}})})).json();`,
}

func (s *requestSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	visit, err := r.Cookie("visit")
	if err != nil {
		s.visits++
		visit = &http.Cookie{Name: "visit", Value: fmt.Sprint("v", s.visits), HttpOnly: true, Path: "/"}
		http.SetCookie(w, visit)
	}
	token := func(what string) string { return fmt.Sprintf("%s-Qx7-%s-9Zk", what, visit.Value) }
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	body, _ := io.ReadAll(r.Body)
	lamps := []map[string]any{{"id": 1, "name": "Desk lamp"}, {"id": 2, "name": "Arc lamp"}}
	switch path := r.URL.Path; {
	case requestPages[path] != "":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><meta name="csrf-token" content="%s"><script type="module">%s</script>`, token("meta"), requestPages[path])
	case path == "/order":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><form method="post" action="/orders"><input type="hidden" name="csrf" value="%s">
			<label>Note <input name="note"></label><button>Order</button></form>`, token("meta"))
	case path == "/session":
		answer(map[string]any{"user": "guest", "csrf": token("csrf")})
	case path == "/api/search" && r.Header.Get("X-CSRF-Token") == token("csrf"):
		answer(map[string]any{"items": lamps, "total": 2})
	case path == "/api/news" && (r.FormValue("after") == "" || strings.HasPrefix(r.FormValue("after"), token("next"))):
		answer(map[string]any{"items": lamps, "next": token("next") + fmt.Sprint(len(r.FormValue("after")))})
	case path == "/orders" && strings.Contains(string(body), "csrf="+token("meta")):
		s.posts++
		fmt.Fprint(w, "<p>ordered</p>")
	case path == "/graphql":
		answer(map[string]any{"data": map[string]any{"lamps": lamps}})
	default:
		http.Error(w, `{"error":"refused"}`, http.StatusForbidden)
	}
}

// newRequestLessons returns lessons in a real browser that may reach only the server.
func newRequestLessons(t *testing.T, server *httptest.Server) *lesson.Lessons {
	t.Helper()
	host, _, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	policy, err := egress.NewPolicy(egress.Listed, []string{host}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.New(browser.Config{Egress: policy})
	t.Cleanup(b.Close)
	of := service.New(service.Config{Store: routinetest.NewStore(), Browser: b})
	t.Cleanup(func() { of.Close(context.WithoutCancel(t.Context())) })
	lessons := lesson.New(lesson.Config{Service: of})
	t.Cleanup(lessons.Close)
	return lessons
}

// listed lists the requests of a lesson until one line contains each text.
func listed(t *testing.T, lessons *lesson.Lessons, id string, texts ...string) *lesson.RequestList {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		list, err := lessons.Requests(t.Context(), teacher, id, lesson.RequestsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		missing := ""
		for _, text := range texts {
			if !strings.Contains(list.Text(), text) {
				missing = text
			}
		}
		if missing == "" {
			return list
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line has %q:\n%s", missing, list.Text())
		}
	}
}

var teacher = routine.Principal{UserID: "ada", OrganizationID: "o", ProjectID: "p", Scopes: routine.DefaultScopes}

// Requests of a real page become operations that give the same answers on another visit.
func TestRequestsOfRealPages(t *testing.T) {
	t.Parallel()
	site := &requestSite{}
	server := httptest.NewServer(site)
	defer server.Close()
	lessons := newRequestLessons(t, server)
	for _, c := range []struct {
		page    string
		line    string // of the list
		want    []string
		wantNot []string
		tried   bool
	}{
		{"/search", `GET /api/search?q={str}&_={int} → 200 json 77 B {items:[2×{id,name}],total:int}`, []string{
			`{"type":"fetch","endpoint":{"url":"SITE/session","method":"GET"},"session_storage_key":"session"}`,
			`"url":"SITE/api/search?q=lamp&_={{epoch_milliseconds}}","method":"GET","headers":{"X-CSRF-Token":"{{sessionStorage:session.csrf}}"}`,
			"Left out as not needed: X-Client-Version, X-Request-Id (the same", "Tried in a fresh context: 200, same shape {items:[2×{id,name}],total:int}"}, nil, true},
		{"/search", `POST /api/search {"q":str,"page":int} → 200`, []string{`"X-CSRF-Token":"{{sessionStorage:session.csrf}}"`, `"X-Request-Id":"{{uuid}}"`,
			`"body":{"page":1,"q":"lamp"}`, "Not tried: POST /api/search may change something on the site."}, nil, false},
		{"/news", `GET /api/news?after={str} → 200`, []string{`"url":"SITE/api/news","method":"GET"`, `"url":"SITE/api/news?after={{sessionStorage:news.next}}"`,
			`"url":"SITE/api/news?after={{sessionStorage:news_2.next}}"`, "Tried in a fresh context: 200, same shape"}, nil, true},
		{"/form", `POST /orders form {csrf:***,note:str} → 200 html`, []string{`{"type":"navigate","url":"SITE/form"}`,
			`"body":{"csrf":"{{meta:csrf-token}}","note":"two lamps"}`, "Not tried: POST /orders"}, nil, false},
		{"/graph", `POST /graphql Lamps {"q":str} → 200`, []string{`"session_storage_key":"lamps"`, `"variables":{"q":"lamp"}`,
			"Left out as not needed: X-Trace",
			"Tried in a fresh context: 200, same shape {data:{lamps:[2×{id,name}]}}"}, []string{`"X-Trace":`}, true},
	} {
		t.Run(c.line, func(t *testing.T) {
			started, err := lessons.Start(t.Context(), teacher, lesson.StartRequest{URL: server.URL + c.page})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = lessons.End(t.Context(), teacher, started.ID) }()
			number := 0
			for _, line := range listed(t, lessons, started.ID, c.line).Lines {
				if strings.Contains(line.String(), c.line) {
					number = line.Number
				}
			}
			posts := site.posted()
			got, err := lessons.Request(t.Context(), teacher, started.ID, number)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(got.Text(), server.URL, "SITE")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("it has no %s\n%s", want, text)
				}
			}
			for _, not := range append(c.wantNot, "csrf-Qx7", "meta-Qx7") {
				if strings.Contains(text, not) {
					t.Errorf("it has %s\n%s", not, text)
				}
			}
			if (got.Tried != nil && got.Tried.Same) != c.tried {
				t.Errorf("tried: %+v", got.Tried)
			}
			if site.posted() != posts {
				t.Error("an order was placed by reading a request")
			}
		})
	}
}

func (s *requestSite) posted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts
}

// What was typed and clicked becomes operations without the page's controls, which do the
// same on another visit.
func TestRequestsOfControlsDoTheSame(t *testing.T) {
	t.Parallel()
	site := &requestSite{}
	server := httptest.NewServer(site)
	defer server.Close()
	lessons := newRequestLessons(t, server)
	started, err := lessons.Start(t.Context(), teacher, lesson.StartRequest{URL: server.URL + "/order"})
	if err != nil {
		t.Fatal(err)
	}
	try := func(values string, operations ...string) *lesson.Tried {
		t.Helper()
		q := lesson.TryRequest{}
		for _, o := range operations {
			q.Operations = append(q.Operations, json.RawMessage(o))
		}
		if err := json.Unmarshal([]byte(values), &q.Values); err != nil {
			t.Fatal(err)
		}
		tried, err := lessons.Try(t.Context(), teacher, started.ID, q)
		if err != nil {
			t.Fatal(err)
		}
		if !tried.OK {
			t.Fatal(tried.Text())
		}
		return tried
	}
	try(`{"note":"two & a half lamps"}`, `{"type":"input_text","selector":"input[name='note']","text":"{{note}}"}`, `{"type":"click","selector":"button"}`)
	const line = "POST /orders form {csrf:***,note:str} → 200 html"
	list, err := lessons.Requests(t.Context(), teacher, started.ID, lesson.RequestsQuery{Find: "half lamps", Since: 1})
	if err != nil || len(list.Lines) != 1 || !strings.Contains(list.Text(), line) || !strings.Contains(list.Text(), "by operation 3") {
		t.Fatalf("%v\n%s", err, list.Text())
	}
	got, err := lessons.Request(t.Context(), teacher, started.ID, list.Lines[0].Number)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(got.Text(), server.URL, "SITE")
	for _, want := range []string{`{"type":"navigate","url":"SITE/order"}`, `"session_storage_key":"csrf"}`,
		`"body":{"csrf":"{{sessionStorage:csrf}}","note":"{{note}}"}`,
		`"{{note}}": typed in operation 2`, "Not tried: POST /orders may change something on the site."} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %s\n%s", want, text)
		}
	}
	if _, err := lessons.Undo(t.Context(), teacher, started.ID, lesson.UndoRequest{To: 1}); err != nil {
		t.Fatal(err)
	}
	var operations []string
	for _, o := range got.Operations {
		operations = append(operations, string(o))
	}
	posts := site.posted()
	tried := try(`{}`, operations...)
	if last := tried.Steps[len(tried.Steps)-1]; site.posted() != posts+1 || last.Result == nil || !strings.Contains(last.Result.Text, "ordered") {
		t.Errorf("%d orders\n%s", site.posted()-posts, tried.Text())
	}
}
