package placeholder

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func TestSelector(t *testing.T) {
	runRows(t, Selector, []row{
		{promise: "string", text: `input[name='{{x}}']`, value: `a'b"c\d`, want: `input[name='a\'b\"c\\d']`},
		{promise: "line feed in a string", text: `[a='{{x}}']`, value: "a\n0\x00", want: "[a='a\\a 0\uFFFD']"},
		{promise: "older dialect in a string", text: `input[name='"{{x}}"']`, value: "q", want: `input[name='q']`},
		{promise: "part of a string", text: `a[href*="/item/{{x}}?"]`, value: `"]`, want: `a[href*="/item/\"]?"]`},
		{promise: "escaped quotes stay", text: `[a='\"{{x}}"']`, value: "v", want: `[a='\"v"']`},
		{promise: "quoted attribute", text: `[name="{{x}}"]`, value: "a b", want: `[name=a\20 b]`},
		{promise: "quoted attribute with flag", text: `[name="{{x}}" i]`, value: "1]", want: `[name=\31 \] i]`},
		{promise: "empty attribute", text: `[name="{{x}}"]`, value: "", want: `[name=""]`},
		{promise: "empty attribute, other match", text: `[name^={{x}}]`, value: "", want: `[name^=""]`},
		{promise: "doubled quotes keep one pair", text: `[name=""{{x}}""]`, value: `a"`, want: `[name="a\""]`},
		{promise: "id", text: "#{{x}}", value: "a.b:c", want: `#a\.b\:c`},
		{promise: "id of digits", text: "#{{x}}", value: json.Number("12"), want: `#\31 2`},
		{promise: "id with static start", text: "#row-{{x}} td", value: json.Number("12"), want: `#row-12 td`},
		{promise: "class", text: "div.{{x}}>a", value: "a,b c", want: `div.a\,b\20 c>a`},
		{promise: "hyphen at the start", text: ".{{x}}", value: "-1", want: `.\-1`},
		{promise: "hyphens", text: ".{{x}}", value: "--", want: `.\--`},
		{promise: "digit behind a hyphen", text: ".-{{x}}", value: "1", want: `.-\31 `},
		{promise: "type", text: "{{x}}", value: "a > b", want: `a\20 \>\20 b`},
		{promise: "letters stay", text: ".{{x}}", value: "größe😀_", want: ".größe😀_"},
		{promise: "two in a word", text: ".{{x}}{{x}}", value: "1", want: `.\31 \31 `},
		{promise: "pseudo-class", text: ":{{x}}", value: "hover::a", want: `:hover\:\:a`},
		{promise: "nothing leaves no class", text: ".{{x}}", value: "", reason: "no name"},
		{promise: "nothing leaves no id", text: "#{{x}}", value: nil, reason: "no name"},
		{promise: "nothing makes no comment", text: "<!{{x}}--0", value: "", reason: "no name"},
		{promise: "nothing before digits", text: ".{{x}}-1", value: "", reason: "no name"},
		{promise: "nothing behind a name", text: "#a-{{x}}", value: nil, want: "#a-"},
		{promise: "comment", text: "a/*{{x}}*/b", value: "*/", want: "a/**/b"},
		{promise: "backslash before a token", text: `.a\{{x}}`, value: "b", want: `.ab`},
		{promise: "backslash before a token in a string", text: `[a="b\{{x}}"]`, value: `"`, want: `[a="b\""]`},
		{promise: "doubled backslash", text: `[a="b\\{{x}}"]`, value: `"`, want: `[a="b\\\""]`},
		{promise: "escape by number before a token", text: `#\3{{x}} a`, value: "e", want: `#\3 e a`},
		{promise: "the same in a string", text: `[a="b\000033{{x}}"]`, value: " e", want: `[a="b\000033  e"]`},
		{promise: "function", text: ":{{x}}(a)", value: "is", want: ":is(a)"},
		{promise: "url", text: "{{x}}rl(a)", value: "u", reason: "no name"},
		{promise: "a backslash before url", text: "{{x}}rl(a)", value: `\u`, want: `\\url(a)`},
		{promise: "inside a url", text: "url({{x}})", value: "a)", want: `url(\61 \29 )`},
		{promise: "nothing inside a url", text: "url(0 {{x}}", value: "", reason: "empty"},
		{promise: "Unicode range", text: ":a({{x}}+12)", value: "U", reason: "no name"},
		{promise: "nothing behind u+", text: "u+{{x}}a", value: "", reason: "Unicode range"},
		{promise: "digits behind u+1-", text: "u+1-{{x}}", value: "2", reason: "Unicode range"},
		{promise: "sibling of u", text: "u+{{x}}", value: "a", want: `u+\61 `},
		{promise: "unresolved", text: `\{{x}}, .a[b="{{x}}"]`, unsolved: true, want: `\{{x}}, .a[b="{{x}}"]`},
	})
}

func TestSelectorNumbers(t *testing.T) {
	runRows(t, Selector, []row{
		{promise: "number", text: "li:nth-child({{x}})", value: json.Number("3"), want: "li:nth-child(3)"},
		{promise: "number in quotes", text: `li:NTH-last-of-type("{{x}}")`, value: "3", want: "li:NTH-last-of-type(3)"},
		{promise: "negative", text: "li:nth-child( {{x}})", value: "3", want: "li:nth-child( 3)"},
		{promise: "An+B", text: "li:nth-child({{x}}n+{{one}})", value: json.Number("-2"), want: "li:nth-child(-2n+1)"},
		{promise: "An-B", text: "li:nth-child({{x}}n-{{one}})", value: json.Number("2"), want: "li:nth-child(2n-1)"},
		{promise: "-An+B", text: "li:nth-child(-{{x}}n + {{one}})", value: json.Number("2"), want: "li:nth-child(-2n + 1)"},
		{promise: "glued", text: "li:nth-child(2{{x}})", value: json.Number("2"), want: "li:nth-child(22)"},
		{promise: "glued word", text: "li:nth-child(2{{x}}+1)", value: "e", reason: "glued to a number"},
		{promise: "word", text: "li:nth-child({{x}})", value: "even", want: "li:nth-child(even)"},
		{promise: "list", text: "li:nth-child({{x}})", value: "1),a", want: `li:nth-child(\31 \)\,a)`},
		{promise: "fraction", text: "li:nth-child({{x}})", value: "1.5", want: `li:nth-child(\31 \.5)`},
		{promise: "class behind of", text: "li:nth-child(2 of .{{x}})", value: "3", want: `li:nth-child(2 of .\33 )`},
		{promise: "sibling behind of", text: "li:nth-child(2 of a+{{x}})", value: "3", want: `li:nth-child(2 of a+\33 )`},
		{promise: "another function", text: "li:not({{x}})", value: "3", want: `li:not(\33 )`},
		{promise: "behind the function", text: "li:nth-child(2)+{{x}}", value: "3", want: `li:nth-child(2)+\33 `},
	})
}

var cssTemplates = []string{
	`input[name='"{{x}}"']`, `[name="{{x}}"]`, `[name=""{{x}}""]`, `[name^={{x}}i]`, "#{{x}}", ".a-{{x}} b", "{{x}}", "{{x}}{{x}}>a", "-{{x}}", "--{{x}}>",
	"li:nth-child({{x}})", "li:nth-child({{x}}n+{{x}})", "li:nth-child(-{{x}}n-{{x}} of .{{x}})", ":{{x}}(a)", "{{x}}rl(a)", "u{{x}}+1", "{{x}}+12", "url({{x}})",
	"/{{x}}*", "<!{{x}}-->", "a/*{{x}}*/", `[a="b{{x}}`, `.a\{{x}}`, "@{{x}}", "2{{x}}+1", "u+{{x}}", "u+1-{{x}}", "u+{{x}}a", "{{x}}0",
	".5{{x}}e1", "a|{{x}}|{{x}}", "~{{x}}=", `"a{{x}}` + "\n" + `b"`, "#\\3{{x}} a",
}

func TestSelectorKeepsItsStructure(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		checkSelector(r, rapid.SampledFrom(cssTemplates).Draw(r, "template"), anyText(r, `"'\[](){}.#:,>+~*/-_@!u012e9 n`+"\n\r\f\x00\x7f"))
	})
}

// checkSelector compares the tokens of the selector that a value makes with
// those of one that is harmless and of the same kind.
func checkSelector(t interface{ Fatalf(string, ...any) }, template, value string) {
	got, err := fillTokens(template, Selector, value)
	if err != nil || got == template {
		return
	}
	plain, err := fillTokens(template, Selector, "v")
	if signedDigits.MatchString(value) || coefficient.MatchString(value) {
		plain, err = fillTokens(template, Selector, alike(value))
	}
	if err != nil {
		return
	}
	g, w := cssTypes(got), cssTypes(plain)
	for i := range g {
		if value == "" && g[i] == css.StringToken.String() && i < len(w) && w[i] == css.IdentToken.String() {
			g[i] = w[i] // [a=""] for [a={{x}}]
		}
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Fatalf("%q with %q became %q, harmless %q: %s", template, value, got, plain, diff)
	}
}

// alike is a number of the same form.
func alike(value string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '7'
		}
		return r
	}, value)
}

var escapedCharacter = regexp.MustCompile(`(?s)\\.`)

func fillTokens(template string, place Place, value any) (string, error) {
	tmpl, _ := Parse(template, place)
	return tmpl.FillText(func(Token) (any, bool) { return value, true })
}

// cssTypes are the kinds of the tokens of a selector. The lexer drops every
// backslash before it compares a name with "url", so it takes \\url( for the
// start of a URL. In CSS that name has a backslash and is a function.
func cssTypes(text string) []string {
	text = escapedCharacter.ReplaceAllStringFunc(text, func(escape string) string {
		if escape == `\\` {
			return `\_`
		}
		return escape
	})
	var types []string
	l := css.NewLexer(parse.NewInputString(text))
	for {
		tt, data := l.Next()
		if tt == css.ErrorToken {
			if l.Err() != io.EOF {
				types = append(types, l.Err().Error())
			}
			return types
		}
		switch tt {
		case css.StringToken, css.IdentToken, css.HashToken, css.FunctionToken, css.CommentToken, css.DimensionToken, css.NumberToken, css.AtKeywordToken,
			css.WhitespaceToken, css.URLToken, css.BadURLToken, css.BadStringToken, css.UnicodeRangeToken, css.PercentageToken:
			types = append(types, tt.String())
		case css.CustomPropertyNameToken:
			types = append(types, css.IdentToken.String())
		default:
			types = append(types, tt.String()+string(data))
		}
	}
}

func FuzzFillSelector(f *testing.F) {
	for _, template := range cssTemplates {
		f.Add(template, `"'\]){},1`)
		f.Add(template, "12")
	}
	f.Add("u+000000-000000{{x}}", "A")
	f.Add("{{x}}rl(a)", `\u`)
	f.Fuzz(func(t *testing.T, template, value string) {
		checkSelector(t, strings.ToValidUTF8(template, "\uFFFD"), value)
	})
}
