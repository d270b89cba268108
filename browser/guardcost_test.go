package browser

import (
	"slices"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/javascript/facts"
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
		s.Facts = facts.Prove(s.Text)
		if _, err := p.Evaluate(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, time.Since(start))
	}
	slices.Sort(plain)
	slices.Sort(whole)
	t.Logf("plain %v, as an operation %v: %.2f times", plain[n/2], whole[n/2], float64(whole[n/2])/float64(plain[n/2]))
	if p.guarding.guard != nil {
		t.Error("a script that only reads is watched")
	}
	if whole[n/2] > 2*plain[n/2] {
		t.Errorf("%v instead of %v", whole[n/2], plain[n/2])
	}
}

// rows is a page of 10,000 elements, and readAndWrite a script that reads and
// writes each of them.
const (
	rows = `<!doctype html><div id=list></div><script>
for (let i = 0; i < 10000; i++) { const e = document.createElement('div'); e.className = 'row'; e.id = 'r' + i; e.textContent = 'row ' + i; list.append(e) }
</script>`
	readAndWrite = `(() => {
		let length = 0;
		for (const e of document.querySelectorAll('.row')) {
			length += e.textContent.length + e.id.length + e.parentElement.id.length;
			e.textContent = e.textContent.split(' ').reverse().join(' ');
			e.setAttribute('data-length', length);
			e.classList.toggle('odd');
			e.title = 'title ' + length;
			e.append(document.createElement('b'));
			e.lastElementChild.remove();
		}
		return length;
	})()`
)

// maxWatching is how many times as long as otherwise a script may take that is
// watched.
const maxWatching = 1.3

// A script that reads and writes the document takes as long when it is watched.
// Both kinds of run take turns, so that other load meets both.
func TestSpeedOfWatchedScripts(t *testing.T) {
	optional.Speed(t)
	b := own(t)
	url := site(t, map[string]any{"/": rows}) + "/"
	plain, watched := guardedPage(t, b, url), guardedPage(t, b, url)
	s := script(readAndWrite, testTime)
	if s.Facts.Reads {
		t.Fatal("the script counts as one that only reads")
	}
	run := func(p *page, do func() error) time.Duration {
		if _, err := p.run(testContext(t), script(`(() => new Promise(done => requestAnimationFrame(() => setTimeout(done))))()`, testTime), ""); err != nil {
			t.Fatal(err) // what the round before has changed is drawn
		}
		start := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	ratio := 0.0
	for range 5 {
		var took [2][]time.Duration
		for range 7 {
			took[0] = append(took[0], run(plain, func() error { _, err := plain.run(testContext(t), s, ""); return err }))
			took[1] = append(took[1], run(watched, func() error { _, err := watched.Evaluate(testContext(t), s); return err }))
		}
		slices.Sort(took[0])
		slices.Sort(took[1])
		ratio = float64(took[1][3]) / float64(took[0][3])
		t.Logf("median %v unwatched, %v watched: %.2f", took[0][3], took[1][3], ratio)
		if ratio <= maxWatching {
			return
		}
	}
	t.Fatalf("watching makes the script take %.2f times as long, at most %.2f is allowed", ratio, maxWatching)
}

// BenchmarkEvaluate is the first script on a document and, for "again", one on
// a document that is watched already.
func BenchmarkEvaluate(b *testing.B) {
	p, err := shared.Open(b.Context(), routine.PageOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	url := site(b, map[string]any{"/": guardPage}) + "/"
	for _, c := range costs {
		proved := facts.Prove(c.script)
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
					if _, err := p.Evaluate(b.Context(), routine.Script{Text: c.script, Limit: testTime, Facts: proved}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
