package egress

import (
	"strings"
	"testing"

	"rote/routine"
)

func TestJudge(t *testing.T) {
	p, err := NewPolicy(Public, []string{"127.0.0.1:8080", "hooks.test"}, []string{"bad.test"})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := p.Narrow([]string{"127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		policy *Policy
		url    string
		code   routine.Code
		words  string
	}{
		{"a public address", p, "https://93.184.216.34/hook?a=b", "", ""},
		{"an allowed port", p, "http://127.0.0.1:8080/", "", ""},
		{"another port of it", p, "http://127.0.0.1:8081/", routine.CodeEgressDenied, "not a public address"},
		{"metadata", p, "http://169.254.169.254/latest", routine.CodeEgressDenied, "not a public address"},
		{"an address in disguise", p, "http://[::ffff:10.0.0.1]/", routine.CodeEgressDenied, "not a public address"},
		{"a port that is not the web's", p, "https://93.184.216.34:22/", routine.CodeEgressDenied, "port 22"},
		{"a name that is denied", p, "https://bad.test./", routine.CodeEgressDenied, "--deny-host"},
		{"outside of the caller's hosts", narrow, "https://93.184.216.34/", routine.CodeEgressDenied, "limited to"},
		{"inside of them", narrow, "http://127.0.0.1:8080/", "", ""},
		{"a name that is none", p, "https://nothing.invalid/", routine.CodeNetworkError, "nothing.invalid"},
		{"no web URL", p, "ftp://93.184.216.34/", routine.CodeInvalid, "http"},
		{"no URL", p, "http://[::1", routine.CodeInvalid, "http"},
		{"no port", p, "http://93.184.216.34:99999/", routine.CodeInvalid, "99999"},
	} {
		err := row.policy.Judge(t.Context(), row.url)
		if routine.CodeOf(err) != row.code || err != nil && !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v, want %q with %q", row.name, err, row.code, row.words)
		}
	}
}
