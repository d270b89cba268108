package egress

import (
	"fmt"
	"net/netip"
	"testing"

	"rote/routine"
	"rote/routine/routinetest/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func policy(t *testing.T, mode Mode, allow, deny []string) *Policy {
	t.Helper()
	p, err := NewPolicy(mode, allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// allows is the policy's verdict on a host that resolves to an address.
func (p *Policy) allows(host string, to netip.AddrPort) bool {
	at := target{routine.CanonicalHost(host), fmt.Sprint(to.Port())}
	return p.checkName(at) == nil && p.checkAddress(at, to) == nil
}

func TestPolicy(t *testing.T) {
	for _, r := range []struct {
		name        string
		mode        Mode
		allow, deny []string
		host, addr  string // addr is what host resolves to, with port
		want        bool
	}{
		{"public address", Public, nil, nil, "a.test", "93.184.216.34:443", true},
		{"public address, odd port", Public, nil, nil, "a.test", "93.184.216.34:8443", false},
		{"loopback", Public, nil, nil, "a.test", "127.0.0.1:80", false},
		{"all of loopback", Public, nil, nil, "a.test", "127.9.9.9:80", false},
		{"private", Public, nil, nil, "a.test", "10.1.2.3:80", false},
		{"carrier-grade NAT", Public, nil, nil, "a.test", "100.64.0.1:80", false},
		{"link-local, metadata services", Public, nil, nil, "a.test", "169.254.169.254:80", false},
		{"unspecified", Public, nil, nil, "a.test", "0.0.0.0:80", false},
		{"multicast", Public, nil, nil, "a.test", "224.0.0.1:80", false},
		{"IPv6 loopback", Public, nil, nil, "a.test", "[::1]:80", false},
		{"IPv6 unique local", Public, nil, nil, "a.test", "[fd00::1]:80", false},
		{"IPv6 link-local with zone", Public, nil, nil, "a.test", "[fe80::1%eth0]:80", false},
		{"IPv4-mapped loopback", Public, nil, nil, "a.test", "[::ffff:127.0.0.1]:80", false},
		{"IPv4-mapped private", Public, nil, nil, "a.test", "[::ffff:10.0.0.1]:80", false},
		{"NAT64 of loopback", Public, nil, nil, "a.test", "[64:ff9b::7f00:1]:80", false},
		{"6to4 of loopback", Public, nil, nil, "a.test", "[2002:7f00:1::]:80", false},
		{"NAT64 of a private address", Public, nil, nil, "a.test", "[64:ff9b::a01:203]:80", false},
		{"NAT64 of a site", Public, nil, nil, "a.test", "[64:ff9b:1::a01:203]:80", false},
		{"IPv4-compatible", Public, nil, nil, "a.test", "[::127.0.0.1]:80", false},
		{"stateless translation", Public, nil, nil, "a.test", "[::ffff:0:127.0.0.1]:80", false},
		{"ISATAP under a public prefix", Public, nil, nil, "a.test", "[2606:2800:220:1:0:5efe:10.1.2.3]:80", false},
		{"Teredo, whose client is private", Public, nil, nil, "a.test", "[2001:0:5db8:d822::f5fe:fdfc]:80", false},
		{"the unspecified IPv6 address", Public, nil, nil, "a.test", "[::]:80", false},
		{"IPv6 multicast", Public, nil, nil, "a.test", "[ff02::1]:80", false},
		{"IPv6 site-local", Public, nil, nil, "a.test", "[fec0::1]:80", false},
		{"benchmark range", Public, nil, nil, "a.test", "198.18.0.1:80", false},
		{"reserved", Public, nil, nil, "a.test", "240.0.0.1:80", false},
		{"broadcast", Public, nil, nil, "a.test", "255.255.255.255:80", false},
		{"public IPv6", Public, nil, nil, "a.test", "[2606:2800:220:1:248:1893:25c8:1946]:443", true},
		{"an allowed name covers a private address", Public, []string{"in.test"}, nil, "in.test", "10.1.2.3:8080", true},
		{"in another case and with a dot", Public, []string{"In.Test."}, nil, "iN.tEST.", "10.1.2.3:8080", true},
		{"another name at that address", Public, []string{"in.test"}, nil, "out.test", "10.1.2.3:80", false},
		{"names below", Public, []string{"*.in.test"}, nil, "a.b.in.test", "10.1.2.3:80", true},
		{"the name above them", Public, []string{"*.in.test"}, nil, "in.test", "10.1.2.3:80", false},
		{"a name that only ends alike", Public, []string{"*.in.test"}, nil, "evilin.test", "10.1.2.3:80", false},
		{"an allowed port", Public, []string{"127.0.0.1:8080"}, nil, "127.0.0.1", "127.0.0.1:8080", true},
		{"another port of it", Public, []string{"127.0.0.1:8080"}, nil, "127.0.0.1", "127.0.0.1:8081", false},
		{"a range", Public, []string{"10.0.0.0/8"}, nil, "a.test", "10.1.2.3:8080", true},
		{"a range, mapped", Public, []string{"10.0.0.0/8"}, nil, "a.test", "[::ffff:10.1.2.3]:8080", true},
		{"denied name", Any, nil, []string{"bad.test"}, "bad.test", "93.184.216.34:443", false},
		{"denied address", Any, nil, []string{"93.184.216.34"}, "a.test", "93.184.216.34:443", false},
		{"denied, mapped", Any, nil, []string{"93.184.216.34"}, "a.test", "[::ffff:93.184.216.34]:443", false},
		{"denied, as 6to4", Any, nil, []string{"10.0.0.0/8"}, "a.test", "[2002:a01:203::]:443", false},
		{"denied, as NAT64", Any, nil, []string{"10.0.0.0/8"}, "a.test", "[64:ff9b::a01:203]:443", false},
		{"denied, as Teredo", Any, nil, []string{"10.1.2.3"}, "a.test", "[2001:0:5db8:d822::f5fe:fdfc]:443", false},
		{"denied name with a dot", Any, nil, []string{"bad.test"}, "BAD.test.", "93.184.216.34:443", false},
		{"denied name in Unicode", Any, nil, []string{"müller.test"}, "xn--mller-kva.test", "93.184.216.34:443", false},
		{"deny wins", Public, []string{"a.test"}, []string{"a.test"}, "a.test", "93.184.216.34:443", false},
		{"a denied range wins over an allowed name", Public, []string{"a.test"}, []string{"10.0.0.0/8"}, "a.test", "10.1.1.1:443", false},
		{"listed", Listed, []string{"a.test"}, nil, "a.test", "93.184.216.34:443", true},
		{"not listed", Listed, []string{"a.test"}, nil, "b.test", "93.184.216.34:443", false},
		{"any", Any, nil, nil, "a.test", "127.0.0.1:22", true},
	} {
		p := policy(t, r.mode, r.allow, r.deny)
		to := netip.MustParseAddrPort(r.addr)
		if got := p.allows(r.host, to); got != r.want {
			t.Errorf("%s: %v, want %v", r.name, got, r.want)
		}
	}
}

// A narrowed policy allows what both allow.
func TestNarrow(t *testing.T) {
	operator := policy(t, Public, []string{"10.1.0.0/16"}, []string{"bad.shop.test"})
	narrow, err := operator.Narrow([]string{"*.shop.test", "10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := narrow.Narrow([]string{"a.shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.Narrow([]string{"http://x"}); err == nil {
		t.Error("a rule that means nothing was taken")
	}
	for _, r := range []struct {
		policy     *Policy
		host, addr string
		want       bool
	}{
		{narrow, "a.shop.test", "93.184.216.34:443", true}, {narrow, "b.test", "93.184.216.34:443", false}, {narrow, "bad.shop.test", "93.184.216.34:443", false},
		{narrow, "a.shop.test", "127.0.0.1:80", false}, {narrow, "b.test", "10.1.0.1:80", true}, {narrow, "b.test", "10.2.0.1:80", false},
		{twice, "a.shop.test", "93.184.216.34:443", true}, {twice, "b.shop.test", "93.184.216.34:443", false}, {operator, "b.test", "93.184.216.34:443", true},
	} {
		if got := r.policy.allows(r.host, netip.MustParseAddrPort(r.addr)); got != r.want {
			t.Errorf("%s at %s: %v, want %v", r.host, r.addr, got, r.want)
		}
	}
}

func TestInvalidRules(t *testing.T) {
	for _, text := range []string{"", "*", "*.", "http://a.test", "a.test/x", "a b", "a.test:port", "a.test:0", "a.test:70000", "user@a.test", "a.*.test"} {
		if _, err := NewPolicy(Public, []string{text}, nil); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	if _, err := NewPolicy("open", nil, nil); err == nil {
		t.Error("mode open was taken")
	}
}
