package cdp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Socket is a web socket to a browser that another program has started. The browser does not
// end with the connection.
type Socket struct {
	conn *websocket.Conn
	tcp  *countingConn
	// limit is the length up to which a message is read, in bytes.
	limit   int64
	answer  time.Duration
	writing sync.Mutex
	// readingMessage and writingMessage report whether a message is on its way.
	readingMessage, writingMessage atomic.Bool
	// lastLong is when a long message was last seen on its way. Only ping uses it.
	lastLong time.Time
	done     chan struct{} // closed when the connection is to end
	end      sync.Once
	err      error // why the connection ends; set before done is closed
	pinging  sync.WaitGroup
}

// The other end of a connection may vanish without a word. A ping is sent every pingInterval
// and has to be answered within pingAnswer, so that this is noticed within 7 seconds.
const (
	pingInterval = 4 * time.Second
	pingAnswer   = 2 * time.Second
)

func newSocket(conn *websocket.Conn, tcp *countingConn, o SocketOptions) *Socket {
	conn.SetReadLimit(-1) // Read has a limit that does not end the connection
	s := &Socket{conn: conn, tcp: tcp, limit: cmp.Or(o.MaxMessage, MaxMessage), answer: cmp.Or(o.PingAnswer, pingAnswer), done: make(chan struct{})}
	s.pinging.Go(func() { s.ping(cmp.Or(o.PingInterval, pingInterval)) })
	return s
}

// RemoteAddr is the network address of the other end.
func (s *Socket) RemoteAddr() net.Addr { return s.tcp.RemoteAddr() }

// Read implements [Transport].
func (s *Socket) Read() ([]byte, error) {
	kind, r, err := s.conn.Reader(context.Background())
	if err == nil && kind != websocket.MessageText {
		err = errors.New("the browser sent a message that is no text")
	}
	if err != nil {
		return nil, s.endError(err)
	}
	s.readingMessage.Store(true)
	defer s.readingMessage.Store(false)
	b, err := readMessage(r, s.limit)
	if err != nil && !errors.Is(err, ErrOversize) {
		err = s.endError(err)
	}
	return b, err
}

// readMessage reads a message to its end. Of one with more than limit bytes it keeps the
// beginning and the end, and returns ErrOversize.
func readMessage(r io.Reader, limit int64) ([]byte, error) {
	const firstSize = 1 << 10
	b := make([]byte, 0, firstSize)
	for size := int64(0); ; {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		size += int64(n)
		long := size > limit
		if long {
			b = withoutMiddle(b)
		}
		switch {
		case errors.Is(err, io.EOF) && long:
			return b, ErrOversize
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// Write implements [Transport]. It waits for the other end for at most writeTime at a time.
func (s *Socket) Write(messages ...[]byte) error {
	s.writing.Lock() // the messages of two callers must not be mixed
	defer s.writing.Unlock()
	s.writingMessage.Store(true)
	defer s.writingMessage.Store(false)
	for _, m := range messages {
		if err := s.conn.Write(context.Background(), websocket.MessageText, m); err != nil {
			s.endWith(err)
			return s.endError(err)
		}
	}
	return nil
}

// ping ends the connection when the browser does not answer a ping.
func (s *Socket) ping(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		if !s.answers() {
			s.endWith(fmt.Errorf("a ping was not answered within %v", s.answer))
			return
		}
	}
}

// longBytes is how many bytes in one direction, while an answer is awaited, show that there was a
// long message before it.
const longBytes = 64 << 10

// answers reports whether the browser answers a ping. The ping or its answer may have to wait for
// the end of a long message; then it is enough that some of that arrives.
func (s *Socket) answers() bool {
	received, sent := s.tcp.received.Load(), s.tcp.sent.Load()
	ctx, cancel := context.WithTimeout(context.Background(), s.answer)
	defer cancel()
	if s.conn.Ping(ctx) == nil {
		return true
	}
	received, sent = s.tcp.received.Load()-received, s.tcp.sent.Load()-sent
	if received >= longBytes || sent >= longBytes || received > 0 && s.readingMessage.Load() || sent > 0 && s.writingMessage.Load() {
		s.lastLong = time.Now()
	}
	// What was written last may still be in the buffers of the connection.
	return time.Since(s.lastLong) < writeTime
}

// Close implements [Transport].
func (s *Socket) Close() error {
	s.endWith(net.ErrClosed)
	s.pinging.Wait()
	return nil
}

// endWith closes the connection because of err, unless it was closed already.
func (s *Socket) endWith(err error) {
	s.end.Do(func() {
		s.err = err
		close(s.done)
		_ = s.conn.CloseNow()
	})
}

// endError returns the error that ended the connection: an earlier one if there is one, else err.
func (s *Socket) endError(err error) error {
	select {
	case <-s.done:
		return s.err
	default:
		return err
	}
}

var _ Transport = (*Socket)(nil)

// countingConn counts the bytes that it has received and sent. Each write has to be done within
// writeTime: the web socket library writes long messages in pieces.
type countingConn struct {
	net.Conn
	received, sent atomic.Int64
}

func (c *countingConn) Write(b []byte) (int, error) {
	_ = c.Conn.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}
