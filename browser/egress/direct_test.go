package egress

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Requests that come to the address of a proxy as to a server are listed for that proxy alone,
// until it is closed, and those through the proxy are denied.
func TestDirectRequests(t *testing.T) {
	g, err := ListenGateway("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	nothing := policy(t, Listed, nil, nil)
	one, other := opened(t, g, nothing, Limits{}), opened(t, g, nothing, Limits{})
	alone, err := Listen(nothing, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alone.Close)
	direct := with(t, g, nil)
	direct.Transport = nil // without a proxy
	for _, p := range []*Proxy{one, alone} {
		for _, below := range []string{"fetch", ""} {
			if got := statusOf(direct, strings.TrimPrefix(p.DirectURL(), "http://")+below); got != 400 {
				t.Errorf("status %d, want 400", got)
			}
		}
		if got := p.DirectRequests(); !slices.Equal(got, []string{"fetch", ""}) {
			t.Errorf("%q have arrived", got)
		}
	}
	if got := other.DirectRequests(); len(got) > 0 {
		t.Errorf("%q have arrived at another proxy", got)
	}
	if got := statusOf(with(t, g, login(one)), strings.TrimPrefix(one.DirectURL(), "http://")); got == 400 {
		t.Error("the request was made to the proxy as to a server")
	}
	if _, denied := one.Denied(one.DirectURL()); !denied || len(one.DirectRequests()) != 2 {
		t.Error("a request through the proxy is not denied, or counts as one past it")
	}
	one.Disconnect()
	for n := range 2 * maxDirectRequests {
		for _, p := range []*Proxy{one, other} {
			g.noteDirect(fmt.Sprint(p.directPath, n))
		}
	}
	if len(one.DirectRequests()) != 2 || len(other.DirectRequests()) != maxDirectRequests {
		t.Errorf("%d and %d have arrived, want 2 and %d", len(one.DirectRequests()), len(other.DirectRequests()), maxDirectRequests)
	}
}
