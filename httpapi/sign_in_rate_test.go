package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"rote/httpapi"
	"rote/routine"
)

// Ten attempts to sign in are allowed for each address and minute, also without a limit for
// calls.
func TestSignInRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admission := httpapi.NewAdmission(httpapi.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}})
		try := func(client string) (http.Header, error) {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/console/login", http.NoBody)
			r.RemoteAddr = "10.0.0.1:1"
			r.Header.Set("X-Forwarded-For", client)
			w := httptest.NewRecorder()
			err := admission.SignInAllowed(w, r)
			return w.Header(), err
		}
		for range 2 { // again when the attempts are forgotten
			for _, client := range []string{"203.0.113.1", "203.0.113.2"} {
				for n := range 10 {
					if h, err := try(client); err != nil {
						t.Fatalf("attempt %d of %s: %v %v", n+1, client, h, err)
					}
				}
			}
			for range 3 {
				h, err := try("203.0.113.1")
				if e := routine.AsError(err); routine.CodeOf(err) != routine.CodeRateLimited || e.RetryAfter != time.Minute ||
					e.Message != "more than 10 sign-ins in 1m0s: try again later" || h.Get("RateLimit") != `"address";r=0;t=60` {
					t.Fatalf("%v %v", h, err)
				}
			}
			time.Sleep(2 * time.Minute) // of the test's own clock
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/", http.NoBody)
		r.RemoteAddr = "203.0.113.1:1"
		for range 20 { // calls are counted apart
			if _, err := admission.Caller(httptest.NewRecorder(), r); err != nil {
				t.Fatal(err)
			}
		}
	})
}
