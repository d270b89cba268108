package console

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// scheduleForm is the form of a schedule without the values of secret parameters, which are
// read from the posted form only and never shown.
type scheduleForm struct {
	RoutineID, Version, Parameters, Timeout, Cron, Zone, Missed, Notify, CallbackURL string
	Enabled                                                                          bool
	// Key makes a form that is posted twice create one schedule; empty: the schedule exists.
	Key     string
	Secrets []secretParameter
	// known reports whether Secrets are all secret parameters. Otherwise no parameters that
	// were typed are shown again, because one may be secret.
	known bool
	// stored are the parameters of the schedule that are not secret.
	stored map[string]json.RawMessage
}

// secretParameter is a parameter with a value that nobody may see.
type secretParameter struct {
	Name   string
	Stored bool
	kind   routine.ParameterType
}

// MissedRuns are the choices of Missed, and Notifies those of Notify.
func (scheduleForm) MissedRuns() []routine.MissedRun {
	return []routine.MissedRun{routine.MissedRunOnce, routine.MissedSkip}
}

// Notifies are the choices of Notify.
func (scheduleForm) Notifies() []routine.Notify {
	return []routine.Notify{routine.NotifyAlways, routine.NotifyOnFailure, routine.NotifyOnChange}
}

// newScheduleForm returns the form of a new schedule of a routine.
func newScheduleForm(r *routine.Routine) scheduleForm {
	f := scheduleForm{RoutineID: r.ID, Parameters: "{}", Zone: "UTC", Missed: string(routine.MissedRunOnce), Notify: string(routine.NotifyAlways),
		Timeout: strconv.FormatFloat(routine.DefaultRunTimeout.Seconds(), 'f', -1, 64), Enabled: true, known: true}
	for _, p := range r.Parameters {
		if p.Secret {
			f.Secrets = append(f.Secrets, secretParameter{Name: p.Name, kind: p.Type})
		}
	}
	return f
}

// formOfSchedule returns the form with the settings of a schedule. r is nil if the person may
// not read the routine.
func formOfSchedule(sc *routine.Schedule, r *routine.Routine) scheduleForm {
	f := scheduleForm{RoutineID: sc.RoutineID}
	if r != nil {
		f = newScheduleForm(r)
	}
	f.Cron, f.Zone, f.Missed, f.Notify, f.CallbackURL, f.Enabled = sc.Cron, sc.Zone, string(sc.Missed), string(sc.Notify), sc.CallbackURL, sc.Enabled
	f.Timeout = strconv.FormatFloat(sc.TimeoutSeconds, 'f', -1, 64)
	if sc.RoutineVersion > 0 {
		f.Version = strconv.Itoa(sc.RoutineVersion)
	}
	f.stored = map[string]json.RawMessage{}
	if len(sc.Parameters) > 0 && json.Unmarshal(sc.Parameters, &f.stored) != nil {
		f.stored = map[string]json.RawMessage{} // the store has objects only
	}
	masked, err := routine.EncodeJSON(routine.Masked)
	for name, value := range f.stored {
		at := slices.IndexFunc(f.Secrets, func(p secretParameter) bool { return p.Name == name })
		if at < 0 && err == nil && bytes.Equal(bytes.TrimSpace(value), bytes.TrimSpace(masked)) {
			at, f.Secrets = len(f.Secrets), append(f.Secrets, secretParameter{Name: name, kind: routine.TypeString})
		}
		if at >= 0 {
			f.Secrets[at].Stored = true
			delete(f.stored, name)
		}
	}
	f.Parameters = objectText(f.stored)
	return f
}

// objectText returns an object as indented JSON.
func objectText(members map[string]json.RawMessage) string {
	text, err := json.MarshalIndent(members, "", "  ")
	if err != nil || len(members) == 0 {
		return "{}"
	}
	return string(text)
}

// readScheduleForm returns the form that was posted for the schedule of before.
func readScheduleForm(posted url.Values, before scheduleForm) scheduleForm {
	f := before
	f.Version, f.Parameters, f.Timeout, f.Cron = posted.Get("routine_version"), posted.Get("parameters"), posted.Get("timeout_seconds"), posted.Get("cron")
	f.Zone, f.Missed, f.Notify, f.CallbackURL = posted.Get("zone"), posted.Get("missed"), posted.Get("notify"), posted.Get("callback_url")
	f.Enabled, f.Key = posted.Get("enabled") != "", posted.Get("key")
	f.known = f.known && strings.TrimSpace(f.Version) == "" // another version may have other secret parameters
	return f
}

// KeepsParameters reports whether a form that comes back has the parameters that were typed.
func (f scheduleForm) KeepsParameters() bool { return f.known }

// change returns the text of a JSON object with the settings that the form changes in before.
func (f *scheduleForm) change(posted url.Values, before scheduleForm) ([]byte, *formFault) {
	parameters, fault := f.readParameters(posted)
	if fault != nil {
		return nil, fault
	}
	body := map[string]any{}
	set := func(name, now, was string, value any) {
		if now != was {
			body[name] = value
		}
	}
	set("routine_id", f.RoutineID, before.RoutineID, f.RoutineID)
	set("routine_version", f.Version, before.Version, numberOrText(f.Version))
	set("timeout_seconds", f.Timeout, before.Timeout, numberOrText(f.Timeout))
	set("cron", f.Cron, before.Cron, strings.TrimSpace(f.Cron))
	set("zone", f.Zone, before.Zone, textOrNull(f.Zone))
	set("missed", f.Missed, before.Missed, f.Missed)
	set("notify", f.Notify, before.Notify, f.Notify)
	set("callback_url", f.CallbackURL, before.CallbackURL, textOrNull(f.CallbackURL))
	if f.Enabled != before.Enabled || before.RoutineID == "" {
		body["enabled"] = f.Enabled
	}
	if len(parameters) > 0 {
		body["parameters"] = parameters
	}
	return encodeForm(posted, body)
}

// numberOrText returns a text as a number, if it is one, and null for an empty one. The
// service says what is wrong with other texts.
func numberOrText(text string) any {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

func textOrNull(text string) any {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return text
}

// readParameters returns the parameters that the posted form changes; null removes one. The
// text of the form keeps no value of a secret parameter.
func (f *scheduleForm) readParameters(posted url.Values) (map[string]json.RawMessage, *formFault) {
	given := map[string]json.RawMessage{}
	text := strings.TrimSpace(f.Parameters)
	if text != "" && (routine.FirstByte([]byte(text)) != '{' || json.Unmarshal([]byte(text), &given) != nil) {
		message := `Write a JSON object of names and values, as in {"query": "lamp"}.`
		if !f.known || len(f.Secrets) > 0 {
			f.Parameters = objectText(f.stored)
			message += " The text is not shown again, because it may have the value of a secret parameter."
		}
		return nil, fieldFault("parameters", message)
	}
	var misplaced []string
	for _, p := range f.Secrets {
		if _, ok := given[p.Name]; ok {
			misplaced = append(misplaced, p.Name)
			delete(given, p.Name)
		}
	}
	if len(misplaced) > 0 {
		f.Parameters = objectText(given)
		return nil, fieldFault("parameters", strings.Join(misplaced, ", ")+": this is a secret parameter. Write its value in its own field.")
	}
	if !f.known {
		f.Parameters = objectText(f.stored)
	}
	for name, value := range f.stored {
		if now, ok := given[name]; !ok {
			given[name] = json.RawMessage("null")
		} else if sameJSON(now, value) {
			delete(given, name)
		}
	}
	for _, p := range f.Secrets {
		switch value := posted.Get("secret." + p.Name); {
		case value != "":
			given[p.Name] = p.encode(value)
		case slices.Contains(posted["forget"], p.Name):
			given[p.Name] = json.RawMessage("null")
		}
	}
	return given, nil
}

// sameJSON reports whether two values are written alike but for white space.
func sameJSON(a, b json.RawMessage) bool {
	var one, other bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&other, b) == nil && bytes.Equal(one.Bytes(), other.Bytes())
}

// encode returns a value that was typed as JSON.
func (p secretParameter) encode(value string) json.RawMessage {
	switch p.kind {
	case routine.TypeInteger, routine.TypeNumber, routine.TypeBoolean:
		if json.Valid([]byte(value)) {
			return json.RawMessage(value)
		}
	}
	return routine.RawJSON(value)
}

// fieldOf returns the field of the form to which a pointer into its JSON belongs.
func (f *scheduleForm) fieldOf(pointer string) string {
	setting, inner, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if setting != "parameters" {
		if slices.Contains([]string{"routine_version", "timeout_seconds", "cron", "zone", "missed", "notify", "callback_url"}, setting) {
			return setting
		}
		return ""
	}
	name, _, _ := strings.Cut(inner, "/")
	if slices.ContainsFunc(f.Secrets, func(p secretParameter) bool { return p.Name == name }) {
		return "secret." + name
	}
	return "parameters"
}
