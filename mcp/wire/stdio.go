package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

// errClientGone is the error of a client that does not read.
var errClientGone = errors.New("write to client")

// drainTimeout is the default of Options.DrainTimeout.
const drainTimeout = 15 * time.Second

// ServeStdio serves one client on behalf of p, which writes a message a line to
// in and reads the answers from out. It returns nil when in or ctx has ended, and
// an error when out fails or takes nothing for o.DrainTimeout. Tool calls in
// flight are then cancelled and have ended when ServeStdio returns; requests that
// only read are still answered. If ctx ends while in.Read blocks, that goroutine
// is left, and those that write if out blocks. The anonymous principal is refused
// with CodeUnauthenticated.
func ServeStdio(ctx context.Context, o Options, p routine.Principal, in io.Reader, out io.Writer) error {
	peer, err := o.Peer(p)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := newConversation(peer, o, "stdio", &lineWriter{w: out, broken: func(err error) { stop(fmt.Errorf("%w: %w", errClientGone, err)) }})
	end, err := c.open(ctx)
	if err != nil {
		return err
	}
	requests, cancelRequests := context.WithCancel(ctx)
	err = c.read(requests, p, in, o.MaxMessage)
	cancelRequests()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.pending.Wait()
		end()
	}()
	timeout := cmp.Or(o.DrainTimeout, drainTimeout)
	select {
	case <-drained:
		return err
	case <-time.After(timeout):
		return fmt.Errorf("%w: it has taken nothing for %v", errClientGone, timeout)
	}
}

// read handles the messages of in until in or ctx ends.
func (c *conversation) read(ctx context.Context, p routine.Principal, in io.Reader, maxMessage int) error {
	lines := make(chan line)
	go readLines(ctx, in, maxMessage, lines)
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, errClientGone) {
				return cause
			}
			return nil
		case l := <-lines:
			switch {
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("read from client: %w", l.err)
			case l.tooLong:
				c.refuse(nil, mcp.INVALID_REQUEST, fmt.Sprintf("the message is longer than %d bytes", maxMessage))
			case len(l.text) > 0:
				c.handleMessage(ctx, p, l.text)
			}
		}
	}
}
