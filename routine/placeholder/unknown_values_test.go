package placeholder

import (
	"strings"
	"testing"
)

func TestWithUnknownValues(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`f(1)`:                    `f(1)`,
		`f({{a}})`:                `f((0==0))`,
		`f("{{a}}")`:              `f((0==0))`,
		`f('{{a}}')`:              "f((`${0==0}`))",
		`f("x {{a}} {{b}}")`:      "f((`${0==0}`))",
		"f(`x {{a}} ${1} {{b}}`)": "f(`x ${0==0} ${1} ${0==0}`)",
		`/x{{a}}/.test(b)`:        `/xRoteUnknownValue/.test(b)`,
		"f() // {{a}}":            "f() // ",
		`a.b{{c}}`:                "",
		`x{{c}}`:                  "",
		`/x/{{a}}`:                "",
		`1{{a}}`:                  "",
		`f({{cookie:a}})`:         "",
	} {
		got, ok := WithUnknownValues(script)
		if got != want || ok != (want != "") {
			t.Errorf("%s becomes %q, %v, want %q", script, got, ok, want)
		}
	}
}

// No token is left, whatever the script is.
func FuzzWithUnknownValues(f *testing.F) {
	for _, s := range []string{`f({{a}}, "{{b}}", '{{c}}d')`, "`{{a}}${ {{b}} }`", `/{{a}}/g`, `// {{a}}`, `a{{b}}`, `{"{{a}}": {{b}}}`, `}/{{a}}/{`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		got, ok := WithUnknownValues(script)
		if !ok {
			return
		}
		parsed, _ := Parse(got, Script)
		if before, _ := Parse(script, Script); !before.Literal() && !parsed.Literal() && !strings.Contains(script, "{{{") {
			t.Errorf("%q becomes %q, which has tokens", script, got)
		}
	})
}
