package browser

import (
	"slices"
	"testing"
	"time"

	"rote/browser/egress"
	"rote/routine/routinetest/optional"
)

// maxOverhead is what the proxy may add to the five-step task.
const maxOverhead = 1.10

// direct is a page without a proxy, as no run ever gets one.
func direct(t *testing.T, b *Browser) *page {
	t.Helper()
	i := mustOpen(t, b).i // which holds the browser as long as the test goes
	proxy, err := egress.Listen(b.config.Egress, egress.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := blankPage(b, i, proxy)
	if err := p.open(testContext(t), ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.disposeContext(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// The task is done with and without the proxy in turn, so that both run under the
// same load. Other work on the machine slows down single rounds, a slow proxy all of
// them.
func TestSpeedOfProxy(t *testing.T) {
	optional.Speed(t)
	b := own(t)
	url := site(t, map[string]any{"/form": form}) + "/form"
	without, with := direct(t, b), mustOpen(t, b)
	ratio := 0.0
	for range 4 {
		var took [2][]time.Duration
		for range 15 {
			for n, p := range []*page{without, with} {
				start := time.Now()
				formTask(t, p, url)
				took[n] = append(took[n], time.Since(start))
			}
		}
		slices.Sort(took[0])
		slices.Sort(took[1])
		a, b := took[0][len(took[0])/2], took[1][len(took[1])/2]
		ratio = float64(b) / float64(a)
		t.Logf("median %v without the proxy, %v with it: %.2f", a, b, ratio)
		if ratio < maxOverhead {
			return
		}
	}
	t.Fatalf("the proxy makes the task %.2f times as long, at most %.2f is allowed", ratio, maxOverhead)
}
