package browser

import (
	"testing"
	"time"

	"rote/routine"
	"rote/routine/lesson"
)

// A page has the network for the lifetime of its options, and otherwise for that of a run.
// The page of a lesson has it as long as the lesson may take.
func TestPageLifetime(t *testing.T) {
	t.Parallel()
	b := own(t)
	b.pageLifetime = 300 * time.Millisecond // in place of the time of the longest run
	url := site(t, map[string]any{"/": lessonPage, "/next": "<h1>Next</h1>"})
	open := func(lifetime time.Duration) routine.Page {
		p, err := b.Open(testContext(t), routine.PageOptions{Lifetime: lifetime})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	taught := lessonsIn(t, &watchedBrowser{Browser: b}, func(*lesson.Config) {})
	id := beginLesson(t, taught, url+"/")
	long, short, unspecified := open(time.Hour), open(50*time.Millisecond), open(0)
	for name, p := range map[string]routine.Page{"50ms": short, "300ms": unspecified} {
		var err error
		soon(t, "the page loses the network", func() bool {
			_, err = p.Navigate(testContext(t), url+"/")
			return err != nil
		})
		wantCode(t, err, routine.CodeEgressDenied, "the page has been open for more than "+name)
	}
	if _, err := long.Navigate(testContext(t), url+"/"); err != nil {
		t.Error("a page with a longer lifetime:", err)
	}
	if answer, text := try(t, taught, id, nil, `{"type":"navigate","url":"`+url+`/next"}`); !answer.OK {
		t.Error("the page of a lesson:", text)
	}
}
