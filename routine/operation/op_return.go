package operation

import (
	"context"
	"encoding/json"

	"rote/routine"
)

// opReturn is the operation return. Its fields are described in
// schemas/operations/return.json.
type opReturn struct {
	SessionKey string `json:"session_storage_key" fill:"text"`
}

func (o *opReturn) subject() string    { return o.SessionKey }
func (o *opReturn) loadsKey() string   { return o.SessionKey }
func (o *opReturn) resultName() string { return o.SessionKey }

func (o *opReturn) Do(ctx context.Context, r *Run) error {
	text, found := r.Values[o.SessionKey]
	if !found {
		var err error
		if text, found, err = r.Page.Lookup(ctx, routine.FromSessionStorage, o.SessionKey); err != nil {
			return err
		}
	}
	if !found {
		return routine.Errorf(routine.CodeValueMissing, "session storage holds no %q: %s", o.SessionKey, r.storedKeys(ctx))
	}
	return r.setData(storedValue(text), len(text))
}

// maxDataDepth bounds the nesting of a result. It is far below the limits of JSON
// readers, because the execution and the protocol nest it further.
const maxDataDepth = 1000

// storedValue returns the JSON value of a session text. Text that is not JSON, or
// nested too deeply, becomes a string. A JSON string that contains an object or array
// is parsed once more, because pages store such strings.
func storedValue(text string) json.RawMessage {
	value := json.RawMessage(text)
	if !json.Valid(value) || depth(value) > maxDataDepth {
		return routine.RawJSON(text)
	}
	var inner string
	if routine.FirstByte(value) == '"' && json.Unmarshal(value, &inner) == nil {
		nested := json.RawMessage(inner)
		first := routine.FirstByte(nested)
		if (first == '{' || first == '[') && json.Valid(nested) && depth(nested) <= maxDataDepth {
			return nested
		}
	}
	return value
}

// depth returns the nesting depth of valid JSON.
func depth(text []byte) int {
	deepest, open, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++ // a quote behind it is part of the string
		case quoted:
		case c == '{', c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}', c == ']':
			open--
		}
	}
	return deepest
}
