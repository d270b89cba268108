package service

import (
	"encoding/json"
	"slices"

	"rote/routine"
)

// maskedText is the JSON of what is shown in place of a secret value.
const maskedText = `"` + routine.Masked + `"`

// secretNames returns the names of the values of a schedule that were secret when they were
// given. shown are the values as they are shown, and values are the values themselves, both
// as JSON objects.
func secretNames(shown, values json.RawMessage) ([]string, error) {
	masked, whole := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(shown, &masked); err != nil {
		return nil, routine.Internal("read parameters of schedule", err)
	}
	if err := json.Unmarshal(values, &whole); err != nil {
		return nil, routine.Internal("read values of schedule", err)
	}
	var names []string
	for name, text := range masked {
		if string(text) == maskedText && string(whole[name]) != maskedText {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// noLongerSecret returns those of the names that are parameters of d which are not secret.
func noLongerSecret(d *routine.Definition, names []string) (plain []string) {
	for _, p := range d.Parameters {
		if !p.Secret && slices.Contains(names, p.Name) {
			plain = append(plain, p.Name)
		}
	}
	return plain
}

// checkSecrets refuses a run of a schedule that would show a value that was secret when it
// was given. CodeInvalid. Without a schedule it does nothing.
func (c *scheduledCall) checkSecrets(r *routine.Routine) error {
	if c == nil {
		return nil
	}
	if plain := noLongerSecret(&r.Definition, c.secrets); len(plain) > 0 {
		return routine.Errorf(routine.CodeInvalid, "the parameter %s was secret when its value was given, and is not secret in version %d of the routine: "+
			"give the value again in a change of the schedule, or make the parameter secret again", routine.Quote(plain[0]), r.Version)
	}
	return nil
}
