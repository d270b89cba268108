package service

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/totp"
)

// Limits of one secret.
const (
	maxSecretFields      = 20
	maxSecretRoutines    = 100
	maxSecretDescription = 1000
)

// totpField is the name of the field that has the key of one-time codes.
const totpField = routine.TOTPField

// secretChange has the settings that a call gives for a secret, and their problems.
type secretChange struct {
	settingsChange
	// project reports whether the secret is one of the caller's project and not of the whole
	// organization.
	project bool
	// given are the new fields by name; a nil one deletes the field.
	given map[string]*routine.SecretField
	// references reports whether a value is given as a reference.
	references bool
}

// secretSettings are the names of the settings of a secret.
var secretSettings = []string{"value", "fields", "totp", "references", "hosts", "field_rule", "requests", "confine", "routines", "project", "description"}

// readSecretChange reads the text of a JSON object. Problems name fields, never values. An
// error means that the text is no such object.
func readSecretChange(text []byte) (*secretChange, error) {
	change, err := readSettingsObject("secret", `{"hosts": ["shop.example"], "fields": {"password": "…"}}`, text, secretSettings)
	if err != nil {
		return nil, err
	}
	c := &secretChange{settingsChange: *change, project: true, given: map[string]*routine.SecretField{}}
	if value, ok := c.settings["project"]; ok {
		c.read("project", "must be true (the caller's project) or false (the whole organization)", json.Unmarshal(value, &c.project) == nil)
	}
	if value, ok := c.settings["value"]; ok {
		c.readValue("/value", routine.ValueField, value)
	}
	if value, ok := c.settings["totp"]; ok {
		c.readCodeKey(value)
	}
	c.eachField("fields", func(pointer, name string, value json.RawMessage) {
		if name == totpField {
			c.add(pointer, "value", "the key of one-time codes is the setting totp, beside fields", "")
			return
		}
		c.readValue(pointer, name, value)
	})
	c.eachField("references", c.readReference)
	return c, nil
}

// eachField calls read for each member of a setting that is an object of field names.
func (c *secretChange) eachField(setting string, read func(pointer, name string, value json.RawMessage)) {
	value, ok := c.settings[setting]
	if !ok {
		return
	}
	members := map[string]json.RawMessage{}
	if routine.FirstByte(value) != '{' || json.Unmarshal(value, &members) != nil {
		c.read(setting, "must be an object of field names and texts", false)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		pointer := "/" + setting + "/" + routine.EscapePointer(routine.Truncate(name, 80))
		if !routine.ValidSecretName(name) {
			c.add(pointer, "value", "the name of a field is a letter, then up to 63 letters, digits, _ or -", "")
			continue
		}
		read(pointer, name, members[name])
	}
}

// give adds a field that the call gives; nil deletes it.
func (c *secretChange) give(pointer string, name string, f *routine.SecretField) {
	if _, twice := c.given[name]; twice {
		c.add(pointer, "conflicting", "the field "+name+" is given twice: give it once", "")
	}
	c.given[name] = f
}

// readText reads a text that is not empty; null is ok too.
func (c *secretChange) readText(pointer string, value json.RawMessage, most int) (text string, deleted, ok bool) {
	if string(value) == "null" {
		return "", true, true
	}
	switch {
	case !readText(value, &text):
		c.add(pointer, "type", "the value must be a text, or null to delete the field", "")
	case text == "":
		c.add(pointer, "value", "the value is empty: give one, leave it out to keep the stored one, or give null to delete the field", "")
	case len(text) > most:
		c.add(pointer, "too_large", fmt.Sprintf("the value has more than %d bytes", most), "")
	case strings.ContainsRune(text, 0):
		c.add(pointer, "value", "the value contains the character U+0000, which cannot be typed", "")
	default:
		return text, false, true
	}
	return "", false, false
}

func (c *secretChange) readValue(pointer, name string, value json.RawMessage) {
	text, deleted, ok := c.readText(pointer, value, routine.MaxSecretBytes)
	switch {
	case !ok:
	case deleted:
		c.give(pointer, name, nil)
	default:
		c.give(pointer, name, &routine.SecretField{Name: name, Value: routine.Hidden(text)})
	}
}

// readCodeKey reads the key of one-time codes.
func (c *secretChange) readCodeKey(value json.RawMessage) {
	text, deleted, ok := c.readText("/totp", value, routine.MaxSecretBytes)
	if !ok {
		return
	}
	if deleted {
		c.give("/totp", totpField, nil)
		return
	}
	key, err := totp.ParseKey(text)
	if err != nil {
		c.add("/totp", "value", "totp "+err.Error(), "")
		return
	}
	c.give("/totp", totpField, &routine.SecretField{Name: totpField, TOTP: true, Value: routine.Hidden(key.URI())})
}

func (c *secretChange) readReference(pointer, name string, value json.RawMessage) {
	text, deleted, ok := c.readText(pointer, value, routine.MaxSecretBytes)
	if !ok {
		return
	}
	if deleted {
		c.give(pointer, name, nil)
		return
	}
	if wrong := routine.CheckReference(text); wrong != "" {
		c.add(pointer, "value", "the reference "+wrong, "")
		return
	}
	c.references = true
	c.give(pointer, name, &routine.SecretField{Name: name, TOTP: name == totpField, Reference: text})
}

// apply sets the settings of the call in sec, which is the stored secret or a new one.
func (c *secretChange) apply(sec *routine.Secret) {
	for _, name := range slices.Sorted(maps.Keys(c.given)) {
		sec.Fields = slices.DeleteFunc(sec.Fields, func(f routine.SecretField) bool { return f.Name == name })
		if f := c.given[name]; f != nil {
			sec.Fields = append(sec.Fields, *f)
		}
	}
	slices.SortFunc(sec.Fields, func(a, b routine.SecretField) int { return strings.Compare(a.Name, b.Name) })
	sec.Kind = routine.SecretOfLogin
	if len(sec.Fields) == 1 && sec.Fields[0].Name == routine.ValueField {
		sec.Kind = routine.SecretOfValue
	}
	if len(sec.Fields) == 0 && len(c.problems) == 0 {
		c.add("", "required", "the secret has no field", "give value, fields, totp or references; or delete the secret")
	}
	if len(sec.Fields) > maxSecretFields {
		c.add("/fields", "too_large", fmt.Sprintf("a secret has at most %d fields", maxSecretFields), "")
	}
	c.readHosts(&sec.Hosts, "may receive the secret")
	if value, ok := c.settings["field_rule"]; ok {
		wrong := readOneOf(value, &sec.Field, routine.FieldPassword, routine.FieldAny, routine.FieldNone)
		c.read("field_rule", wrong, wrong == "")
	}
	c.readBool("requests", &sec.Requests)
	c.readBool("confine", &sec.Confine)
	if value, ok := c.settings["routines"]; ok {
		list, read := readTexts(value)
		c.read("routines", fmt.Sprintf("must be a list of at most %d ids of routines, as in Routine_…", maxSecretRoutines),
			read && len(list) <= maxSecretRoutines && !slices.ContainsFunc(list, func(id string) bool { return !strings.HasPrefix(id, "Routine_") || len(id) > 80 }))
		sec.Routines = list
	}
	if value, ok := c.settings["description"]; ok {
		text := ""
		c.read("description", fmt.Sprintf("must be a text of at most %d characters", maxSecretDescription),
			string(value) == "null" || readText(value, &text) && utf8.RuneCountInString(text) <= maxSecretDescription)
		sec.Description = text
	}
}

// widening returns the names of the fields of sec that the call does not give anew, if it
// changes where the secret before may go or who may use it.
func (c *secretChange) widening(before, sec *routine.Secret) []string {
	if slices.Equal(sorted(before.Hosts), sorted(sec.Hosts)) && before.Field == sec.Field && before.Requests == sec.Requests &&
		(sec.Confine || !before.Confine) && slices.Equal(sorted(before.Routines), sorted(sec.Routines)) {
		return nil
	}
	var missing []string
	for _, f := range sec.Fields {
		if c.given[f.Name] == nil {
			missing = append(missing, f.Name)
		}
	}
	return missing
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
