package browser

import (
	"testing"
	"testing/synctest"
	"time"
)

// fakeRequests are the requests of the scripts of a page.
type fakeRequests struct {
	made     int
	underWay bool
}

func (r *fakeRequests) scriptRequests() (int, bool) { return r.made, r.underWay }

// A list without the wanted option is complete when neither the list has changed nor the page
// has made a request for a while.
func TestListIsCompleteWhenThePageIsQuiet(t *testing.T) {
	still := actionPoint{Unchanged: 1e6}
	for _, row := range []struct {
		name string
		page func(r *fakeRequests, w *listWatch) // what happens before the last second
		last actionPoint
		want bool
	}{
		{"a quiet page", func(*fakeRequests, *listWatch) { time.Sleep(listQuietTime) }, still, true},
		{"not yet", func(*fakeRequests, *listWatch) {}, still, false},
		{"a list that changed a second ago", func(*fakeRequests, *listWatch) { time.Sleep(listQuietTime) }, actionPoint{Unchanged: 1000}, false},
		{"no list", func(*fakeRequests, *listWatch) { time.Sleep(listQuietTime) }, actionPoint{}, false},
		{"an element to act on", func(*fakeRequests, *listWatch) { time.Sleep(listQuietTime) }, actionPoint{OK: true, Unchanged: 1e6}, false},
		{"a request under way", func(r *fakeRequests, _ *listWatch) {
			r.made, r.underWay = 1, true
			time.Sleep(10 * listQuietTime)
		}, still, false},
		{"an answer a second ago", func(r *fakeRequests, w *listWatch) {
			r.made, r.underWay = 1, true
			time.Sleep(10 * listQuietTime)
			w.isComplete(still)
			r.underWay = false
		}, still, false},
		{"an answer long ago", func(r *fakeRequests, w *listWatch) {
			r.made, r.underWay = 1, true
			time.Sleep(10 * listQuietTime)
			w.isComplete(still)
			r.underWay = false
			time.Sleep(listQuietTime)
		}, still, true},
		{"a request between two looks", func(r *fakeRequests, w *listWatch) {
			time.Sleep(listQuietTime)
			r.made++
			w.isComplete(still)
		}, still, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r fakeRequests
				w := newListWatch(&r)
				row.page(&r, w)
				time.Sleep(time.Second)
				if got := w.isComplete(row.last); got != row.want {
					t.Errorf("complete: %v, want %v", got, row.want)
				}
			})
		})
	}
}
