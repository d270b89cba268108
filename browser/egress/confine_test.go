package egress

import (
	"net/http"
	"testing"

	"rote/routine"
)

// Confine closes connections that are open, and denies new ones, to all hosts but those that it
// names.
func TestConfine(t *testing.T) {
	in, _ := sink(t, func(http.ResponseWriter, *http.Request) {})
	out, _ := sink(t, func(http.ResponseWriter, *http.Request) {})
	p, c := through(t, policy(t, Any, nil, nil))
	get := func(host string) bool {
		r, err := c.Get("http://" + host + "/")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	}
	if !get(in) || !get(out) {
		t.Fatal("the sites cannot be reached")
	}
	if err := p.Confine([]string{"http://" + in}, "why"); err == nil {
		t.Error("a host with a scheme is accepted")
	}
	for range 2 {
		if err := p.Confine([]string{in}, "why"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.policy.Load().restrictions); n != 1 {
		t.Errorf("%d restrictions", n)
	}
	if !get(in) || get(out) {
		t.Error("what can be reached is not what Confine names")
	}
	if d := p.Denials(); len(d) != 1 || d[0].Reason != "why" {
		t.Errorf("denials %v", d)
	}
	p.Deny("http://"+out, "another reason")
	if d := p.Denials(); len(d) != 1 || d[0] != (routine.Denial{Host: out, Reason: "another reason", Count: 1}) {
		t.Errorf("denials %v", d)
	}
}
