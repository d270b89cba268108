package cdp

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// writeTime bounds one write to the browser.
const writeTime = 5 * time.Second

// Pipe speaks --remote-debugging-pipe: JSON messages that end with a NUL. No
// TCP port is open that another local process could attach to, and Chromium
// ends when our end closes.
type Pipe struct {
	mu  sync.Mutex // serialises writes
	w   pipeEnd
	out []byte // what was written last, for its memory
	r   pipeEnd
	in  *bufio.Reader
	// limit is the length up to which a message is read, in bytes.
	limit int64
}

// NewPipe returns the transport that reads messages from r and writes them to w. It reads
// messages of at most limit bytes; 0 means MaxMessage.
func NewPipe(r, w *os.File, limit int64) *Pipe {
	p := &Pipe{w: newPipeEnd(w), r: newPipeEnd(r), limit: cmp.Or(limit, MaxMessage)}
	p.in = bufio.NewReaderSize(p.r, 1<<16)
	return p
}

// Write implements [Transport]. It takes at most writeTime.
func (p *Pipe) Write(messages ...[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = p.out[:0]
	for _, m := range messages {
		p.out = append(append(p.out, m...), 0)
	}
	err := p.write(p.out)
	if err != nil {
		_ = p.Close()
	}
	if cap(p.out) > maxKeptBuffer {
		p.out = nil
	}
	return err
}

// write writes b, with a deadline if it has to wait: a browser that reads no more must not
// block callers beyond their own limits. After an error the connection is unusable, because
// half a message may have been written.
func (p *Pipe) write(b []byte) error {
	n := p.w.writeAtOnce(b)
	if n == len(b) {
		return nil
	}
	_ = p.w.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := p.w.Write(b[n:])
	_ = p.w.SetWriteDeadline(time.Time{}) // else writeAtOnce would find it expired
	return err
}

// MaxMessage bounds the length of one message of the browser, in bytes. Text in it is
// escaped to ASCII, so that a character may take six bytes.
const MaxMessage = 128 << 20

// headBytes and endBytes are how much of the beginning and the end of a longer message
// is kept: enough to find out what it answers, or which request of which session it is
// about.
const (
	headBytes = 128
	endBytes  = 64
)

// ErrOversize is returned with the beginning and the end of a message that was too long.
var ErrOversize = errors.New("the message is too long")

// Read implements [Transport].
func (p *Pipe) Read() ([]byte, error) {
	var b []byte
	for size := int64(0); ; {
		piece, err := p.in.ReadSlice(0)
		size += int64(len(piece))
		long := size > p.limit
		b = append(b, piece...)
		if long {
			b = withoutMiddle(b)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case long:
			return b[:len(b)-1], ErrOversize
		default:
			return b[:len(b)-1], nil
		}
	}
}

// withoutMiddle keeps headBytes and endBytes of a message, and the NUL after it.
func withoutMiddle(b []byte) []byte {
	if len(b) <= headBytes+endBytes+1 {
		return b
	}
	return append(b[:headBytes], b[len(b)-endBytes-1:]...)
}

// Close implements [Transport]. A browser that is driven through a pipe ends with it.
func (p *Pipe) Close() error { return errors.Join(p.w.Close(), p.r.Close()) }

// Transport carries the messages of one connection to a browser. One goroutine reads;
// several may write.
type Transport interface {
	// Read returns the next message. If that is too long, it returns ErrOversize with the
	// beginning and the end of it, at least headBytes and endBytes. Any other error ends the
	// connection.
	Read() ([]byte, error)
	// Write sends messages in order. It must not keep or change the slices, and must not
	// block for long. After an error the connection is unusable.
	Write(messages ...[]byte) error
	// Close ends the connection, and with it a read under way. It may be called repeatedly.
	Close() error
}

var _ Transport = (*Pipe)(nil)

// ErrClosed is the error of requests on a connection that has ended.
var ErrClosed = io.ErrClosedPipe
