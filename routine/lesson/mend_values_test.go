package lesson

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
)

func TestMendValues(t *testing.T) {
	d := &routine.Definition{Parameters: []routine.Parameter{
		{Name: "word", Type: routine.TypeString, Required: true},
		{Name: "pin", Type: routine.TypeString, Required: true, Secret: true},
		{Name: "note", Type: routine.TypeString, Secret: true},
		{Name: "papers", Type: routine.TypeFiles, Required: true},
		{Name: "count", Type: routine.TypeInteger},
	}}
	stored := json.RawMessage(`{"word":"lamp","pin":"***","note":"***","papers":[{"name":"a.pdf","size":3}],"count":2}`)
	file := json.RawMessage(`{"name":"a.txt","data":"aGk="}`)
	tests := []struct {
		name   string
		stored json.RawMessage
		given  map[string]json.RawMessage
		want   string // the values, or the error
	}{
		{"secrets and files have to be given again", stored, nil,
			"invalid: executions do not keep the values of pin, note, papers: give them in values"},
		{"one is missing", stored, map[string]json.RawMessage{"pin": json.RawMessage(`"1"`), "papers": file},
			"invalid: executions do not keep the values of note: give them in values"},
		{"all are given", stored, map[string]json.RawMessage{"pin": json.RawMessage(`"1"`), "papers": file, "note": json.RawMessage(`null`)},
			`{"count":2,"papers":{"name":"a.txt","data":"aGk="},"pin":"1","word":"lamp"}`},
		{"what is given wins", stored, map[string]json.RawMessage{"pin": json.RawMessage(`"1"`), "papers": file, "note": json.RawMessage(`"n"`),
			"word": json.RawMessage(`"chair"`)}, `{"count":2,"note":"n","papers":{"name":"a.txt","data":"aGk="},"pin":"1","word":"chair"}`},
		{"an optional secret that the execution did not have", json.RawMessage(`{"word":"lamp","pin":"***"}`),
			map[string]json.RawMessage{"pin": json.RawMessage(`"1"`)}, `{"pin":"1","word":"lamp"}`},
		{"nothing is kept", nil, map[string]json.RawMessage{"word": json.RawMessage(`"x"`)}, `{"word":"x"}`},
		{"a value for no parameter", nil, map[string]json.RawMessage{"wrd": json.RawMessage(`"x"`)},
			`invalid: 1 problem in the parameters: /wrd: "wrd" is not a parameter of this routine; did you mean "word"?`},
		{"a parameter that is no longer declared", json.RawMessage(`{"old":1}`), nil, `{}`},
	}
	for _, test := range tests {
		got, err := mendValues(d, test.stored, test.given)
		text := routine.JSONText(got)
		if err != nil {
			text = string(routine.CodeOf(err)) + ": " + err.Error()
		}
		if !strings.HasPrefix(text, test.want) {
			t.Errorf("%s: got  %s\nwant %s", test.name, text, test.want)
		}
	}
}
