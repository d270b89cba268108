package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"rote/routine"
)

// maxFailures limits how many failures of a run are kept, so that a page cannot
// use up memory.
const maxFailures = 1000

// failures are the reasons why hosts could not be reached, by host and port.
// The browser only sees that the proxy closed the connection.
type failures struct {
	mu    sync.Mutex
	hosts map[string]string
}

// record stores the outcome of the latest attempt; nil deletes an earlier
// failure.
func (f *failures) record(address string, err error) {
	host, port, split := net.SplitHostPort(address)
	if split != nil || errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return
	}
	key := net.JoinHostPort(routine.CanonicalHost(host), port)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		delete(f.hosts, key)
		return
	}
	if f.hosts == nil {
		f.hosts = map[string]string{}
	}
	if len(f.hosts) < maxFailures {
		f.hosts[key] = describeError(err)
	}
}

// Failure returns why the host of an http or https URL could not be reached, as
// the end of a sentence, or false if the latest attempt did not fail.
func (p *Proxy) Failure(rawURL string) (string, bool) {
	host, ok := hostOf(rawURL)
	if !ok {
		return "", false
	}
	p.failures.mu.Lock()
	defer p.failures.mu.Unlock()
	why, ok := p.failures.hosts[host]
	return why, ok
}

func describeError(err error) string {
	var name *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "its name does not resolve"
	case errors.As(err, &name):
		return "its name could not be looked up: " + name.Err
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to it"
	case errors.As(err, &network) && network.Timeout():
		return "the connection timed out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	}
	return "it gave no proper answer: " + err.Error()
}

// recordFailure records that a plain HTTP request failed, unless the policy
// denied it.
func (p *Proxy) recordFailure(host string, err error) {
	var r *refusal
	if key, ok := hostOf("http://" + host); ok && !errors.As(err, &r) {
		p.failures.record(key, err)
	}
}
