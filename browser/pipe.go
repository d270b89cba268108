package browser

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// writeTime bounds one write to the browser.
const writeTime = 5 * time.Second

// pipe speaks --remote-debugging-pipe: JSON messages that end with a NUL. No
// TCP port is open that another local process could attach to, and Chromium
// ends when our end closes.
type pipe struct {
	mu sync.Mutex // serialises writes
	w  *os.File
	r  *os.File
	in *bufio.Reader
	// most is the length up to which a message is read.
	most atomic.Int64
}

func newPipe(r, w *os.File) *pipe {
	p := &pipe{w: w, r: r, in: bufio.NewReaderSize(r, 1<<16)}
	p.most.Store(maxMessage)
	return p
}

func (p *pipe) send(message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A browser that reads no more must not block callers beyond their own limits. After
	// half a message the connection is unusable, so it ends.
	_ = p.w.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := p.w.Write(append(message, 0))
	if err != nil {
		p.close()
	}
	return err
}

// maxMessage bounds the length of one message of the browser, in bytes. Text in it is
// escaped to ASCII, so that a character may take six bytes.
const maxMessage = 128 << 20

// headBytes and endBytes are how much of the beginning and the end of a longer message
// is kept: enough to find out what it answers, or which request of which session it is
// about.
const (
	headBytes = 128
	endBytes  = 64
)

// errOversize is returned with the beginning and the end of a message that was too long.
var errOversize = errors.New("the message is too long")

func (p *pipe) read() ([]byte, error) {
	var b []byte
	for size := int64(0); ; {
		piece, err := p.in.ReadSlice(0)
		size += int64(len(piece))
		long := size > p.most.Load()
		b = append(b, piece...)
		if long {
			b = withoutMiddle(b)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case long:
			return b[:len(b)-1], errOversize
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

func (p *pipe) close() {
	_ = p.w.Close()
	_ = p.r.Close()
}

// transport carries protocol messages. A read that fails ends the connection,
// unless with errOversize, which comes with the beginning and the end of the message.
type transport interface {
	send(message []byte) error
	read() ([]byte, error)
}

var _ transport = (*pipe)(nil)

var errClosed = io.ErrClosedPipe
