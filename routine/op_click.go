package routine

import (
	"context"
	"fmt"
	"time"
)

type opClick struct {
	Selector      string   `json:"selector" fill:"selector"`
	Button        string   `json:"button"`
	ClickCount    integer  `json:"click_count"`
	TimeoutMS     integer  `json:"timeout_ms"`
	EnsureVisible bool     `json:"ensure_visible"`
	Hover         []string `json:"x-hover" fill:"selector"`
	Popup         string   `json:"x-popup"`
}

func (o *opClick) subject() string                { return o.Selector }
func (o *opClick) limit() (time.Duration, string) { return o.TimeoutMS.milliseconds(), "timeout_ms" }

func (o *opClick) Do(ctx context.Context, r *Run) error {
	found, err := r.page.Click(ctx, Click{Selector: o.Selector, Button: o.Button, Count: int(o.ClickCount), EnsureVisible: o.EnsureVisible, Hover: o.Hover,
		FollowPopup: o.Popup == followPopup})
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	r.noteFound(found)
	if found.Left {
		r.warn(fmt.Sprintf("the page left when the mouse came over %q, before it was pressed", o.Selector))
	}
	return nil
}

// withLimit adds to a failed search for an element how long it lasted.
func withLimit(err error, ms integer) error {
	if err == nil {
		return nil
	}
	e := AsError(err)
	if e.Code != CodeElementNotFound && e.Code != CodeElementNotActionable {
		return err
	}
	return &Error{Code: e.Code, Message: fmt.Sprintf("%s after %d ms", e.Message, ms), cause: err}
}

// noteFound records what a selector matched when that was not one element.
func (r *Run) noteFound(f Found) {
	r.detail("matches", f.Matches)
	if f.Skipped > 0 {
		r.detail("skipped", f.Skipped)
	}
}
