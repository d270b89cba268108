package browser

import (
	"testing"

	"rote/routine"
)

// A page that writes to its console without end is ended; others go on.
func TestConsoleFlood(t *testing.T) {
	for i, row := range []struct{ name, flood string }{
		{"many lines", `setInterval(() => { for (let i = 0; i < 1000; i++) console.log(i) })`},
		{"long lines", `const s = 'x'.repeat(8e6); setInterval(() => console.log(s))`},
		{"exceptions", `const f = () => { for (let i = 0; i < 100; i++) setTimeout(() => { throw 1 }); setTimeout(f, 5) }; f()`},
	} {
		if sampled(shared, i) {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			p := openPage(t, site(t, map[string]any{"/": `<script>setTimeout(() => { ` + row.flood + ` })</script>`}))
			_, err := p.WaitURL(testContext(t), func(string) (bool, error) { return false, nil })
			wantCode(t, err, routine.CodeResultTooLarge, "floods its console")
			if got := eval(t, openPage(t, ""), `(() => 1 + 1)()`); got != "2" {
				t.Error(got)
			}
		})
	}
}
