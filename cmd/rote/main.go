// Rote stores web automation workflows as routines, checks them like a
// compiler, runs them in headless Chromium, and publishes each as an MCP tool
// and over REST.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A host that closes our output must not kill us before we have cleaned up:
	// the write fails instead.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes. Results and protocols go to
// out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run does one command line and gives its exit code: 0 done, 1 failed, 2 not
// understood.
func run(ctx context.Context, args []string, s streams) int {
	command, g, err := parse(args, s)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(s.err, "rote: %v\n", err)
		return 2
	}
	err = command.Run(ctx, g, s)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(s.err, "rote: %v\n", err)
	}
	return 1
}

// errSaid ends a command that has said all there is to say.
var errSaid = errors.New("failed")
