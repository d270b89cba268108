package placeholder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rote/routine/routinetest/seeded"
)

func TestURLPathAndQuery(t *testing.T) {
	const dots = "dot segment or a control character"
	runRows(t, URL, []row{
		{promise: "one token is taken whole", text: "{{x}}", value: "https://u:p@h/a?b=c#d", want: "https://u:p@h/a?b=c#d"},
		{promise: "so is one in quotes", text: `"{{x}}"`, value: "ftp://h/ \n", want: "ftp://h/ \n"},
		{promise: "path", text: "https://h/a/{{x}}/b", value: "é/ü\\?#%&;=+@: '\"<>", want: "https://h/a/%C3%A9%2F%C3%BC%5C%3F%23%25&;=+@:%20'%22%3C%3E/b"},
		{promise: "encoded stays in a path", text: "https://h/{{x}}", value: "a%41%2fb%4", want: "https://h/a%41%2fb%254"},
		{promise: "a number", text: "https://h/{{x}}", value: json.Number("1.50"), want: "https://h/1.50"},
		{promise: "absent", text: "https://h/a{{x}}?b={{x}}", value: nil, want: "https://h/a?b="},
		{promise: "parent", text: "https://h/a/{{x}}/b", value: "..", reason: dots},
		{promise: "self", text: "https://h/a/{{x}}", value: ".", reason: dots},
		{promise: "parent, encoded", text: "https://h/a/{{x}}?q", value: ".%2E", reason: dots},
		{promise: "parent by parts", text: "https://h/a/.{{x}}", value: ".", reason: dots},
		{promise: "parent by two values", text: "https://h/a/{{x}}{{x}}", value: ".", reason: dots},
		{promise: "parent left by nothing", text: "https://h/a/..{{x}}", value: "", reason: dots},
		{promise: "parent in plain text is the author's", text: "https://h/a/../{{x}}", value: "b", want: "https://h/a/../b"},
		{promise: "dots in a name", text: "https://h/a/{{x}}.html", value: "..", want: "https://h/a/...html"},
		{promise: "control character", text: "https://h/{{x}}", value: "a\nb", reason: dots},
		{promise: "encoded control character", text: "https://h/{{x}}", value: "a%0Ab", reason: dots},
		{promise: "control character by parts", text: "https://h/%0{{x}}", value: "a", reason: dots},
		{promise: "the author's control character", text: "https://h/%00{{x}}", value: "a", want: "https://h/%00a"},
		{promise: "unresolved behind the author's", text: "https://h/%00{{x}}", unsolved: true, want: "https://h/%00{{x}}"},
		{promise: "nothing before a space", text: "{{x}} ./a", value: "", want: "%20./a"},
		{promise: "nothing behind a space", text: "https://h/?q=a {{x}}", value: "", want: "https://h/?q=a%20"},
		{promise: "delete", text: "https://h/{{x}}", value: "%7f", reason: dots},
		{promise: "query", text: "https://h/?q={{x}}", value: "a&b=c#d+e;f'g h", want: "https://h/?q=a%26b%3Dc%23d%2Be%3Bf%27g%20h"},
		{promise: "legal in a query", text: "https://h/?q={{x}}", value: "/?:@,!$()*-._~", want: "https://h/?q=/?:@,!$()*-._~"},
		{promise: "controls in a query", text: "https://h/?q={{x}}", value: "a\r\n\x00é", want: "https://h/?q=a%0D%0A%00%C3%A9"},
		{promise: "encoded stays in a query", text: "https://h/?q={{x}}", value: "%41%26 50%", want: "https://h/?q=%41%26%2050%25"},
		{promise: "dots in a query", text: "https://h/?q=/{{x}}/", value: "..", want: "https://h/?q=/../"},
		{promise: "query key", text: "https://h/?{{x}}=1", value: "a=b&c", want: "https://h/?a%3Db%26c=1"},
		{promise: "query without path", text: "https://h?{{x}}", value: "a&b", want: "https://h?a%26b"},
		{promise: "fragment", text: "https://h/#{{x}}", value: "a#b /", want: "https://h/#a%23b%20/"},
		{promise: "question mark in a fragment", text: "https://h/#/a?b={{x}}", value: "a&b", want: "https://h/#/a?b=a%26b"},
		{promise: "unresolved stays", text: "https://h/{{x}}?{{one}}", unsolved: true, want: "https://h/{{x}}?1"},
		{promise: "unresolved quotes stay", text: `https://h/?a="{{x}}"`, unsolved: true, want: `https://h/?a="{{x}}"`},
		{promise: "white space around is dropped", text: " \nhttps://h/a\tb/{{x}} ", value: "c", want: "https://h/ab/c"},
		{promise: "backslashes are slashes", text: `https:\\h\a\{{x}}`, value: "..", reason: dots},
	})
}

func TestURLAuthority(t *testing.T) {
	const reason = "value not allowed in URL authority"
	runRows(t, URL, []row{
		{promise: "host", text: "https://{{x}}/", value: "a-b.c_d.example", want: "https://a-b.c_d.example/"},
		{promise: "host alone", text: "https://{{x}}", value: "h.test", want: "https://h.test"},
		{promise: "label", text: "https://{{x}}.shop.test/", value: "eu.west", want: "https://eu.west.shop.test/"},
		{promise: "domain", text: "https://www.{{x}}/a", value: "shop.test", want: "https://www.shop.test/a"},
		{promise: "end of a label", text: "https://shop-{{x}}.test/", value: "a.b", want: "https://shop-a.b.test/"},
		{promise: "host of another", text: "https://shop.test{{x}}/", value: ".evil.test", reason: reason},
		{promise: "number at the end", text: "https://shop{{x}}:80/", value: json.Number("7"), want: "https://shop7:80/"},
		{promise: "path in host", text: "https://{{x}}.shop.test/", value: "evil.test/", reason: reason},
		{promise: "user in host", text: "https://{{x}}.shop.test/", value: "a@evil", reason: reason},
		{promise: "port in host", text: "https://{{x}}/", value: "h:80", reason: reason},
		{promise: "query in host", text: "https://{{x}}/", value: "h?", reason: reason},
		{promise: "percent in host", text: "https://{{x}}/", value: "h%2f", reason: reason},
		{promise: "look-alike in host", text: "https://{{x}}.shop.test/", value: "evil.test／", reason: reason},
		{promise: "backslash in host", text: "https://{{x}}/", value: `evil\`, reason: reason},
		{promise: "brackets in host", text: "https://{{x}}/", value: "[::1]", reason: reason},
		{promise: "white space in host", text: "https://{{x}}/", value: "a\tb", reason: reason},
		{promise: "no host", text: "https://{{x}}/evil.test", value: "", reason: reason},
		{promise: "no host but dots", text: "https://{{x}}./a", value: ".", reason: reason},
		{promise: "host behind more slashes", text: `https:/\/{{x}}/`, value: "a/b", reason: reason},
		{promise: "host without slashes", text: "https:{{x}}/", value: "a/b", reason: reason},
		{promise: "host of no scheme", text: "//{{x}}/a", value: "a@b", reason: reason},
		{promise: "user", text: "https://{{x}}@h/", value: "a:b", reason: reason},
		{promise: "plain user", text: "https://{{x}}:{{one}}@h/", value: "me", want: "https://me:1@h/"},
		{promise: "port", text: "http://h:{{x}}/", value: json.Number("8080"), want: "http://h:8080/"},
		{promise: "port with more", text: "http://h:{{x}}/", value: "80@evil", reason: reason},
		{promise: "no port", text: "http://h:{{x}}/", value: "", reason: reason},
		{promise: "port behind an address", text: "http://[::1]:{{x}}/", value: "80", want: "http://[::1]:80/"},
		{promise: "inside an address", text: "http://[::{{x}}]/", value: "1]", reason: reason},
		{promise: "socket", text: "wss://{{x}}/", value: "a/b", reason: reason},
		{promise: "unresolved", text: "https://{{x}}/", unsolved: true, want: "https://{{x}}/"},
	})
}

func TestURLStart(t *testing.T) {
	const scheme = "value not allowed in a URL's scheme"
	const base = "must be an absolute http or https URL"
	runRows(t, URL, []row{
		{promise: "scheme", text: "{{x}}://h/", value: "HTTPS", want: "HTTPS://h/"},
		{promise: "scheme by parts", text: "http{{x}}://h/", value: "s", want: "https://h/"},
		{promise: "other scheme", text: "{{x}}://h/", value: "ftp", reason: scheme},
		{promise: "script", text: "{{x}}:alert(1)", value: "javascript", reason: scheme},
		{promise: "host and port is a scheme to a browser", text: "{{x}}:8080/a", value: "http", reason: scheme},
		{promise: "scheme with more", text: "{{x}}://h/", value: "http://evil/", reason: scheme},
		{promise: "unresolved scheme", text: "{{x}}://h/", unsolved: true, want: "{{x}}://h/"},
		{promise: "base", text: "{{x}}/form", value: "https://h.test:8443/app", want: "https://h.test:8443/app/form"},
		{promise: "slash is not doubled", text: "{{x}}/form", value: "http://[::1]/", want: "http://[::1]/form"},
		{promise: "base and query", text: "{{x}}?a={{one}}", value: "https://h/é b/", want: "https://h/%C3%A9%20b/?a=1"},
		{promise: "base and fragment", text: "{{x}}#a", value: "https://h", want: "https://h#a"},
		{promise: "base with query", text: "{{x}}/form", value: "https://h/?a", reason: base},
		{promise: "base with fragment", text: "{{x}}/form", value: "https://h/#", reason: base},
		{promise: "base with user", text: "{{x}}/form", value: "https://shop.test@evil.test", reason: base},
		{promise: "base with backslash", text: "{{x}}/form", value: `https://shop.test\@evil.test`, reason: base},
		{promise: "base with dots", text: "{{x}}/form", value: "https://h/a/%2e%2E/", reason: "dot segment"},
		{promise: "base with line feed", text: "{{x}}/form", value: "https://h/a\nb", reason: "control character"},
		{promise: "base without host", text: "{{x}}/form", value: "https:///a", reason: base},
		{promise: "relative base", text: "{{x}}/form", value: "/a", reason: base},
		{promise: "base of nothing", text: "{{x}}/form", value: nil, reason: base},
		{promise: "base of another scheme", text: "{{x}}/form", value: "javascript:alert(1)//", reason: base},
		{promise: "unresolved base", text: "{{x}}/form?a={{one}}", unsolved: true, want: "{{x}}/form?a=1"},
		{promise: "relative path", text: "/a/{{x}}", value: "b/c", want: "/a/b%2Fc"},
		{promise: "start of a relative path", text: "{{x}}.html", value: "https://evil/", want: "https%3A%2F%2Fevil%2F.html"},
		{promise: "start by two values", text: "{{x}}{{x}}", value: "a:", want: "a%3Aa%3A"},
		{promise: "colon later in a relative path", text: "a/{{x}}", value: "b:c", want: "a/b:c"},
		{promise: "nothing does not make a host", text: "/{{x}}/evil.test", value: "", reason: "into a host"},
		{promise: "nothing in the middle", text: "/a/{{x}}/b", value: "", want: "/a//b"},
		{promise: "query alone", text: "?a={{x}}", value: "b&c", want: "?a=b%26c"},
		{promise: "data", text: "data:text/plain,{{x}}", value: "a", reason: "http or https"},
		{promise: "value in a script URL", text: "javascript:{{x}}", value: "a", reason: "http or https"},
	})
}

var urlTemplates = []string{
	"https://shop.test/a/{{x}}/b?c={{x}}&d=1#{{x}}", "https://shop.test/{{x}}{{x}}", "https://shop.test/.{{x}}", "https://{{x}}.shop.test/a?b=c",
	"https://shop{{x}}/", "https://shop.test:{{x}}/", "https://{{x}}@shop.test/", "/a/{{x}}?{{x}}=1", "/{{x}}/b", "{{x}}.html?a=b", "{{x}}/a?b={{x}}",
	"{{x}}?b=c", "http{{x}}://shop.test/", "{{x}}://shop.test/a", "//shop.test/{{x}}/", `https:\\shop.test\{{x}}\b`, "?{{x}}", "#{{x}}",
	"https://shop.test/a%{{x}}?b=%{{x}}", `https://shop.test/"{{x}}"`, "https://shop.test/?a={{x}};b={{x}}",
}

// harmless are the values to compare with: the first that the template takes.
var harmless = []any{"v", json.Number("80"), "https", "https://v.test"}

const urlRich = `/\:?#@&=;%.[] "'<>+2eE0aA` + "\n\r\t\x00\x7f"

func TestURLKeepsItsStructure(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		checkURL(r, rapid.SampledFrom(urlTemplates).Draw(r, "template"), anyText(r, urlRich))
	})
}

// checkURL compares the URL that a value makes with one that is harmless. In
// place of a base only what is added to it can be compared.
func checkURL(t interface{ Fatalf(string, ...any) }, template, value string) {
	tmpl, _ := Parse(template, URL)
	if tmpl.Literal() || tmpl.checkWhole == nil { // one token, taken whole
		return
	}
	fill := func(v any) (string, error) { return tmpl.FillText(func(Token) (any, bool) { return v, true }) }
	got, err := fill(value)
	if err != nil {
		return
	}
	for _, v := range harmless {
		plain, err := tmpl.FillText(func(tok Token) (any, bool) {
			rest := whiteInURL.Replace(strings.TrimPrefix(template[tok.Offset+len(tok.Raw):], `"`))
			if strings.Trim(template[:tok.Offset], whiteToABrowser+`"`) == "" && rest != "" && strings.ContainsAny(rest[:1], `/\?#`) {
				return value, true // the base of the rest: what is added to it is compared
			}
			return v, true
		})
		if err != nil {
			continue
		}
		if g, w := structure(got), structure(plain); !slices.Equal(g, w) {
			t.Fatalf("%q with %q became %q, of the structure %q; harmless %q has %q", template, value, got, g, plain, w)
		}
		return
	}
}

// parts of a URL as a browser finds them; slashes are those of the web's
// schemes.
var urlParts = regexp.MustCompile(`(?is)^(?:(https?|wss?|ftp):[/\\]*|([a-z][a-z0-9+.-]*):|([/\\]{2,}))?([^?#]*)(\?[^#]*)?(#.*)?$`)

// whiteToABrowser is dropped around a URL.
const whiteToABrowser = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// structure is what a value must not change.
func structure(text string) []string {
	m := urlParts.FindStringSubmatch(whiteInURL.Replace(strings.Trim(text, whiteToABrowser)))
	path := strings.ReplaceAll(m[4], `\`, "/")
	out := []string{strings.ToLower(m[1]), m[2], fmt.Sprint(m[3] != "")}
	if m[1] != "" || m[3] != "" {
		authority, rest, _ := strings.Cut(path, "/")
		out = append(out, fmt.Sprint(authority == ""), fmt.Sprint(strings.Count(authority, "@")), fmt.Sprint(strings.Count(authority, ":")))
		path = "/" + rest
	}
	for _, segment := range strings.Split(path, "/") {
		out = append(out, map[bool]string{true: "dots", false: "/"}[isDotSegment(segment)])
	}
	for _, part := range strings.Split(m[5], "&") {
		out = append(out, map[bool]string{true: "key=", false: "key"}[strings.Contains(part, "=")])
	}
	return append(out, fmt.Sprint(m[5] != ""), fmt.Sprint(m[6] != ""))
}

func FuzzFillURL(f *testing.F) {
	for _, template := range urlTemplates {
		f.Add(template, "../a?b#c@d:80")
		f.Add(template, "")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		checkURL(t, strings.ToValidUTF8(template, "\uFFFD"), value)
	})
}
