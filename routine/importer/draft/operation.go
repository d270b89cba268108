package draft

import (
	"encoding/json"

	"rote/routine"
	"rote/routine/lesson/textform"
)

// Operation is an operation of a routine, with the fields that recordings use. Those that are
// empty are left out.
type Operation struct {
	Type       string    `json:"type"`
	URL        string    `json:"url,omitempty"`
	Selector   string    `json:"selector,omitempty"`
	Text       *string   `json:"text,omitempty"`
	Clear      bool      `json:"clear,omitempty"`
	Key        string    `json:"key,omitempty"`
	Button     string    `json:"button,omitempty"`
	Clicks     int       `json:"click_count,omitempty"`
	URLRegex   string    `json:"url_regex,omitempty"`
	Scope      string    `json:"scope,omitempty"`
	X          *int      `json:"x,omitempty"`
	Y          *int      `json:"y,omitempty"`
	DeltaX     *int      `json:"delta_x,omitempty"`
	DeltaY     *int      `json:"delta_y,omitempty"`
	Timeout    int       `json:"timeout_ms,omitempty"`
	Seconds    *float64  `json:"timeout_seconds,omitempty"`
	Script     string    `json:"js,omitempty"`
	Endpoint   *Endpoint `json:"endpoint,omitempty"`
	Filename   string    `json:"filename,omitempty"`
	StorageKey string    `json:"session_storage_key,omitempty"`

	Files        string           `json:"x-files,omitempty"`
	Hover        []string         `json:"x-hover,omitempty"`
	Popup        string           `json:"x-popup,omitempty"`
	Dialog       string           `json:"x-dialog,omitempty"`
	Target       *textform.Target `json:"x-target,omitempty"`
	Alternatives []string         `json:"x-alternatives,omitempty"`

	// Field is the form field that the operation fills, as far as it is known.
	Field *routine.Field `json:"-"`
	// Raw is the text of an operation that is not made from the fields.
	Raw json.RawMessage `json:"-"`
}

// Endpoint is the request of a fetch or download.
type Endpoint struct {
	URL         string            `json:"url"`
	Method      string            `json:"method,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        json.RawMessage   `json:"body,omitempty"`
	Credentials string            `json:"credentials,omitempty"`
}

// json is the text of the fields.
func (o *Operation) json() json.RawMessage { return routine.RawJSON(o) }

// JSON is the text of the operation.
func (o *Operation) JSON() json.RawMessage {
	if o.Raw != nil {
		return o.Raw
	}
	return o.json()
}

// milliseconds of the longest wait that an operation may have.
const maxTimeout = 300_000

// WaitFor sets how long the operation waits for its element; 0 or less leaves the default. It
// reports whether the time had to be shortened.
func (o *Operation) WaitFor(milliseconds float64) bool {
	if milliseconds >= 1 {
		o.Timeout = int(min(milliseconds, maxTimeout))
	}
	return milliseconds > maxTimeout
}
