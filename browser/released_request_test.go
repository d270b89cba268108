package browser

import (
	"net/url"
	"testing"

	"rote/routine"
)

// A request of the page with the same method and URL does not stand for that of the operation:
// the hops of the latter are judged all the same.
func TestRequestThatLooksTheSame(t *testing.T) {
	for _, row := range []struct {
		name string
		q    request
		hop  func(e *pausedHop) // makes the request the operation's
	}{
		{"a header", request{Headers: map[string]string{"X-Key": theSecret}}, func(e *pausedHop) { e.Request.Headers = map[string]string{"x-key": theSecret} }},
		{"a body", request{Body: new(theSecret)}, func(e *pausedHop) { e.Request.HasPostData = true }},
		{"a header that the browser leaves out, and a body", request{Headers: map[string]string{"Cookie": theSecret}, Body: new(theSecret)},
			func(e *pausedHop) { e.Request.HasPostData = true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.q.Method, row.q.URL = "POST", "https://shop.test/r"
			to, err := url.Parse(row.q.URL)
			if err != nil {
				t.Fatal(err)
			}
			r := newReleasedRequest(&routine.Release{Texts: []routine.Hidden{theSecret}}, &row.q, to)
			hop := func(id, redirected, to string, carries bool) *pausedHop {
				e := &pausedHop{Network: id, Redirected: redirected}
				e.Request.Method, e.Request.URL = "POST", to
				if carries {
					row.hop(e)
				}
				return e
			}
			for _, step := range []struct {
				e      *pausedHop
				refuse bool
			}{
				{hop("page", "", row.q.URL, false), false},
				{hop("page", "1", "https://evil.test/", false), false},
				{hop("ours", "", row.q.URL, true), false},
				{hop("page", "", "https://evil.test/", true), false}, // of the page
				{hop("ours", "2", "https://shop.test/next", true), false},
				{hop("ours", "2", "https://evil.test/", true), true},
			} {
				if refused := r.judge(step.e); refused != step.refuse {
					t.Errorf("%+v: refused %v", step.e, refused)
				}
			}
			if r.refusal() == nil {
				t.Error("the operation has no error")
			}
		})
	}
}
