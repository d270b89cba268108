// Rote stores web automation workflows as routines, checks them like a
// compiler, runs them in headless Chromium, and publishes each as an MCP tool
// and over REST.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"rote/routine"
)

// softMemoryLimit is from where on, in bytes, the garbage collector works harder
// to keep the process small. A few runs with large answers come near it.
const softMemoryLimit = 400 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemoryLimit)
	}
	// A host that closes our output must not kill us before we have cleaned up:
	// the write fails instead.
	signal.Ignore(syscall.SIGPIPE)
	ctx, hurry := interrupted(os.Stderr)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, hurry: hurry}))
}

// interrupted ends ctx with the first signal to stop and closes hurry with the
// second. A third ends the program where it stands.
func interrupted(log io.Writer) (ctx context.Context, hurry <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	at := make(chan struct{})
	asked := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signals := make(chan os.Signal, len(asked))
	signal.Notify(signals, asked...)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(log, "rote: runs in flight are ended at once")
		signal.Reset(asked...)
		close(at)
	}()
	return ctx, at
}

// streams are where a command reads and writes. Results and protocols go to
// out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// hurry is closed when the user has asked twice to stop; nil: never.
	hurry <-chan struct{}
	// log takes what the program logs; nil: it is written to err.
	log *slog.Logger
}

// ending bounds the end of what goes on when ctx is over. It is cut short by
// hurry.
func (s streams) ending(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	go func() {
		select {
		case <-s.hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
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
		fmt.Fprintf(s.err, "rote: %v\n", whole(err))
	}
	return 1
}

// whole is err with what a remote caller would not be told: who has the command
// line has the database.
func whole(err error) error {
	var e *routine.Error
	if errors.As(err, &e) && e.Code == routine.CodeStoreUnavailable && e.Unwrap() != nil {
		return fmt.Errorf("%w: %w", err, e.Unwrap())
	}
	return err
}

// errSaid ends a command that has said all there is to say.
var errSaid = errors.New("failed")
