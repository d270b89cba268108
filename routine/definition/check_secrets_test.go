package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"rote/routine"

	"github.com/google/go-cmp/cmp"
)

// A stored secret may be typed, or sent in values of headers and body and in the query of a
// URL, and nowhere else. A parameter whose value a secret supplies is judged in the same way.
func TestPlacesOfSecrets(t *testing.T) {
	for _, row := range []struct{ name, operation, bad string }{
		{"typed", `{"type": "input_text", "selector": "#p", "text": "SECRET"}`, ""},
		{"typed with other text", `{"type": "input_text", "selector": "#p", "text": "a SECRET b SECRET"}`, ""},
		{"header", `{"type": "fetch", "endpoint": {"url": "/", "headers": {"authorization": "Bearer SECRET"}}}`, ""},
		{"header of a download", `{"type": "download", "endpoint": {"url": "/", "headers": {"a": "SECRET"}}, "filename": "a"}`, ""},
		{"body", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"a": ["b", {"c": "SECRET"}]}}}`, ""},
		{"body of text", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": "a=SECRET"}}`, ""},
		{"query", `{"type": "fetch", "endpoint": {"url": "https://a.example/?k=SECRET"}}`, "code"},
		{"query of a download", `{"type": "download", "endpoint": {"url": "/p?k=SECRET#f"}, "filename": "a"}`, "code"},
		{"path", `{"type": "fetch", "endpoint": {"url": "https://a.example/SECRET?a"}}`, "/endpoint/url"},
		{"whole URL", `{"type": "fetch", "endpoint": {"url": "SECRET"}}`, "/endpoint/url"},
		{"host", `{"type": "fetch", "endpoint": {"url": "https://SECRET.example/?a"}}`, "/endpoint/url"},
		{"user of a URL", `{"type": "fetch", "endpoint": {"url": "https://SECRET@a.example/?a"}}`, "/endpoint/url"},
		{"fragment", `{"type": "fetch", "endpoint": {"url": "https://a.example/?a#SECRET"}}`, "/endpoint/url"},
		{"key of a body", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"SECRET": 1}}}`, "/endpoint/body/SECRET"},
		{"navigation", `{"type": "navigate", "url": "https://a.example/?k=SECRET"}`, "/url"},
		{"selector", `{"type": "click", "selector": "[a='SECRET']"}`, "/selector"},
		{"selector of a field", `{"type": "input_text", "selector": "[a='SECRET']", "text": ""}`, "/selector"},
		{"selector to hover", `{"type": "click", "selector": "a", "x-hover": ["#SECRET"]}`, "/x-hover/0"},
		{"script", `{"type": "js_evaluate", "js": "(() => 'SECRET')()"}`, "/js"},
		{"expression", `{"type": "wait_for_url", "url_regex": "SECRET"}`, "/url_regex"},
		{"key", `{"type": "press", "key": "SECRET"}`, "/key"},
		{"key of a session value", `{"type": "fetch", "endpoint": {"url": "/"}, "session_storage_key": "SECRET"}`, "/session_storage_key"},
		{"result", `{"type": "return", "session_storage_key": "SECRET"}`, "/session_storage_key"},
		{"cookies", `{"type": "get_cookies", "session_storage_key": "a", "domain_filter": "SECRET"}`, "/domain_filter"},
		{"file name", `{"type": "download", "endpoint": {"url": "/"}, "filename": "SECRET.pdf"}`, "/filename"},
		{"HTML", `{"type": "return_html", "scope": "element", "selector": "#SECRET"}`, "/selector"},
	} {
		for _, token := range []string{"{{secret:shop}}", "{{secret:shop.password}}", "{{totp:shop}}", "{{code:shop}}", "{{p}}"} {
			bad := row.bad
			if bad == "code" {
				bad = map[bool]string{true: "/endpoint/url"}[strings.Contains(token, "totp") || strings.Contains(token, "code")]
			}
			want := []string{}
			if bad != "" {
				want = append(want, "/operations/0"+strings.ReplaceAll(bad, "SECRET", token)+" placeholder_not_allowed")
			}
			text := `{"name": "n", "description": "d", "parameters": [{"name": "p", "x-secret": true, "x-from-secret": "shop.key"}], "operations": [` +
				strings.ReplaceAll(row.operation, "SECRET", token) + `]}`
			_, _, err := Parse([]byte(text))
			got := []string{}
			for _, p := range errorProblems(err) {
				got = append(got, p.Pointer+" "+p.Code)
				if !strings.Contains(p.Hint, "input_text") || !strings.Contains(p.Hint, "fetch and download") {
					t.Errorf("%s: the hint %q does not name the places", row.name, p.Hint)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s with %s: %s", row.name, token, diff)
			}
		}
	}
}

func TestPlacesOfSecretsAreMarked(t *testing.T) {
	for _, row := range []marked{
		{"in a URL", `{"type": "navigate", "url": "https://a.example/?k=▸{{secret:shop}}&l=▸{{totp:shop}}"}`,
			[]string{"/operations/0/url placeholder_not_allowed", "/operations/0/url placeholder_not_allowed"}},
		{"in a key", `{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "body": {"a ▸{{secret:shop}}": "{{secret:shop}}"}}}`,
			[]string{"/operations/0/endpoint/body/a {{secret:shop}} placeholder_not_allowed"}},
		{"with a fallback", `{"type": "input_text", "selector": "#p", "text": "▸{{secret:shop||x}}"}`, []string{"/operations/0/text placeholder_not_allowed"}},
		{"no name", `{"type": "input_text", "selector": "#p", "text": "▸{{secret:a b}} ▸{{totp:}}"}`,
			[]string{"/operations/0/text secret_name", "/operations/0/text empty_placeholder"}},
	} {
		row.text = around(row.text)
		t.Run(row.name, row.errors)
	}
}

func TestDeclarationsFromSecrets(t *testing.T) {
	for _, row := range []struct{ name, parameter, want string }{
		{"a field", `"x-secret": true, "x-from-secret": "shop.password"`, ""},
		{"the value", `"x-secret": true, "x-from-secret": "shop", "required": false`, ""},
		{"not secret", `"x-from-secret": "shop"`,
			`/parameters/0/x-from-secret conflict: only a secret parameter can have its value from a stored secret (add "x-secret": true)`},
		{"a number", `"type": "integer", "x-secret": true, "x-from-secret": "shop"`, "/parameters/0/x-from-secret conflict: a stored secret is text"},
		{"a default", `"x-secret": true, "x-from-secret": "shop", "default": "x"`, "/parameters/0/x-from-secret conflict: a parameter has either"},
		{"no name", `"x-secret": true, "x-from-secret": "{{secret:shop}}"`, "/parameters/0/x-from-secret pattern:"},
		{"no text", `"x-secret": true, "x-from-secret": 1`, "/parameters/0/x-from-secret type:"},
		{"a default that names a secret", `"default": "{{secret:shop.password}}"`,
			`/parameters/0/default literal_placeholder: {{secret:shop.password}} is not filled in here: it stays as it is written ` +
				`(write "x-secret": true and "x-from-secret": "shop.password" instead of default)`},
		{"a default with a code", `"default": "a {{totp:shop}}"`, `(write the placeholder into an operation)`},
		{"another default", `"default": "{{cookie:a}}"`, ""},
		{"misspelt", `"x-secret": true, "x-from-secrets": "shop"`, `unknown_extension: "x-from-secrets" is kept and has no effect (did you mean "x-from-secret"?)`},
	} {
		_, warnings, err := Parse([]byte(`{"name": "n", "description": "d", "parameters": [{"name": "p", ` + row.parameter + `}],
			"operations": [{"type": "navigate", "url": "https://a.example"}, {"type": "input_text", "selector": "#p", "text": "{{p}}"}, {"type": "return_html"}]}`))
		var all []string
		for _, p := range append(errorProblems(err), warnings...) {
			text := p.Pointer + " " + p.Code + ": " + p.Message
			if p.Hint != "" {
				text += " (" + p.Hint + ")"
			}
			all = append(all, text)
		}
		if row.want == "" && len(all) > 0 || row.want != "" && (len(all) == 0 || !strings.Contains(all[0], row.want)) {
			t.Errorf("%s: got %q, want %q", row.name, all, row.want)
		}
	}
}

const usesSecrets = `{"name": "n", "description": "d", "parameters": [
	{"name": "p", "x-secret": true, "x-from-secret": "bank.pin"}, {"name": "q", "x-secret": true, "x-from-secret": "shop.value"}],
	"operations": [{"type": "navigate", "url": "https://a.example"}, {"type": "input_text", "selector": "#p", "text": "{{totp:shop}}{{secret:shop}}{{p}}"},
	{"type": "fetch", "endpoint": {"url": "/", "method": "POST", "headers": {"a": "{{totp:mail}}", "b": "{{q}}"},
	"body": ["{{secret:shop.value}}"]}}, {"type": "return_html"}]}`

func TestSecretsOf(t *testing.T) {
	d, _, err := Parse([]byte(usesSecrets))
	if err != nil {
		t.Fatal(err)
	}
	want := []routine.SecretReference{{Name: "shop", Code: true}, {Name: "shop", Field: "value"}, {Name: "mail", Code: true},
		{Name: "bank", Field: "pin"}}
	if diff := cmp.Diff(want, SecretsOf(d)); diff != "" {
		t.Error(diff)
	}
	for _, ref := range want {
		if !strings.HasPrefix(ref.String(), "{{") || !strings.Contains(ref.String(), ref.Name) {
			t.Errorf("%#v reads %s", ref, ref)
		}
	}
}

// A call may leave out a parameter whose value a stored secret supplies. Its declaration is
// stored and read again, and callers are told that it is not needed.
func TestStoredSecretSuppliesParameter(t *testing.T) {
	d, _, err := Parse([]byte(usesSecrets))
	if err != nil {
		t.Fatal(err)
	}
	values, err := Bind(d, json.RawMessage(`{"q": "own", "p": null}`))
	if diff := cmp.Diff(routine.Values{"p": nil, "q": "own"}, values); diff != "" || err != nil {
		t.Error(err, diff)
	}
	var again routine.Parameter
	if err := json.Unmarshal([]byte(routine.JSONText(d.Parameters[0])), &again); err != nil || again.FromSecret != "bank.pin" || again.Extra != nil {
		t.Errorf("%+v, %v", again, err)
	}
	schema, err := ParametersSchema(d.Parameters, func(p *routine.Parameter, s *Schema) { s.Description = strings.Join(s.Notes, " ") })
	if err != nil || strings.Contains(string(schema), "required") || strings.Contains(string(schema), "bank") ||
		!strings.Contains(string(schema), fromSecretNote) {
		t.Errorf("%s, %v", schema, err)
	}
}
