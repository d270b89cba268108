package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
)

// A look takes little time, on a large page too.
func TestSpeedOfLook(t *testing.T) {
	optional.Speed(t)
	const section = `<section><h2>More to read</h2><p>%s</p><a href="/more">More</a></section>`
	large := lampShop() + strings.Repeat(fmt.Sprintf(section, strings.Repeat("words of a long page ", 40)), 2000)
	url := site(t, map[string]any{"/login": loginPage, "/list": lampShop(), "/large": large})
	for _, c := range []struct {
		path string
		most time.Duration
	}{{"/login", 150 * time.Millisecond}, {"/list", 150 * time.Millisecond}, {"/large", 700 * time.Millisecond}} {
		p := openPage(t, url+c.path)
		var took []time.Duration
		for range 15 {
			start := time.Now()
			look(t, p, routine.Look{})
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		t.Logf("%s: median %v, longest %v", c.path, took[len(took)/2], took[len(took)-1])
		if took[len(took)/2] > c.most {
			t.Errorf("%s: the median is %v, want at most %v", c.path, took[len(took)/2], c.most)
		}
	}
}
