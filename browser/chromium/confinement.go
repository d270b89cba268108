package chromium

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// confinement is how a Chromium process is isolated from the machine, apart from its
// command line.
type confinement struct {
	// user is the user that it runs as; nil for our own.
	user *syscall.Credential
	// sandbox reports whether Chromium's own sandbox for renderers is on.
	sandbox bool
	// memory bounds the data segment of each of its processes, in bytes; 0 for no bound.
	memory int64
	// cdp.MaxMessage bounds the messages that are read from it, in bytes; 0 for the usual bound.
	maxMessage int64
	// window is set for a browser with a window.
	window *Window
	// lacks describes which parts of the isolation are missing; empty if it is complete.
	lacks string
}

// remedyOf is what to do about the error with which a better confinement failed.
func remedyOf(why error) string {
	var e *sandboxError
	if errors.As(why, &e) {
		return e.remedy
	}
	return "start rote as an ordinary user, where user namespaces are allowed"
}

// confinements are those to try, best first. Chromium's sandbox does not work as root,
// and a page should not run in a process of root: a user of its own is tried first.
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

// ownUser is a user id from the range of systemd's dynamic users (61184 to 65519).
// Processes choose different ids, so that the browsers of two services do not share
// one.
func ownUser() *syscall.Credential {
	const first, last = 61184, 65519
	id := uint32(first + os.Getpid()%(last-first+1))
	return &syscall.Credential{Uid: id, Gid: id}
}

// giveTo makes the user the owner of path.
func (c confinement) giveTo(path string) error {
	if c.user == nil {
		return nil
	}
	return os.Chown(path, int(c.user.Uid), int(c.user.Gid))
}

// checkReachable checks that every directory above path lets all users pass. Otherwise
// Chromium would only say that it cannot start.
func (c confinement) checkReachable(path string) error {
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
