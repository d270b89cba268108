package routine

import (
	"context"
	"encoding/json"
)

type opReturn struct {
	SessionKey string `json:"session_storage_key" fill:"text"`
}

func (o *opReturn) subject() string { return o.SessionKey }
func (o *opReturn) yields() Outcome { return Outcome{OutcomeValue, o.SessionKey} }

func (o *opReturn) Do(ctx context.Context, r *Run) error {
	text, found := r.values[o.SessionKey]
	if !found {
		var err error
		if text, found, err = r.page.Lookup(ctx, FromSessionStorage, o.SessionKey); err != nil {
			return err
		}
	}
	if !found {
		return Errorf(CodeValueMissing, "session storage holds no %q: %s", o.SessionKey, r.storedKeys())
	}
	return r.setData(storedValue(text), len(text))
}

// storedValue is the value that a session text stands for: JSON comes back as
// JSON, anything else as the text. A JSON string that holds an object or array
// is parsed once more, because pages store such.
func storedValue(text string) json.RawMessage {
	value := json.RawMessage(text)
	if !json.Valid(value) {
		return json.RawMessage(compact(text))
	}
	var inner string
	if json.Unmarshal(value, &inner) == nil {
		if nested := json.RawMessage(inner); json.Valid(nested) && (firstByte(nested) == '{' || firstByte(nested) == '[') {
			return nested
		}
	}
	return value
}

// firstByte of a JSON text, white space left out.
func firstByte(text []byte) byte {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}
