package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"rote/httpapi"
	"rote/routine"
)

// Callers behind a trusted proxy are counted each by their own address. Nobody
// else chooses the address that they are counted by.
func TestClientAddressBehindProxy(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	type call struct {
		from      string
		forwarded []string
	}
	for _, row := range []struct {
		name       string
		one, other call
		same       bool
	}{
		{"two callers behind a proxy", call{"10.0.0.1:1", []string{"203.0.113.1"}}, call{"10.0.0.1:1", []string{"203.0.113.2"}}, false},
		{"one caller behind two proxies", call{"10.0.0.1:1", []string{"203.0.113.1"}}, call{"10.0.0.2:1", []string{"203.0.113.1"}}, true},
		{"with and without port", call{"10.0.0.1:1", []string{"203.0.113.1:4711"}}, call{"10.0.0.1:1", []string{"203.0.113.1"}}, true},
		{"two proxies in a row", call{"10.0.0.1:1", []string{"203.0.113.1, 10.0.0.2"}}, call{"10.0.0.1:1", []string{"203.0.113.2, 10.0.0.2"}}, false},
		{"two headers", call{"10.0.0.1:1", []string{"203.0.113.1", "10.0.0.2"}}, call{"10.0.0.1:1", []string{"203.0.113.2", "10.0.0.2"}}, false},
		{"a caller who sends the header as well", call{"10.0.0.1:1", []string{"198.51.100.1, 203.0.113.1"}},
			call{"10.0.0.1:1", []string{"198.51.100.2, 203.0.113.1"}}, true},
		{"a caller who poses as a proxy", call{"10.0.0.1:1", []string{"198.51.100.1, 10.0.0.3, 203.0.113.1"}},
			call{"10.0.0.1:1", []string{"198.51.100.2, 10.0.0.3, 203.0.113.1"}}, true},
		{"no address", call{"10.0.0.1:1", []string{"203.0.113.1, x"}}, call{"10.0.0.1:1", []string{"203.0.113.2, y"}}, true},
		{"no header", call{"10.0.0.1:1", nil}, call{"10.0.0.2:1", nil}, false},
		{"no proxy", call{"192.0.2.1:1", []string{"203.0.113.1"}}, call{"192.0.2.1:1", []string{"203.0.113.2"}}, true},
		{"a proxy over IPv6", call{"[fd00::1]:1", []string{"2001:db8::1"}}, call{"[fd00::1]:1", []string{"2001:db8:0:1::1"}}, false},
		{"one network of IPv6", call{"[fd00::1]:1", []string{"2001:db8::1"}}, call{"[fd00::1]:1", []string{"[2001:db8::2]:80"}}, true},
		{"a proxy whose IPv4 address is written as IPv6", call{"[::ffff:10.0.0.1]:1", []string{"203.0.113.1"}},
			call{"10.0.0.1:1", []string{"::ffff:203.0.113.1"}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			// Both limits, of calls and of open requests, count by the same address.
			admission := httpapi.NewAdmission(httpapi.Config{TrustedProxies: proxies, RateLimit: 100})
			try := func(c call) (limited, full error) {
				r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/", http.NoBody)
				r.RemoteAddr, r.Header["X-Forwarded-For"] = c.from, c.forwarded
				_, limited = admission.Caller(httptest.NewRecorder(), r)
				_, full = admission.StartRequest(r, routine.Principal{}) // stays open
				return limited, full
			}
			for range 100 { // as many as both limits allow
				if limited, full := try(row.one); limited != nil || full != nil {
					t.Fatal(limited, full)
				}
			}
			limited, full := try(row.other)
			if (limited != nil) != row.same || (full != nil) != row.same {
				t.Errorf("the other call: %v, %v; want one address: %v", limited, full, row.same)
			}
		})
	}
}
