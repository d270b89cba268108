package operation

import (
	"context"
	"time"

	"rote/routine"
)

// opNavigate is the operation navigate. Its fields are described in
// schemas/operations/navigate.json.
type opNavigate struct {
	URL    string  `json:"url" fill:"url"`
	Settle float64 `json:"sleep_after_navigation_seconds"`
}

func (o *opNavigate) subject() string       { return o.URL }
func (o *opNavigate) sleeps() time.Duration { return routine.Seconds(o.Settle) }

func (o *opNavigate) Do(ctx context.Context, r *Run) error {
	if err := webURL(o.URL); err != nil {
		return err
	}
	n, err := r.Page.Navigate(ctx, o.URL)
	if err != nil {
		return err
	}
	r.SetDetail("url", routine.WithoutUser(n.URL))
	r.SetDetail("status", n.Status)
	if n.Status >= 400 {
		r.Warn(routine.DescribeStatus(n.URL, n.Status))
	}
	if n.Unfinished {
		r.Warn(routine.ShownURL(n.URL) + " did not finish loading; went on with what was there")
	}
	return pause(ctx, o.sleeps())
}
