package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"rote/routine"
)

// The user agent of a session is that of all requests and scripts of a run: of pages, frames of
// other sites, popups and workers, and of the requests of service workers. Other runs have that of the browser.
func TestUserAgent(t *testing.T) {
	t.Parallel()
	const agent = "Mozilla/5.0 (Someone's own) Browser/7"
	var mu sync.Mutex
	var agents map[string]string // by path
	note := func(kind, text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			agents[r.URL.Path] = r.UserAgent()
			mu.Unlock()
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	tell := `fetch('/from-%s', {method: 'POST'}).then(() => fetch('/said-by-%[1]s?' + encodeURIComponent(navigator.userAgent)))`
	said := func(name string) func(http.ResponseWriter, *http.Request) {
		return func(_ http.ResponseWriter, r *http.Request) {
			text, _ := url.QueryUnescape(r.URL.RawQuery)
			mu.Lock()
			defer mu.Unlock()
			agents["navigator of "+name] = text
		}
	}
	kinds := []string{"page", "frame", "popup", "worker", "service"}
	pages := map[string]any{
		"/worker.js":  note("text/javascript", fmt.Sprintf(tell, "worker")),
		"/service.js": note("text/javascript", fmt.Sprintf(tell, "service")),
		"/popup":      note("text/html", `<link rel=icon href="data:,"><script>`+fmt.Sprintf(tell, "popup")+`</script>`),
		"/frame":      note("text/html", `<script>`+fmt.Sprintf(tell, "frame")+`</script>`),
	}
	for _, kind := range kinds {
		pages["/from-"+kind], pages["/said-by-"+kind] = note("text/plain", ""), said(kind)
	}
	home := ""
	pages["/"] = func(w http.ResponseWriter, r *http.Request) {
		other := strings.Replace(home, "127.0.0.1", "localhost", 1)
		note("text/html", `<link rel=icon href="data:,"><a href=/popup target=_blank>open</a><iframe src="`+other+`/frame"></iframe><script>`+
			fmt.Sprintf(tell, "page")+`; new Worker('/worker.js'); navigator.serviceWorker.register('/service.js')</script>`)(w, r)
	}
	home = site(t, pages)
	for _, want := range []string{agent, ""} {
		mu.Lock()
		agents = map[string]string{}
		mu.Unlock()
		opened, err := shared.Open(testContext(t), routine.PageOptions{UserAgent: want})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(opened.Close)
		if _, err := opened.Navigate(testContext(t), home+"/"); err != nil {
			t.Fatal(err)
		}
		if _, err := opened.Click(testContext(t), routine.Click{Selector: "a", Button: "left", Count: 1, FollowPopup: true}); err != nil {
			t.Fatal(err)
		}
		eventually(t, testTime, "what all have said", func() bool {
			mu.Lock()
			defer mu.Unlock()
			for _, kind := range kinds {
				if agents["navigator of "+kind] == "" {
					return false
				}
			}
			return true
		})
		mu.Lock()
		for from, got := range agents {
			if from == "/service.js" || from == "navigator of service" {
				continue // only its requests have it
			}
			if (got == agent) != (want == agent) {
				t.Errorf("%s: %q with the user agent %q", from, got, want)
			}
		}
		mu.Unlock()
		opened.Close()
	}
}
