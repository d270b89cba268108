package placeholder

import (
	"strings"
	"testing"
	"time"

	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// A definition may be megabytes. What grows with its square takes minutes here.
func TestSpeedOfHostileTemplates(t *testing.T) {
	optional.Speed(t)
	for _, unit := range []string{
		"{{a}}", "{{", "{{x:y}}", "{", `"{{a}}"`, `\{{a}}`, "/{{a}}", "[{{a}}-", "{{{1}}", "}/", "a.{{a}} ", "`${{{a}}}`", "({{a}}", "'{{a}}' ", "{{a}}:",
		"nth-child({{a}})", "{{cookie:a||{}}", `\1{{a}}`, "(?<", "{1,", "/a{{a}}/;", "{{{{a}}", "0{{a}}", "a{{a}}+", "/{{a}}[",
	} {
		text := strings.Repeat(unit, 40_000/len(unit))
		for place := Text; place <= Filename; place++ {
			if took := stopwatch.Time(func() {
				tmpl, _ := Parse(text, place)
				_, _ = tmpl.FillText(func(Token) (any, bool) { return "1", true })
			}); took > 20*time.Second {
				t.Errorf("%d times %s in place %d took %v", len(text)/len(unit), unit, place, took)
			}
		}
	}
}
