package routine

import (
	"context"
	"fmt"
	"time"
)

type opInputText struct {
	Selector  string  `json:"selector" fill:"selector"`
	Text      string  `json:"text" fill:"text"`
	Clear     bool    `json:"clear"`
	TimeoutMS integer `json:"timeout_ms"`
}

func (o *opInputText) subject() string { return o.Selector }
func (o *opInputText) limit() (time.Duration, string) {
	return o.TimeoutMS.milliseconds(), "timeout_ms"
}

func (o *opInputText) Do(ctx context.Context, r *Run) error {
	found, err := r.page.Type(ctx, Typing{Selector: o.Selector, Text: o.Text, Clear: o.Clear})
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	r.noteFound(found)
	if found.Left {
		r.warn(fmt.Sprintf("the page left when %q got the focus, before the text was typed", o.Selector))
	}
	if found.Differs {
		r.warn(fmt.Sprintf("%s holds another text than was typed: the page changed or refused part of it", o.Selector))
	}
	return nil
}
