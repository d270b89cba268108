package browser

import (
	"bufio"
	"io"
	"os"
	"sync"
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
}

func newPipe(r, w *os.File) *pipe {
	return &pipe{w: w, r: r, in: bufio.NewReaderSize(r, 1<<16)}
}

func (p *pipe) send(message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A browser that takes nothing more must not hold its callers beyond their
	// own limits. Half a message is no use: the connection ends.
	_ = p.w.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := p.w.Write(append(message, 0))
	if err != nil {
		p.close()
	}
	return err
}

func (p *pipe) read() ([]byte, error) {
	b, err := p.in.ReadBytes(0)
	if err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil
}

func (p *pipe) close() {
	_ = p.w.Close()
	_ = p.r.Close()
}

// transport carries protocol messages. A read that fails ends the connection.
type transport interface {
	send(message []byte) error
	read() ([]byte, error)
}

var _ transport = (*pipe)(nil)

var errClosed = io.ErrClosedPipe
