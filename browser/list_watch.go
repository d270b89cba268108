package browser

import "time"

// listQuietTime is how long a list must stand still, and the page's scripts must make no
// request, before an option that the list does not have is not waited for any longer.
const listQuietTime = 2 * time.Second

// scriptRequests counts the requests that scripts have made.
type scriptRequests interface {
	// scriptRequests returns how many were made so far, and whether any is under way.
	scriptRequests() (made int, underWay bool)
}

// listWatch decides when a list without the wanted option is complete. Pages often fill a
// list from the answer to a request, such as the cities of the country that was chosen.
type listWatch struct {
	requests scriptRequests
	made     int       // number of requests at the last look
	quiet    time.Time // since when no request was seen
}

func newListWatch(r scriptRequests) *listWatch {
	made, _ := r.scriptRequests()
	return &listWatch{requests: r, made: made, quiet: time.Now()}
}

// isComplete reports whether s is a list that does not have the wanted option and is not
// expected to get it. It must be called after each look at the page, like quietFor.
func (w *listWatch) isComplete(s actionPoint) bool {
	quiet, unchanged := w.quietFor(), time.Duration(s.Unchanged*float64(time.Millisecond))
	return !s.OK && min(unchanged, quiet) >= listQuietTime
}

// quietFor is for how long no request was made. It must be called often, because it only
// notices requests between two calls.
func (w *listWatch) quietFor() time.Duration {
	if made, underWay := w.requests.scriptRequests(); underWay || made != w.made {
		w.made, w.quiet = made, time.Now()
	}
	return time.Since(w.quiet)
}

// requestsUnderWay counts the requests of the run's scripts that have no answer yet.
func (p *page) requestsUnderWay() int {
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return len(first.downloads.requests)
}

// scriptRequests returns how many requests the scripts of the run's pages have made, and
// whether any, or a navigation of this page, is under way.
func (p *page) scriptRequests() (made int, underWay bool) {
	navigating := p.now().navigating()
	first := p.first()
	first.mu.Lock()
	defer first.mu.Unlock()
	return first.downloads.number, len(first.downloads.requests) > 0 || navigating
}
