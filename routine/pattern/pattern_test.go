package pattern

import (
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// Expressions mean what they mean in JavaScript.
func TestPatternsAreECMAScript(t *testing.T) {
	for _, row := range []struct {
		expr, text string
		want       bool
	}{
		{`b`, "abc", true}, // unanchored
		{`^b$`, "abc", false},
		{`^a$`, "a\n", false},
		{`^a$`, "b\na", false},
		{`^a.c$`, "a\nc", false},
		{`^a.c$`, "a\rc", false},
		{`^a.c$`, "a\u2028c", false},
		{`^\d$`, "٣", false},
		{`^\w$`, "é", false},
		{`^\s$`, "\u00a0", true},
		{`^[^]$`, "\n", true},
		{`[]`, "a", false},
		{`\A`, "A", true},
		{`\z$`, "z", true},
		{`^\/\-$`, "/-", true},
		{`^(?<year>\d{4})-\k<year>$`, "2031-2031", true},
		{`(?<=a)b`, "ab", true},
		{`(?<!a)b`, "ab", false},
		{`(?i:A)b`, "ab", true},
		{`^a{,2}$`, "a{,2}", true},
		{`^[a-c\]]+$`, "ab]", true},
		{`^é+$`, "éé", true},
		{`^.$`, "😀", true}, // characters, as with the flag u
	} {
		re, err := Compile(row.expr)
		if err != nil {
			t.Errorf("%s: %v", row.expr, err)
			continue
		}
		if got, err := re.Match(row.text); got != row.want || err != nil {
			t.Errorf("%s on %q: %v %v", row.expr, row.text, got, err)
		}
	}
}

func TestPatternsThatDoNotCompile(t *testing.T) {
	for expr, hint := range map[string]string{
		`(a`: "", `a)`: "", `[a`: "", `a**`: "possessive", `a++`: "possessive", `[b-a]`: "", `\`: "", `(?<a>b)(?<a>c)`: "",
		`(?P<y>a)`: "(?<name>", `(?P=y)`: "(?<name>", `(?i)a`: "(?i:", `(?m)^a`: "(?i:", `a(?s).`: "(?i:",
		`(?#note)a`: "comment", `(?>a)`: "atomic", `(?'y'a)`: "", `(?(1)a|b)`: "",
		strings.Repeat("(", 21) + strings.Repeat(")", 21): "", strings.Repeat("a", MaxLength+1): "",
	} {
		_, err := Compile(expr)
		if err == nil {
			t.Errorf("%s compiled", routine.Truncate(expr, 60))
			continue
		}
		p := Problem("/at", err)
		if p.Code != "pattern" || len(p.Message) > 200 || !strings.Contains(p.Hint, hint) || hint == "" && p.Hint != "" {
			t.Errorf("%s: %+v", routine.Truncate(expr, 60), p)
		}
	}
	if _, err := Compile(strings.Repeat("(", 20) + `\(\[` + strings.Repeat(")", 20) + "[((((((((((((((((((((((]"); err != nil {
		t.Errorf("20 deep, and brackets that are none: %v", err)
	}
}

func TestOneMatchIsBounded(t *testing.T) {
	const most = time.Second // maxMatchTime, on a slow machine
	text := strings.Repeat("a", 50_000) + "!"
	for _, expr := range catastrophic {
		re, err := Compile(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if took := stopwatch.Time(func() { _, _ = re.Match(text) }); took > most {
			t.Errorf("%s took %v", expr, took)
		}
	}
}

// Compiling has a limit too, because the library is slow with nested
// repetitions.
func TestSpeedOfCompiling(t *testing.T) {
	optional.Speed(t)
	for name, expr := range map[string]string{
		"brackets":        strings.Repeat("(", 1<<20),
		"groups":          strings.Repeat("(", 1<<19) + strings.Repeat(")", 1<<19),
		"repeated groups": strings.Repeat("(a*b|", 20) + "a" + strings.Repeat(")*", 20),
		"classes":         strings.Repeat("[", 1<<20),
		"any case":        "(?i:" + strings.Repeat("[a-zé-ž]|k", 350) + ")",
		"alternatives":    strings.Repeat("abc|abd|", 490),
		"counts":          strings.Repeat("(?:a{9999})", 300),
	} {
		if took := stopwatch.Time(func() { _, _ = Compile(expr) }); took > 500*time.Millisecond {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// catastrophic are regular expressions that some texts, as a long row of
// one letter, take a backtracking matcher years to try.
var catastrophic = []string{
	`^(a+)+$`,
	`^(a|aa)+$`,
	`^(a*)*b`,
	`(.*)*x`,
	`^(\w+\s?)*$`,
	`(?=.*x)b`,
	`(a?){50}a{50}b`,
	`(.*)\1x`,
	`((a*)*)*b`,
	`(?:(?:a{1,1000}){1,1000}){1,1000}b`,
	`^(?:.?)+$b`,
	`(x+x+)+y`,
	`(?<=(a+)+)b`,
}
