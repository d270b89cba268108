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
	"rote/routine/audit"
)

// softMemoryLimit is the memory in bytes above which the garbage collector
// works harder. A few runs with large results come near it.
const softMemoryLimit = 400 << 20

func main() {
	// A core dump would have the secrets that the program uses. Its browsers get the same limit.
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemoryLimit)
	}
	// If the parent closes our output, the write must fail instead of killing the
	// process before it has cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, hurry := signalContext(os.Stderr)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, stopNow: hurry}))
}

// signalContext returns a context that the first signal to stop cancels, and a
// channel that the second one closes. A third signal kills the program.
func signalContext(log io.Writer) (ctx context.Context, hurry <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	at := make(chan struct{})
	asked := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signals := make(chan os.Signal, len(asked))
	signal.Notify(signals, asked...)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(log, "rote: stopping all runs now")
		signal.Reset(asked...)
		close(at)
	}()
	return ctx, at
}

// streams are the input and outputs of a command. Results and protocols are
// written to out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// stopNow is closed when the user has asked twice to stop. It may be nil.
	stopNow <-chan struct{}
	// log receives the program's log. If nil, it is written to err.
	log *slog.Logger
	// audit is the log of --audit-log; nil without the flag.
	audit *audit.Log
}

// graceContext returns a context for work that continues for up to d after ctx
// ends. stopNow cancels it earlier.
func (s streams) graceContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	go func() {
		select {
		case <-s.stopNow:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// run executes one command line and returns its exit code: 0 for success, 1 for
// failure, 2 for an invalid command line, 3 if a person has to decide or to complete something.
func run(ctx context.Context, args []string, s streams) int {
	command, g, err := parse(args, s)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(s.err, "rote: %v\n", err)
		return 2
	}
	err = runAudited(ctx, command, g, s)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(s.err, "rote: %v\n", withCause(err))
	}
	if errors.Is(err, errRecordNoDisplay) {
		return 2
	}
	for _, incomplete := range []error{errNotCertain, errDropped, errNotResolved, errActs, errNotExpressed} {
		if errors.Is(err, incomplete) {
			return 3
		}
	}
	return 1
}

// runAudited runs a command whose changes are written to the log of --audit-log.
func runAudited(ctx context.Context, c command, g *globals, s streams) error {
	s, closeLog, err := g.openAuditLog(s)
	if err != nil {
		return err
	}
	return errors.Join(c.Run(auditedAsCLI(ctx), g, s), closeLog())
}

// withCause adds the cause of an error of the store or its key, which remote callers do not see.
// Users of the command line can read the database anyway.
func withCause(err error) error {
	var e *routine.Error
	if errors.As(err, &e) && e.Unwrap() != nil && (e.Code == routine.CodeStoreUnavailable || errors.Is(e, routine.ErrStateKey)) {
		return fmt.Errorf("%w: %w", err, e.Unwrap())
	}
	return err
}

// errReported makes the command exit with 1 without printing an error again.
var errReported = errors.New("failed")
