package browser

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"rote/routine"
)

// A refusal fails the operation that needed it and no other; all are on record.
func TestDenialsAreTheOperationsOwn(t *testing.T) {
	t.Parallel()
	const ad, denied = "http://192.0.2.9/ad.js", "http://192.0.2.1/"
	site := site(t, map[string]any{
		"/ads":   `<script src="` + ad + `"></script><p>page</p>`,
		"/hang":  `<script src="` + ad + `"></script><button id=b onclick="location='http://127.0.0.1:1/'">b</button>`,
		"/leave": `<script src="` + ad + `"></script><button id=b onclick="location='/to?` + url.QueryEscape(denied) + `'">b</button>`,
		"/to": func(w http.ResponseWriter, r *http.Request) {
			u, _ := url.QueryUnescape(r.URL.RawQuery)
			http.Redirect(w, r, u, http.StatusFound)
		},
	})
	t.Run("a page whose ads are refused is opened", func(t *testing.T) {
		p := openPage(t, site+"/ads")
		d := p.Denials()
		if len(d) != 1 || d[0].Host != "192.0.2.9:80" || d[0].Address != "192.0.2.9" || !strings.Contains(d[0].Reason, "not allowed") {
			t.Fatal(d)
		}
		if again := p.Denials(); len(again) != 0 {
			t.Fatal("told twice: ", again)
		}
	})
	t.Run("a click that leads to a dead port is not blamed on an ad", func(t *testing.T) {
		_, err := openPage(t, site+"/hang").Click(testContext(t), click("#b"))
		wantCode(t, err, routine.CodeNavigationFailed, "could not be opened")
	})
	t.Run("a click that is redirected to a refused host", func(t *testing.T) {
		_, err := openPage(t, site+"/leave").Click(testContext(t), click("#b"))
		wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1:80")
	})
	t.Run("a navigation that is redirected to a refused host", func(t *testing.T) {
		_, err := openPage(t, "").Navigate(testContext(t), site+"/to?"+url.QueryEscape(denied))
		wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1:80")
	})
	t.Run("a request to a dead port is not blamed on an ad", func(t *testing.T) {
		_, err := openPage(t, site+"/ads").Fetch(testContext(t), routine.Fetch{URL: "http://127.0.0.1:1/", Method: "GET"}, 1000)
		wantCode(t, err, routine.CodeNetworkError, "failed")
	})
	for name, to := range map[string]string{"a request": denied, "a request that is redirected": "to?" + url.QueryEscape(denied), "a request over TLS": "https://192.0.2.1"} {
		t.Run(name+" to a refused host", func(t *testing.T) {
			_, err := openPage(t, site+"/ads").Fetch(testContext(t), routine.Fetch{URL: to, Method: "GET"}, 1000)
			wantCode(t, err, routine.CodeEgressDenied, "192.0.2.1:")
		})
	}
}

// A run is limited to its caller's hosts, on a page that was ready before.
func TestAllowedHosts(t *testing.T) {
	a, b := site(t, map[string]any{"/": "a"}), site(t, map[string]any{"/": "b"})
	opened, err := shared.Open(testContext(t), routine.PageOptions{AllowedHosts: []string{strings.TrimPrefix(a, "http://"), "192.0.2.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := opened.Navigate(testContext(t), a+"/"); err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{b + "/", "http://192.0.2.1/"} { // the second: the operator's own rules still hold
		_, err = opened.Navigate(testContext(t), outside)
		wantCode(t, err, routine.CodeEgressDenied, strings.TrimSuffix(strings.TrimPrefix(outside, "http://"), "/"))
	}
	if _, err := shared.Open(testContext(t), routine.PageOptions{AllowedHosts: []string{"http://no.rule"}}); routine.CodeOf(err) != routine.CodeForbidden {
		t.Fatal(err)
	}
}

// A message shows the beginning of a long URL.
func TestLongURLs(t *testing.T) {
	long := "http://127.0.0.1:1/" + strings.Repeat("x", 5000)
	_, err := openPage(t, "").Navigate(testContext(t), long)
	if wantCode(t, err, routine.CodeNavigationFailed, "…"); len(err.Error()) > 400 {
		t.Fatal(len(err.Error()), " bytes")
	}
	_, err = openPage(t, site(t, map[string]any{"/": "x"})+"/").Fetch(testContext(t), routine.Fetch{URL: long, Method: "GET"}, 1000)
	if wantCode(t, err, routine.CodeNetworkError, "…"); len(err.Error()) > 400 {
		t.Fatal(len(err.Error()), " bytes")
	}
}
