package lesson

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestChoosesByValue(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]bool{
		`input[value="{{kind}}"]`:                       true,
		`label:has(input[value='{{kind}}'])`:            true,
		`[name=kind][value={{kind}}]`:                   true,
		`input[value^="{{kind}}"]`:                      false,
		`input[id="{{kind}}"]`:                          false,
		`input:not([value="{{kind}}"])`:                 false,
		`input[value="{{kind}}"], input`:                false,
		`input[value="{{kind}}"][id="{{kind}}"]`:        false,
		`input[value="{{kind}}-2"]`:                     false,
		`input[value="{{other}}"]`:                      false,
		`input[data-value="{{kind}}"][type="checkbox"]`: false,
	} {
		if got := choosesByValue(selector, "kind"); got != want {
			t.Errorf("%s: %v", selector, got)
		}
	}
}

// choosingPage has radio buttons, a list on the same document, and a list on another one.
func choosingPage() routinetest.Page {
	fields := map[string]routine.ElementDescription{
		`[value="car"]`: {DocumentAt: 1, Field: &routine.Field{Type: "radio", Label: "Car", Options: []string{"Car", "Van"}, Values: []string{"car", "van"}}},
		"#make":         {DocumentAt: 1, Field: &routine.Field{Type: "select", Label: "Make", Options: []string{"Aurora", "Corvid"}}},
		"#user":         {DocumentAt: 1, Field: &routine.Field{Type: "text", Label: "User"}, InLoginForm: true},
		"#year":         {DocumentAt: 2, Field: &routine.Field{Type: "select", Label: "Year", Options: []string{"2023", "2024"}}},
	}
	return routinetest.Page{Describe: func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
		if strings.HasPrefix(selector, "[value=") { // the value is in it with escapes
			selector = `[value="car"]`
		}
		d := fields[selector]
		if d.Field != nil {
			f := *d.Field
			d.Field = &f
		}
		d.Matches, d.Selector, d.Grade, d.GivenGrade = 1, selector, "A", "A"
		return d, nil
	}}
}

func TestParametersOfWhatWasChosen(t *testing.T) {
	t.Parallel()
	values := map[string]json.RawMessage{"kind": json.RawMessage(`"car"`), "make": json.RawMessage(`"Aurora"`), "year": json.RawMessage(`"2024"`),
		"user": json.RawMessage(`"ada"`), "id": json.RawMessage(`"7"`)}
	const (
		kind = `{"type":"click","selector":"[value=\"{{kind}}\"]"}`
		make = `{"type":"input_text","selector":"#make","text":"{{make}}"}`
		year = `{"type":"input_text","selector":"#year","text":"{{year}}"}`
		user = `{"type":"input_text","selector":"#user","text":"{{user}}"}`
		open = `{"type":"navigate","url":"https://shop.test/{{id}}"}`
	)
	const enumOfKinds = `"name":"kind","type":"enum","required":true,"description":"","validation":{"enum_values":["car","van"]},"observed_value":"car"`
	const enumOfYears = `"name":"year","type":"enum","required":true,"description":"","validation":{"enum_values":["2023","2024"]}`
	const anyYear = `"name":"year","type":"string","required":true,"description":"For example: 2023, 2024.","observed_value":"2024"`
	for name, row := range map[string]struct {
		operations []string
		want       string
	}{
		"radio buttons":                           {[]string{kind}, enumOfKinds},
		"a list of the same document":             {[]string{kind, make}, `"name":"make","type":"enum"`},
		"a list of another document":              {[]string{year}, enumOfYears},
		"after a choice on a document before":     {[]string{kind, year}, anyYear},
		"after a login":                           {[]string{user, year}, enumOfYears},
		"on a page that was opened with a value":  {[]string{open, year}, anyYear},
		"after a script that had a value":         {[]string{`{"type":"js_evaluate","js":"(() => '{{id}}')()"}`, year}, anyYear},
		"after a request that had a value":        {[]string{`{"type":"fetch","endpoint":{"url":"/{{id}}"},"session_storage_key":"r"}`, year}, enumOfYears},
		"after a field that holds a literal text": {[]string{`{"type":"input_text","selector":"#make","text":"Aurora"}`, year}, anyYear},
	} {
		c := newClassroom(t, choosingPage())
		id := c.teach(t, values, row.operations...)
		saved, err := c.Save(t.Context(), author, id, SaveRequest{})
		if err != nil || !strings.Contains(string(saved.Definition), row.want) {
			t.Errorf("%s: %v\n%s", name, err, saved.Definition)
		}
	}
}
