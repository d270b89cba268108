package placeholder

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// fillWith fills text with the values, by parameter name; a missing name stays
// unresolved.
func fillWith(t *testing.T, text string, place Place, values map[string]any) (string, error) {
	t.Helper()
	tmpl, faults := Parse(text, place)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", text, faults)
	}
	return tmpl.FillText(func(tok Token) (any, bool) {
		v, ok := values[tok.Name]
		return v, ok
	})
}

// row is a template in which {{x}} gets a value. An empty reason means that it
// may.
type row struct {
	promise  string
	text     string
	value    any
	want     string
	reason   string
	unsolved bool
}

func runRows(t *testing.T, place Place, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.promise, func(t *testing.T) {
			values := map[string]any{"x": r.value, "one": json.Number("1"), "empty": ""}
			if r.unsolved {
				delete(values, "x")
			}
			got, err := fillWith(t, r.text, place, values)
			if r.reason == "" {
				if err != nil || got != r.want {
					t.Errorf("%s with %#v:\n got %s, %v\nwant %s", r.text, r.value, got, err, r.want)
				}
				return
			}
			var bad *InvalidValueError
			if !errors.As(err, &bad) {
				t.Fatalf("%s with %#v gives %s, %v, want an error of %q", r.text, r.value, got, err, r.reason)
			}
			if !strings.Contains(bad.Reason, r.reason) || bad.Token.Name != "x" {
				t.Errorf("%s: %q of %s, want %q of x", r.text, bad.Reason, bad.Token.Raw, r.reason)
			}
		})
	}
}

func text(s string) *string { return &s }

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Token
	}{
		{"no token", []Token{}},
		{"{{a}}", []Token{{Source: Parameter, Name: "a", Key: "a", Raw: "{{a}}"}}},
		{"é{{ \n_b1 }}", []Token{{Source: Parameter, Name: "_b1", Key: "_b1", Raw: "{{ \n_b1 }}", Offset: 2}}},
		{`"{{a}}"{{b}}`, []Token{
			{Source: Parameter, Name: "a", Key: "a", Raw: "{{a}}", Offset: 1},
			{Source: Parameter, Name: "b", Key: "b", Raw: "{{b}}", Offset: 7}}},
		{"{{uuid}}{{ epoch_milliseconds }}", []Token{
			{Source: UUID, Key: "uuid", Raw: "{{uuid}}"},
			{Source: EpochMilliseconds, Key: "epoch_milliseconds", Raw: "{{ epoch_milliseconds }}", Offset: 8}}},
		{"{{ sessionStorage : a.b || c d }}", []Token{
			{Source: SessionStorage, Name: "a.b", Fallback: text("c d"), Key: "sessionStorage:a.b||c d", Raw: "{{ sessionStorage : a.b || c d }}"}}},
		{"{{localStorage:persist:root.a}}", []Token{
			{Source: LocalStorage, Name: "persist:root.a", Key: "localStorage:persist:root.a", Raw: "{{localStorage:persist:root.a}}"}}},
		{"{{cookie:a||}}", []Token{{Source: Cookie, Name: "a", Fallback: text(""), Key: "cookie:a||", Raw: "{{cookie:a||}}"}}},
		{`[{{meta:a||{"b":{}}}}]`, []Token{{Source: Meta, Name: "a", Fallback: text(`{"b":{}}`), Key: `meta:a||{"b":{}}`, Raw: `{{meta:a||{"b":{}}}}`, Offset: 1}}},
		{`{"a":{{{n}}}}`, []Token{{Source: Parameter, Name: "n", Key: "n", Raw: "{{n}}", Offset: 6}}},
		{"{{a {{b}}", []Token{{Source: Parameter, Name: "b", Key: "b", Raw: "{{b}}", Offset: 4}}},
		{"{{a} }} {{", []Token(nil)},
	} {
		tmpl, faults := Parse(c.text, Text)
		if c.want == nil {
			if len(faults) != 1 || !tmpl.Literal() {
				t.Errorf("%s: %v, %v", c.text, tmpl.Tokens(), faults)
			}
			continue
		}
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.text, faults)
		}
		if diff := cmp.Diff(c.want, tmpl.Tokens()); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if tmpl.Literal() != (len(c.want) == 0) {
			t.Errorf("%s: Literal is %v", c.text, tmpl.Literal())
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text  string
		place Place
		want  string // offset is that of the last {{
		hint  string
	}{
		{"a {{ }}", Text, CodeEmpty, "name of a parameter"},
		{"{{a b}}", Text, CodeUnknown, "letters, digits"},
		{"{{a-b}}", URL, CodeUnknown, "letters, digits"},
		{"{{a||b}}", URL, CodeUnknown, "default"},
		{"{{1a}}", Selector, CodeUnknown, "letters"},
		{"{{uuid:a}}", Text, CodeUnknownPrefix, "sessionStorage:"},
		{"{{cookie:}}", Text, CodeEmpty, "{{cookie:name}}"},
		{"{{cookie: ||x}}", Text, CodeEmpty, "{{cookie:name}}"},
		{"{{ meta }}", Text, CodeEmpty, "{{meta:name}}"},
		{"x{{window:a.b}}", Value, CodeUnknownPrefix, `"windowProperty:"`},
		{"{{session_storage:a}}", Text, CodeUnknownPrefix, `"sessionStorage:"`},
		{"{{localstorage:a}}", Text, CodeUnknownPrefix, `"localStorage:"`},
		{"{{cokie:a}}", Text, CodeUnknownPrefix, `"cookie:"`},
		{"{{header:a}}", Text, CodeUnknownPrefix, "the prefixes are sessionStorage:, localStorage:, cookie:, meta:, windowProperty:"},
		{"(() => '{{sessionStorage:a}}')()", Script, CodeNotAllowed, "sessionStorage.getItem"},
		{"(() => '{{cookie:a||b}}')()", Script, CodeNotAllowed, "document.cookie"},
		{"(() => {{uuid}})()", Script, CodeNotAllowed, "randomUUID"},
		{"(() => {{epoch_milliseconds}})()", Script, CodeNotAllowed, "Date.now"},
		{"(() => '{{sesionStorage:a}}')()", Script, CodeUnknownPrefix, `"sessionStorage:"`},
		{"(() => '{{window:a}}')()", Script, CodeUnknownPrefix, `"windowProperty:"`},
	} {
		tmpl, faults := Parse(c.text, c.place)
		if len(faults) != 1 {
			t.Errorf("%s: faults %v", c.text, faults)
			continue
		}
		f := faults[0]
		if f.Code != c.want || f.Offset != strings.LastIndex(c.text, "{{") || !strings.Contains(f.Hint, c.hint) || !strings.Contains(f.Message, "{{") {
			t.Errorf("%s: %+v, want %s with a hint of %s", c.text, f, c.want, c.hint)
		}
		if !tmpl.Literal() {
			t.Errorf("%s: tokens %v", c.text, tmpl.Tokens())
		}
	}
}

func TestBracesOfCodeAreNoFault(t *testing.T) {
	for _, script := range []string{
		"(() => {{ return 1 }})()", "(() => {{}})()", "(() => {{ a: 1 }})()", "(() => {{ f(); g() }})()", "(() => { if (a) {{ b } } })()",
		"(() => { const {a:{b}} = c; return {d:{e:b}} })()", "{{",
	} {
		tmpl, faults := Parse(script, Script)
		if len(faults) > 0 || !tmpl.Literal() {
			t.Errorf("%s: %v, %v", script, tmpl.Tokens(), faults)
		}
		if got, err := tmpl.FillText(nil); got != script || err != nil {
			t.Errorf("%s became %s, %v", script, got, err)
		}
	}
}

func TestTokenInCodeBlock(t *testing.T) {
	got, err := fillWith(t, "(() => {{ f({{x}}) }})()", Script, map[string]any{"x": json.Number("1")})
	if want := "(() => {{ f(1) }})()"; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestText(t *testing.T) {
	runRows(t, Text, []row{
		{promise: "text as it is", text: "a{{x}}b", value: "\"'<\n", want: "a\"'<\nb"},
		{promise: "number keeps digits", text: "{{x}}", value: json.Number("1.000"), want: "1.000"},
		{promise: "boolean", text: "={{x}}", value: true, want: "=true"},
		{promise: "absent is nothing", text: "a{{x}}b", value: nil, want: "ab"},
		{promise: "object", text: "{{x}}", value: map[string]any{"a": []any{json.Number("1.0"), "<", nil}}, want: `{"a":[1.0,"<",null]}`},
		{promise: "a pair of quotes is eaten", text: `a"{{x}}"b`, value: "v", want: "avb"},
		{promise: "a doubled pair keeps one", text: `""{{x}}""`, value: "v", want: `"v"`},
		{promise: "one quote stays", text: `"{{x}}`, value: "v", want: `"v`},
		{promise: "distant quotes stay", text: `" {{x}} "`, value: "v", want: `" v "`},
		{promise: "a quote is eaten once", text: `"{{x}}"{{one}}"`, value: "v", want: `v1"`},
		{promise: "the older dialect twice", text: `"{{x}}""{{one}}"`, value: "v", want: `v1`},
		{promise: "values are not scanned", text: `{{x}}{{one}}`, value: "{{one}}", want: `{{one}}1`},
		{promise: "values do not join to a token", text: `{{{x}}one}}`, value: "{", want: `{{one}}`},
		{promise: "unresolved stays, quotes too", text: `a "{{ x }}" b`, unsolved: true, want: `a "{{ x }}" b`},
		{promise: "invalid bytes become valid", text: "{{x}}\xff", value: "v", want: "v\uFFFD"},
		{promise: "unclosed stays", text: `{{x}} {{y`, value: "v", want: `v {{y`},
	})
}

func TestValue(t *testing.T) {
	object := map[string]any{"a": json.Number("1")}
	for _, c := range []struct {
		text  string
		value any
		want  any
	}{
		{"{{x}}", json.Number("12"), json.Number("12")},
		{"{{ x }}", true, true},
		{"{{x}}", nil, nil},
		{"{{x}}", object, object},
		{"{{x}}", "42", "42"},
		{`"{{x}}"`, json.Number("12"), "12"},
		{`"{{x}}"`, nil, ""},
		{`""{{x}}""`, json.Number("1"), `"1"`},
		{" {{x}}", json.Number("12"), " 12"},
		{"{{x}}{{x}}", json.Number("1"), "11"},
		{"none", nil, "none"},
	} {
		tmpl, _ := Parse(c.text, Value)
		got, err := (&Filling{Resolve: func(Token) (any, bool) { return c.value, true }}).Fill(tmpl)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s%v", c.text, diff, err)
		}
	}
	tmpl, _ := Parse("{{x}}", Value)
	if got, _ := (&Filling{Resolve: func(Token) (any, bool) { return nil, false }}).Fill(tmpl); got != "{{x}}" {
		t.Errorf("unresolved became %v", got)
	}
}

func TestResolveIsCalledInOrder(t *testing.T) {
	tmpl, _ := Parse("{{b}}{{a}}{{b}}", Text)
	var asked []string
	got, _ := tmpl.FillText(func(tok Token) (any, bool) {
		asked = append(asked, tok.Name)
		return len(asked), true
	})
	if diff := cmp.Diff([]string{"b", "a", "b"}, asked); diff != "" || got != "123" {
		t.Errorf("%s %s", got, diff)
	}
}

func TestFallbackText(t *testing.T) {
	if text, ok := (Token{}).FallbackText(); ok || text != "" {
		t.Errorf("none: %q, %v", text, ok)
	}
	if text, ok := (Token{Fallback: text("a")}).FallbackText(); !ok || text != "a" {
		t.Errorf("a: %q, %v", text, ok)
	}
	made := Token{Fallback: text("uuid")}
	first, _ := made.FallbackText()
	second, _ := made.FallbackText()
	if _, err := uuid.Parse(first); err != nil || first == second {
		t.Errorf("uuid: %q, %q", first, second)
	}
}

func TestErrorDoesNotContainValue(t *testing.T) {
	_, err := fillWith(t, "https://{{h}}/", URL, map[string]any{"h": "s3cret/"})
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "{{h}}: value not allowed in URL authority") {
		t.Error(err)
	}
}
