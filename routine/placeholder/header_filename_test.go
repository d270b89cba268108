package placeholder

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func TestHeader(t *testing.T) {
	const reason = "line breaks or other control characters"
	runRows(t, Header, []row{
		{promise: "text as it is", text: "Bearer {{x}}", value: "a b,\"c\"\té", want: "Bearer a b,\"c\"\té"},
		{promise: "number", text: "{{x}}", value: json.Number("1.0"), want: "1.0"},
		{promise: "quotes are eaten", text: `Bearer "{{x}}"`, value: "a", want: "Bearer a"},
		{promise: "a doubled pair keeps one", text: `""{{x}}""`, value: "etag", want: `"etag"`},
		{promise: "line feed", text: "{{x}}", value: "a\nb", reason: reason},
		{promise: "carriage return", text: "{{x}}", value: "a\rb", reason: reason},
		{promise: "NUL", text: "{{x}}", value: "a\x00b", reason: reason},
		{promise: "next line", text: "{{x}}", value: "a\u0085b", reason: reason},
	})
}

func TestFilename(t *testing.T) {
	const reason = "no file name"
	runRows(t, Filename, []row{
		{promise: "quotes are eaten", text: `"{{x}}".pdf`, value: "2401.00001", want: "2401.00001.pdf"},
		{promise: "base name", text: "{{x}}", value: "/etc/passwd", want: "passwd"},
		{promise: "base name of a Windows path", text: "a-{{x}}", value: `..\..\b.txt`, want: "a-b.txt"},
		{promise: "base name of the whole", text: "../out/{{x}}.pdf", value: "a", want: "a.pdf"},
		{promise: "control characters go", text: "{{x}}.pdf", value: "a\r\n\x00b", want: "ab.pdf"},
		{promise: "a hidden separator", text: "{{x}}", value: "a/\nb", want: "b"},
		{promise: "dots in a name are harmless", text: "{{x}}.pdf", value: "..", want: "...pdf"},
		{promise: "parent", text: "{{x}}", value: "..", reason: reason},
		{promise: "parent by parts", text: ".{{x}}", value: ".", reason: reason},
		{promise: "parent behind a folder", text: "{{x}}", value: "a/..", reason: reason},
		{promise: "nothing", text: "{{x}}", value: nil, reason: reason},
		{promise: "folder", text: "{{x}}", value: "a/", reason: reason},
	})
}

func TestFilenameWithoutToken(t *testing.T) {
	if got, err := fillWith(t, "a/b.pdf", Filename, nil); got != "b.pdf" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := fillWith(t, "..", Filename, nil); err == nil || !strings.Contains(err.Error(), "no file name") {
		t.Errorf("got %v", err)
	}
}

func TestHeaderIsOneLine(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		got, err := fillAny(r, rapid.SampledFrom([]string{"{{x}}", "a {{x}}", `"{{x}}";{{y}}`}).Draw(r, "text"), Header, anyText(r, "\r\n\t\x00 :;\"\u0085"))
		if err == nil && strings.ContainsFunc(got, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }) {
			r.Fatalf("got %q", got)
		}
	})
}

func TestFilenameIsOneName(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		got, err := fillAny(r, rapid.SampledFrom([]string{"{{x}}", ".{{x}}{{y}}", "a/{{x}}.pdf"}).Draw(r, "text"), Filename, anyText(r, `./\%`+"\x00\n"))
		if err == nil && (got == "" || got == "." || got == ".." || strings.ContainsAny(got, "/\\\x00\n")) {
			r.Fatalf("got %q", got)
		}
	})
}

// anyText draws text that is rich in the given characters.
func anyText(r *rapid.T, rich string) string {
	c := rapid.OneOf(rapid.SampledFrom([]rune(rich)), rapid.SampledFrom([]rune(rich)), rapid.Rune())
	return rapid.StringOfN(c, 0, 12, -1).Draw(r, "value")
}

// fillAny fills every token of the template with the same value.
func fillAny(t interface{ Fatalf(string, ...any) }, text string, place Place, value any) (string, error) {
	tmpl, faults := Parse(text, place)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", text, faults)
	}
	return tmpl.FillText(func(Token) (any, bool) { return value, true })
}
