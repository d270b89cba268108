package parameters

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

func TestDeclareParameter(t *testing.T) {
	t.Parallel()
	many := strings.Split(strings.Repeat("x ", 49)+"Oslo", " ")
	for name, c := range map[string]struct {
		value  any
		field  *routine.Field
		secret bool
		want   string
	}{
		"text": {"123456", &routine.Field{Type: "text", Label: "Customer number:"}, false,
			`{"name":"p","type":"string","required":true,"description":"Customer number.","observed_value":"123456"}`},
		"a question": {"tea", &routine.Field{Type: "search", Label: "What do you look for?"}, false,
			`{"name":"p","type":"string","required":true,"description":"What do you look for?","observed_value":"tea"}`},
		"without a field": {"Oslo", nil, false,
			`{"name":"p","type":"string","required":true,"description":"","observed_value":"Oslo"}`},
		"number without a field": {json.Number("2.50"), nil, false,
			`{"name":"p","type":"number","required":true,"description":"","observed_value":2.50}`},
		"integer without a field": {json.Number("7"), nil, false,
			`{"name":"p","type":"integer","required":true,"description":"","observed_value":7}`},
		"boolean": {true, nil, false,
			`{"name":"p","type":"boolean","required":true,"description":"","observed_value":true}`},
		"whole steps": {"3", &routine.Field{Type: "number", Label: "Pieces", Min: "1", Max: "10"}, false,
			`{"name":"p","type":"integer","required":true,"description":"Pieces.","validation":{"min_value":1,"max_value":10},"observed_value":3}`},
		"parts of a step": {"3.5", &routine.Field{Type: "number", Label: "Price", Min: "0", Step: "0.5"}, false,
			`{"name":"p","type":"number","required":true,"description":"Price.","validation":{"min_value":0},"observed_value":3.5}`},
		"any step": {json.Number("3"), &routine.Field{Type: "range", Label: "Price", Step: "any"}, false,
			`{"name":"p","type":"number","required":true,"description":"Price.","observed_value":3}`},
		"beyond the limits of the field": {"30", &routine.Field{Type: "number", Label: "Pieces", Max: "10"}, false,
			`{"name":"p","type":"integer","required":true,"description":"Pieces.","observed_value":30}`},
		"no number in a number field": {"many", &routine.Field{Type: "number", Label: "Pieces"}, false,
			`{"name":"p","type":"string","required":true,"description":"Pieces.","observed_value":"many"}`},
		"date": {"2031-02-03", &routine.Field{Type: "date", Label: "Start"}, false,
			`{"name":"p","type":"date","required":true,"description":"Start.","observed_value":"2031-02-03"}`},
		"date in another spelling": {"3.2.2031", &routine.Field{Type: "date", Label: "Start"}, false,
			`{"name":"p","type":"string","required":true,"description":"Start.","observed_value":"3.2.2031"}`},
		"email": {"a@b.example", &routine.Field{Type: "email", Label: "E-mail", MaxLength: 80}, false,
			`{"name":"p","type":"email","required":true,"description":"E-mail.","validation":{"max_length":80},"observed_value":"a@b.example"}`},
		"email that is none": {"ada", &routine.Field{Type: "email", Label: "E-mail", MaxLength: 80}, false,
			`{"name":"p","type":"string","required":true,"description":"E-mail.","validation":{"max_length":80},"observed_value":"ada"}`},
		"url": {"https://a.example/", &routine.Field{Type: "url", Label: "Site"}, false,
			`{"name":"p","type":"url","required":true,"description":"Site.","observed_value":"https://a.example/"}`},
		"a label that is the name": {"x", &routine.Field{Type: "text", Label: " p:"}, false,
			`{"name":"p","type":"string","required":true,"description":"","observed_value":"x"}`},
		"select": {"Oslo", &routine.Field{Type: "select", Label: "Branch", Options: []string{"Oslo", "Bergen"}}, false,
			`{"name":"p","type":"enum","required":true,"description":"Branch.","validation":{"enum_values":["Oslo","Bergen"]},"observed_value":"Oslo"}`},
		"number chosen from texts": {json.Number("2"), &routine.Field{Type: "radio", Label: "Rooms", Options: []string{"1", "2"}}, false,
			`{"name":"p","type":"enum","required":true,"description":"Rooms.","validation":{"enum_values":["1","2"]},"observed_value":"2"}`},
		"value that is no option": {"osl", &routine.Field{Type: "select", Label: "Branch", Options: []string{"Oslo", "Bergen"}}, false,
			`{"name":"p","type":"string","required":true,"description":"Branch.","observed_value":"osl"}`},
		"options that vary": {"Oslo", &routine.Field{Type: "select", Label: "Branch", Options: []string{"Oslo", "{{b}}", "C", "D", "E", "F"}, OptionsVary: true},
			false,
			`{"name":"p","type":"string","required":true,"description":"Branch. For example: Oslo, { {b} }, C, D, E.","observed_value":"Oslo"}`},
		"no options yet": {"Oslo", &routine.Field{Type: "listbox", OptionsVary: true}, false,
			`{"name":"p","type":"string","required":true,"description":"","observed_value":"Oslo"}`},
		"as many options as are listed": {"Oslo", &routine.Field{Type: "select", Label: "Branch", Options: many}, false,
			`{"name":"p","type":"string","required":true,"description":"Branch.","observed_value":"Oslo"}`},
		"checkbox": {"true", &routine.Field{Type: "checkbox", Label: "Remember"}, false,
			`{"name":"p","type":"boolean","required":true,"description":"Remember.","observed_value":true}`},
		"pattern": {"AB-12", &routine.Field{Type: "text", Label: "Code", Pattern: `[A-Z]{2}-\d+|none`, MaxLength: 9}, false,
			`{"name":"p","type":"string","required":true,"description":"Code.",
			"validation":{"max_length":9,"pattern":"^(?:[A-Z]{2}-\\d+|none)$"},"observed_value":"AB-12"}`},
		"pattern that does not compile": {"AB", &routine.Field{Type: "text", Label: "Code", Pattern: `(`, MaxLength: 9}, false,
			`{"name":"p","type":"string","required":true,"description":"Code.","validation":{"max_length":9},"observed_value":"AB"}`},
		"secret by the operator": {"hush-hush", &routine.Field{Type: "text", Label: "Card"}, true,
			`{"name":"p","type":"string","required":true,"description":"Card.","x-secret":true}`},
		"secret by the field": {"hush-hush", &routine.Field{Type: "password", Label: "PIN", Secret: true, Pattern: "hush-hush", MaxLength: 9}, false,
			`{"name":"p","type":"string","required":true,"description":"PIN.","x-secret":true}`},
		"label like a placeholder": {"x", &routine.Field{Type: "text", Label: "{{uuid}}"}, false,
			`{"name":"p","type":"string","required":true,"description":"{ {uuid} }.","observed_value":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Declare("p", c.value, c.field, c.secret)
			var g, w any
			if err := json.Unmarshal(routine.RawJSON(got), &g); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &w); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(w, g); diff != "" {
				t.Errorf("declaration (-want +got):\n%s", diff)
			}
			if !accepts(got, c.value) && !got.Secret {
				t.Errorf("the declaration does not accept the value that it was made of")
			}
		})
	}
}

func TestParameterName(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Customer number":         "customer_number",
		"  E-mail:*":              "e_mail",
		"Größe (cm)":              "grosse_cm",
		"Prénom de l’élève":       "prenom_de_leleve",
		"2 pieces":                "value_2_pieces",
		"UUID":                    "value_uuid",
		"cookie":                  "value_cookie",
		"":                        "value",
		"数量":                      "value",
		"branch":                  "branch_3",
		strings.Repeat("ab ", 40): strings.Trim(strings.Repeat("ab_", 13)+"ab", "_")[:40],
	} {
		taken := func(name string) bool { return name == "branch" || name == "branch_2" }
		if got := Name(label, taken); got != want {
			t.Errorf("parameterName(%q) is %q, want %q", label, got, want)
		}
	}
}
