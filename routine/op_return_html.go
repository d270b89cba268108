package routine

import (
	"context"
	"encoding/json"
	"time"
)

type opReturnHTML struct {
	Scope     string  `json:"scope"`
	Selector  string  `json:"selector" fill:"selector"`
	TimeoutMS integer `json:"timeout_ms"`
}

func (o *opReturnHTML) subject() string { return o.Selector }
func (o *opReturnHTML) yields()         {}
func (o *opReturnHTML) limit() (time.Duration, string) {
	return o.TimeoutMS.milliseconds(), "timeout_ms"
}

func (o *opReturnHTML) check() []Problem {
	if o.Scope == "element" && o.Selector == "" {
		return []Problem{{Pointer: "/selector", Code: "required", Message: "selector is required when scope is element", Hint: `name the element, as in "selector": "#result"`}}
	}
	return nil
}

func (o *opReturnHTML) Do(ctx context.Context, r *Run) error {
	selector := ""
	if o.Scope == "element" {
		selector = o.Selector
	}
	html, err := r.page.HTML(ctx, selector)
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	return r.setData(json.RawMessage(compact(html)), len(html))
}
