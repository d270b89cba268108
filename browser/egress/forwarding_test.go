package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// raw sends text to the proxy over a connection of its own.
func rawConn(t *testing.T, proxy *Proxy, format string, args ...any) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, format, args...)
	return conn, bufio.NewReader(conn)
}

// echo is a server that answers with the request line it was sent.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				line = strings.TrimSpace(line)
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(line), line)
			}()
		}
	}()
	return l.Addr().String()
}

// Browsers ask for paths that Go's URL parser refuses, and sites serve them.
func TestProxyForwardsURLsUnchanged(t *testing.T) {
	host := echo(t)
	proxy, _ := through(t, policy(t, Listed, []string{host}, nil))
	for path, want := range map[string]string{
		"/100%/":     "GET /100%/ HTTP/1.1",
		"/%zz?a=%":   "GET /%zz?a=% HTTP/1.1",
		"/a;b|c\"<>": "GET /a;b|c\"<> HTTP/1.1",
		"/é":         "GET /é HTTP/1.1",
		"":           "GET / HTTP/1.1",
		"?q":         "GET /?q HTTP/1.1",
		"/%2e%2e/x":  "GET /%2e%2e/x HTTP/1.1",
		"//two":      "GET http://" + host + "//two HTTP/1.1",
	} {
		_, in := rawConn(t, proxy, "GET http://%s%s HTTP/1.1\r\nHost: ignored\r\n\r\n", host, path)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		if got, _ := io.ReadAll(r.Body); string(got) != want {
			t.Errorf("%q arrived as %s, want %s", path, got, want)
		}
	}
}

// An invalid request gets no response, because the browser would take it for one of
// the site.
func TestProxyClosesConnectionOfInvalidRequest(t *testing.T) {
	host := echo(t)
	proxy, _ := through(t, policy(t, Listed, []string{host}, nil))
	for _, text := range []string{
		"GET ftp://" + host + "/ HTTP/1.1\r\n\r\n", "GET http:///x HTTP/1.1\r\n\r\n", "GET http://u:p@" + host + "/ HTTP/1.1\r\n\r\n",
		"nonsense\r\n\r\n", "GET http://" + host + "/a b HTTP/1.1\r\n\r\n", "GET http://" + host + "/ HTTP/1.1\r\nbad header\r\n\r\n",
		"POST http://" + host + "/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST http://" + host + "/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"GET http://" + host + "/ HTTP/1.1\r\nX: " + strings.Repeat("x", maxHeaderBytes) + "\r\n\r\n",
	} {
		_, in := rawConn(t, proxy, "%s", text)
		if b, err := io.ReadAll(in); len(b) != 0 || err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%.60q was answered with %.60q %v", text, b, err)
		}
	}
}

func TestProxyKeepsConnections(t *testing.T) {
	host, hits := sink(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Method, body)
	})
	proxy, _ := through(t, policy(t, Listed, []string{host}, nil))
	conn, in := rawConn(t, proxy, "")
	for n, want := range []string{"GET ", "POST body", "HEAD ", "GET "} {
		method, body, _ := strings.Cut(want, " ")
		fmt.Fprintf(conn, "%s http://%s/ HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\nContent-Length: %d\r\n\r\n%s", method, host, len(body), body)
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatal(n, err)
		}
		if got, _ := io.ReadAll(r.Body); method != "HEAD" && string(got) != want {
			t.Fatalf("%d: %q, want %q", n, got, want)
		}
	}
	if hits.Load() != 4 {
		t.Fatal(hits.Load())
	}
}

// A server may answer as soon as it has the last byte of a request's body. The proxy knows by
// then that the browser has sent all of it, and keeps the connection.
func TestRequestBodyEndsWithItsLastByte(t *testing.T) {
	c := &browserConn{in: bufio.NewReader(strings.NewReader("bodyGET /"))}
	ended := 0
	body := c.requestBody(4, func() { ended++ })
	for _, want := range []struct {
		read  string
		ended int
	}{{"bo", 0}, {"dy", 1}} {
		part := make([]byte, 2)
		if _, err := io.ReadFull(body, part); err != nil || string(part) != want.read || ended != want.ended {
			t.Fatalf("read %q, %v; the end was reported %d times, want %q and %d", part, err, ended, want.read, want.ended)
		}
	}
	if more, err := io.ReadAll(body); len(more) > 0 || err != nil || ended != 1 {
		t.Fatalf("%q %v after the end, which was reported %d times", more, err, ended)
	}
}

// The proxy passes on each part of a response at once. If the browser cancels a
// request, the proxy cancels it at the site.
func TestProxyStreams(t *testing.T) {
	given := make(chan struct{})
	host, _ := sink(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(given)
	})
	_, client := through(t, policy(t, Listed, []string{host}, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/", nil)
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if line, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil || line != "first\n" {
		t.Fatal(line, err)
	}
	cancel()
	select {
	case <-given:
	case <-time.After(5 * time.Second):
		t.Fatal("the site still waits for a reader")
	}
}

func TestProxyLimitsBytes(t *testing.T) {
	host, hits := sink(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 60_000)) })
	proxy, err := Listen(policy(t, Listed, []string{host}, nil), Limits{Bytes: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	get := func() (int, error) {
		_, in := rawConn(t, proxy, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", host)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return 0, err
		}
		b, err := io.ReadAll(r.Body)
		return len(b), err
	}
	if n, err := get(); n != 60_000 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := get(); err == nil || n == 60_000 {
		t.Fatal("a run that has moved too much goes on: ", n)
	}
	if e, ok := proxy.Denied("http://other.test/"); !ok || !strings.Contains(e.Message, "--max-traffic") {
		t.Fatal(e)
	}
	before := hits.Load()
	if n, err := get(); err == nil {
		t.Fatal("answered: ", n)
	}
	if hits.Load() != before {
		t.Fatal("a request went out after the limit")
	}
}

func TestProxyLimitsTime(t *testing.T) {
	host, _ := sink(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	proxy, err := Listen(policy(t, Listed, []string{host}, nil), Limits{Time: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	_, in := rawConn(t, proxy, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", host)
	if b, err := io.ReadAll(in); len(b) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("%q %v", b, err)
	}
	if e, ok := proxy.Denied("http://" + host); !ok || !strings.Contains(e.Message, "50ms") {
		t.Fatal(e)
	}
}

func TestDenialsAreBounded(t *testing.T) {
	proxy, _ := through(t, policy(t, Listed, nil, nil))
	for n := range 3 * maxDenials {
		if _, err := proxy.dial(t.Context(), "tcp", fmt.Sprintf("h%d.test:80", n)); routine.CodeOf(err) != routine.CodeEgressDenied {
			t.Fatal(err)
		}
	}
	got := proxy.Denials()
	if len(got) != maxDenials+1 || got[maxDenials].Count != 2*maxDenials || got[0].Host != "h0.test:80" {
		t.Fatal(got)
	}
	if _, ok := proxy.Denied("http://h59.test/"); !ok {
		t.Fatal("what is not listed is not known either")
	}
}

// Requests of our own process obey the same policy.
func TestClient(t *testing.T) {
	host, hits := sink(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) })
	denied := policy(t, Public, nil, nil).Client()
	if r, err := denied.Get("http://" + host + "/"); routine.CodeOf(err) != routine.CodeEgressDenied || hits.Load() != 0 {
		t.Fatal(r, err)
	}
	allowed := policy(t, Listed, []string{host}, nil).Client()
	defer allowed.CloseIdleConnections()
	r, err := allowed.Get("http://" + host + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusFound || hits.Load() != 1 {
		t.Fatal("a redirect was followed: ", r.Status, hits.Load())
	}
	if _, err := allowed.Get("http://127.0.0.1:1/"); !errors.As(err, new(*routine.Error)) {
		t.Fatal(err)
	}
}

// Prefetches of the browser pass only while FetchAhead allows them.
func TestFetchAhead(t *testing.T) {
	host, hits := sink(t, func(http.ResponseWriter, *http.Request) {})
	proxy, _ := through(t, policy(t, Listed, []string{host}, nil))
	for _, c := range []struct {
		may     bool
		purpose string
		answers bool
	}{{true, "prefetch", true}, {false, "prefetch", false}, {false, "prefetch;prerender", false}, {false, "", true}, {true, "prefetch", true}} {
		proxy.FetchAhead(c.may)
		before := hits.Load()
		_, in := rawConn(t, proxy, "GET http://%s/ HTTP/1.1\r\nHost: %[1]s\r\nSec-Purpose: %s\r\n\r\n", host, c.purpose)
		if _, err := in.ReadByte(); (err == nil) != c.answers || hits.Load()-before != map[bool]int64{true: 1}[c.answers] {
			t.Errorf("%+v: %v, %d requests", c, err, hits.Load()-before)
		}
	}
}
