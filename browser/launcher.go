package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"rote/browser/cdp"
	"rote/browser/chromium"
	"rote/routine"
)

// process is a started browser, as the supervisor and the pages use it. A [chromium.Process]
// runs on this machine; one elsewhere can take its place.
type process interface {
	// Client is the connection to the browser. When it ends, the browser has ended.
	Client() *cdp.Client
	// Home is a directory in which the browser stores downloads and we read them.
	Home() string
	// MemoryUse is the memory of the browser's processes that outlive a run, in bytes; 0 if
	// it is not known.
	MemoryUse() int64
	// AvailableMemory is how much more memory the processes of its machine may use, in bytes;
	// false if it is not known.
	AvailableMemory() (int64, bool)
	// LowerPriorities lowers the priority of the processes of pages that have used much
	// processor time, but for those in already. It returns the ids of all processes with a
	// lower priority.
	LowerPriorities(ctx context.Context, already map[int]bool) map[int]bool
	// Output is the end of what the browser has written to its log.
	Output() string
	// EndReason describes how the browser has ended by itself; it is empty if Close was
	// called. It waits for the end at most as long as within.
	EndReason(within time.Duration) string
	// Close ends the browser and waits until all of it is gone. It may be called repeatedly.
	Close()
}

// launcher starts browsers.
type launcher interface {
	// Find returns the name of the browser that Start would start, such as the path of an
	// executable. The error says what to do.
	Find() (string, error)
	// Start starts the browser of this name and waits until it answers or ctx ends. It is
	// not called concurrently.
	Start(ctx context.Context, name string) (process, error)
}

// localLauncher starts browsers on this machine.
type localLauncher struct {
	chromium.Launcher
	executable string // empty for the one that chromium.Find finds
}

// newLocalLauncher also removes the profiles that killed processes have left behind.
func newLocalLauncher(c Config) *localLauncher {
	chromium.RemoveOldProfiles()
	return &localLauncher{chromium.Launcher{MaxMemory: c.MaxMemory, Warn: warnUnconfined(c.Log)}, c.Executable}
}

func (l *localLauncher) Find() (string, error) { return chromium.Find(l.executable) }

func (l *localLauncher) Start(ctx context.Context, executable string) (process, error) {
	p, err := l.Launcher.Start(ctx, executable)
	if err != nil {
		return nil, err // not a nil *Process, which would be a process
	}
	return p, nil
}

// warnUnconfined logs what a browser's confinement lacks. The reason is left out
// when what it lacks already says what to do about that reason.
func warnUnconfined(log *slog.Logger) func(lacks string, why error) {
	return func(lacks string, why error) {
		var attrs []any
		if !errors.Is(why, chromium.ErrNoSandbox) {
			attrs = []any{"because", why}
		}
		log.Warn("BROWSER IS NOT CONFINED: "+lacks, attrs...)
	}
}

// unavailable is the error of a run that got no browser.
func unavailable(err error) error {
	var e *routine.Error
	if errors.As(err, &e) {
		return err
	}
	message := fmt.Sprintf("no browser: %v", err)
	if !errors.Is(err, chromium.ErrNoSandbox) { // that error already says what to do
		message += "; run \"rote browser check\" to find out why"
	}
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: 5 * time.Second, Message: message}
}
