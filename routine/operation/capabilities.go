package operation

import (
	"context"
	"time"

	"rote/routine"
)

// Action is an operation that is ready to run: decoded, with its defaults filled in.
// The interfaces below are for what only some kinds can do.
type Action interface {
	// Do runs the operation on the page of r. ctx ends with the operation's own limit
	// or with the run's, whichever comes first.
	Do(ctx context.Context, r *Run) error
}

// Each optional ability of an action is an interface in this file, followed by the
// function that asks for it.

// limited has a time limit of its own.
type limited interface {
	// limit returns the limit and the name of the field that sets it.
	limit() (time.Duration, string)
}

// LimitOf returns the time limit of an action and the field that sets it; false if the
// action has no limit of its own.
func LimitOf(a Action) (limit time.Duration, field string, ok bool) {
	l, ok := a.(limited)
	if !ok {
		return 0, "", false
	}
	limit, field = l.limit()
	return limit, field, true
}

// storing may store a session value. storesKey returns its key, or an empty string.
type storing interface{ storesKey() string }

// StoredKey returns the key under which an action stores a session value, or an empty
// string if it stores none.
func StoredKey(a Action) string {
	if s, ok := a.(storing); ok {
		return s.storesKey()
	}
	return ""
}

// loading reads a session value and returns its key.
type loading interface{ loadsKey() string }

// LoadedKey returns the key of the session value that an action reads, or an empty
// string.
func LoadedKey(a Action) string {
	if l, ok := a.(loading); ok {
		return l.loadsKey()
	}
	return ""
}

// requesting makes a request.
type requesting interface{ request() *endpoint }

// yielding sets the result of the run.
type yielding interface {
	// resultName returns, as the author wrote it, the name of the session value, the
	// selector of the element (empty for the page), or the name of the file.
	resultName() string
}

// elementOptional needs a page only if it names an element.
type elementOptional interface{ element() string }

// ActsOnPage reports whether an action of kind k acts on the content of the page.
// Unlike [Kind.NeedsPage] it takes the fields of the action into account.
func ActsOnPage(k Kind, a Action) bool {
	e, optional := a.(elementOptional)
	return k.NeedsPage && (!optional || e.element() != "")
}

// scripted runs a script that the author wrote.
type scripted interface{ script() string }

// ScriptOf returns the author's script that an action runs; false if it runs none.
func ScriptOf(a Action) (string, bool) {
	if s, ok := a.(scripted); ok {
		return s.script(), true
	}
	return "", false
}

// skippable can be marked as optional by the author ("x-optional"). The run then
// continues without it if its element does not come.
type skippable interface {
	isOptional() bool
	// setTimeout sets timeout_ms.
	setTimeout(ms routine.Integer)
}

// Skips reports whether the run skips an action that has failed with err and continues:
// the action is optional, and its element was not there or not actionable.
func Skips(a Action, err error) bool {
	s, ok := a.(skippable)
	return ok && s.isOptional() && aboutElement(err)
}

// aboutElement reports whether err says that an element was not there or not actionable.
func aboutElement(err error) bool {
	code := routine.CodeOf(err)
	return code == routine.CodeElementNotFound || code == routine.CodeElementNotActionable
}

// sleeping pauses for a fixed time.
type sleeping interface{ sleeps() time.Duration }

// PauseOf returns how long an action only waits.
func PauseOf(a Action) time.Duration {
	if s, ok := a.(sleeping); ok {
		return s.sleeps()
	}
	return 0
}

// checker has rules that JSON Schema cannot express.
type checker interface{ check() []routine.Problem }

// Check returns the problems of an action beyond those that its schema finds. Pointers
// are relative to the operation.
func Check(a Action) []routine.Problem {
	if c, ok := a.(checker); ok {
		return c.check()
	}
	return nil
}

// warner may be valid but probably a mistake.
type warner interface{ warnings() []routine.Problem }

// Warnings returns what is valid in an action but probably a mistake. Pointers are
// relative to the operation.
func Warnings(a Action) []routine.Problem {
	if d, ok := a.(warner); ok {
		return d.warnings()
	}
	return nil
}

// costly has a check whose cost its templates do not show.
type costly interface{ checkCost() int }

// CheckCost returns the cost of Check, in units of about half a microsecond.
func CheckCost(a Action) int {
	if c, ok := a.(costly); ok {
		return c.checkCost()
	}
	return 0
}

// The effort of checking one path of a data_sanitizer and one header.
const (
	jsonPathEffort = 100
	headerEffort   = 4
)

// described returns what the operation acts on, as in "#buy".
type described interface{ subject() string }
