package placeholder

import (
	"errors"
	"testing"
)

var lookupValues = map[string]string{
	"a":      `{"b":{"c":"x"},"n":1.50,"big":12345678901234567890,"t":true,"f":false,"nul":null,"e":"","s":"{\"q\": [1, {\"z\":\"deep\"}]}","o":{ "k" : 1.0, "j":"é" },"":{"":"none"},"length":"own"}`,
	"a.b":    "dotted wins",
	"list":   ` ["p", ["q"], null, 3] `,
	"twice":  `"{\"a\":\"\\\"plain\\\"\"}"`,
	"dup":    `{"a":1,"a":2}`,
	"text":   "not json {",
	"null":   "null",
	"number": "42",
	"lone":   `{"a":"\ud800"}`,
	"empty":  "",
}

var lookups = []struct {
	path, want string
	found      bool
}{
	{"a.b", "dotted wins", true},
	{"a.b.c", "x", true},
	{"a.n", "1.50", true},
	{"a.big", "12345678901234567890", true},
	{"a.t", "true", true},
	{"a.f", "false", true},
	{"a.nul", "", false},
	{"a.e", "", true},
	{"a.o", `{"k":1.0,"j":"é"}`, true},
	{"a.s.q.1.z", "deep", true},
	{"a.s", `{"q": [1, {"z":"deep"}]}`, true},
	{"a.s.q", `[1,{"z":"deep"}]`, true},
	{"a..", "none", true},
	{"a.length", "own", true},
	{"a.missing", "", false},
	{"a.n.x", "", false},
	{"a.t.x", "", false},
	{"list.0", "p", true},
	{"list.1.0", "q", true},
	{"list.2", "", false},
	{"list.3", "3", true},
	{"list.4", "", false},
	{"list.-1", "", false},
	{"list.00", "", false},
	{"list.+1", "", false},
	{"list.length", "4", true},
	{"list.1.length", "1", true},
	{"list.0.length", "", false},
	{"twice.a", `"plain"`, true},
	{"dup.a", "2", true},
	{"text.a", "", false},
	{"text", "not json {", true},
	{"null", "null", true},
	{"null.a", "", false},
	{"number", "42", true},
	{"number.0", "", false},
	{"lone.a", "\uFFFD", true},
	{"empty", "", true},
	{"empty.a", "", false},
	{"missing", "", false},
	{"missing.a", "", false},
}

func TestLookup(t *testing.T) {
	read := func(key string) (string, bool, error) {
		text, ok := lookupValues[key]
		return text, ok, nil
	}
	for _, c := range lookups {
		got, found, err := Lookup(c.path, read)
		if got != c.want || found != c.found || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q, %v", c.path, got, found, err, c.want, c.found)
		}
	}
}

func TestLookupPassesErrorsOn(t *testing.T) {
	broken := errors.New("page is gone")
	for _, failing := range []string{"a.b", "a"} {
		_, found, err := Lookup("a.b", func(key string) (string, bool, error) {
			if key == failing {
				return "", false, broken
			}
			return "", false, nil
		})
		if found || !errors.Is(err, broken) {
			t.Errorf("%s: %v, %v", failing, found, err)
		}
	}
}
