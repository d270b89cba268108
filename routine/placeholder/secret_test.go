package placeholder

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func TestSecretTokens(t *testing.T) {
	for _, c := range []struct {
		text string
		want Token
	}{
		{"{{secret:shop}}", Token{Source: Secret, Name: "shop", Key: "secret:shop"}},
		{"{{ secret : shop.pass-word_2 }}", Token{Source: Secret, Name: "shop.pass-word_2", Key: "secret:shop.pass-word_2"}},
		{"{{totp:shop}}", Token{Source: TOTP, Name: "shop", Key: "totp:shop"}},
		{"{{secret}}", Token{Source: Parameter, Name: "secret", Key: "secret"}},
		{"{{ code:shop }}", Token{Source: SentCode, Name: "shop", Key: "code:shop"}},
		{"{{code}}", Token{Source: Parameter, Name: "code", Key: "code"}},
		{"{{totp}}", Token{Source: Parameter, Name: "totp", Key: "totp"}},
	} {
		for _, place := range []Place{Text, Value, URL, Selector, Regexp, Header, Filename} {
			tmpl, faults := Parse(c.text, place)
			c.want.Raw = c.text
			if diff := cmp.Diff([]Token{c.want}, tmpl.Tokens()); diff != "" || len(faults) > 0 {
				t.Errorf("%s in place %d: %v %s", c.text, place, faults, diff)
			}
		}
	}
}

func TestSecretFaults(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		text  string
		place Place
		want  string
		hint  string
	}{
		{"{{secret:}}", Text, CodeEmpty, "{{secret:name}}"},
		{"{{totp: }}", Text, CodeEmpty, "{{totp:name}}"},
		{"{{secret:shop||x}}", Text, CodeNotAllowed, "remove ||"},
		{"{{totp:shop||}}", Text, CodeNotAllowed, "remove ||"},
		{"{{secret:1a}}", Text, CodeSecretName, "{{secret:NAME.FIELD}}"},
		{"{{secret:a.b.c}}", Text, CodeSecretName, "{{secret:NAME.FIELD}}"},
		{"{{secret:a.}}", Header, CodeSecretName, "{{secret:NAME}}"},
		{"{{secret:" + long + "}}", Value, CodeSecretName, "{{secret:NAME}}"},
		{"{{secret:a b}}", URL, CodeSecretName, "{{secret:NAME}}"},
		{"{{totp:shop.key}}", Text, CodeSecretName, "{{totp:NAME}}"},
		{"{{totp:é}}", Text, CodeSecretName, "{{totp:NAME}}"},
		{"{{code:shop.key}}", Text, CodeSecretName, "{{code:NAME}}"},
		{"{{pin:shop}}", Text, CodeUnknownPrefix, "code:"},
		{"(() => '{{secret:shop.password}}')()", Script, CodeNotAllowed, "input_text"},
		{"(() => '{{totp:shop}}')()", Script, CodeNotAllowed, "one-time code"},
		{"{{secrt:shop}}", Text, CodeUnknownPrefix, `"secret:"`},
		{"{{otp:shop}}", Text, CodeUnknownPrefix, `"totp:"`},
	} {
		tmpl, faults := Parse(c.text, c.place)
		if len(faults) != 1 || faults[0].Code != c.want || !strings.Contains(faults[0].Hint, c.hint) {
			t.Errorf("%s: %+v, want %s with a hint of %s", c.text, faults, c.want, c.hint)
		}
		if !tmpl.Literal() {
			t.Errorf("%s: tokens %v", c.text, tmpl.Tokens())
		}
	}
}

// Labels of nested blocks look like the prefixes of secrets.
func TestLabelsAreNoSecrets(t *testing.T) {
	for _, script := range []string{"(() => {{code: for (;;) { break code }}})()", "(() => {{mode: 1}})()", "(() => {{secret: 1}})()"} {
		tmpl, faults := Parse(script, Script)
		if len(faults) > 0 || !tmpl.Literal() {
			t.Errorf("%s: %v, %v", script, tmpl.Tokens(), faults)
		}
	}
}

// A token that is said to be in the query is there for every parser of URLs, whatever the
// author's text around it is.
func TestInQueryAgreesWithURLs(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"{{secret:a}}", "?", "#", "/", "a", "a=", "&", ":", "@", "\\", "{{p}}", "%3F", "."})
		parts := rapid.SliceOfN(part, 1, 9).Draw(t, "parts")
		text := rapid.SampledFrom([]string{"https://h.example", "https://h.example/", "/", "", "https://u?@h.example/"}).Draw(t, "head") + strings.Join(parts, "")
		tmpl, _ := Parse(text, URL)
		for i, token := range tmpl.Tokens() {
			if token.Source != Secret || !tmpl.InQuery(i) {
				continue
			}
			n := -1
			filled, err := tmpl.FillText(func(Token) (any, bool) {
				if n++; n == i {
					return "MARK", true
				}
				return "x", true
			})
			if err != nil {
				continue // of another token
			}
			u, err := url.Parse(filled)
			if err != nil {
				continue
			}
			if !strings.Contains(u.RawQuery, "MARK") || strings.Contains(u.Path+u.Fragment+u.Host, "MARK") {
				t.Fatalf("token %d of %s is not in the query of %s", i, text, filled)
			}
		}
	})
}

func TestInQuery(t *testing.T) {
	for text, want := range map[string]bool{
		"{{secret:a}}": false, "https://h.example/?k={{secret:a}}": true, "/p?{{secret:a}}": true, "{{base}}?k={{secret:a}}&x#f": true,
		"https://h.example/{{secret:a}}?x": false, "https://h.example/?x#{{secret:a}}": false, "https://{{secret:a}}.example/?x": false,
		"https://u:{{secret:a}}@h.example/?x": false, "{{secret:a}}?x": false, "{{sessionStorage:a?b}}{{secret:a}}": false,
	} {
		tmpl, faults := Parse(text, URL)
		for i, token := range tmpl.Tokens() {
			if token.Source == Secret && tmpl.InQuery(i) != want {
				t.Errorf("%s: in the query %v, want %v (%v)", text, !want, want, faults)
			}
		}
	}
}
