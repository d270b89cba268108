// Package jsonobject changes members of JSON objects without changing the order and the
// spelling of the others, which authors have chosen.
package jsonobject

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"rote/routine"
)

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Set returns a JSON object with another value of one member, which is added if it is
// not there. Everything else keeps its order and its spelling.
func Set(object json.RawMessage, name string, value json.RawMessage) (json.RawMessage, error) {
	members, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if at < 0 {
		members, at = append(members, Member{Name: name}), len(members)
	}
	members[at].Value = value
	return encodeMembers(members), nil
}

// Replace returns a JSON object without some of its members, and with more at the end.
// The others keep their order and their spelling. What is no object is returned as it is.
func Replace(object json.RawMessage, without []string, more ...Member) json.RawMessage {
	members, err := membersOf(object)
	if err != nil {
		return object
	}
	members = slices.DeleteFunc(members, func(m Member) bool { return slices.Contains(without, m.Name) })
	return encodeMembers(append(members, more...))
}

// membersOf returns the members of a JSON object in their order.
func membersOf(object json.RawMessage) ([]Member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, error(routine.Errorf(routine.CodeInvalid, "an operation is a JSON object")))
	}
	var members []Member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.(string)} // the names of an object are texts
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// encodeMembers returns a JSON object with these members.
func encodeMembers(members []Member) json.RawMessage {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, routine.JSONText(m.Name)...), ':'), m.Value...)
	}
	return append(text, '}')
}
