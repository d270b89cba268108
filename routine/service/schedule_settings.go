package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// given says what a call gives of the settings of a schedule.
type given struct {
	problems []routine.Problem
	// runs reports whether what runs may have changed, times whether the times have, values
	// and callback whether those are given, and data whether the data of the next run cannot
	// be compared with that before.
	runs, times, values, callback, data bool
	// onlyEnabled reports whether only enabled is given.
	onlyEnabled bool
	// names are the names of the values that are given, and secrets those of the stored
	// values that were secret when they were given.
	names   map[string]bool
	secrets []string
}

// settings are the settings of a schedule by name. Each function reads a value into the
// schedule and returns what is wrong with it, or "". The value null, for a setting that has a
// default, gives it that.
var settings = map[string]func(*routine.Schedule, *given, json.RawMessage) (wrong string){
	"routine_id": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		before := sc.RoutineID
		if !readText(value, &sc.RoutineID) || sc.RoutineID == "" {
			return "must be the id of a routine, as in Routine_…"
		}
		g.runs, g.data = true, g.data || sc.RoutineID != before
		return ""
	},
	"routine_version": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		before := sc.RoutineVersion
		sc.RoutineVersion = 0
		g.runs = true
		if string(value) != "null" && (json.Unmarshal(value, &sc.RoutineVersion) != nil || sc.RoutineVersion < 1 || sc.RoutineVersion > math.MaxInt32) {
			return "must be the number of a version, or null for the newest"
		}
		g.data = g.data || sc.RoutineVersion != before
		return ""
	},
	"parameters": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		merged, names, err := mergeValues(sc.Values, value)
		if err != nil {
			return "must be an object of name to value"
		}
		g.names = names
		g.runs, g.values, g.data = true, true, g.data || !bytes.Equal(merged, sc.Values)
		sc.Values = merged
		return ""
	},
	"timeout_seconds": func(sc *routine.Schedule, _ *given, value json.RawMessage) string {
		sc.TimeoutSeconds = routine.DefaultRunTimeout.Seconds()
		if string(value) != "null" && (json.Unmarshal(value, &sc.TimeoutSeconds) != nil || !routine.ValidRunTimeout(sc.TimeoutSeconds)) {
			return fmt.Sprintf("must be a number from %v to %v", routine.MinRunTimeout.Seconds(), routine.MaxRunTimeout.Seconds())
		}
		return ""
	},
	"cron": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		g.times = true
		if !readText(value, &sc.Cron) {
			return `must be a string with a cron expression, as in "0 7 * * *"`
		}
		return ""
	},
	"zone": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		g.times, sc.Zone = true, "UTC"
		if string(value) != "null" && (!readText(value, &sc.Zone) || sc.Zone == "") {
			return "must be the IANA name of a time zone, as in Europe/Berlin"
		}
		return ""
	},
	"enabled": func(sc *routine.Schedule, _ *given, value json.RawMessage) string {
		sc.Enabled = string(value) != "false"
		if !slices.Contains([]string{"true", "false", "null"}, string(value)) {
			return "must be true or false"
		}
		return ""
	},
	"missed": func(sc *routine.Schedule, _ *given, value json.RawMessage) string {
		return readOneOf(value, &sc.Missed, routine.MissedRunOnce, routine.MissedSkip)
	},
	"callback_url": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		g.callback, sc.CallbackURL = true, ""
		if string(value) != "null" && !readText(value, &sc.CallbackURL) {
			return "must be a string with a URL"
		}
		return ""
	},
	"notify": func(sc *routine.Schedule, g *given, value json.RawMessage) string {
		before := sc.Notify
		wrong := readOneOf(value, &sc.Notify, routine.NotifyAlways, routine.NotifyOnFailure, routine.NotifyOnChange)
		g.data = g.data || sc.Notify != before
		return wrong
	},
}

// ScheduleSettings returns the names of the settings of a schedule.
func ScheduleSettings() []string { return slices.Sorted(maps.Keys(settings)) }

// readSettings applies the settings in the text of a JSON object to sc. What is wrong with
// them is in the problems of given; an error means that the text is no such object.
func readSettings(text []byte, sc *routine.Schedule) (*given, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(`{}`)
	}
	values := map[string]json.RawMessage{}
	// The strict reader refuses keys that stand twice, and text that is not UTF-8.
	if !jsontext.Value(text).IsValid() || json.Unmarshal(text, &values) != nil || routine.FirstByte(text) != '{' {
		return nil, routine.Invalid("schedule", []routine.Problem{{Code: "json_syntax",
			Message: `the schedule must be a JSON object, as in {"routine_id": "Routine_…", "cron": "0 7 * * *"}, with each field once`}})
	}
	g := &given{onlyEnabled: len(values) == 1 && values["enabled"] != nil}
	before := *sc
	// The routine comes first: values are those of one routine.
	if value, ok := values["routine_id"]; ok {
		g.read(sc, "routine_id", value)
		if before.RoutineID != "" && sc.RoutineID != before.RoutineID {
			sc.Values = json.RawMessage(`{}`)
			if _, ok := values["parameters"]; !ok && string(before.Values) != `{}` {
				g.add("parameters", "required", "are missing: those that are stored are of another routine")
			}
			g.values = true
		}
		delete(values, "routine_id")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		g.read(sc, name, values[name])
	}
	for name, value := range map[string]string{"routine_id": sc.RoutineID, "cron": sc.Cron} {
		if value == "" && !g.wrong("/"+name) {
			g.add(name, "required", "is missing")
		}
	}
	return g, nil
}

// read reads one setting.
func (g *given) read(sc *routine.Schedule, name string, value json.RawMessage) {
	read, known := settings[name]
	if !known {
		hint := routine.DidYouMean(name, ScheduleSettings())
		if hint == "" {
			hint = "the settings are " + strings.Join(ScheduleSettings(), ", ")
		}
		g.problems = append(g.problems, routine.Problem{Pointer: "/" + routine.EscapePointer(routine.Truncate(name, 80)), Code: "unknown_field",
			Message: fmt.Sprintf("a schedule has no setting %s", routine.Quote(routine.Truncate(name, 80))), Hint: hint})
		return
	}
	if wrong := read(sc, g, value); wrong != "" {
		g.add(name, "type", wrong)
	}
}

func (g *given) add(name, code, wrong string) {
	g.problems = append(g.problems, routine.Problem{Pointer: "/" + name, Code: code, Message: name + " " + wrong})
}

// wrong reports whether there is a problem with a setting.
func (g *given) wrong(pointer string) bool {
	return slices.ContainsFunc(g.problems, func(p routine.Problem) bool { return p.Pointer == pointer })
}

// readText reads a string and reports whether the value is one.
func readText(value json.RawMessage, into *string) bool {
	return routine.FirstByte(value) == '"' && json.Unmarshal(value, into) == nil
}

// readOneOf reads one of the texts of a set; null gives the first of them.
func readOneOf[T ~string](value json.RawMessage, into *T, set ...T) string {
	var text string
	if string(value) == "null" {
		text = string(set[0])
	} else if !readText(value, &text) || !slices.Contains(set, T(text)) {
		var names []string
		for _, name := range set {
			names = append(names, string(name))
		}
		return "must be one of " + strings.Join(names, ", ")
	}
	*into = T(text)
	return ""
}

// mergeValues returns the values of a schedule with those of a change, and the names of
// those: null removes one.
func mergeValues(stored, change json.RawMessage) (merged json.RawMessage, names map[string]bool, err error) {
	values, changed := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if routine.FirstByte(change) != '{' {
		return nil, nil, fmt.Errorf("%s is no object", routine.Truncate(string(change), 20))
	}
	if err := json.Unmarshal(stored, &values); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(change, &changed); err != nil {
		return nil, nil, err
	}
	names = map[string]bool{}
	for name, value := range changed {
		names[name] = true
		if string(value) == "null" {
			delete(values, name)
		} else {
			values[name] = value
		}
	}
	merged, err = routine.EncodeJSON(values)
	return merged, names, err
}
