//go:build !race

package cdp

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// A pipe that does not block is read and written by raw system calls. An ordinary system
// call wakes the monitor of Go's runtime if nothing else runs, and then the monitor looks
// every few microseconds whether the call blocks. A client that gets a message every
// millisecond spends a fifth of its processor time on that.

// pipeEnd is an end of a pipe.
type pipeEnd struct {
	*os.File
	conn syscall.RawConn // nil if the end may block
}

func newPipeEnd(f *os.File) pipeEnd {
	conn, err := f.SyscallConn()
	if err != nil {
		return pipeEnd{f, nil}
	}
	var flags uintptr
	var failed syscall.Errno
	err = conn.Control(func(fd uintptr) { flags, _, failed = syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0) })
	if err != nil || failed != 0 || flags&syscall.O_NONBLOCK == 0 {
		return pipeEnd{f, nil}
	}
	return pipeEnd{f, conn}
}

// Read implements [io.Reader]. It waits until there is something to read.
func (e pipeEnd) Read(b []byte) (int, error) {
	if e.conn == nil || len(b) == 0 {
		return e.File.Read(b)
	}
	var n int
	var failed syscall.Errno
	err := e.conn.Read(func(fd uintptr) (done bool) {
		n, failed = rawCall(syscall.SYS_READ, fd, b)
		return failed != syscall.EAGAIN
	})
	switch {
	case err != nil: // the file was closed
		return e.File.Read(b)
	case failed != 0:
		return 0, os.NewSyscallError("read", failed)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// writeAtOnce writes as much of b as the pipe takes without waiting, and returns how many
// bytes that are. It returns no error: writing the rest fails in the same way.
func (e pipeEnd) writeAtOnce(b []byte) int {
	if e.conn == nil || len(b) == 0 {
		return 0
	}
	var n int
	err := e.conn.Write(func(fd uintptr) (done bool) {
		n, _ = rawCall(syscall.SYS_WRITE, fd, b)
		return true
	})
	if err != nil {
		return 0
	}
	return n
}

// rawCall reads into b or writes it, and does so again if a signal interrupts that. b must
// not be empty.
func rawCall(call, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, failed := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch failed {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, failed
		}
	}
}
