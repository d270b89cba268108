package lesson

import (
	"encoding/json"
	"maps"
	"strings"

	"rote/routine"
	"rote/routine/definition"
)

// mendValues returns the values for a run of d again: those that an execution was called
// with, and those that are given, which win. CodeInvalid names the values that executions do
// not keep and that are not given, which are secrets and files, and those that are given for
// no parameter of d.
func mendValues(d *routine.Definition, stored json.RawMessage, given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	kept := map[string]json.RawMessage{}
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &kept); err != nil {
			return nil, routine.Internal("read the values of an execution", err)
		}
	}
	if err := definition.CheckNames(d, given); err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	var missing []string
	for _, p := range d.Parameters {
		value, had := kept[p.Name]
		switch _, again := given[p.Name]; {
		case !had || again:
		case p.Secret || p.Type == routine.TypeFiles:
			missing = append(missing, p.Name)
		default:
			values[p.Name] = value
		}
	}
	if len(missing) > 0 {
		return nil, routine.Errorf(routine.CodeInvalid, `executions do not keep the values of %s: give them in values, as in {"%s":"…"}; `+
			`{"%s":{"secret":"NAME"}} takes a stored secret`, strings.Join(missing, ", "), missing[0], missing[0])
	}
	maps.Copy(values, given)
	maps.DeleteFunc(values, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return values, nil
}
