package main

import (
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Metrics need a token, on loopback too: a proxy makes requests of anybody come
// from there. Only the listener of --metrics-addr serves them without.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	r := newRote(t)
	url := regexp.MustCompile(`"msg":"serving metrics","url":"([^"]*)"`)
	for addr, warns := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		s := r.serve("--metrics-addr", addr)
		found := url.FindStringSubmatch(s.log.String())
		if found == nil {
			t.Fatal(s.log.String())
		}
		port := found[1][strings.LastIndex(found[1], ":")+1:] // of [::]:port/metrics
		own := found[1]
		if warns {
			own = "http://127.0.0.1:" + port
		}
		for address, want := range map[string]int{own: 200, s.url + "/metrics": 401, strings.TrimSuffix(own, "/metrics") + "/routines/": 404} {
			answer, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil || answer.StatusCode != want {
				t.Errorf("%s: %d, want %d, %v", address, answer.StatusCode, want, err)
			}
		}
		if warned := strings.Contains(s.log.String(), "everybody who reaches --metrics-addr"); warned != warns {
			t.Errorf("%s: warned %v\n%s", addr, warned, s.log)
		}
		s.stop(syscall.SIGTERM)
		if _, err := http.Get(own); err == nil {
			t.Error("the listener of the metrics outlives the server")
		}
	}
	if _, errs, code := r.run("serve", "--addr", "127.0.0.1:0", "--metrics-addr", "nowhere"); code != 1 || !strings.Contains(errs, "--metrics-addr") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
