package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// confinement is how far Chromium is kept from the machine, apart from its
// command line.
type confinement struct {
	// user is whom it runs as; nil: as we do.
	user *syscall.Credential
	// sandbox is Chromium's own, around its renderers.
	sandbox bool
	// memory bounds the data of each of its processes, in bytes; 0: no bound.
	memory int64
	// lacks says what a user should know of; empty: nothing.
	lacks string
}

// remedyOf says what to do about the reason why a better confinement failed.
func remedyOf(why error) string {
	var e *sandboxError
	if errors.As(why, &e) {
		return e.remedy
	}
	return "start rote as an ordinary user, where user namespaces are allowed"
}

// confinements are what to try, best first. As root Chromium's sandbox does not
// work, and root is more than a page should have behind it: a user of its own
// is tried.
func confinements() []confinement {
	if os.Geteuid() != 0 {
		return []confinement{{sandbox: true}}
	}
	own := ownUser()
	return []confinement{
		{user: own, sandbox: true},
		{user: own, lacks: "its sandbox does not work here: a page that breaks out of its renderer can read what every user can"},
		{lacks: "it runs as root and without its sandbox: a page that breaks out of its renderer owns this machine"},
	}
}

// ownUser is a user that nobody else is, in the range that systemd gives away
// for the life of a service. Each process has another one, so that the browsers
// of two do not share one.
func ownUser() *syscall.Credential {
	const first, last = 61184, 65519
	id := uint32(first + os.Getpid()%(last-first+1))
	return &syscall.Credential{Uid: id, Gid: id}
}

// launcher starts Chromiums, all with the best confinement that works.
type launcher struct {
	executable string
	memory     int64 // bytes for each process; 0: no bound
	// warn is told what the confinement lacks and what to do about it, and why no
	// better one works.
	warn func(lacks string, why error)
	// left are the confinements to try; the first works when works is set.
	left  []confinement
	works bool
}

// start starts a Chromium and waits until it answers: a silentError when it does
// not within a time. It is not called by two at once.
func (l *launcher) start(ctx context.Context, executable string, within time.Duration) (*process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, silentError{within})
	defer cancel()
	if l.left == nil || l.executable != executable {
		l.executable, l.left, l.works = executable, confinements(), false
	}
	var why error
	for {
		c := l.left[0]
		c.memory = l.memory
		p, err := startProcess(ctx, executable, c)
		if err == nil {
			if lacks := l.left[0].lacks; lacks != "" && !l.works {
				l.warn(lacks+"; "+remedyOf(why), why)
			}
			l.works = true
			return p, nil
		}
		if l.works || len(l.left) == 1 || ctx.Err() != nil {
			l.left = nil // all are tried again
			return nil, err
		}
		if why == nil {
			why = err
		}
		l.left = l.left[1:]
	}
}

// give makes path the user's.
func (c confinement) give(path string) error {
	if c.user == nil {
		return nil
	}
	return os.Chown(path, int(c.user.Uid), int(c.user.Gid))
}

// reachable tells whether the user may get to path: every directory above it
// lets all pass. Chromium itself would only say that it cannot start.
func (c confinement) reachable(path string) error {
	if c.user == nil {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("%s is closed to other users", dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
