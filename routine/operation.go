package routine

import (
	"context"
	"encoding/json"
	"time"
)

// operation is what every kind can do. The optional interfaces below are what
// only some can, found by type assertion.
type operation interface {
	// Do does it on the run's page. ctx ends with the operation's own limit or
	// the run's, whichever is first.
	Do(ctx context.Context, r *Run) error
}

// limited has a time limit of its own.
type limited interface {
	// limit says how long, and which field says so.
	limit() (time.Duration, string)
}

// storing puts a session value under a key; empty: it does not.
type storing interface{ storesKey() string }

// loading reads the session value of a key.
type loading interface{ loadsKey() string }

// yielding sets the result of the run.
type yielding interface {
	// resultName is, as it is written, the name of the value, the selector of the
	// element (empty: the page) or the name of the file.
	resultName() string
}

// elementOptional acts on the page only when it names an element.
type elementOptional interface{ element() string }

// scripted runs a script of the author's.
type scripted interface{ script() string }

// sleeping pauses for a fixed time.
type sleeping interface{ sleeps() time.Duration }

// checked has rules that its schema cannot say. Each problem's pointer is
// relative to the operation.
type checked interface{ check() []Problem }

// described names what the operation acts on, as in "#buy".
type described interface{ subject() string }

// The values of x-popup: a click follows the window that it opens, and any
// operation closes it when it has ended.
const (
	followPopup = "follow"
	closePopup  = "close"
)

// popupOf returns the x-popup of the operation; empty: it has none.
func popupOf(o Operation) string {
	var field struct {
		Popup any `json:"x-popup"`
	}
	_ = json.Unmarshal(o.raw, &field)
	text, _ := field.Popup.(string)
	return text
}

// decodeOperation makes a fresh value of the operation's kind. Each run decodes anew, so
// that filling in placeholders never reaches the definition.
func decodeOperation(o Operation) (operation, error) {
	k, ok := kindNamed(o.typ)
	if !ok {
		return nil, Errorf(CodeInvalid, "this version of rote has no operation %s: update rote, or replace the operation", Quote(Truncate(o.typ, 60)))
	}
	op := k.new()
	return op, DecodeJSON(o.raw, op)
}

// Describe is the operation in a few words for progress and logs, as in
// "click #search". Placeholders are shown as written.
func Describe(o Operation) string {
	op, err := decodeOperation(o)
	if err != nil {
		return o.typ
	}
	if d, ok := op.(described); ok && d.subject() != "" {
		return o.typ + " " + d.subject()
	}
	return o.typ
}

// doubtful has what is legal and surely not meant. Each warning's pointer is
// relative to the operation.
type doubtful interface{ doubts() []Problem }

// costly says how much work check is, in units of maxEffort.
type costly interface{ effort() int }

// The effort of checking one path of a data_sanitizer and one header.
const (
	jsonPathEffort = 100
	headerEffort   = 4
)
