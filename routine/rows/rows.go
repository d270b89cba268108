// Package rows is what the stores on SQL databases have in common, except SQL: how
// values of the core are written into columns and read back, and how browser states are
// encrypted. It knows no database and no driver.
package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"rote/routine"
)

// Interrupted is the error of an execution whose process died.
const Interrupted = "the process that ran it ended before the run did"

// Micros and NullMicros convert times for storage, truncated to microseconds.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// NullMicros is Micros for a time that may be nil.
func NullMicros(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	us := Micros(*t)
	return &us
}

// fromMicros is the inverse of Micros.
func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// fromNullMicros is the inverse of NullMicros.
func fromNullMicros(us *int64) *time.Time {
	if us == nil {
		return nil
	}
	t := fromMicros(*us)
	return &t
}

// Encode returns the JSON of a value as a string, because a text column does not accept
// bytes.
func Encode(v any) (string, error) {
	text, err := routine.EncodeJSON(v)
	return string(text), err
}

// EncodeOptional returns the JSON of a value, or nil for nil.
func EncodeOptional[T any](v *T) (*string, error) {
	if v == nil {
		return nil, nil
	}
	text, err := Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return &text, nil
}

// Length returns the bytes of a text that may be nil.
func Length(text *string) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

// NullText converts raw JSON for a text column, which does not accept bytes.
func NullText(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

// decode reads the JSON of a column, which may be NULL, into v.
func decode(what, id string, text []byte, v any) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s of execution %s: %w", what, id, err)
	}
	return nil
}

// Wrap adds what was being done to err, if err is not nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
