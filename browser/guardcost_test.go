package browser

import (
	"slices"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/javascript"
	"rote/routine/routinetest/optional"
)

// costs are scripts that the guard treats differently, and how.
var costs = []struct{ name, script string }{
	{"reader", `(() => [...document.querySelectorAll('#t tr')].map(tr => tr.textContent.trim()))()`},
	{"page function", `(() => app.each([1, 2], x => x + 1))()`},
	{"writer", `(() => { document.querySelector('#out').append('x') })()`},
	{"unnamed", `(() => { const n = 'each' + document.title.slice(9); return app[n]([1], x => x) })()`},
}

// A script that only reads costs what a plain evaluation costs.
func TestSpeedOfScriptsThatRead(t *testing.T) {
	optional.Speed(t)
	p := guardedPage(t, shared, guardSite(t, newSink(t))+"/")
	s := routine.Script{Text: costs[0].script, Limit: testTime}
	const n = 201
	var plain, whole []time.Duration
	for range n { // interleaved, so that other load meets both
		start := time.Now()
		if _, err := p.run(t.Context(), s, ""); err != nil {
			t.Fatal(err)
		}
		plain = append(plain, time.Since(start))
		start = time.Now()
		s.Facts = javascript.Prove(s.Text)
		if _, err := p.Evaluate(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, time.Since(start))
	}
	slices.Sort(plain)
	slices.Sort(whole)
	t.Logf("plain %v, as an operation %v: %.2f times", plain[n/2], whole[n/2], float64(whole[n/2])/float64(plain[n/2]))
	if p.guard != nil {
		t.Error("a script that only reads is watched")
	}
	if whole[n/2] > 2*plain[n/2] {
		t.Errorf("%v instead of %v", whole[n/2], plain[n/2])
	}
}

// BenchmarkEvaluate is the first script on a document and, for "again", one on
// a document that is watched already.
func BenchmarkEvaluate(b *testing.B) {
	p, err := shared.Open(b.Context(), routine.Opening{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	url := site(b, map[string]any{"/": guardPage}) + "/"
	for _, c := range costs {
		facts := javascript.Prove(c.script)
		for _, again := range []bool{false, true} {
			name := c.name
			if again {
				name += " again"
			}
			b.Run(name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if !again || i == 0 {
						b.StopTimer()
						if _, err := p.Navigate(b.Context(), url); err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
					}
					if _, err := p.Evaluate(b.Context(), routine.Script{Text: c.script, Limit: testTime, Facts: facts}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
