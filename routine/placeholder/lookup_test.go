package placeholder

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rote/routine/routinetest/stopwatch"
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
	"string": `"a \"b\" \u00e9"`,
	"spaced": " \n\"x\" ",
	"blank":  `""`,
	"quoted": `"x" said he`,
	"open":   `"x`,
	"two":    `"x""y"`,
	"nested": `"{\"a\":1}"`,
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
	{"string", `a "b" é`, true},
	{"spaced", "x", true},
	{"blank", "", true},
	{"quoted", `"x" said he`, true},
	{"open", `"x`, true},
	{"two", `"x""y"`, true},
	{"nested", `{"a":1}`, true},
	{"nested.a", "1", true},
	{"missing", "", false},
	{"missing.a", "", false},
}

func TestLookup(t *testing.T) {
	read := func(key string) (string, bool, error) {
		text, ok := lookupValues[key]
		return text, ok, nil
	}
	for _, c := range lookups {
		got, found, err := Lookup(t.Context(), c.path, read)
		if got != c.want || found != c.found || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q, %v", c.path, got, found, err, c.want, c.found)
		}
	}
}

func TestLookupReturnsReadErrors(t *testing.T) {
	broken := errors.New("page is gone")
	for _, failing := range []string{"a.b", "a"} {
		_, found, err := Lookup(t.Context(), "a.b", func(key string) (string, bool, error) {
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

// A path of many steps takes no longer than a path of one: the text is read once.
func TestLookupReadsTextOnce(t *testing.T) {
	const levels = 300
	inner := `"` + strings.Repeat("x", 1<<20) + `"`
	object := strings.Repeat(`{"a":`, levels) + inner + strings.Repeat(`}`, levels)
	list := strings.Repeat(`[1,`, levels) + inner + strings.Repeat(`]`, levels)
	timeOf := func(path, text string) time.Duration {
		best := time.Hour
		for range 5 {
			var found bool
			var err error
			best = min(best, stopwatch.Time(func() {
				_, found, err = Lookup(t.Context(), path, func(key string) (string, bool, error) { return text, key == "k", nil })
			}))
			if !found || err != nil {
				t.Fatalf("%.20s of %.20s: %v, %v", path, text, found, err)
			}
		}
		return best
	}
	for text, step := range map[string]string{object: ".a", list: ".1"} {
		one, all := timeOf("k"+step, text), timeOf("k"+strings.Repeat(step, levels), text)
		if all > 10*one {
			t.Errorf("%s: %v for one step, %v for %d", step, one, all, levels)
		}
	}
}

// Lookup ends with its context.
func TestLookupEndsWithContext(t *testing.T) {
	limit := errors.New("the time is up")
	for _, part := range []string{`{},`, `[[]],`, `"x",`, `"\"",`, `1,`} {
		text := "[" + strings.Repeat(part, (8<<20)/len(part)) + "1]"
		ctx, cancel := context.WithCancelCause(t.Context())
		_, found, err := Lookup(ctx, "k.length", func(key string) (string, bool, error) {
			cancel(limit)
			return text, key == "k", nil
		})
		if found || !errors.Is(err, limit) {
			t.Errorf("%s: %v, %v", part, found, err)
		}
	}
}
