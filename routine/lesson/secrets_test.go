package lesson

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// theSecret is a secret of the operator for corner.bank and the hosts below pay.test.
const theSecret = "tr0ub4dor-9Kx"

// givenSecrets are secrets of the operator.
func givenSecrets(name, value string, hosts ...string) SecretSource {
	return func(p routine.Principal) map[string]service.GivenSecret {
		if p.ProjectID != "p" {
			return nil
		}
		return map[string]service.GivenSecret{name: {Hosts: hosts, Fields: map[string]routine.Hidden{routine.ValueField: routine.Hidden(value)}}}
	}
}

func withSecrets(config *Config) {
	config.Secrets = givenSecrets("PIN", theSecret, "corner.bank", "*.pay.test", "http://local.test:8080")
}

// Secrets are used for their hosts only, and appear nowhere, whether an operation names them
// or a value does.
func TestSecretsInLessons(t *testing.T) {
	const typed = `{"type":"input_text","selector":"#pin","text":"{{pin}}"}`
	fetch := func(url, more string) string {
		return fmt.Sprintf(`{"type":"fetch","endpoint":{"url":%q,"method":"POST",%s}}`, url, more)
	}
	const header, body = `"headers":{"X-Pin":"{{pin}}"}`, `"body":{"pin":"{{pin}}"}`
	for _, row := range []struct {
		name, operation, page string
		code                  routine.Code
		says                  string
	}{
		{"into a field of its host", typed, "https://corner.bank/login", "", ""},
		{"below a host", typed, "https://a.pay.test/", "", ""},
		{"with a port", typed, "http://local.test:8080/", "", ""},
		{"another port", typed, "http://local.test:8081/", routine.CodeSecretDenied, `secret PIN is not for local.test:8081`},
		{"another scheme", typed, "http://corner.bank/", routine.CodeSecretDenied, `secret PIN is not for corner.bank`},
		{"into another host's field", typed, "https://evil.test/", routine.CodeSecretDenied, `secret PIN is not for evil.test`},
		{"into a host with its name in front", typed, "https://corner.bank.evil.test/", routine.CodeSecretDenied, "is not for"},
		{"the parent of a wildcard", typed, "https://pay.test/", routine.CodeSecretDenied, "is not for"},
		{"a page without a host", typed, "about:srcdoc", routine.CodeSecretDenied, "is not for"},
		{"in a header", fetch("https://corner.bank/api", header), "https://corner.bank/", "", ""},
		{"in a body", fetch("https://corner.bank/api", body), "https://corner.bank/", "", ""},
		{"in a body of a path that varies", fetch("https://corner.bank/{{path}}", body), "https://corner.bank/", "", ""},
		{"in a query", fetch("https://corner.bank/?pin={{pin}}", `"headers":{}`), "https://corner.bank/", "", ""},
		{"in a header for another host", fetch("https://evil.test/", header), "https://corner.bank/", routine.CodeSecretDenied, "is not for evil.test"},
		{"for a host that varies", fetch("https://{{path}}/", header), "https://corner.bank/", routine.CodeSecretDenied, "is not for evil.test"},
		{"for the user of a URL", fetch("https://corner.bank@evil.test/", header), "https://corner.bank/", routine.CodeSecretDenied, "is not for evil.test"},
	} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, named %v", row.name, named), func(t *testing.T) {
				var did []string
				page := routinetest.Page{URL: row.page, Actions: &did,
					Describe: describeAs(routine.ElementDescription{Matches: 1, Field: &routine.Field{Type: "password", Secret: true}})}
				if row.code == "" { // otherwise the page never gets the secret
					page.Warnings, page.HTML = []string{"a dialog said " + theSecret}, theSecret
				}
				c := newClassroom(t, page, withSecrets)
				id := c.start(t)
				q := TryRequest{Operations: raw(row.operation), Values: valuesOf(t, `{"path":"evil.test","pin":{"secret":"PIN"}}`)}
				if named {
					q = TryRequest{Operations: raw(strings.ReplaceAll(row.operation, "{{pin}}", "{{secret:PIN}}")), Values: valuesOf(t, `{"path":"evil.test"}`)}
				}
				answer := c.tried(t, id, q)
				if sent := strings.Contains(strings.Join(did, "\n"), theSecret); sent != (row.code == "") {
					t.Errorf("did %q", did)
				}
				if e := answer.Steps[0].Error; row.code == "" && e != nil || row.code != "" && (e == nil || e.Code != row.code || !strings.Contains(e.Message, row.says)) {
					t.Errorf("%+v, want %s with %q", e, row.code, row.says)
				}
				if row.code == "" {
					html := c.tried(t, id, TryRequest{Operations: raw(`{"type":"return_html"}`)})
					answer.Steps = append(answer.Steps, html.Steps...)
				}
				if all := answer.Text() + routine.JSONText(answer); strings.Contains(all, theSecret) || strings.Contains(all, "tr0ub4dor") {
					t.Errorf("the secret is in the answer: %s", all)
				}
			})
		}
	}
}

// A secret that is used elsewhere than where it may be typed or sent is refused like any other
// mistake in an operation, and the page is not used.
func TestSecretsInOtherPlacesOfLessons(t *testing.T) {
	for _, operation := range []string{`{"type":"click","selector":"#{{pin}}"}`, `{"type":"input_text","selector":"#{{pin}}","text":"x"}`,
		`{"type":"js_evaluate","js":"(() => {{pin}})()"}`, `{"type":"navigate","url":"https://corner.bank/?pin={{pin}}"}`,
		`{"type":"fetch","endpoint":{"url":"https://corner.bank/","method":"POST","body":{"{{pin}}":1}}}`,
		`{"type":"fetch","endpoint":{"url":"https://corner.bank/{{pin}}"}}`} {
		for values, o := range map[string]string{`{"pin":{"secret":"PIN"}}`: operation, `{}`: strings.ReplaceAll(operation, "{{pin}}", "{{secret:PIN}}")} {
			var did []string
			c := newClassroom(t, routinetest.Page{Actions: &did}, withSecrets)
			id := c.start(t)
			_, err := c.Try(t.Context(), author, id, TryRequest{Operations: raw(o), Values: valuesOf(t, values)})
			if text := errorText(err); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(text, "placeholder_not_allowed") || len(did) != 1 {
				t.Errorf("%s: %s, did %q", o, text, did)
			}
		}
	}
}

// A secret that does not exist is named with the command that makes it. A text that cannot be
// the name of one is a mistake.
func TestMissingSecretsInLessons(t *testing.T) {
	c := newClassroom(t, routinetest.Page{}, withSecrets)
	id := c.start(t)
	q := TryRequest{Operations: raw(`{"type":"input_text","selector":"#pin","text":"{{pin}}"}`), Values: valuesOf(t, `{"pin":{"secret":"TAN.value"}}`)}
	if e := c.tried(t, id, q).Steps[0].Error; e == nil || e.Code != routine.CodeSecretMissing || !strings.Contains(e.Message, "no secret TAN") {
		t.Errorf("%+v", e)
	}
	q.Values = valuesOf(t, `{"pin":{"secret":"{{secret:TAN}}"}}`)
	_, err := c.Try(t.Context(), author, id, q)
	wantError(t, err, routine.CodeInvalid, `names no secret`)
}

// Whatever goes into a field for passwords is a secret, and no literal does.
func TestFieldsForPasswords(t *testing.T) {
	var did []string
	field := routine.ElementDescription{Matches: 1, Field: &routine.Field{Type: "password", Label: "PIN", Secret: true}}
	look := func(_ context.Context, l routine.Look) (routine.Seen, error) {
		return routine.Seen{Text: fmt.Sprint(l.Secrets)}, nil
	}
	c := newClassroom(t, routinetest.Page{Actions: &did, Describe: describeAs(field), Look: look, Warnings: []string{"4711-0815"}})
	id := c.start(t)
	answer := c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#pin","text":"hunter22"}`)})
	if e := answer.Steps[0].Error; e == nil || e.Code != routine.CodeInvalid || !strings.Contains(e.Message, `write "text":"{{pin}}"`) || len(did) != 1 {
		t.Errorf("%+v, did %q", e, did)
	}
	answer = c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#pin","text":"{{pin}}"}`),
		Values: map[string]json.RawMessage{"pin": json.RawMessage(`"4711-0815"`)}})
	text := answer.Text()
	if !answer.OK || strings.Contains(text, "4711") || !strings.Contains(text, "pin = *** (secret). Field: \"PIN\", password.") ||
		!answer.Steps[0].Parameters[0].Secret {
		t.Errorf("%s", text)
	}
	seen, err := c.Snapshot(t.Context(), author, id, SnapshotRequest{})
	if err != nil || !strings.Contains(seen.Text(), "4711-0815") || !strings.Contains(seen.Text(), "hunter22") {
		t.Errorf("the look does not know the secrets: %v %v", seen, err)
	}
}

// A parameter is declared by the field that took its value.
func TestParametersOfFields(t *testing.T) {
	field := routine.ElementDescription{Matches: 1, Field: &routine.Field{Type: "number", Label: "Pieces", Min: "1", Max: "9"}}
	var did []string
	c := newClassroom(t, routinetest.Page{Describe: describeAs(field), Actions: &did})
	id := c.start(t)
	answer := c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#n","text":"{{pieces}}"}`),
		Values: map[string]json.RawMessage{"pieces": json.RawMessage(`"3"`)}})
	p := answer.Steps[0].Parameters[0]
	if p.Type != routine.TypeInteger || p.Validation == nil || p.Validation.MaxValue != "9" || string(p.Observed) != "3" {
		t.Errorf("%s", routine.JSONText(p))
	}
	if !strings.Contains(answer.Text(), "pieces = 3 (integer). Field: \"Pieces\", number, 1…9.") {
		t.Error(answer.Text())
	}
	answer = c.tried(t, id, TryRequest{Operations: raw(`{"type":"input_text","selector":"#n","text":"{{pieces}}"}`),
		Values: map[string]json.RawMessage{"pieces": json.RawMessage(`12`)}})
	if p := answer.Steps[0].Parameters[0]; !answer.OK || p.Type != routine.TypeInteger || p.Validation != nil {
		t.Errorf("a value beyond the field's limits is refused: %s", answer.Text())
	}
}
