package placeholder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Filling fills templates with values. One Filling can fill several templates,
// which then share its Room. It must not be used concurrently.
type Filling struct {
	// Resolve returns the value of each token in order: a string, json.Number,
	// bool, nil or any other JSON value. If it returns false, the token stays as
	// written in the template, with its quotes and unescaped, because it is the
	// author's own text. A nil Resolve resolves nothing.
	Resolve func(Token) (any, bool)
	// Room limits the total bytes of inserted values, counted after escaping and
	// for each insertion; 0 means no limit. A value that exceeds the limit is
	// invalid.
	Room int
	// Put, if not nil, is called with the text that was inserted for each token.
	Put func(t Token, text string)
	// Full is set when a value exceeds Room. The results of later calls are not
	// meaningful.
	Full bool

	used int // bytes of Room
}

// Fill inserts values into t in one pass.
//
// The result is a string, except if the text is exactly one token without
// quotes: in the place Value it is then what Resolve returned, and in the place
// Header it is nil for nil, which omits the header. The error is an
// *InvalidValueError.
func (f *Filling) Fill(t *Template) (any, error) {
	if t.place != Value && t.place != Header || len(t.holes) != 1 || t.text != t.holes[0].Raw {
		return f.fillText(t)
	}
	v, ok := f.resolve(t.holes[0].Token)
	if !ok {
		return t.text, nil
	}
	if t.place == Header && v == nil {
		return nil, nil
	}
	text, e := f.escape(t.holes[0], v)
	if e != nil {
		return nil, e
	}
	if t.place == Header {
		return text, nil
	}
	return v, nil
}

// Misfits returns the tokens whose values are not allowed in t, each once and
// at most most of them. An invalid value is treated as unresolved while the
// others are checked.
func (f *Filling) Misfits(t *Template, most int) []*InvalidValueError {
	_, invalid := f.fill(t, most)
	return invalid
}

// FillText fills t without a limit and returns the result as text.
func (t *Template) FillText(resolve func(Token) (any, bool)) (string, error) {
	return (&Filling{Resolve: resolve}).fillText(t)
}

func (f *Filling) resolve(t Token) (any, bool) {
	if f.Resolve == nil {
		return nil, false
	}
	return f.Resolve(t)
}

func (f *Filling) fillText(t *Template) (string, error) {
	text, invalid := f.fill(t, 1)
	if len(invalid) > 0 {
		return "", invalid[0]
	}
	return text, nil
}

func (f *Filling) fill(t *Template, most int) (string, []*InvalidValueError) {
	parts := make([]string, len(t.holes))
	var invalid []*InvalidValueError
	rejected := map[string]bool{}
	size := len(t.text)
	for i, h := range t.holes {
		parts[i] = h.before + h.Raw + h.after
		if v, ok := f.resolve(h.Token); ok && !rejected[h.Key] {
			text, err := f.escape(h, v)
			if err == nil {
				parts[i] = text
			} else if invalid, rejected[h.Key] = append(invalid, err), true; f.Full || len(invalid) >= most {
				return "", invalid
			}
		}
		size += len(parts[i])
	}
	var b strings.Builder
	b.Grow(size)
	for i, part := range parts {
		b.WriteString(t.texts[i])
		b.WriteString(part)
	}
	b.WriteString(t.texts[len(parts)])
	if t.checkWhole == nil {
		return b.String(), invalid
	}
	text, rejections := t.checkWhole(b.String(), parts)
	for _, m := range rejections {
		e := &InvalidValueError{Reason: m.reason}
		if m.hole >= 0 {
			e.Token = t.holes[m.hole].Token
		}
		if !rejected[e.Token.Key] && len(invalid) < most {
			invalid, rejected[e.Token.Key] = append(invalid, e), true
		}
	}
	return text, invalid
}

// escape returns the text to insert for a value in a hole.
func (f *Filling) escape(h hole, v any) (string, *InvalidValueError) {
	if text, ok := v.(string); ok && f.exceedsLimit(len(text)) {
		return "", f.limitError(h) // too long even without escaping
	}
	text, reason := h.escape(v)
	if reason != "" {
		return "", &InvalidValueError{Token: h.Token, Reason: reason}
	}
	return text, f.countWritten(h, text)
}

// countWritten counts the text against the limit and reports it to Put.
func (f *Filling) countWritten(h hole, text string) *InvalidValueError {
	if f.exceedsLimit(len(text)) {
		return f.limitError(h)
	}
	f.used += len(text)
	if f.Put != nil {
		f.Put(h.Token, text)
	}
	return nil
}

func (f *Filling) exceedsLimit(n int) bool { return f.Room > 0 && n > f.Room-f.used }

func (f *Filling) limitError(h hole) *InvalidValueError {
	f.Full = true
	return &InvalidValueError{Token: h.Token,
		Reason: fmt.Sprintf("with it values take more than %d bytes, each counted as often as it is put in: give shorter ones", f.Room)}
}

// Format returns the text of a value inside other text: strings unchanged, nil
// as "", and all other values as JSON with their digits kept.
func Format(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
