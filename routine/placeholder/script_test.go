package placeholder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tdewolff/parse/v2/js"
	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func number(s string) json.Number { return json.Number(s) }

func TestScriptCode(t *testing.T) {
	object := map[string]any{"b": []any{number("1.0"), nil, "</"}, "__proto__": number("-1")}
	runRows(t, Script, []row{
		{promise: "string", text: "f({{x}})", value: "a'b\"c\\d\n`${e}</script><!--\u2028", want: `f("a\'b\"c\\d\n\` + "`" + `\$\{e}\u003c\/script\u003e\u003c!--\u2028")`},
		{promise: "number", text: "f({{x}})", value: number("1.50"), want: "f(1.50)"},
		{promise: "number in a string is text", text: "f({{x}})", value: "12", want: `f("12")`},
		{promise: "boolean", text: "if({{x}})f()", value: true, want: "if(true)f()"},
		{promise: "null", text: "f({{x}})", value: nil, want: "f(null)"},
		{promise: "object", text: "()=>{{x}}", value: object, want: `()=>({["__proto__"]:(-1),"b":[1.0,null,"\u003c\/"]})`},
		{promise: "Go number", text: "f({{x}})", value: -3, want: "f((-3))"},
		{promise: "no number", text: "f({{x}})", value: number("1;f()"), want: `f("1;f()")`},
		{promise: "negative", text: "a-{{x}}", value: number("-1"), want: "a-(-1)"},
		{promise: "member of a number", text: "{{x}}.toFixed(2)", value: number("1"), want: "(1).toFixed(2)"},
		{promise: "member of a string", text: "{{x}}.length", value: "a", want: `"a".length`},
		{promise: "key", text: "({ {{x}}: 1})", value: number("-1"), want: `({ "-1": 1})`},
		{promise: "key that is special", text: "({a:1, {{x}}: 1})", value: "__proto__", want: `({a:1, ["__proto__"]: 1})`},
		{promise: "no key", text: "a ? {{x}} : 1", value: number("1"), want: `a ? 1 : 1`},
		{promise: "inside a template's code", text: "`a${ {{x}} }b`", value: "}`", want: "`a${ \"}\\`\" }b`"},
		{promise: "directly in a template's code", text: "`a${{{x}}}b`", value: "}", want: "`a${\"}\"}b`"},
		{promise: "behind a division", text: "a / {{x}} / 2", value: number("1"), want: "a / 1 / 2"},
		{promise: "before a division", text: "({{x}}) / 2 / 'a'", value: "b", want: `("b") / 2 / 'a'`},
		{promise: "doubled quotes make text", text: `f(""{{x}}"")`, value: number("1"), want: `f("1")`},
		{promise: "single quotes do not count", text: `f({{x}}, "")`, value: number("1"), want: `f(1, "")`},
		{promise: "part of a name", text: "f{{x}}()", value: "oo1", want: "foo1()"},
		{promise: "behind a word of the language", text: "return{{x}}", value: "a", want: `return "a"`},
		{promise: "number behind a word", text: "typeof{{x}}.a", value: number("1"), want: `typeof (1).a`},
		{promise: "part of a name and more", text: "f{{x}}()", value: "();g", reason: "part of a name"},
		{promise: "keyword of parts", text: "fo{{x}} (a)", value: "r", reason: "part of a name"},
		{promise: "digits before a name", text: "{{x}}a", value: "1", reason: "part of a name"},
		{promise: "member", text: "a.{{x}}", value: "if", want: "a.if"},
		{promise: "member and more", text: "a.{{x}}", value: "b()", reason: "part of a name"},
		{promise: "member of digits", text: "a?.{{x}}", value: number("1"), reason: "part of a name"},
		{promise: "no member", text: "a.{{x}}", value: "", reason: "part of a name"},
		{promise: "private name", text: "class A { #{{x}} }", value: "b", want: "class A { #b }"},
		{promise: "digits of a number", text: "f({{x}}000, 1{{x}})", value: number("5"), reason: "part of a name"},
		{promise: "digits behind a number", text: "f(1{{x}})", value: number("5"), want: "f(15)"},
		{promise: "no octal digit", text: "f(0o1{{x}})", value: number("8"), reason: "part of a name or number"},
		{promise: "more behind a number", text: "f(1{{x}})", value: "+1", reason: "glued to a number"},
		{promise: "unresolved", text: `f({{x}}, "{{x}}", '"\{{x}}"')`, unsolved: true, want: `f({{x}}, "{{x}}", '"\{{x}}"')`},
	})
}

func TestScriptStrings(t *testing.T) {
	runRows(t, Script, []row{
		{promise: "whole, string", text: `f("{{x}}")`, value: `a"b`, want: `f("a\"b")`},
		{promise: "whole, number", text: `f("{{x}}")`, value: number("12"), want: `f(12)`},
		{promise: "whole, boolean", text: `f("{{x}}")`, value: false, want: `f(false)`},
		{promise: "whole, absent", text: `f("{{x}}")`, value: nil, want: `f("")`},
		{promise: "whole, digits of a string", text: `f("{{x}}")`, value: "12", want: `f("12")`},
		{promise: "whole, object", text: `f("{{x}}")`, value: []any{"a"}, want: `f("[\"a\"]")`},
		{promise: "whole, behind a word", text: `return"{{x}}"`, value: number("12"), want: `return(12)`},
		{promise: "whole, before a word", text: `"{{x}}"in a`, value: true, want: `(true)in a`},
		{promise: "whole, member", text: `"{{x}}".length`, value: number("12"), want: `(12).length`},
		{promise: "whole, key", text: `({"{{x}}": 1})`, value: number("12"), want: `({"12": 1})`},
		{promise: "whole, negative", text: `1-"{{x}}"`, value: number("-2"), want: `1-(-2)`},
		{promise: "whole but for a space", text: `f("{{x}} ")`, value: number("12"), want: `f("12 ")`},
		{promise: "whole, single quotes", text: `f('{{x}}')`, value: number("12"), want: `f('12')`},
		{promise: "part", text: `f("a{{x}}b")`, value: "\"'\n\\", want: `f("a\"\'\n\\b")`},
		{promise: "absent part", text: `f("a{{x}}b")`, value: nil, want: `f("ab")`},
		{promise: "two parts", text: `f("{{x}}{{x}}")`, value: number("1"), want: `f("11")`},
		{promise: "older dialect in single quotes", text: `f('"{{x}}"')`, value: "a", want: `f('a')`},
		{promise: "older dialect twice", text: `f('"{{x}}""{{x}}"')`, value: "a", want: `f('aa')`},
		{promise: "doubled in single quotes", text: `f('""{{x}}""')`, value: "a", want: `f('"a"')`},
		{promise: "escaped quotes stay", text: `f("\"{{x}}\"")`, value: "a", want: `f("\"a\"")`},
		{promise: "one escaped quote stays", text: `f("\"{{x}}")`, value: "a", want: `f("\"a")`},
		{promise: "escaped and not", text: `f('\"{{x}}"')`, value: "a", want: `f('\"a"')`},
		{promise: "backslash before a token", text: `f("a\{{x}}")`, value: `"`, want: `f("a\"")`},
		{promise: "doubled backslash", text: `f("a\\{{x}}")`, value: `"`, want: `f("a\\\"")`},
		{promise: "template", text: "`a{{x}}`", value: "`${b}\\\r", want: "`a\\`\\$\\{b}\\\\\\r`"},
		{promise: "dollar before a token", text: "`a${{x}}`", value: "{b}", want: "`a$\\{b}`"},
		{promise: "older dialect in a template", text: "`${a}\"{{x}}\"`", value: "b", want: "`${a}b`"},
		{promise: "end of a template", text: "`${a}{{x}}${b}{{x}}`", value: "`", want: "`${a}\\`${b}\\``"},
		{promise: "comment", text: "a() // {{x}}\nb(/* {{x}} */)", value: "*/\n", want: "a() // \nb(/*  */)"},
		{promise: "quotes in a comment hide nothing", text: "/* ' */ f({{x}}) // \"", value: "a", want: `/* ' */ f("a") // "`},
	})
}

func TestScriptRegexp(t *testing.T) {
	runRows(t, Script, []row{
		{promise: "quoted", text: "a.match(/b{{x}}c/g)", value: "/.*\n", want: `a.match(/b\/\.\*\nc/g)`},
		{promise: "set", text: "/[{{x}}/]/.test(a)", value: "]/", want: `/[\]\//]/.test(a)`},
		{promise: "nothing is no comment", text: "x = /{{x}}/", value: "", want: `x = /(?:)/`},
		{promise: "older dialect", text: `/a"{{x}}"b/`, value: ".", want: `/a\.b/`},
		{promise: "older dialect, repeated", text: `/a"{{x}}"+/`, value: "bc", want: `/a(?:bc)+/`},
		{promise: "escaped quote stays", text: `/a\"{{x}}"b/`, value: ".", want: `/a\"\."b/`},
		{promise: "quantifier", text: "/a{{{x}}}/", value: "1}", reason: "must be of one to five digits"},
		{promise: "flags", text: "/a/{{x}}", value: "gi", want: "/a/gi"},
		{promise: "flags and more", text: "/a/{{x}}", value: ".b", reason: "may have letters only"},
		{promise: "behind return", text: "return /{{x}}/", value: "/", want: `return /\//`},
		{promise: "behind a head", text: "if (a) /{{x}}/.test(b)", value: "/", want: `if (a) /\//.test(b)`},
		{promise: "division behind a call", text: "if(a) / {{x}} / 'b'", value: "/", want: `if(a) / \/ / 'b'`},
		{promise: "division behind a method", text: "a.if(b) / {{x}} / 2", value: "c", want: `a.if(b) / "c" / 2`},
		{promise: "division behind a bracket", text: "a[0] / {{x}} / 2", value: "c", want: `a[0] / "c" / 2`},
		{promise: "division behind an increment", text: "a++ / {{x}} / 2", value: "c", want: `a++ / "c" / 2`},
		{promise: "regexp in a template's code", text: "`${/{{x}}/}`", value: "/", want: "`${/\\//}`"},
		{promise: "quote in a regexp", text: `a(/"/); f({{x}}, "b")`, value: "c", want: `a(/"/); f("c", "b")`},
		{promise: "behind a block", text: "if (a) { } /b'c/.test('{{x}}')", value: "'", want: `if (a) { } /b'c/.test('\'')`},
		{promise: "behind an object", text: "a = { } / 2; f({{x}}); g = 4 / 2", value: "a", want: `a = { } / 2; f("\u0061"); g = 4 / 2`},
	})
}

func TestAmbiguousScript(t *testing.T) {
	all := `"\u0061\u0022\ud83d\ude00"`
	runRows(t, Script, []row{
		{promise: "string that never ends", text: "f('{{x}}", value: `a"😀`, want: "f('" + all},
		{promise: "bracket that never ends", text: "f({{x}}", value: `a"😀`, want: "f(" + all},
		{promise: "number", text: "f({{x}}", value: number("-1"), want: "f((-1)"},
		{promise: "null", text: "f({{x}}", value: nil, want: "f(null"},
		{promise: "nothing", text: "f({{x}}", value: "", want: `f(""`},
		{promise: "object", text: "f({{x}}", value: []any{}, want: `f("\u005b\u005d"`},
		{promise: "both readings agree", text: "a = {} / 2 / 3; f({{x}})", value: "b", want: `a = {} / 2 / 3; f("b")`},
		{promise: "before the doubt", text: "f({{x}}); a = {} / 2; b = 1 / {{x}}", value: "a", want: `f("a"); a = {} / 2; b = 1 / "\u0061"`},
		{promise: "what the lexer does not know", text: "a = {}/{{x}}/010", value: "f", want: `a = {}/"\u0066"/010`},
		{promise: "too many readings", text: strings.Repeat("{}/1/2;", 9) + "f({{x}})", value: "a", want: strings.Repeat("{}/1/2;", 9) + `f("\u0061")`},
	})
}

var scriptTemplates = []string{
	"f({{x}})", `f("{{x}}")`, `return"{{x}}"`, "return{{x}}", `f('a{{x}}b', "c{{x}}")`, `f('"{{x}}"', '"\{{x}}"')`, "`a{{x}}${ {{x}} }$${{x}}`", "a / {{x}} / b", "/a{{x}}[{{x}}]+{{x}}?/g.test(b)",
	"/{{x}}/", "a // {{x}}\nb", "a /* {{x}} */ + b", "({ {{x}}: 1, b: {{x}}, \"{{x}}\": 2})", "a-{{x}}+{{x}}", "{{x}}.a", "f{{x}}()", "a.{{x}} = 1", "1{{x}}", "/a/{{x}}",
	`f(""{{x}}"")`, "if (a) { } /b'c/.test('{{x}}')", "a = {} / {{x}} / '{{x}}'", "f('{{x}}", "`${`${{{x}}}`}`", "x = <!-- {{x}}\n1", "a = b\n--> {{x}}\n", "()=>{{x}}", "/[a-{{x}}]{{{x}}}/",
	"'\\u00{{x}}'", "`\\{{x}}`", "/\\{{x}}\\1{{x}}/", "a\n++\n/{{x}}/ 1", "async () => { await /{{x}}/; yield / {{x}} /1 }",
}

const scriptRich = "\"'`\\/*$" + "{}()[];<!->&\n\r\u2028\u2029+-.=,:0aeintryof \x00_"

func TestScriptKeepsItsStructure(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		var value any = anyText(r, scriptRich)
		switch rapid.IntRange(0, 6).Draw(r, "kind") {
		case 0:
			value = number(fmt.Sprint(rapid.Float64().Draw(r, "number")))
		case 1:
			value = []any{value, map[string]any{"k": value}}
		}
		checkScript(r, rapid.SampledFrom(scriptTemplates).Draw(r, "template"), value)
	})
}

// checkScript compares the tokens of the script that a value makes with those
// of one that is harmless and of the same kind: in each way in which that can
// be read, it must be possible to read this.
func checkScript(t interface{ Fatalf(string, ...any) }, template string, value any) {
	got, err := fillTokens(template, Script, value)
	if err != nil || got == template {
		return
	}
	plain, ok := "", false
	for _, v := range harmlessLike(value) {
		if plain, err = fillTokens(template, Script, v); err == nil {
			ok = true
			break
		}
	}
	if !ok {
		return
	}
	g, w := scriptTypes(got), scriptTypes(plain)
	if slices.ContainsFunc(w, func(types string) bool { return !slices.Contains(g, types) }) {
		t.Fatalf("%q with %#v became\n%s\nharmless\n%s\ntokens\n%q\n%q", template, value, got, plain, g, w)
	}
}

func harmlessLike(value any) []any {
	switch v := value.(type) {
	case json.Number:
		if jsonNumber.MatchString(string(v)) && v[0] == '-' {
			return []any{number("-7"), number("7")}
		}
		if jsonNumber.MatchString(string(v)) {
			return []any{number("7")}
		}
		return []any{"v", "7"}
	case []any:
		return []any{[]any{"v", map[string]any{"k": "v"}}}
	case nil, bool:
		return []any{v, "v"}
	}
	return []any{"v", "7"}
}

// scriptTypes are the tokens of the script in each way it can be read. The text
// that values may change is left out.
func scriptTypes(script string) []string {
	var out []string
	for n := range 32 {
		r := tokenization{script: script, choices: []bool{n&1 > 0, n&2 > 0, n&4 > 0, n&8 > 0, n&16 > 0}}
		if r.run() != nil {
			continue
		}
		pieces := r.tokens
		var types []string
		for i, p := range pieces {
			data := script[p.start:p.end]
			switch {
			case p.tt == js.CommentLineTerminatorToken:
				types = append(types, "comment with line end")
			case js.IsNumeric(p.tt):
				types = append(types, "number")
			case p.tt == js.IdentifierToken, p.tt == js.PrivateIdentifierToken, js.IsIdentifierName(p.tt) && i > 0 && isAccess(pieces[i-1].tt):
				types = append(types, "name")
			case p.isComment(), p.tt == js.StringToken, isTemplate(p.tt), p.tt == js.RegExpToken:
				types = append(types, p.tt.String())
			default:
				types = append(types, p.tt.String()+data)
			}
		}
		out = append(out, strings.Join(types, " "))
	}
	return out
}

func FuzzFillScript(f *testing.F) {
	for _, template := range scriptTemplates {
		f.Add(template, "*/'\"`${a}\n//")
		f.Add(template, "in")
	}
	f.Add("/{{x}}\xff/", "0")
	f.Add("/0/\xdf{{x}}", "A")
	f.Add("{}/{{x}}/00/", " ")
	f.Add("0B0{{x}}", "1")
	f.Fuzz(func(t *testing.T, template, value string) {
		checkScript(t, strings.ToValidUTF8(template, "\uFFFD"), value)
	})
}
