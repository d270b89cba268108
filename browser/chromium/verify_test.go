package chromium

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reported is a command line as Chromium reports it.
func reported(flags ...string) string {
	return "/usr/bin/chromium " + strings.Join(flags, " ") + " --lang=en-US about:blank"
}

// The flags that rote prints for a browser elsewhere are those that it wants to see.
func TestCheckFlags(t *testing.T) {
	all := FlagsElsewhere("proxy.internal")
	if f := CheckFlags(reported(all...), "proxy.internal"); f.Err("proxy.internal") != nil || len(f.Weakened) > 0 || f.NoSandbox {
		t.Fatalf("the flags that rote prints have faults: %+v", f)
	}
	if f := CheckFlags(reported(Flags("/home", true)...), localProxyHost); f.Err(localProxyHost) != nil {
		t.Fatalf("the flags of a browser of this machine have faults: %+v", f)
	}
	rules := "--host-resolver-rules="
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return strings.HasPrefix(f, name) })
	}
	for _, row := range []struct {
		name string
		line string
		want FlagFaults
	}{
		{"another order and spacing", reported(append(without(rules), rules+"EXCLUDE proxy.internal,MAP *   ~NOTFOUND")...), FlagFaults{}},
		{"an argument behind the rules", "/usr/bin/chromium " + strings.Join(without(rules), " ") + " " + rules +
			"MAP * ~NOTFOUND , EXCLUDE proxy.internal about:blank", FlagFaults{}},
		{"another host left out", reported(append(all, rules+"MAP * ~NOTFOUND , EXCLUDE proxy.internal , EXCLUDE evil.test")...),
			FlagFaults{Missing: []string{rules + "MAP * ~NOTFOUND , EXCLUDE proxy.internal"}}},
		{"the last of a repeated flag counts", reported(append(all, "--webrtc-ip-handling-policy=default")...),
			FlagFaults{Missing: []string{"--webrtc-ip-handling-policy=disable_non_proxied_udp"}}},
		{"flags that are arguments", "/usr/bin/chromium -- " + strings.Join(all, " "), FlagFaults{Missing: confiningFlags("proxy.internal")}},
		{"no flags", "/usr/bin/chromium about:blank", FlagFaults{Missing: confiningFlags("proxy.internal")}},
		{"nothing", "", FlagFaults{Missing: confiningFlags("proxy.internal")}},
		{"a longer name", reported(append(without("--site-per-process"), "--site-per-process-not")...), FlagFaults{Missing: []string{"--site-per-process"}}},
		{"no sandbox", reported(append(all, "--no-sandbox")...), FlagFaults{NoSandbox: true}},
		{"all origins", reported(append(all, "--remote-allow-origins=*")...), FlagFaults{Forbidden: []string{"--remote-allow-origins=*"}}},
		{"all origins among others", reported(append(all, "--remote-allow-origins=http://127.0.0.1, *")...),
			FlagFaults{Forbidden: []string{"--remote-allow-origins=*"}}},
		{"no namespaces", reported(append(all, "--disable-namespace-sandbox")...), FlagFaults{NoSandbox: true}},
		{"no filter of system calls", reported(append(all, "--disable-seccomp-filter-sandbox")...), FlagFaults{NoSandbox: true}},
		{"a start page behind the rules", "/usr/bin/chromium " + strings.Join(without(rules), " ") + " " + rules +
			"MAP * ~NOTFOUND , EXCLUDE proxy.internal https://start.test/a", FlagFaults{}},
		{"a start page behind a flag with a value", "/usr/bin/chromium " + strings.Join(without("--webrtc-ip"), " ") +
			" --force-webrtc-ip-handling-policy=disable_non_proxied_udp --webrtc-ip-handling-policy=disable_non_proxied_udp start.test", FlagFaults{}},
		{"more rules behind the rules", reported(append(all, rules+"MAP * ~NOTFOUND , EXCLUDE proxy.internal , EXCLUDE https://start.test")...),
			FlagFaults{Missing: []string{rules + "MAP * ~NOTFOUND , EXCLUDE proxy.internal"}}},
		{"one origin", reported(append(all, "--remote-allow-origins=http://127.0.0.1")...), FlagFaults{}},
		{"a checked network", reported(append(all, "--disable-features=Translate,LocalNetworkAccessChecks")...),
			FlagFaults{Weakened: []string{"--disable-features=LocalNetworkAccessChecks"}}},
	} {
		if diff := cmp.Diff(row.want, CheckFlags(row.line, "proxy.internal")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
	for _, flag := range confiningFlags("proxy.internal") {
		name, _, _ := strings.Cut(flag, "=")
		f := CheckFlags(reported(without(name)...), "proxy.internal")
		if err := f.Err("proxy.internal"); !cmp.Equal(f.Missing, []string{flag}) || err == nil ||
			!strings.Contains(err.Error(), "'"+flag+"'") || !strings.Contains(err.Error(), "rote browser flags --proxy proxy.internal") {
			t.Errorf("without %s: %v, %+v", flag, err, f)
		}
	}
	for _, flag := range forbiddenFlags {
		f := CheckFlags(reported(append(all, flag)...), "proxy.internal")
		if err := f.Err("proxy.internal"); !cmp.Equal(f.Forbidden, []string{flag}) || err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("with %s: %v, %+v", flag, err, f)
		}
	}
}
