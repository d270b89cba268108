package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rote/httpapi"
	"rote/routine"
)

// One user's open streams leave the service to others, and to the user as soon as
// they are closed.
func TestOneUserCannotTakeAllStreams(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked
	var streams []*http.Response
	for range 200 {
		streams = append(streams, e.stream(t.Context(), t, path, ""))
	}
	scenario{"", "GET", path + "/events", "$admin", nil, "", 429, []string{`"code":"rate_limited"`, "200 requests of your user are open, which is the limit. Close streams"}, nil}.run(t, e)
	if got := e.must(t, "GET", path, asAdmin, ""); got.status != 429 || got.header.Get("Retry-After") != "5" {
		t.Errorf("%d, Retry-After %s", got.status, got.header.Get("Retry-After"))
	}
	for _, row := range []scenario{{"another organization", "GET", "/routines/", "$guest", nil, "", 200, nil, nil}, {"anybody", "GET", "/routines/", "", nil, "", 200, nil, nil},
		{"health", "GET", "/healthz", "", nil, "", 200, nil, nil}} {
		row.run(t, e)
	}
	for _, s := range streams {
		_ = s.Body.Close()
	}
	deadline := time.Now().Add(time.Minute)
	for e.must(t, "GET", path, asAdmin, "").status != 200 {
		if time.Now().After(deadline) {
			t.Fatal("closed streams still count")
		}
	}
	close(e.browser.release)
}

func TestOpenRequestsAreBounded(t *testing.T) {
	admission := httpapi.NewAdmission(httpapi.Config{})
	request := func(address string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/", http.NoBody)
		r.RemoteAddr = address
		return r
	}
	var all []func()
	fill := func(r *http.Request, p routine.Principal) (n int, message string) {
		for {
			done, err := admission.StartRequest(r, p)
			if err != nil {
				if routine.CodeOf(err) != routine.CodeRateLimited || routine.AsError(err).RetryAfter == 0 {
					t.Fatal(err)
				}
				return n, err.Error()
			}
			all = append(all, done)
			n++
		}
	}
	for range 2 { // again when all have ended
		for _, row := range []struct {
			address, user, organization string
			want                        int
			words                       string
		}{
			{"10.0.0.1:1", "a", "acme", 200, "your user"},
			{"10.0.0.1:1", "b", "acme", 200, "your user"},
			{"10.0.0.1:1", "c", "acme", 100, "500 requests of your organization"},
			{"10.0.0.1:1", "a", "other", 200, "your user"},
			{"10.0.0.1:1", "", "", 100, "your address"},
			{"10.0.0.1:2", "", "", 0, "your address"},
			{"10.0.0.2:1", "", "", 100, "your address"},
		} {
			p := routine.Principal{UserID: row.user, OrganizationID: row.organization}
			if n, message := fill(request(row.address), p); n != row.want || !strings.Contains(message, row.words) {
				t.Errorf("%+v: %d, then %s", row, n, message)
			}
		}
		for _, done := range all {
			done()
		}
		all = nil
	}
}
