package routine

import (
	"context"
	"fmt"
	"time"
)

type opNavigate struct {
	URL    string  `json:"url" fill:"url"`
	Settle float64 `json:"sleep_after_navigation_seconds"`
}

func (o *opNavigate) subject() string       { return o.URL }
func (o *opNavigate) sleeps() time.Duration { return Seconds(o.Settle) }

func (o *opNavigate) Do(ctx context.Context, r *Run) error {
	if err := webURL(o.URL); err != nil {
		return err
	}
	n, err := r.Page.Navigate(ctx, o.URL)
	if err != nil {
		return err
	}
	r.detail("url", n.URL)
	r.detail("status", n.Status)
	if n.Status >= 400 {
		r.warn(fmt.Sprintf("%s answered with HTTP status %d", Truncate(n.URL, MaxShownURL), n.Status))
	}
	if n.Unfinished {
		r.warn(fmt.Sprintf("%s did not finish loading; went on with what was there", Truncate(n.URL, MaxShownURL)))
	}
	return pause(ctx, o.sleeps())
}
