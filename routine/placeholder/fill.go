package placeholder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Filling is what templates are filled with. One may serve many of them, which
// then share its Room. One goroutine uses it.
type Filling struct {
	// Resolve is asked for each token in order; it gives a string, json.Number,
	// bool, nil, or any other value that JSON has. False leaves the token as it
	// is written, its quotes included and unescaped in every place: it is the
	// author's own text. Nil resolves nothing.
	Resolve func(Token) (any, bool)
	// Room is how many bytes values may take, each counted as it is written and
	// as often as it is; 0: any number. One that finds no more room is invalid.
	Room int
	// Put, when set, is told what was written for a token.
	Put func(t Token, text string)
	// Full: a value has found no room. What is filled after it says nothing.
	Full bool

	used int // of Room
}

// Fill puts values into t, in one pass.
//
// The result is a string. Only where the text is one token and nothing else, not
// even quotes, may it be another: in the place Value whatever Resolve gave, and
// in the place Header nil for nil, which drops the header.
// The error is an *InvalidValueError.
func (f *Filling) Fill(t *Template) (any, error) {
	if t.place != Value && t.place != Header || len(t.holes) != 1 || t.text != t.holes[0].Raw {
		return f.text(t)
	}
	v, ok := f.resolve(t.holes[0].Token)
	if !ok {
		return t.text, nil
	}
	if t.place == Header && v == nil {
		return nil, nil
	}
	text, e := f.put(t.holes[0], v)
	if e != nil {
		return nil, e
	}
	if t.place == Header {
		return text, nil
	}
	return v, nil
}

// Misfits are the tokens whose values may not stand in t, each once, and at most
// so many of them. Each is left out for the others to be judged.
func (f *Filling) Misfits(t *Template, most int) []*InvalidValueError {
	_, misfits := f.fill(t, most)
	return misfits
}

// FillText is Fill without bounds, and with the result always as text.
func (t *Template) FillText(resolve func(Token) (any, bool)) (string, error) {
	return (&Filling{Resolve: resolve}).text(t)
}

func (f *Filling) resolve(t Token) (any, bool) {
	if f.Resolve == nil {
		return nil, false
	}
	return f.Resolve(t)
}

func (f *Filling) text(t *Template) (string, error) {
	text, misfits := f.fill(t, 1)
	if len(misfits) > 0 {
		return "", misfits[0]
	}
	return text, nil
}

func (f *Filling) fill(t *Template, most int) (string, []*InvalidValueError) {
	parts := make([]string, len(t.holes))
	var misfits []*InvalidValueError
	aside := map[string]bool{}
	size := len(t.text)
	for i, h := range t.holes {
		parts[i] = h.before + h.Raw + h.after
		if v, ok := f.resolve(h.Token); ok && !aside[h.Key] {
			text, err := f.put(h, v)
			if err == nil {
				parts[i] = text
			} else if misfits, aside[h.Key] = append(misfits, err), true; f.Full || len(misfits) >= most {
				return "", misfits
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
	if t.whole == nil {
		return b.String(), misfits
	}
	text, blamed := t.whole(b.String(), parts)
	for _, m := range blamed {
		e := &InvalidValueError{Reason: m.reason}
		if m.hole >= 0 {
			e.Token = t.holes[m.hole].Token
		}
		if !aside[e.Token.Key] && len(misfits) < most {
			misfits, aside[e.Token.Key] = append(misfits, e), true
		}
	}
	return text, misfits
}

// put gives what is written for a value in a hole.
func (f *Filling) put(h hole, v any) (string, *InvalidValueError) {
	if text, ok := v.(string); ok && f.lacks(len(text)) {
		return "", f.full(h) // it is not worth escaping
	}
	text, reason := h.put(v)
	if reason != "" {
		return "", &InvalidValueError{Token: h.Token, Reason: reason}
	}
	return text, f.take(h, text)
}

// take tells of what is written for a token, if there is room for it.
func (f *Filling) take(h hole, text string) *InvalidValueError {
	if f.lacks(len(text)) {
		return f.full(h)
	}
	f.used += len(text)
	if f.Put != nil {
		f.Put(h.Token, text)
	}
	return nil
}

func (f *Filling) lacks(n int) bool { return f.Room > 0 && n > f.Room-f.used }

func (f *Filling) full(h hole) *InvalidValueError {
	f.Full = true
	return &InvalidValueError{Token: h.Token, Reason: fmt.Sprintf("with it values take more than %d bytes, each counted as often as it is put in: give shorter ones", f.Room)}
}

// Format is the text of a typed value inside text: strings as they are, nil as
// nothing, the rest in JSON spelling with digits kept.
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
