package browser

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// watchedPage opens a page whose requests are recorded.
func watchedPage(t *testing.T, b *Browser) *page {
	t.Helper()
	if missing(b) {
		skipFull(t)
	}
	p, err := b.Open(testContext(t), routine.PageOptions{Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p.(*tabs).first
}

func requestsOf(t *testing.T, p *page, after int) routine.RequestLog {
	t.Helper()
	l, err := p.tabs.Requests(testContext(t), after)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// requestLine is a request on one line, with the URL relative to the site.
func requestLine(r routine.Request, site string) string {
	s := fmt.Sprintf("%d %s %s %s", r.Number, r.Kind, r.Method, strings.TrimPrefix(r.URL, site))
	if r.ByOperation {
		s += " by operation"
	}
	if r.Body != "" || r.BodyTruncated {
		s += fmt.Sprintf(" body %q", shortened(r.Body))
	}
	if r.BodyTruncated {
		s += "+"
	}
	s += fmt.Sprintf(" -> %d %s", r.Status, r.ContentType)
	if r.Answer != nil {
		s += fmt.Sprintf(" %q", shortened(string(r.Answer)))
	}
	if r.AnswerLost {
		s += fmt.Sprintf(" lost %d", r.AnswerSize)
	}
	if r.Error != "" {
		s += " error " + r.Error
	}
	return s
}

func shortened(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%s… %d", s[:20], len(s))
	}
	return s
}

func answer(contentType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, body)
	}
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			b := kind.browser()
			for i, row := range requestRows {
				if sampled(b, i) {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					row.hold(t, b)
				})
			}
		})
	}
}

func (r *requestRow) hold(t *testing.T, b *Browser) {
	var cross string
	pages := maps.Clone(r.site)
	if pages == nil {
		pages = map[string]any{}
	}
	for path, page := range pages {
		if text, ok := page.(string); ok {
			pages[path] = preamble + text
		}
	}
	pages["/page.html"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, preamble, strings.ReplaceAll(r.html, "CROSS", cross))
	}
	base := site(t, pages)
	cross = strings.Replace(base, "127.0.0.1", "localhost", 1)
	a := &attempt{t: t, p: watchedPage(t, b), ctx: testContext(t), site: base}
	if _, err := a.p.Navigate(a.ctx, base+"/page.html"); err != nil {
		t.Fatal(err)
	}
	if r.do != nil {
		if err := r.do(a); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Join(r.log, "\n")
	var now string
	defer func() {
		if t.Failed() {
			t.Logf("the log at last:\n%s", now)
		}
	}()
	soon(t, "the log is complete", func() bool {
		l := requestsOf(t, a.p, 0)
		var lines []string
		for _, x := range l.Requests {
			lines = append(lines, strings.ReplaceAll(requestLine(x, base), cross, "CROSS"))
		}
		got := strings.Join(lines, "\n")
		if len(lines) > len(r.log) || l.Dropped != 0 {
			t.Fatalf("%s\nand %d dropped, want\n%s", got, l.Dropped, want)
		}
		if got != want || l.Others != r.others && r.others >= 0 || l.Pending > 0 {
			now = fmt.Sprintf("%s\nand %d others, %d pending", got, l.Others, l.Pending)
			return false
		}
		return true
	})
}

// The log has the headers that the page has set and those that the browser has added, the
// time and the page of a request. It gives those after a number.
func TestRequestLogHeaders(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]any{"/api": answer("text/plain", "x"), "/": `<script>document.cookie = 'sid=s1';
		fetch('/api', {headers: {'X-CSRF-Token': 't'}}).then(r => r.text()).then(() => fetch('/api?2'))</script>`})
	p, start := watchedPage(t, shared), time.Now()
	if _, err := p.Navigate(testContext(t), base+"/"); err != nil {
		t.Fatal(err)
	}
	soon(t, "both requests have an answer", func() bool {
		l := requestsOf(t, p, 1)
		return len(l.Requests) == 1 && l.Pending == 0 && l.Requests[0].Number == 2
	})
	r := requestsOf(t, p, 0).Requests[0]
	if r.Headers["X-CSRF-Token"] != "t" || r.Headers["Cookie"] != "sid=s1" || r.PageURL != base+"/" {
		t.Error(r)
	}
	if r.SentAt.Before(start.Add(-time.Second)) || r.SentAt.After(time.Now().Add(time.Second)) {
		t.Errorf("sent at %v", r.SentAt)
	}
}

// A page cannot make the log grow: the oldest bodies go first, then the oldest requests.
func TestRequestLogIsBounded(t *testing.T) {
	t.Parallel()
	const n = 300
	base := site(t, map[string]any{"/api": answer("text/plain", strings.Repeat("x", 60000)),
		"/": fmt.Sprintf(`<script>(async () => {
			for (let i = 0; i < %d; i += 20) await Promise.all(Array.from({length: 20}, (_, k) => fetch('/api?' + (i + k)).then(r => r.text())));
		})()</script>`, n)})
	p := watchedPage(t, shared)
	if _, err := p.Navigate(testContext(t), base+"/"); err != nil {
		t.Fatal(err)
	}
	var l routine.RequestLog
	soon(t, "all requests are counted", func() bool {
		l = requestsOf(t, p, 0)
		unread := func(r routine.Request) bool { return r.Answer == nil && !r.AnswerLost }
		return l.Dropped == n-maxLoggedRequests && l.Pending == 0 && !slices.ContainsFunc(l.Requests, unread)
	})
	bytes := 0
	for _, r := range l.Requests {
		bytes += len(r.Answer)
	}
	first, last := l.Requests[0], l.Requests[len(l.Requests)-1]
	if len(l.Requests) != maxLoggedRequests || bytes > maxLoggedBytes || bytes < maxLoggedBytes*9/10 || !first.AnswerLost || last.Number != n {
		t.Errorf("%d requests with %d bytes, the first lost %v, the last %d", len(l.Requests), bytes, first.AnswerLost, last.Number)
	}
}

// Requests that only collect do not push out those for data.
func TestRequestLogPrefersData(t *testing.T) {
	l := newRequestLog()
	defer l.stop()
	p := blankPage(shared, nil, nil)
	sent := func(id, url string) {
		e := requestSent{ID: id, Type: proto.NetworkResourceTypeFetch, DocumentURL: "https://shop.example/"}
		e.Request.URL, e.Request.Method = url, "GET"
		l.sent(p, "", &e)
	}
	sent("data", "https://www.shop.example/products")
	for i := range 2 * maxLoggedRequests {
		sent(fmt.Sprint(i), fmt.Sprintf("https://collect.example/%d", i))
	}
	got, err := l.list(t.Context(), 0)
	if err != nil || len(got.Requests) != 1 || got.Others != 2*maxLoggedRequests || got.Dropped != 0 || len(l.open) != maxLoggedRequests {
		t.Errorf("%d requests, %d others, %d dropped, %d open, %v", len(got.Requests), got.Others, got.Dropped, len(l.open), err)
	}
}

// A page whose requests are not recorded costs what it did without a log: its pages,
// popups and frames get the same requests, and no body is kept or read.
func TestOrdinaryPagesKeepNoBodies(t *testing.T) {
	t.Parallel()
	var done atomic.Int64
	base := site(t, map[string]any{"/api": answer("application/json", `{}`), "/done": func(http.ResponseWriter, *http.Request) { done.Add(1) },
		"/popup": `<script>fetch('/api').then(r => r.text()).then(() => navigator.sendBeacon('/done'))</script>`,
		"/":      `<button id=b onclick="window.open('/popup')">b</button><script>fetch('/api').then(r => r.text())</script>`})
	b := own(t)
	b.config.Warm = -1 // pages made in advance would send requests of their own
	client := mustOpen(t, b).i.client
	for _, watch := range []bool{false, true} {
		var mu sync.Mutex
		requests := map[string]int{}
		client.Observe(func(_ proto.TargetSessionID, request, _ string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(request, "Network.") {
				requests[request]++
			}
		})
		opened, err := b.Open(testContext(t), routine.PageOptions{Watch: watch})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(opened.Close)
		a := &attempt{t: t, p: opened.(*tabs).first, ctx: testContext(t), site: base}
		if err := all(func() error { _, err := a.p.Navigate(a.ctx, base+"/"); return err }, func() error { return a.click("#b") }); err != nil {
			t.Fatal(err)
		}
		soon(t, "the popup has its answer", func() bool { return done.Swap(0) == 1 })
		want := map[string]int{"Network.enable": 2}
		if watch {
			want = map[string]int{"Network.enable": 4, "Network.configureDurableMessages": 2, "Network.getResponseBody": 2}
			soon(t, "both bodies are read", func() bool {
				return len(requestsOf(t, a.p, 0).Requests) == 2 && requestsOf(t, a.p, 1).Requests[0].Answer != nil
			})
		}
		_, err = a.p.tabs.Requests(a.ctx, 0)
		client.Observe(nil)
		mu.Lock()
		if !maps.Equal(requests, want) || (err == nil) != watch {
			t.Errorf("watched %v: %v, want %v; %v", watch, requests, want, err)
		}
		mu.Unlock()
	}
}
