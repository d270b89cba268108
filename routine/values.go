package routine

import "encoding/json"

// Values are the typed values of a call by parameter name: string, json.Number, bool,
// []InputFile, or nil for a parameter without a value.
type Values map[string]any

// Mask returns the values as JSON to be stored with the execution, with secret ones
// replaced by Masked.
func (v Values) Mask(ps []Parameter) json.RawMessage {
	shown := map[string]any{}
	for _, p := range ps {
		if value, ok := v[p.Name]; ok && value != nil {
			if p.Secret {
				value = Masked
			}
			shown[p.Name] = value
		}
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}
