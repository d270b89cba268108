package operation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rote/routine"
)

// Run is the state of one execution on which its operations act.
type Run struct {
	Page routine.Page
	// Parameters are the values of the call by parameter name.
	Parameters routine.Values
	// Values are the session values by key. They are not bound to an origin.
	Values map[string]string
	Result *routine.Result
	// Record is that of the operation that is running.
	Record *routine.OperationRecord
	// MaxResult bounds the bytes of the result and, separately, those of all
	// session values; 0: no bound.
	MaxResult int64
	// LargeText waits until a sanitizer may work on a large text. The caller
	// calls release afterwards.
	LargeText func(ctx context.Context) (release func(), err error)
	Secrets   Secrets
	// Release is the permission to type or send the secrets of the running operation; nil: it
	// has none.
	Release *routine.Release
	// FailedAt is the place in the script of a js_evaluate at which it threw;
	// zero: not known.
	FailedAt routine.Place

	valueBytes int64
}

// Secrets are the texts that a run must not show.
type Secrets interface {
	// HideCookies makes the values of HttpOnly cookies secret from now on. It returns the
	// cookies as the run may store them: the values of those of its session are masked.
	HideCookies([]routine.Cookie) []routine.Cookie
	// Conceal returns a text that the run stores, with the values of stored secrets masked.
	Conceal(text string) string
	// ContainsSecret reports whether text holds a secret.
	ContainsSecret(text string) bool
	// ContainsFormattedSecret reports whether text holds a secret also with other
	// characters between its letters and digits, as an input mask writes it.
	ContainsFormattedSecret(text string) bool
}

// SetFile makes a file the result of the run, until another operation sets one.
func (r *Run) SetFile(f routine.File) error {
	data := make([]byte, base64.StdEncoding.EncodedLen(len(f.Data))+2)
	data[0], data[len(data)-1] = '"', '"'
	base64.StdEncoding.Encode(data[1:], f.Data)
	if err := r.setData(json.RawMessage(data), len(f.Data)); err != nil {
		return err
	}
	size := int64(len(f.Data))
	r.Result.IsBase64, r.Result.Filename, r.Result.Size, r.Result.ContentType = true, f.Name, &size, f.ContentType
	return nil
}

// SetDetail sets a detail in the record of the running operation.
func (r *Run) SetDetail(name string, value any) {
	if r.Record.Details == nil {
		r.Record.Details = map[string]any{}
	}
	r.Record.Details[name] = value
}

// Warn adds a warning to the result.
func (r *Run) Warn(text string) {
	r.Result.Warnings = append(r.Result.Warnings, text)
}

// acceptDialog is the value of x-dialog: dialogs that open during the operation are
// accepted.
const acceptDialog = "accept"

// answerDialogs makes the page answer dialogs as x-dialog says. stop makes it dismiss
// them again.
func (r *Run) answerDialogs(dialog string) (stop func()) {
	if dialog != acceptDialog {
		return func() {}
	}
	r.Page.AcceptDialogs(true)
	return func() { r.Page.AcceptDialogs(false) }
}

// setData makes data the result of the run, until another operation sets one. size is
// the number of bytes before encoding.
func (r *Run) setData(data json.RawMessage, size int) error {
	if r.MaxResult > 0 && int64(size) > r.MaxResult {
		return routine.Errorf(routine.CodeResultTooLarge, "the result has %d bytes, the limit is %d: return less, or raise --max-result", size, r.MaxResult)
	}
	r.Result.Data = data
	r.Result.IsBase64, r.Result.ContentType, r.Result.Filename, r.Result.Size = false, "", "", nil
	return nil
}

// store keeps a session value. If mirror is set, it also writes the value to the
// page's sessionStorage, where the author's scripts can read it. MaxResult bounds all
// values together.
func (r *Run) store(ctx context.Context, key, text string, mirror bool) error {
	text = r.Secrets.Conceal(text)
	r.valueBytes += int64(len(text) - len(r.Values[key]))
	if r.MaxResult > 0 && r.valueBytes > r.MaxResult {
		return routine.Errorf(routine.CodeResultTooLarge, "the session values of the run have %d bytes, the limit is %d: store less (data_sanitizer), "+
			"or raise --max-result", r.valueBytes, r.MaxResult)
	}
	r.Values[key] = text
	r.SetDetail("stored", map[string]any{"key": key, "bytes": len(text)})
	if !mirror {
		return nil
	}
	return r.Page.Mirror(ctx, key, text)
}

// maxNamedKeys bounds how many keys of a page's sessionStorage a message names.
const maxNamedKeys = 10

// storedKeys lists, for the message that a session value is missing, the keys that the
// run has stored and those that the page has stored itself.
func (r *Run) storedKeys(ctx context.Context) string {
	stored := "nothing was stored before"
	if keys := slices.Sorted(maps.Keys(r.Values)); len(keys) > 0 {
		stored = "stored are " + quotedList(keys)
	}
	of, err := r.Page.StorageKeys(ctx)
	if err != nil {
		return stored // which is what matters
	}
	of = slices.DeleteFunc(of, func(key string) bool { _, own := r.Values[key]; return own })
	slices.Sort(of)
	switch {
	case len(of) > maxNamedKeys:
		stored += fmt.Sprintf("; the page has stored %s and more", quotedList(of[:maxNamedKeys]))
	case len(of) > 0:
		stored += "; the page has stored " + quotedList(of)
	}
	return stored
}

func quotedList(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = routine.Quote(t)
	}
	return strings.Join(all, ", ")
}
