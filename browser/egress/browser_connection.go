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

// maxHeaderBytes limits the header of one request.
const maxHeaderBytes = 256 << 10

var (
	errInvalidRequest = errors.New("no HTTP request")
	errProxyStatus    = errors.New("status 407 is for proxies only")
)

// notProxiedError is the error of a request that was made to the proxy as to a server.
type notProxiedError struct{ path string }

func (e notProxiedError) Error() string { return "asked as a server, not as a proxy" }

// accept serves the browser's connections until the listener is closed.
func (p *Proxy) accept() {
	acceptAll(p.ctx, p.listener, func(conn net.Conn) {
		if p.addConn(conn) {
			p.goroutines.Go(func() { p.serve(newBrowserConn(conn), nil) })
		} else {
			_ = conn.Close()
		}
	})
}

// acceptAll calls accepted with each connection until the listener is closed and ctx has ended.
func acceptAll(ctx context.Context, l net.Listener, accepted func(net.Conn)) {
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for example out of file descriptors: retry later
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			continue
		}
		pause = 0
		accepted(conn)
	}
}

// startTimer starts the timer of Limits.Time at the first request.
func (p *Proxy) startTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil && p.limits.Time > 0 && p.ctx.Err() == nil {
		limit := p.limits.Time
		p.timer = time.AfterFunc(limit, func() { p.endByLimit("", "the page has been open for more than "+limit.String()) })
	}
}

// browserConn is a connection of the browser. It parses requests itself,
// because net/http would answer requests with URLs that it cannot parse on
// behalf of the site, and browsers and sites are less strict.
type browserConn struct {
	p    *Proxy // nil until the proxy is known
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	// bodyDone is closed when the browser has sent something after the body of its
	// last request or has disconnected.
	bodyDone chan struct{}
}

func newBrowserConn(conn net.Conn) *browserConn {
	return &browserConn{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), out: bufio.NewWriterSize(conn, 16<<10)}
}

// serve handles the requests of one connection until it ends, beginning with first if it is
// not nil.
func (p *Proxy) serve(c *browserConn, first *http.Request) {
	defer p.removeConn(c.conn)
	defer c.conn.Close()
	c.p = p
	for again := first == nil || c.handle(first); again; {
		q, err := c.readRequest()
		if err != nil {
			c.refuseInvalid(err, p.noteDirect)
			return
		}
		again = c.handle(q)
	}
}

// handle answers a request. It returns false if the connection must be closed.
func (c *browserConn) handle(q *http.Request) bool {
	switch {
	case !c.p.accepts(q):
		return c.askForCredentials(q, true)
	case c.p.isPrime(q):
		_, _ = io.WriteString(c.conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		return false
	}
	c.p.startTimer()
	switch {
	case q.Method == http.MethodConnect:
		c.tunnel(q.Host)
		return false
	case c.p.blockPrefetch.Load() && strings.HasPrefix(q.Header.Get("Sec-Purpose"), "prefetch"):
		return false
	}
	return c.forward(q)
}

// readRequest reads the header of a request. Its body is read from the
// connection later.
func (c *browserConn) readRequest() (*http.Request, error) {
	if c.bodyDone != nil {
		<-c.bodyDone
	}
	if _, err := c.in.Peek(1); err != nil { // no timeout between requests
		return nil, err
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(headerTimeout))
	line, rest, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	method, uri, protocol := splitRequestLine(line)
	if strings.HasPrefix(uri, "/") {
		return nil, notProxiedError{uri}
	}
	// The URL is parsed here, the rest of the header by net/http.
	q, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(method+" / "+protocol+"\r\n"), bytes.NewReader(rest))))
	if err != nil || len(q.TransferEncoding) > 0 { // browsers send no chunked bodies over HTTP/1
		return nil, errInvalidRequest
	}
	q.RequestURI = ""
	if q.Method == http.MethodConnect {
		q.Host = uri
		return q, nil
	}
	host, path, ok := splitURL(uri)
	if !ok {
		return nil, errInvalidRequest
	}
	q.Host, q.URL = host, &url.URL{Scheme: "http", Host: host, Opaque: path}
	return q, nil
}

// readHeader reads up to the empty line that ends a header. It returns the
// first line and the rest.
func (c *browserConn) readHeader() (line string, rest []byte, err error) {
	var head []byte
	first := 0
	for {
		part, err := c.in.ReadSlice('\n')
		head = append(head, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || len(head) > maxHeaderBytes {
			return "", nil, errors.Join(errInvalidRequest, err)
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

// splitRequestLine splits a request line. The URL may contain anything but a
// space.
func splitRequestLine(line string) (method, uri, protocol string) {
	method, rest, _ := strings.Cut(line, " ")
	uri, protocol, _ = strings.Cut(rest, " ")
	return method, uri, protocol
}

// splitURL splits an http URL into its host and the unchanged request target.
func splitURL(uri string) (host, path string, ok bool) {
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
	case strings.HasPrefix(path, "//"): // would be parsed as a host
		path = "//" + host + path
	}
	return host, path, host != "" && !strings.Contains(host, "@")
}

// hopByHopHeaders apply to one connection only and are not forwarded.
var hopByHopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Authenticate",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHopHeaders {
		h.Del(name)
	}
}

// requestBody returns the request's body. atEnd is called once, together with the last of its
// bytes and not with the end that follows them: the server may have answered before somebody
// reads that end. From then on the connection can be read again.
func (c *browserConn) requestBody(length int64, atEnd func()) io.ReadCloser {
	if length == 0 {
		atEnd()
		return http.NoBody
	}
	return &notifyingBody{io.LimitedReader{R: c.in, N: length}, sync.OnceFunc(atEnd)}
}

type notifyingBody struct {
	io.LimitedReader
	atEnd func()
}

func (b *notifyingBody) Read(into []byte) (int, error) {
	n, err := b.LimitedReader.Read(into)
	if b.N == 0 || errors.Is(err, io.EOF) { // all of it, or the browser has disconnected
		b.atEnd()
	}
	return n, err
}

func (b *notifyingBody) Close() error { return nil }

// forward sends a request to its server and the response back. It returns false
// if the connection must be closed.
func (c *browserConn) forward(q *http.Request) bool {
	ctx, cancel := context.WithCancel(c.p.ctx)
	defer cancel()
	var whole atomic.Bool
	c.bodyDone = make(chan struct{})
	// A browser cancels a request by closing the connection.
	q.Body = c.requestBody(q.ContentLength, func() {
		whole.Store(true)
		c.p.goroutines.Go(func() {
			if _, err := c.in.Peek(1); err != nil {
				cancel()
			}
			close(c.bodyDone)
		})
	})
	last := q.Close
	q.Close = false
	removeHopByHop(q.Header)
	response, err := c.p.transport.RoundTrip(q.WithContext(ctx))
	if err != nil {
		c.p.recordFailure(q.URL.Host, err)
		return false
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusProxyAuthRequired && c.p.entry != nil {
		// The browser would believe that the proxy refuses its credentials, and forget them.
		c.p.recordFailure(q.URL.Host, errProxyStatus)
		return false
	}
	removeHopByHop(response.Header)
	response.Proto, response.ProtoMajor, response.ProtoMinor = "HTTP/1.1", 1, 1
	response.Close = last || !whole.Load()
	sized := response.ContentLength >= 0 || len(response.TransferEncoding) > 0
	response.Body = &flushingBody{response.Body, c.out}
	// The struct hides the buffer's ReadFrom, which would bypass the flushing.
	err = errors.Join(response.Write(struct{ io.Writer }{c.out}), c.out.Flush())
	return err == nil && sized && !response.Close
}

// flushingBody flushes the data received so far before it blocks for more.
type flushingBody struct {
	io.ReadCloser
	out *bufio.Writer
}

func (s *flushingBody) Read(b []byte) (int, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(b)
}

// tunnel handles CONNECT: TLS and WebSocket traffic, whose content is not
// visible.
func (c *browserConn) tunnel(address string) {
	out, err := c.p.dial(c.p.ctx, "tcp", address)
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

// copyThenClose copies one direction and closes it at the end, so that the
// other side sees the end.
func copyThenClose(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
}
