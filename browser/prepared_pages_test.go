package browser

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"rote/routine"
)

// After a run that only made requests, pages are prepared for the next one: without a
// connection to the site, each in a context that no other run has used, and only for runs to
// the same origin that keep no state.
func TestPreparedPages(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := New(Config{Egress: shared.config.Egress, Executable: kind.executable(t), Warm: 1, Log: complaints})
			beSlow(b)
			t.Cleanup(b.Close)
			var connections atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := r.Cookie("sid"); err == nil {
					t.Error("a run sends the cookie of another run")
				}
				setCookies(w, r)
			}))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			s.Start()
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			o := routine.PageOptions{RequestsOnly: true, RequestsTo: s.URL}
			seen := map[*page]bool{}
			for n := range 4 {
				opened, err := b.Open(testContext(t), o)
				if err != nil {
					t.Fatal(err)
				}
				p := opened.(*tabs).first
				if prepared := p.now().url == s.URL+"/"; prepared != (n > 1) || seen[p] {
					t.Errorf("run %d: prepared %v, used before %v", n, prepared, seen[p])
				}
				seen[p] = true
				r, err := opened.Fetch(testContext(t), routine.Fetch{URL: s.URL + "/a", Method: "GET"}, 1000)
				if err != nil || r.Status != 200 {
					t.Fatal(r.Status, err)
				}
				made := connections.Load()
				opened.Close()
				if n > 0 {
					soon(t, "a page is prepared", func() bool {
						b.mu.Lock()
						defer b.mu.Unlock()
						return len(b.current.prepared.pages) > 0
					})
				}
				if connections.Load() != made {
					t.Error("a page that is prepared connects to the site")
				}
			}
			for name, other := range map[string]routine.PageOptions{
				"another origin": {RequestsOnly: true, RequestsTo: "http://127.0.0.1:1"}, "a page": {},
				"a kept state": {RequestsOnly: true, RequestsTo: s.URL, KeepState: true},
			} {
				opened, err := b.Open(testContext(t), other)
				if err != nil {
					t.Fatal(err)
				}
				if at := opened.(*tabs).first.now().url; at != "about:blank" {
					t.Errorf("%s: the page is at %s", name, at)
				}
				opened.Close()
			}
		})
	}
}

// Pages are wanted for an origin after two runs in a row, and no longer after a run of neither
// kind for some time, with little memory, or when another origin had two runs.
func TestPreparedPagesAreForRepeatedOrigins(t *testing.T) {
	b := &Browser{config: Config{Warm: 2, MaxContexts: 6}}
	i := &instance{}
	end := func(origins ...string) {
		for _, origin := range origins {
			i.prepared.note(origin)
		}
	}
	want := func(what string, needs, old bool) {
		t.Helper()
		if gotOld, gotNeeds := b.hasOldPrepared(i), b.needsPrepared(i); gotNeeds != needs || gotOld != old {
			t.Errorf("%s: needs a page %v, want %v; has old ones %v, want %v", what, gotNeeds, needs, gotOld, old)
		}
	}
	want("no run", false, false)
	end("a", "b", "a", "b")
	want("two origins in turn", false, false)
	end("b")
	want("the same origin again", true, false)
	i.prepared.pages = []*page{{requestsTo: "b"}}
	end("", "")
	want("runs of another kind", true, false)
	i.lowMemory = true
	want("little memory", false, true)
	i.lowMemory = false
	end("a", "a")
	want("another origin", true, true)
	i.prepared.pages = []*page{{requestsTo: "a"}, {requestsTo: "a"}}
	want("enough", false, false)
	i.prepared.lastRun = i.prepared.lastRun.Add(-preparedTime - time.Second)
	want("long after the last run", false, true)
}
