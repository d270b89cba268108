package provider

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// theValue is in the answers of the servers of these tests, and in no error.
const theValue = "hunter2-very-secret"

// pipes is a listener without a network, whose connections wait in the time of a synctest
// bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8200} }

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: p.Addr(), Err: errors.New("connection refused")}
	}
}

// through makes a client reach the server behind the pipes, whatever its address is.
func (p *pipes) through(c *client) {
	c.http.Transport.(*http.Transport).DialContext = p.dial
}

// serve starts a server behind pipes until the end of the test.
func serve(t *testing.T, encrypted bool, handler http.HandlerFunc) *pipes {
	t.Helper()
	p := newPipes()
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = p
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of refused certificates
	if encrypted {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return p
}

// file writes a file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, text)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fault is what a server does instead of its answer.
type fault struct {
	handler http.HandlerFunc
	// down closes the listener, and encrypted makes the server present a certificate that
	// nobody knows.
	down, encrypted bool
	// want is the error; nil means any other.
	want error
	// breaks reports whether it is a failure of the provider and not only of the value.
	breaks bool
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// commonFaults are those of any provider. value is the text of an answer with theValue.
func commonFaults(value string) map[string]fault {
	return map[string]fault{
		"down": {down: true, breaks: true},
		"slow": {handler: func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(30 * time.Second):
				_, _ = w.Write([]byte(value))
			case <-r.Context().Done():
			}
		}, breaks: true},
		"slow body": {handler: func(w http.ResponseWriter, r *http.Request) {
			for range 30 {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
					return
				}
			}
			_, _ = w.Write([]byte(value))
		}, breaks: true},
		"403":         {handler: status(403, value), want: routine.ErrProviderDenied},
		"500":         {handler: status(500, value), breaks: true},
		"503":         {handler: status(503, value), breaks: true},
		"429":         {handler: status(429, value), breaks: true},
		"204":         {handler: status(204, ""), breaks: true},
		"huge body":   {handler: status(200, strings.TrimSuffix(value, "}")+strings.Repeat(" ", 2<<20)+"}"), want: errUnusable},
		"huge header": {handler: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, breaks: true},
		"redirect": {handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "elsewhere") {
				_, _ = w.Write([]byte(value))
				return
			}
			http.Redirect(w, r, "/elsewhere/"+theValue, http.StatusTemporaryRedirect)
		}, breaks: true},
		"no JSON":        {handler: status(200, "<p>"+theValue), breaks: true},
		"half the JSON":  {handler: status(200, value[:len(value)-1]), breaks: true},
		"JSON of others": {handler: status(200, `"`+theValue+`"`), breaks: true},
		"no HTTP": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 " + theValue + "\r\n\r\n"))
				conn.Close()
			}
		}, breaks: true},
		"unknown certificate": {encrypted: true, handler: status(200, value), breaks: true},
	}
}

// check reads three values of a provider with the fault. Each reading ends in time with the
// error that is expected, which shows neither the value nor the token.
func (f fault) check(t *testing.T, p routine.SecretProvider, refs [3]string) {
	for _, path := range refs {
		start := time.Now()
		value, err := p.ReadSecret(t.Context(), routine.ProviderReference{OrganizationID: "acme", ProjectID: "shop", Path: path})
		if took := time.Since(start); took > readTimeout {
			t.Errorf("it takes %s", took)
		}
		if err == nil || value != "" || f.want != nil && !errors.Is(err, f.want) || f.want == nil && answered(err) {
			t.Errorf("%d bytes, %v", len(value), err)
		}
		if err != nil && (strings.Contains(err.Error(), theValue) || strings.Contains(err.Error(), "the-token")) {
			t.Errorf("the error shows the value or the token: %v", err)
		}
	}
	if down := p.Unavailable(routine.ProviderReference{}) > 0; down != f.breaks {
		t.Errorf("after three errors it is unavailable: %t, want %t", down, f.breaks)
	}
}
