package operation

import (
	"context"
	"rote/routine"
	"time"
)

// Action is an operation that is ready to run: decoded, with its defaults filled in.
// What only some kinds can do is in the optional interfaces below.
type Action interface {
	// Do runs the operation on the page of r. ctx ends with the operation's own limit
	// or with the run's, whichever comes first.
	Do(ctx context.Context, r *Run) error
}

// What only some kinds of operations can do is an optional interface here, beside
// the function through which others ask for it.

// limited has a time limit of its own.
type limited interface {
	// limit returns the limit and the name of the field that sets it.
	limit() (time.Duration, string)
}

// LimitOf returns the time limit that an action has of its own and the name of the
// field that sets it; false: it has none.
func LimitOf(a Action) (limit time.Duration, field string, ok bool) {
	l, ok := a.(limited)
	if !ok {
		return 0, "", false
	}
	limit, field = l.limit()
	return limit, field, true
}

// storing puts a session value under a key; empty: it does not.
type storing interface{ storesKey() string }

// StoredKey returns the key under which an action stores a session value; empty: it
// stores none.
func StoredKey(a Action) string {
	if s, ok := a.(storing); ok {
		return s.storesKey()
	}
	return ""
}

// loading reads the session value of a key.
type loading interface{ loadsKey() string }

// LoadedKey returns the key whose session value an action reads; empty: it reads none.
func LoadedKey(a Action) string {
	if l, ok := a.(loading); ok {
		return l.loadsKey()
	}
	return ""
}

// yielding sets the result of the run.
type yielding interface {
	// resultName is, as it is written, the name of the value, the selector of the
	// element (empty: the page) or the name of the file.
	resultName() string
}

// elementOptional acts on the page only when it names an element.
type elementOptional interface{ element() string }

// NeedsPage reports whether an action of kind k acts on what the page holds.
func NeedsPage(k Kind, a Action) bool {
	e, optional := a.(elementOptional)
	return k.NeedsPage && (!optional || e.element() != "")
}

// scripted runs a script of the author's.
type scripted interface{ script() string }

// ScriptOf returns the author's script that an action runs; false: it runs none.
func ScriptOf(a Action) (string, bool) {
	if s, ok := a.(scripted); ok {
		return s.script(), true
	}
	return "", false
}

// sleeping pauses for a fixed time.
type sleeping interface{ sleeps() time.Duration }

// PauseOf returns for how long an action does nothing but pause.
func PauseOf(a Action) time.Duration {
	if s, ok := a.(sleeping); ok {
		return s.sleeps()
	}
	return 0
}

// checked has rules that its schema cannot say.
type checked interface{ check() []routine.Problem }

// Check returns what is wrong with an action beyond what its schema says. The
// pointers are relative to the operation.
func Check(a Action) []routine.Problem {
	if c, ok := a.(checked); ok {
		return c.check()
	}
	return nil
}

// doubtful has what is legal and surely not meant.
type doubtful interface{ doubts() []routine.Problem }

// Warnings returns what is legal in an action and surely not meant. The pointers
// are relative to the operation.
func Warnings(a Action) []routine.Problem {
	if d, ok := a.(doubtful); ok {
		return d.doubts()
	}
	return nil
}

// costly has a check that takes more work than its templates tell.
type costly interface{ effort() int }

// EffortOf returns how much work Check is, in units of about half a
// microsecond.
func EffortOf(a Action) int {
	if c, ok := a.(costly); ok {
		return c.effort()
	}
	return 0
}

// The effort of checking one path of a data_sanitizer and one header.
const (
	jsonPathEffort = 100
	headerEffort   = 4
)

// described names what the operation acts on, as in "#buy".
type described interface{ subject() string }
