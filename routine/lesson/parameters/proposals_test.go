package parameters

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rote/routine"
)

func TestParameterize(t *testing.T) {
	t.Parallel()
	text := routine.Parameter{Name: "p", Type: routine.TypeString}
	integer := routine.Parameter{Name: "p", Type: routine.TypeInteger}
	for name, c := range map[string]struct {
		operation, text string
		parameter       routine.Parameter
		want            string // empty: the same
	}{
		"typed": {`{"type": "input_text", "selector": "#a", "text": "Oslo"}`, "Oslo", text,
			`{"type": "input_text", "selector": "#a", "text": "{{p}}"}`},
		"a part of what is typed": {`{"type":"input_text","selector":"#a","text":"Oslo S"}`, "Oslo", text, ""},
		"a short text only where it is typed": {`{"type":"input_text","selector":"#a[b='3']","text":"3"}`, "3", integer,
			`{"type":"input_text","selector":"#a[b='3']","text":"{{p}}"}`},
		"a short text elsewhere": {`{"type":"navigate","url":"https://a.example/?page=3"}`, "3", integer, ""},
		"query": {`{"type":"navigate","url":"https://a.example/s?q=desk+lamp&r=desk%20lamp&s=lamp#desk%20lamp"}`, "desk lamp", text,
			`{"type":"navigate","url":"https://a.example/s?q={{p}}&r={{p}}&s=lamp#desk%20lamp"}`},
		"path": {`{"type":"navigate","url":"https://lamp.example/lamp/lamps/lamp"}`, "lamp", text,
			`{"type":"navigate","url":"https://lamp.example/{{p}}/lamps/{{p}}"}`},
		"query with other placeholders": {`{"type":"navigate","url":"{{base}}/s?q=lamp&t={{t}}"}`, "lamp", text,
			`{"type":"navigate","url":"{{base}}/s?q={{p}}&t={{t}}"}`},
		"regexp": {`{"type":"wait_for_url","url_regex":"/branch/Oslo(\\?|$)|Oslos|Xslo|x=Oslo$"}`, "Oslo", text,
			`{"type":"wait_for_url","url_regex":"/branch/{{p}}(\\?|$)|Oslos|Xslo|x={{p}}$"}`},
		"regexp with a dot":          {`{"type":"wait_for_url","url_regex":"/v/1\\.20$"}`, "1.20", text, `{"type":"wait_for_url","url_regex":"/v/{{p}}$"}`},
		"regexp with any character":  {`{"type":"wait_for_url","url_regex":"/v/1.20$"}`, "1.20", text, ""},
		"regexp that repeats an end": {`{"type":"wait_for_url","url_regex":"/Oslo+"}`, "Oslo", text, ""},
		"regexp of characters":       {`{"type":"wait_for_url","url_regex":"/[Oslo]"}`, "Oslo", text, ""},
		"selector": {`{"type":"click","selector":"li:has(a[href*=\"/Oslo\"]) [value='Oslo'], [x=Oslo]","x-hover":["a[title='Oslo']"]}`, "Oslo", text,
			`{"type":"click","selector":"li:has(a[href*=\"/{{p}}\"]) [value='{{p}}'], [x={{p}}]","x-hover":["a[title='{{p}}']"]}`},
		"selector by name": {`{"type":"click","selector":"#Oslo .Oslo Oslo"}`, "Oslo", text, ""},
		"script": {`{"type":"js_evaluate","js":"(() => { const Oslo = \"Oslo\"; /Oslo/; return ['Osl\\u006f', 'in Oslo', Oslo]; // \"Oslo\"\n })()"}`, "Oslo", text,
			`{"type":"js_evaluate","js":"(() => { const Oslo = '{{p}}'; /Oslo/; return ['{{p}}', 'in Oslo', Oslo]; // \"Oslo\"\n })()"}`},
		"script with a text that needs escapes": {`{"type":"js_evaluate","js":"(() => 'it\\'s')()"}`, "it's", text,
			`{"type":"js_evaluate","js":"(() => '{{p}}')()"}`},
		"script with a number instead of a text": {`{"type":"js_evaluate","js":"(() => ['250', 250])()"}`, "250", integer,
			`{"type":"js_evaluate","js":"(() => ['{{p}}', 250])()"}`},
		"JSON body": {`{"type":"fetch","endpoint":{"url":"/o/Oslo","body":{"to":"Oslo","Oslo":[1,"Oslo","Oslo S"]}},"session_storage_key":"Oslo"}`, "Oslo", text,
			`{"type":"fetch","endpoint":{"url":"/o/{{p}}","body":{"to":"{{p}}","Oslo":[1,"{{p}}","Oslo S"]}},"session_storage_key":"Oslo"}`},
		"numbers of a body": {`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":{"n":250,"s":"250"}}}`, "250", integer,
			`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":{"n":"{{p}}","s":"\"{{p}}\""}}}`},
		"numbers of a body, for a text": {`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":{"n":250,"s":"250"}}}`, "250", text,
			`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":{"n":250,"s":"{{p}}"}}}`},
		"text body": {`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":"to=Oslo"}}`, "Oslo", text, ""},
		"what is no place": {`{"type":"download","filename":"Oslo","endpoint":{"url":"/","headers":{"x-a":"Oslo"},"description":"Oslo"},"x-note":"Oslo"}`,
			"Oslo", text, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == "" {
				want = c.operation
			}
			got, changes := Replace(json.RawMessage(c.operation), c.text, c.parameter)
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("operation (-want +got):\n%s", diff)
			}
			if (len(changes) == 0) != (c.want == "") {
				t.Errorf("it names the changes %v", changes)
			}
		})
	}
}

func TestPropose(t *testing.T) {
	t.Parallel()
	branch := &routine.Field{Type: "select", Label: "Branch", Options: []string{"Oslo", "Bergen"}}
	steps := []Step{
		{Raw: json.RawMessage(`{"type":"navigate","url":"https://a.example/s?branch=north&page=2&u=ada&t={{t}}"}`)},
		{Raw: json.RawMessage(`{"type":"input_text","selector":"#b","text":"Oslo"}`), Field: branch},
		{Raw: json.RawMessage(`{"type":"input_text","selector":"#c","text":"Oslo"}`)},
		{Raw: json.RawMessage(`{"type":"input_text","selector":"#d","text":"{{who}}"}`)},
		{Raw: json.RawMessage(`{"type":"input_text","selector":"#e","text":"hush-hush"}`), Field: &routine.Field{Type: "password", Secret: true}},
		{Raw: json.RawMessage(`{"type":"wait_for_url","url_regex":"to=Oslo&by=ada"}`)},
	}
	ps := []routine.Parameter{{Name: "who", Type: routine.TypeString}, {Name: "key", Type: routine.TypeString, Secret: true}}
	got := Propose(steps, ps, map[string]any{"who": "ada", "key": "north"})
	want := []Proposal{
		{From: "ada", Name: "who", Type: "string", In: []string{"/operations/0/url", "/operations/5/url_regex"}},
		{From: "north", Name: "branch", Type: "string", In: []string{"/operations/0/url"}},
		{From: "Oslo", Name: "branch_2", Type: "enum", In: []string{"/operations/1/text", "/operations/2/text", "/operations/5/url_regex"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
}
