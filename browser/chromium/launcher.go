package chromium

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Launcher starts Chromium processes with the best confinement that works.
type Launcher struct {
	// MaxMemory bounds the data segment of each of the browser's processes, in bytes, on
	// Linux only; 0 for no bound.
	MaxMemory int64
	// MaxMessage bounds the length of a message that is read from the browser, in bytes; 0
	// for [cdp.MaxMessage].
	MaxMessage int64
	// Window is set for a browser with a window for a person; nil for one for runs.
	Window *Window
	// Warn is called with what the confinement lacks, what to do about it, and why no
	// better one works. It is called once for each executable.
	Warn func(lacks string, why error)

	executable string
	// left are the confinements still to try for it. If works is set, the first of them
	// works.
	left  []confinement
	works bool
}

// Start starts the executable and waits until it answers or ctx ends. It must not be called
// concurrently.
func (l *Launcher) Start(ctx context.Context, executable string) (*Process, error) {
	if l.left == nil || l.executable != executable {
		l.executable, l.left, l.works = executable, confinements(), false
	}
	var why error
	for {
		c := l.left[0]
		c.memory, c.maxMessage, c.window = l.MaxMemory, l.MaxMessage, l.Window
		p, err := startProcess(ctx, executable, c)
		if err == nil {
			if lacks := l.left[0].lacks; lacks != "" && !l.works {
				l.Warn(lacks+"; "+remedyOf(why), why)
			}
			l.works = true
			return p, nil
		}
		if l.works || len(l.left) == 1 || ctx.Err() != nil {
			l.left = nil // try all of them again next time
			return nil, err
		}
		if why == nil {
			why = err
		}
		l.left = l.left[1:]
	}
}

// Checked is the result of Check for an executable that works.
type Checked struct {
	// Product is its name and version, as in "HeadlessChrome/156.0.8078.79".
	Product string
	// Warning says what its confinement lacks and what to do about it; empty if it lacks
	// nothing.
	Warning string
	// NoSandbox reports whether it runs without its sandbox because that cannot
	// start here.
	NoSandbox bool
}

// checkTime is how long a browser may take to answer Check on a slow machine.
const checkTime = 20 * time.Second

// errSilent is the error for an executable that was started and did not answer in time.
var errSilent = fmt.Errorf("it did not answer within %v", checkTime)

// Check starts the executable once. The error says what to do.
func Check(ctx context.Context, executable string) (*Checked, error) {
	checked := &Checked{}
	l := Launcher{Warn: func(lacks string, why error) {
		checked.Warning, checked.NoSandbox = lacks, errors.Is(why, ErrNoSandbox)
	}}
	ctx, cancel := context.WithTimeoutCause(ctx, checkTime, errSilent)
	defer cancel()
	p, err := l.Start(ctx, executable)
	if err != nil {
		return nil, explainCheck(executable, err)
	}
	defer p.Close()
	checked.Product = p.product
	return checked, nil
}
