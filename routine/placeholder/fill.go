package placeholder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Fill puts values in, in one pass. resolve is asked for each token in order;
// it gives a string, json.Number, bool, nil, or any other value that JSON has.
// False leaves the token as it is written, its quotes included and unescaped in
// every place: it is the author's own text.
//
// The result is a string. Only in the place Value may it be whatever resolve
// gave: where the text is one token and nothing else, not even quotes.
// The error is an *InvalidValueError.
func (t *Template) Fill(resolve func(Token) (any, bool)) (any, error) {
	if t.place == Value && len(t.holes) == 1 && t.text == t.holes[0].Raw {
		if v, ok := resolve(t.holes[0].Token); ok {
			return v, nil
		}
		return t.text, nil
	}
	return t.FillText(resolve)
}

// FillText is Fill with the result always as text.
func (t *Template) FillText(resolve func(Token) (any, bool)) (string, error) {
	parts := make([]string, len(t.holes))
	var b strings.Builder
	for i, h := range t.holes {
		parts[i] = h.before + h.Raw + h.after
		if v, ok := resolve(h.Token); ok {
			var reason string
			if parts[i], reason = h.put(v); reason != "" {
				return "", &InvalidValueError{Token: h.Token, Reason: reason}
			}
		}
		b.WriteString(t.texts[i])
		b.WriteString(parts[i])
	}
	b.WriteString(t.texts[len(t.holes)])
	if t.whole == nil {
		return b.String(), nil
	}
	text, bad, reason := t.whole(b.String(), parts)
	if reason == "" {
		return text, nil
	}
	e := &InvalidValueError{Reason: reason}
	if bad >= 0 {
		e.Token = t.holes[bad].Token
	}
	return "", e
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
