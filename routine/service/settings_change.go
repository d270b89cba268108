package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// settingsChange has the settings that a call gives for a secret or a session, and their
// problems.
type settingsChange struct {
	problems []routine.Problem
	// settings are the values of the JSON object by name.
	settings map[string]json.RawMessage
}

// readSettingsObject reads the text of a JSON object with settings of a secret or a session, as in
// example. An error means that the text is no such object.
func readSettingsObject(what, example string, text []byte, known []string) (*settingsChange, error) {
	c := &settingsChange{settings: map[string]json.RawMessage{}}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !jsontext.Value(text).IsValid() || json.Unmarshal(text, &c.settings) != nil || routine.FirstByte(text) != '{' {
		return nil, routine.Invalid(what, []routine.Problem{{Code: "json_syntax",
			Message: "the " + what + " must be a JSON object, as in " + example + ", with each field once"}})
	}
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		if !slices.Contains(known, name) {
			hint := routine.DidYouMean(name, known)
			if hint == "" {
				hint = "the settings are " + strings.Join(known, ", ")
			}
			c.add("/"+routine.EscapePointer(routine.Truncate(name, 80)), "unknown_field",
				fmt.Sprintf("a %s has no setting %s", what, routine.Quote(routine.Truncate(name, 80))), hint)
		}
	}
	return c, nil
}

func (c *settingsChange) add(pointer, code, message, hint string) {
	c.problems = append(c.problems, routine.Problem{Pointer: pointer, Code: code, Message: message, Hint: hint})
}

// read adds a problem with a setting unless it is ok.
func (c *settingsChange) read(name, wrong string, ok bool) {
	if !ok {
		c.add("/"+name, "type", name+" "+wrong, "")
	}
}

// maxHosts limits the hosts of one secret or session.
const maxHosts = 50

// readHosts reads the setting hosts, of which there must be one at least. purpose is what they
// are for, as in "may receive the secret".
func (c *settingsChange) readHosts(into *[]string, purpose string) {
	if value, ok := c.settings["hosts"]; ok {
		list, read := readTexts(value)
		c.read("hosts", fmt.Sprintf(`must be a list of at most %d hosts, as in ["shop.example"]`, maxHosts), read && len(list) <= maxHosts)
		for i, text := range list {
			host, err := routine.ParseSecretHost(text)
			if err != nil {
				c.add(fmt.Sprintf("/hosts/%d", i), "value", err.Error(), "")
			}
			list[i] = host.String()
		}
		*into = list
	}
	if len(*into) == 0 && !slices.ContainsFunc(c.problems, func(p routine.Problem) bool { return strings.HasPrefix(p.Pointer, "/hosts") }) {
		c.add("", "required", `hosts is missing: give the hosts that `+purpose+`, as in "hosts": ["shop.example"]`, "")
	}
}

// readBool reads a setting that is true or false; null is false.
func (c *settingsChange) readBool(name string, into *bool) {
	if value, ok := c.settings[name]; ok {
		*into = false
		c.read(name, "must be true or false", json.Unmarshal(value, into) == nil)
	}
}

// readTexts reads a list of texts without duplicates; null is an empty list.
func readTexts(value json.RawMessage) (list []string, ok bool) {
	ok = json.Unmarshal(value, &list) == nil
	slices.Sort(list)
	return slices.Compact(list), ok
}
