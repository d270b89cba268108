package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxHead bounds the head of one request.
const maxHead = 256 << 10

var (
	errNotProxied = errors.New("asked as a server, not as a proxy")
	errMalformed  = errors.New("no HTTP request")
)

// accept serves the browser's connections until the listener closes.
func (p *Proxy) accept() {
	for pause := time.Duration(0); ; {
		conn, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, say: others may give some back
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-p.alive.Done():
				return
			case <-time.After(pause):
			}
			continue
		}
		pause = 0
		p.begin()
		if p.hold(conn) {
			p.done.Go(func() { p.serve(conn) })
		} else {
			_ = conn.Close()
		}
	}
}

// begin starts the run's clock with its first connection.
func (p *Proxy) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock == nil && p.limits.Time > 0 && p.alive.Err() == nil {
		p.clock = time.AfterFunc(p.limits.Time, func() { p.spend("", "the run has been open for more than "+p.limits.Time.String()) })
	}
}

// inbound is a connection of the browser. Its requests are read by hand,
// because net/http answers by itself, in the site's place, what it cannot parse
// as a URL; browsers and sites are less strict.
type inbound struct {
	p    *Proxy
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	// quiet is closed when the browser has sent something after the body of its
	// last request, or has gone.
	quiet chan struct{}
}

// serve answers one connection until it ends.
func (p *Proxy) serve(conn net.Conn) {
	defer p.drop(conn)
	defer conn.Close()
	c := &inbound{p: p, conn: conn, in: bufio.NewReaderSize(conn, 16<<10), out: bufio.NewWriterSize(conn, 16<<10)}
	for again := true; again; {
		q, err := c.next()
		switch {
		case errors.Is(err, errNotProxied):
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nthis is a proxy\n")
			return
		case err != nil: // no answer: one of ours would look like the site's
			return
		case q.Method == http.MethodConnect:
			c.tunnel(q.Host)
			return
		case p.stayHere.Load() && strings.HasPrefix(q.Header.Get("Sec-Purpose"), "prefetch"):
			return
		}
		again = c.forward(q)
	}
}

// next reads the head of a request. Its body is read from the connection.
func (c *inbound) next() (*http.Request, error) {
	if c.quiet != nil {
		<-c.quiet
	}
	if _, err := c.in.Peek(1); err != nil { // no limit between requests
		return nil, err
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(headerTime))
	line, rest, err := c.head()
	if err != nil {
		return nil, err
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	method, uri, protocol := cut(line)
	if strings.HasPrefix(uri, "/") {
		return nil, errNotProxied
	}
	// The URL is ours to read; the rest of the head is net/http's.
	q, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(method+" / "+protocol+"\r\n"), bytes.NewReader(rest))))
	if err != nil || len(q.TransferEncoding) > 0 { // browsers send no chunks over HTTP/1
		return nil, errMalformed
	}
	q.RequestURI = ""
	if q.Method == http.MethodConnect {
		q.Host = uri
		return q, nil
	}
	host, path, ok := absolute(uri)
	if !ok {
		return nil, errMalformed
	}
	q.Host, q.URL = host, &url.URL{Scheme: "http", Host: host, Opaque: path}
	return q, nil
}

// head reads up to the empty line that ends a head: its first line, and the
// rest.
func (c *inbound) head() (line string, rest []byte, err error) {
	var head []byte
	first := 0
	for {
		part, err := c.in.ReadSlice('\n')
		head = append(head, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || len(head) > maxHead {
			return "", nil, errors.Join(errMalformed, err)
		}
		if err != nil {
			continue
		}
		if first == 0 {
			first = len(head)
		} else if len(part) <= 2 && strings.TrimRight(string(part), "\r\n") == "" {
			return strings.TrimRight(string(head[:first]), "\r\n"), head[first:], nil
		}
	}
}

// cut splits a request line. The URL may hold anything but a space.
func cut(line string) (method, uri, protocol string) {
	method, rest, _ := strings.Cut(line, " ")
	uri, protocol, _ = strings.Cut(rest, " ")
	return method, uri, protocol
}

// absolute splits an http URL into its host and what a server is asked for, as
// it is written.
func absolute(uri string) (host, path string, ok bool) {
	const scheme = "http://"
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", "", false
	}
	rest := uri[len(scheme):]
	host = rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	switch {
	case path == "" || path[0] != '/':
		path = "/" + path
	case strings.HasPrefix(path, "//"): // would be read as a host
		path = "//" + host + path
	}
	return host, path, host != "" && !strings.Contains(host, "@")
}

// hopByHop are about a connection, not about what goes over it.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// body is the request's body as the connection carries it; atEnd is called once
// when it has been read whole, from then on the connection is free.
func (c *inbound) body(length int64, atEnd func()) io.ReadCloser {
	if length == 0 {
		atEnd()
		return http.NoBody
	}
	return &body{Reader: io.LimitReader(c.in, length), atEnd: sync.OnceFunc(atEnd)}
}

type body struct {
	io.Reader
	atEnd func()
}

func (b *body) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	if errors.Is(err, io.EOF) {
		b.atEnd()
	}
	return n, err
}

func (b *body) Close() error { return nil }

// forward passes a request on and its answer back; false when the connection
// has served its last.
func (c *inbound) forward(q *http.Request) bool {
	ctx, cancel := context.WithCancel(c.p.alive)
	defer cancel()
	var whole atomic.Bool
	c.quiet = make(chan struct{})
	// Closing the connection is how a browser gives up a request.
	q.Body = c.body(q.ContentLength, func() {
		whole.Store(true)
		c.p.done.Go(func() {
			if _, err := c.in.Peek(1); err != nil {
				cancel()
			}
			close(c.quiet)
		})
	})
	last := q.Close
	q.Close = false
	removeHopByHop(q.Header)
	answer, err := c.p.transport.RoundTrip(q.WithContext(ctx))
	if err != nil {
		c.p.unanswered(q.URL.Host, err)
		return false
	}
	defer answer.Body.Close()
	removeHopByHop(answer.Header)
	answer.Proto, answer.ProtoMajor, answer.ProtoMinor = "HTTP/1.1", 1, 1
	answer.Close = last || !whole.Load()
	sized := answer.ContentLength >= 0 || len(answer.TransferEncoding) > 0
	answer.Body = &streamed{answer.Body, c.out}
	// Without the buffer's ReadFrom, which would read into what is flushed.
	err = errors.Join(answer.Write(struct{ io.Writer }{c.out}), c.out.Flush())
	return err == nil && sized && !answer.Close
}

// streamed sends on what has come before it waits for more.
type streamed struct {
	io.ReadCloser
	out *bufio.Writer
}

func (s *streamed) Read(b []byte) (int, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(b)
}

// tunnel carries a CONNECT: TLS and WebSocket traffic, whose content we do not
// see.
func (c *inbound) tunnel(address string) {
	out, err := c.p.dial(c.p.alive, "tcp", address)
	if err != nil {
		_, _ = io.WriteString(c.conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	defer out.Close()
	if _, err := io.WriteString(c.conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { copyThenClose(out, c.in) })
	both.Go(func() { copyThenClose(c.conn, out) })
	both.Wait()
}

// copyThenClose ends the direction when its source does, so that the other side
// sees the end.
func copyThenClose(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}
