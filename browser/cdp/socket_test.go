package cdp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// socketServer serves a web socket at /browser, and what Chromium does at /json/version.
func socketServer(t *testing.T, serve func(ctx context.Context, c *websocket.Conn)) *url.URL {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/browser", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		serve(r.Context(), c)
	})
	mux.HandleFunc("/json/version", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"Browser":"x","webSocketDebuggerUrl":"ws://`+r.Host+`/browser"}`)
	})
	mux.HandleFunc("/other/json/version", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"a":1}`) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `<p>hello`) })
	mux.HandleFunc("/full", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// echo returns each message.
func echo(ctx context.Context, c *websocket.Conn) {
	for {
		kind, m, err := c.Read(ctx)
		if err != nil || c.Write(ctx, kind, m) != nil {
			return
		}
	}
}

// dialTest connects to a path of a server.
func dialTest(t *testing.T, u *url.URL, scheme, path string, o SocketOptions) (*Socket, error) {
	t.Helper()
	at := *u
	at.Scheme = scheme
	at.Path, at.RawQuery, _ = strings.Cut(path, "?")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := DialSocket(ctx, &at, o)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// Messages arrive whole and in order. One that is too long arrives without its middle, and ends
// nothing.
func TestSocketCarriesMessages(t *testing.T) {
	s, err := dialTest(t, socketServer(t, echo), "http", "", SocketOptions{MaxMessage: 100 << 10})
	if err != nil {
		t.Fatal(err)
	}
	most, long := strings.Repeat("x", 100<<10), strings.Repeat("a", headBytes)+strings.Repeat("b", 200<<10)+strings.Repeat("c", endBytes)
	sent := make(chan error, 1)
	go func() { sent <- s.Write([]byte("a"), []byte(long), []byte(most), []byte("b")) }()
	for _, want := range []struct {
		text string
		err  error
	}{{"a", nil}, {"", ErrOversize}, {most, nil}, {"b", nil}} {
		got, err := s.Read()
		if !errors.Is(err, want.err) || want.err == nil && string(got) != want.text {
			t.Fatalf("%d bytes %.80q, %v", len(got), got, err)
		}
		if want.err != nil && (!strings.HasPrefix(string(got), long[:headBytes]) || !strings.HasSuffix(string(got), long[len(long)-endBytes:])) {
			t.Fatalf("%q", got)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.RemoteAddr().String(), "127.0.0.1:") {
		t.Error(s.RemoteAddr())
	}
}

// A browser that vanishes without a word is noticed, and a connection that the browser closes.
func TestSocketEnds(t *testing.T) {
	if pingInterval+pingAnswer > 7*time.Second {
		t.Error("a lost connection is noticed too late")
	}
	for name, row := range map[string]struct {
		serve func(ctx context.Context, c *websocket.Conn)
		words string
	}{
		"it reads nothing":         {func(ctx context.Context, c *websocket.Conn) { <-ctx.Done() }, "a ping was not answered within 200ms"},
		"it closes the connection": {func(ctx context.Context, c *websocket.Conn) { _ = c.Close(websocket.StatusGoingAway, "bye") }, "bye"},
		"it drops the connection":  {func(ctx context.Context, c *websocket.Conn) { _ = c.CloseNow() }, "EOF"},
		"it sends binary messages": {func(ctx context.Context, c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageBinary, []byte("x")) }, "no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := dialTest(t, socketServer(t, row.serve), "http", "", SocketOptions{PingInterval: 20 * time.Millisecond, PingAnswer: 200 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(); err == nil || !strings.Contains(err.Error(), row.words) {
				t.Fatalf("%v, want %q", err, row.words)
			}
			_ = s.Close()
			if err := s.Write([]byte("x")); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// While a long message arrives slowly, the answer to a ping may be late.
func TestSocketWaitsForLongMessages(t *testing.T) {
	const pieces = 40
	s, err := dialTest(t, socketServer(t, func(ctx context.Context, c *websocket.Conn) {
		w, err := c.Writer(ctx, websocket.MessageText)
		if err != nil {
			t.Error(err)
			return
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range pieces {
			<-tick.C
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				t.Error(err)
			}
		}
		_ = w.Close()
		echo(ctx, c)
	}), "http", "", SocketOptions{PingInterval: 10 * time.Millisecond, PingAnswer: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Read(); err != nil || len(b) != pieces*64<<10 {
		t.Fatal(len(b), err)
	}
}

// While a long message is written to a browser that reads slowly, the answer to a ping may be late.
func TestSocketWritesLongMessages(t *testing.T) {
	const size = 24 << 20 // more than the buffers of the connection hold
	got := make(chan int, 1)
	s, err := dialTest(t, socketServer(t, func(ctx context.Context, c *websocket.Conn) {
		_, r, err := c.Reader(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		b, n := make([]byte, 512<<10), 0
		for err == nil {
			<-tick.C
			var more int
			more, err = io.ReadFull(r, b)
			n += more
		}
		got <- n
		echo(ctx, c)
	}), "http", "", SocketOptions{PingInterval: 10 * time.Millisecond, PingAnswer: 150 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { // what reads is what gets the answers to pings
		_, err := s.Read()
		read <- err
	}()
	if err := s.Write([]byte(strings.Repeat("x", size))); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != size {
		t.Fatal(n)
	}
	if err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
}

// An address leads to a browser, or to an error that names the fault and does not contain the token.
func TestDialSocket(t *testing.T) {
	u := socketServer(t, echo)
	closed := httptest.NewServer(nil)
	gone, _ := url.Parse(closed.URL)
	closed.Close()
	for name, row := range map[string]struct {
		server       *url.URL
		scheme, path string
		words        string
	}{
		"a server":                           {u, "http", "", ""},
		"a server with a slash":              {u, "http", "/", ""},
		"a server as a web socket":           {u, "ws", "", ""},
		"a web socket":                       {u, "ws", "/browser?token=hidden", ""},
		"a server that is no browser":        {u, "http", "/other?token=hidden", "no webSocketDebuggerUrl"},
		"a page":                             {u, "ws", "/page?token=hidden", "200"},
		"nothing at the path":                {u, "ws", "/none?token=hidden", "404"},
		"a server without /json/version":     {u, "http", "/none?token=hidden", "/json/version: it answered with status 404"},
		"nobody listens":                     {gone, "http", "/?token=hidden", "connection refused"},
		"nobody listens at the web socket":   {gone, "ws", "/browser?token=hidden", "connection refused"},
		"TLS to a server that does not have": {u, "wss", "/browser?token=hidden", "HTTP response to HTTPS client"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := dialTest(t, row.server, row.scheme, row.path, SocketOptions{})
			if row.words != "" {
				if err == nil || !strings.Contains(err.Error(), row.words) || strings.Contains(err.Error(), "hidden") {
					t.Fatalf("%v, want %q", err, row.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if b, err := s.Read(); string(b) != "x" {
				t.Fatal(string(b), err)
			}
		})
	}
	_, err := dialTest(t, u, "ws", "/full", SocketOptions{})
	var status *StatusError
	if !errors.As(err, &status) || !status.Busy() || status.RetryAfter != 7*time.Second {
		t.Fatal(err)
	}
}
