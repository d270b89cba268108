package javascript

import (
	"strings"
	"testing"
)

func TestConstantBodies(t *testing.T) {
	for body, want := range map[string]string{
		`window.confirm = () => true;`:                             `true;`,
		`window.confirm = m => !0, f()`:                            `!0,`,
		"window.confirm = (a, b) => 'yes'\nf()":                    "'yes'\n",
		`window.alert = () => {}`:                                  `{}`,
		`window.alert = function () {};`:                           `{}`,
		`window.prompt = function ask(m, d) { return "x"; }`:       `{ return "x"; }`,
		`window.f = () => ({})`:                                    ``,
		`window.f = () => true + f()`:                              ``,
		"window.f = () => true\n+ f()":                             ``,
		"window.f = () => true\nin f()":                            ``,
		`window.f = () => true ? f() : 1`:                          ``,
		`window.f = () => 'x'.repeat(g())`:                         ``,
		"window.f = () => true\n`${f()}`":                          ``,
		`window.f = (a = f()) => true`:                             ``,
		`window.f = ({ a }) => true`:                               ``,
		`window.f = (...a) => true`:                                ``,
		`window.f = async () => true`:                              ``,
		`window.f = function* () {}`:                               ``,
		`window.f = function (a = f()) {}`:                         ``,
		`window.f = () => { return f() }`:                          ``,
		`window.f = () => { f() }`:                                 ``,
		`window.f = () => { return true; f() }`:                    ``,
		`window.f = () => /x/`:                                     ``,
		`window.f = () => value`:                                   ``,
		`const o = { get x() { return true }, m() { return 1 } };`: ``,
	} {
		script := "(() => {\n  " + body + "\n  g() })()"
		var got []string
		lines := strings.SplitAfter(script, "\n")
		for _, s := range ConstantBodies(script) {
			if s.ToLine == s.Line {
				got = append(got, lines[s.Line][s.Column:s.ToColumn])
			} else {
				got = append(got, lines[s.Line][s.Column:]+lines[s.ToLine][:s.ToColumn])
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
