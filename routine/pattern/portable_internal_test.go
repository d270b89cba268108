package pattern

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"rote/schemas"
)

// TestOwnPatternsArePortable: the service's own schemas follow the same rule.
func TestOwnPatternsArePortable(t *testing.T) {
	texts := []string{string(schemas.OpenAPI())}
	err := fs.WalkDir(schemas.Files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(schemas.Files, path)
		texts = append(texts, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, text := range texts {
		for _, m := range regexp.MustCompile(`(?:pattern"?: |"patternProperties": \{\s*)"([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if found++; !Portable(m[1]) {
				t.Errorf("%s is not portable", m[1])
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d patterns", found)
	}
}

// TestPortablePattern has what each validator refuses. The expressions have
// been tried with new RegExp(e, "u") of Node.js and re.compile(e) of Python.
func TestPortablePattern(t *testing.T) {
	for _, expr := range []string{
		``, `a`, `^[A-Z]{3}$`, `^(?:[a-z]+|\d{2})$`, `(a|b)*?c+?d??`, `^\d{4}-\d{2}-\d{2}$`, `a{2}`, `a{2,}`, `a{2,30}?`, `[^\s@]+@[^\s@]+\.[^\s@]+`,
		`\bword\b`, `[\w.-]+`, `[-\w]`, `[\-a]`, `[a\]]`, `[^^]`, `\/\.\*\(\)\[\]\{\}\|\^\$\\`, `[äöü]+`, `日本`, `😀{2}`, `[\d\s]`, `\x41`, `[\x00-\x1f]`,
		`^https?://[^/]+/`, `#\d+`, `a b`, `()`, `[a-z_-]`, `[$%]`, `a-b`, `"x"`, `[.]`, `\t\n`, `(?:)`, `[?]`, `=:!<>,`,
	} {
		if !Portable(expr) {
			t.Errorf("%s is portable", expr)
		}
	}
	for _, expr := range []string{
		`(?=a)`, `(?!a)`, `(?<=a)b`, `(?<x>a)`, `(?P<x>a)`, `(a)\1`, `\k<x>`, `(?i:a)`, `(?i)a`, // groups and back references
		`\-`, `a\@b`, `\_`, `\"`, `\ `, `\a`, `\z`, `\A`, `\Q.\E`, `\e`, `\#`, `\'`, `\,`, `\:`, `\%`, `[\_]`, `[\@]`, `[\b]`, // escapes that the u flag refuses
		`\p{L}`, `\pL`, `\P{Lu}`, `\cA`, `\u0041`, `\u{41}`, `\x{41}`, `\x4`, `\0`, `\07`, `\012`, `[\1]`, `\B{2}`,
		`}`, `]`, `a]`, `{`, `a{`, `a{,3}`, `a{x}`, `{2}`, `a{2}{3}`, `a**`, `a++`, `a*+`, `^*`, `$+`, `\b+`, `(*)`, `|*`, `+`, `a{1001}`, `a{2,1}`, `a{99999}`,
		`[]`, `[^]`, `[]a]`, `[a`, `[z-a]`, `[\w-.]`, `[\w-a]`, `[a-\d]`, `[a-z-9]`, `[[]`, `[[:alpha:]]`, `[a[b]]`, `[a&&b]`, `[a--b]`, `[a~~b]`, `[a||b]`, `[+--]`,
		"a\u202eb", "\ufeffa", "[\U000e0041]", strings.Repeat("a", 501), `(`, `)`, `\`,
	} {
		if Portable(expr) {
			t.Errorf("%s is not portable", expr)
		}
	}
}
