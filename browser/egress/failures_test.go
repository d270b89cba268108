package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
)

func TestFailureGivesReason(t *testing.T) {
	for words, err := range map[string]error{
		"its name does not resolve":                           &net.DNSError{Err: "no such host", IsNotFound: true},
		"its name could not be looked up: server misbehaving": &net.DNSError{Err: "server misbehaving"},
		"the connection was refused":                          fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"the connection was reset":                            &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		"there is no route to it":                             syscall.EHOSTUNREACH,
		"the connection timed out":                            &net.OpError{Op: "dial", Err: context.DeadlineExceeded},
		"the connection was closed without an answer":         io.ErrUnexpectedEOF,
		"it gave no proper answer: malformed":                 errors.New("malformed"),
	} {
		p := &Proxy{}
		p.failures.record("Example.org:80", err)
		if got, ok := p.Failure("http://example.org/x?y"); !ok || got != words {
			t.Errorf("%v: %q %v, want %q", err, got, ok, words)
		}
	}
}

func TestFailureIsOfLatestAttempt(t *testing.T) {
	p := &Proxy{}
	p.failures.record("a:443", syscall.ECONNREFUSED)
	for _, ours := range []error{context.Canceled, net.ErrClosed} { // no fault of the host
		p.failures.record("b:80", ours)
	}
	for url, want := range map[string]bool{"https://a/": true, "http://a/": false, "http://b/": false, "http://a:443/": true, "::": false} {
		if _, ok := p.Failure(url); ok != want {
			t.Errorf("%s: %v", url, ok)
		}
	}
	p.failures.record("a:443", nil)
	if why, ok := p.Failure("https://a/"); ok {
		t.Error("it was reached since: ", why)
	}
	for n := range 2 * maxFailures {
		p.failures.record(fmt.Sprintf("h%d:80", n), io.EOF)
	}
	if len(p.failures.hosts) > maxFailures {
		t.Error(len(p.failures.hosts))
	}
}

// A real connection that is refused.
func TestProxyRecordsFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/"
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p, client := through(t, policy(t, Any, nil, nil))
	if r, err := client.Get(url); err == nil {
		_ = r.Body.Close()
		t.Fatal("reached")
	}
	if why, _ := p.Failure(url); why != "the connection was refused" {
		t.Fatalf("%q", why)
	}
}
