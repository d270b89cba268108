package egress

import (
	"strings"
	"testing"

	"rote/browser/egress/egresstest"
	"rote/routine"
)

// A name that resolves to an allowed address first and to loopback afterwards
// passes once and no more: what is judged is what is dialled.
func TestRebinding(t *testing.T) {
	port, public, secret := egresstest.TwoSides(t)
	resolver, asked := egresstest.Names(t, func(_ string, n int) []string {
		if n == 0 {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	})
	proxy, client := through(t, policy(t, Listed, []string{"127.0.0.2"}, nil).WithResolver(resolver))
	r, err := client.Get("http://rebind.test:" + port + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	for range 3 {
		if r, err := client.Get("http://rebind.test:" + port + "/"); err == nil {
			t.Fatal("answered: ", r.Status)
		}
	}
	if asked("rebind.test") < 4 || public.Connections() != 1 || secret.Connections() != 0 {
		t.Fatalf("%d look-ups, %d connections to the allowed side, %d to the other", asked("rebind.test"), public.Connections(), secret.Connections())
	}
	if d := proxy.Denials(); len(d) != 1 || d[0].Address != "127.0.0.1" || d[0].Host != "rebind.test:"+port {
		t.Fatal(d)
	}
}

// If a name has several addresses, only the allowed ones are connected to, in
// whatever order they come.
func TestNameWithPublicAndPrivateAddresses(t *testing.T) {
	port, public, secret := egresstest.TwoSides(t)
	resolver, _ := egresstest.Names(t, func(name string, _ int) []string {
		switch name {
		case "first.test":
			return []string{"127.0.0.2", "127.0.0.1"}
		case "last.test":
			return []string{"127.0.0.1", "127.0.0.2"}
		}
		return []string{"127.0.0.1", "10.0.0.1", "169.254.169.254"}
	})
	_, client := through(t, policy(t, Listed, []string{"127.0.0.2"}, nil).WithResolver(resolver))
	for _, name := range []string{"first.test", "last.test"} {
		r, err := client.Get("http://" + name + ":" + port + "/")
		if err != nil {
			t.Fatal(name, err)
		}
		r.Body.Close()
	}
	if _, err := client.Get("http://none.test:" + port + "/"); err == nil {
		t.Fatal("none.test was answered")
	}
	if public.Connections() != 2 || secret.Connections() != 0 {
		t.Fatalf("%d connections to the allowed side, %d to the other", public.Connections(), secret.Connections())
	}
}

// A name that can't be allowed is not looked up: the look-up itself would carry
// data to the name's owner.
func TestDeniedNamesAreNotResolved(t *testing.T) {
	resolver, asked := egresstest.Names(t, func(string, int) []string { return []string{"127.0.0.1"} })
	narrow, err := policy(t, Public, nil, nil).WithResolver(resolver).Narrow([]string{"shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Policy{
		policy(t, Listed, []string{"shop.test"}, nil).WithResolver(resolver), narrow,
		policy(t, Any, nil, []string{"*.evil.test"}).WithResolver(resolver),
	} {
		if _, err := p.dial(t.Context(), "tcp", "data.evil.test:80"); routine.CodeOf(err) != routine.CodeEgressDenied {
			t.Fatal(err)
		}
	}
	if n := asked("data.evil.test"); n != 0 {
		t.Fatalf("%d look-ups", n)
	}
}

// Nothing connects to loopback, no matter how its address is written.
func TestSpellingsOfLoopback(t *testing.T) {
	port, _, secret := egresstest.TwoSides(t)
	for _, mode := range []Mode{Public, Listed} {
		proxy, client := through(t, policy(t, mode, nil, nil))
		for _, host := range []string{
			"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.01",
			"127.000.000.001", "0", "0.0.0.0", "127.0.0.1.", "127.1.", "localhost", "LOCALHOST", "localhost.", "sub.localhost",
			"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]",
			"[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[::1%25lo]", "[::1%25]", "127。0。0。1", "１２７.0.0.1", "①②⑦.⓪.⓪.①",
			"loc%61lhost", "ip6-localhost", "127.0.0.1%00", "127.0.0.1.nip.test",
		} {
			if r, err := client.Get("http://" + host + ":" + port + "/"); err == nil {
				t.Errorf("%s: %s was answered: %s", mode, host, r.Status)
			}
			_, in := rawConn(t, proxy, "CONNECT %s:%s HTTP/1.1\r\nHost: x\r\n\r\n", host, port)
			if line, _ := in.ReadString('\n'); strings.Contains(line, "200") {
				t.Errorf("%s: CONNECT %s: %s", mode, host, line)
			}
		}
	}
	if n := secret.Connections(); n != 0 {
		t.Fatalf("%d connections reached loopback", n)
	}
}

// Names below localhost are loopback without a look-up, and need a rule as every
// private address does.
func TestNamesBelowLocalhost(t *testing.T) {
	port, _, loopback := egresstest.TwoSides(t)
	resolver, asked := egresstest.Names(t, func(string, int) []string { return []string{"127.0.0.2"} })
	for _, row := range []struct {
		allow []string
		host  string
		want  bool
	}{
		{[]string{"*.localhost"}, "shop.localhost", true},
		{[]string{"*.localhost:" + port}, "A.Shop.LOCALHOST.", true},
		{[]string{"shop.localhost"}, "shop.localhost", true},
		{[]string{"shop.localhost"}, "bank.localhost", false},
		{nil, "shop.localhost", false},
	} {
		p := policy(t, Listed, row.allow, nil).WithResolver(resolver)
		_, client := through(t, p)
		url := "http://" + row.host + ":" + port + "/"
		r, err := client.Get(url)
		if err == nil {
			r.Body.Close()
		}
		if (err == nil) != row.want {
			t.Errorf("allowed %v: %s gave %v", row.allow, url, err)
		}
		if err := p.Judge(t.Context(), url); (err == nil) != row.want {
			t.Errorf("allowed %v: %s is judged %v", row.allow, url, err)
		}
	}
	if n := loopback.Connections(); n != 3 {
		t.Errorf("%d connections reached loopback", n)
	}
	if n := asked("shop.localhost") + asked("a.shop.localhost"); n != 0 {
		t.Errorf("%d look-ups", n)
	}
}
