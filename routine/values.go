package routine

import "encoding/json"

// Values are the typed values of a call by parameter name: string, json.Number,
// bool, []InputFile, or nil for a parameter without value.
type Values map[string]any

// Mask is the JSON of the values with secret ones replaced, for the ledger.
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
