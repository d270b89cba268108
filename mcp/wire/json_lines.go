package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// line is one line that a client has sent, or the error of reading it.
type line struct {
	text    []byte
	tooLong bool
	err     error
}

// readLines sends the lines of in, without surrounding white space, until in fails
// or ctx ends. The last one has the error, which is io.EOF at the end of in. A
// line of more than limit bytes comes without its text and with tooLong set.
func readLines(ctx context.Context, in io.Reader, limit int, lines chan<- line) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r, limit)
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads one line. The last one may lack its line break.
func readLine(r *bufio.Reader, limit int) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if l.tooLong = l.tooLong || len(l.text)+len(part) > limit; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && (l.tooLong || len(l.text) > 0):
		case err != nil:
			return line{err: err}
		}
		l.text = bytes.TrimSpace(l.text)
		return l
	}
}

// lineWriter writes JSON values, one a line. Goroutines may use it at the same
// time; the lines have the order of the calls.
type lineWriter struct {
	mu     sync.Mutex
	w      io.Writer
	err    error           // of the first write that failed; later ones are not tried
	broken func(err error) // called with err
}

// errNotEncodable is the error of a value that has no JSON. Nothing was written.
var errNotEncodable = errors.New("no JSON")

func (l *lineWriter) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotEncodable, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if _, err := l.w.Write(append(text, '\n')); err != nil {
		l.err = err
		l.broken(err)
	}
	return l.err
}
