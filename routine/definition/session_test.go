package definition

import (
	"encoding/json"
	"strings"
	"testing"
)

// withSession returns the text of a definition with fields at its top, three parameters and one
// operation.
func withSession(top string) []byte {
	return []byte(`{"name":"n","description":"d",` + top + `"parameters":[{"name":"account","required":false},{"name":"n","type":"integer","required":false},
		{"name":"pin","x-secret":true,"required":false}],"operations":[{"type":"press","key":"Enter"},{"type":"return_html"}]}`)
}

// A routine names its session, with tokens of parameters only, and is not incognito then.
func TestSessionIsChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, top, want string // want is the problem, or empty
	}{
		{"a name", `"session":"shop",`, ``},
		{"with what follows from it", `"session":"shop","incognito":false,`, ``},
		{"a parameter", `"session":"{{account}}",`, ``},
		{"parameters and text", `"session":"shop-{{account}}_{{ n }}",`, ``},
		{"and incognito", `"session":"shop","incognito":true,`, `/incognito conflicting: a run with a session is not incognito`},
		{"no name", `"session":"",`, `/session minLength: `},
		{"a number", `"session":5,`, `/session type: `},
		{"spaces", `"session":"my shop",`, `/session session_name: names no session (the name of a session is a letter`},
		{"too long", `"session":"` + strings.Repeat("a", 65) + `",`, `/session session_name: `},
		{"spaces beside a parameter", `"session":"my {{account}}",`, `/session session_name: names no session, whatever the values are`},
		{"a secret", `"session":"{{secret:shop}}",`, `/session placeholder_not_allowed: {{secret:shop}} is not allowed here`},
		{"a one-time code", `"session":"a{{totp:shop}}",`, `/session placeholder_not_allowed: {{totp:shop}} is not allowed here`},
		{"a text of the page", `"session":"{{cookie:sid||shop}}",`, `/session placeholder_not_allowed: `},
		{"a random text", `"session":"a{{uuid}}",`, `/session placeholder_not_allowed: {{uuid}} is not allowed here`},
		{"a secret parameter", `"session":"a{{pin}}",`, `/session placeholder_not_allowed: {{pin}} is not allowed here, because its value is secret`},
		{"another parameter", `"session":"{{acount}}",`, `/session undeclared_parameter: {{acount}} names no parameter of this routine (did you mean {{account}}?)`},
		{"no token", `"session":"{{}}",`, `/session empty_placeholder: `},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, _, err := Parse(withSession(row.top))
			var got []string
			for _, p := range errorProblems(err) {
				got = append(got, p.Pointer+" "+p.Code+": "+p.Message+" ("+p.Hint+")")
			}
			if row.want == "" && (len(got) > 0 || d.Incognito || d.Session == "") || row.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], row.want)) {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

// The values of a call have to make the name of a session.
func TestSessionIsBound(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ session, values, name, problem string }{
		{"shop", `{}`, "shop", ""},
		{"{{account}}", `{"account":"anna"}`, "anna", ""},
		{"shop-{{account}}-{{n}}", `{"account":"anna","n":7}`, "shop-anna-7", ""},
		{"{{account}}", `{"account":"anna b"}`, "", `/account invalid_value: "account" does not make the name of a session`},
		{"{{account}}", `{"account":"{{n}}","n":7}`, "", "/account invalid_value: "},
		{"{{n}}", `{"n":7}`, "", "/n invalid_value: "},
		{"a{{account}}{{n}}", `{"account":"b"}`, "", `/n required: "n" is required: the name of the session has it`},
		{"{{account}}", `{}`, "", "/account required: "},
	} {
		d, _, err := Parse(withSession(`"session":"` + row.session + `",`))
		if err != nil {
			t.Fatal(err)
		}
		values, err := Bind(d, json.RawMessage(row.values))
		problem := ""
		for _, p := range errorProblems(err) {
			problem += p.Pointer + " " + p.Code + ": " + p.Message
		}
		if !strings.HasPrefix(problem, row.problem) || (problem == "") != (row.problem == "") {
			t.Errorf("%s with %s: %q, want %q", row.session, row.values, problem, row.problem)
		}
		if err == nil && SessionOf(d, values) != row.name {
			t.Errorf("%s with %s is session %q", row.session, row.values, SessionOf(d, values))
		}
	}
}

// A patch sets, changes and removes the session. Unless it says otherwise, a routine without one
// is incognito again afterwards.
func TestSessionIsPatched(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		was, merge, steps string // steps: of a JSON Patch that does the same
		session           string
		incognito         bool
		problem           string
	}{
		{``, `{"session":"a"}`, `[{"op":"add","path":"/session","value":"a"}]`, "a", false, ""},
		{`"incognito":false,`, `{"session":"a"}`, `[{"op":"add","path":"/session","value":"a"}]`, "a", false, ""},
		{`"session":"a",`, `{"session":"b"}`, `[{"op":"replace","path":"/session","value":"b"}]`, "b", false, ""},
		{`"session":"a",`, `{"session":null}`, `[{"op":"remove","path":"/session"}]`, "", true, ""},
		{`"session":"a",`, `{"session":null,"incognito":false}`, `[{"op":"remove","path":"/session"},{"op":"replace","path":"/incognito","value":false}]`, "", false, ""},
		{`"session":"a",`, `{"description":"e"}`, `[{"op":"replace","path":"/description","value":"e"}]`, "a", false, ""},
		{`"incognito":false,`, `{"session":null}`, `[{"op":"replace","path":"/name","value":"m"}]`, "", false, ""},
		{`"session":"a",`, `{"incognito":true}`, `[{"op":"replace","path":"/incognito","value":true}]`, "", false, "/incognito conflicting"},
		{`"session":"a",`, `{"session":"{{none}}"}`, `[{"op":"replace","path":"/session","value":"{{none}}"}]`, "", false, "/session undeclared_parameter"},
	} {
		was, _, err := Parse(withSession(row.was))
		if err != nil {
			t.Fatal(err)
		}
		byMerge, _, err := Merge(was, []byte(row.merge))
		bySteps, _, stepErr := ApplyJSONPatch(was, "active", []byte(row.steps))
		for patch, got := range map[string]struct {
			m   *Merged
			err error
		}{row.merge: {byMerge, err}, row.steps: {bySteps, stepErr}} {
			problem := ""
			for _, p := range errorProblems(got.err) {
				problem += p.Pointer + " " + p.Code
			}
			if problem != row.problem {
				t.Errorf("%s with %s: %q, want %q", row.was, patch, problem, row.problem)
			} else if d := got.m; got.err == nil && (d.Definition.Session != row.session || d.Definition.Incognito != row.incognito) {
				t.Errorf("%s with %s: session %q, incognito %v", row.was, patch, d.Definition.Session, d.Definition.Incognito)
			}
		}
	}
}
