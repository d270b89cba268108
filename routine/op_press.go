package routine

import "context"

type opPress struct {
	Key string `json:"key" fill:"text"`
}

func (o *opPress) subject() string { return o.Key }

func (o *opPress) Do(ctx context.Context, r *Run) error { return r.page.Press(ctx, o.Key) }
