package browser

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rote/routine/definition"
	"rote/routine/lesson"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/service"
)

// maxIdleLessonCost is how many times longer a run may take while a lesson is open that nobody
// uses. The difference is below what other work on the machine changes.
const maxIdleLessonCost = 1.05

// A lesson that is open but not used slows no run. Runs with and without one are made in turn.
func TestSpeedBesideAnIdleLesson(t *testing.T) {
	optional.Speed(t)
	w := &watchedBrowser{Browser: own(t)}
	lessons := lessonsIn(t, w, func(*lesson.Config) {})
	url := site(t, map[string]any{"/": form, "/lesson": lessonPage})
	d, _, err := definition.Parse(fmt.Appendf(nil, `{"name":"n","description":"d","operations":[{"type":"navigate","url":"%s/"},
		{"type":"input_text","selector":"#q","text":"Ada"},{"type":"click","selector":"#go"},{"type":"return_html","selector":"#result"}]}`, url))
	if err != nil {
		t.Fatal(err)
	}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: w})
	measure := func(times int) []time.Duration {
		took := make([]time.Duration, times)
		for n := range took {
			w.waitReady(t)
			start := time.Now()
			if _, err := s.RunOnce(context.Background(), lessonAuthor, d, service.Call{}); err != nil {
				t.Fatal(err)
			}
			took[n] = time.Since(start)
		}
		return took
	}
	// The lower quartile: other work makes runs longer and never shorter.
	quartile := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)/4]
	}
	measure(4)
	cost := 0.0
	for range 4 {
		var alone, beside []time.Duration
		for range 5 {
			alone = append(alone, measure(4)...)
			id := beginLesson(t, lessons, url+"/lesson")
			beside = append(beside, measure(4)...)
			endLesson(t, lessons, id)
		}
		cost = quartile(beside).Seconds() / quartile(alone).Seconds()
		t.Logf("a run takes %v, beside an idle lesson %v: %.3f", quartile(alone), quartile(beside), cost)
		if cost <= maxIdleLessonCost {
			return
		}
	}
	t.Errorf("a run takes %.3f times as long beside an idle lesson, at most %.2f is allowed", cost, maxIdleLessonCost)
}
