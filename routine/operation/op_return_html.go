package operation

import (
	"context"
	"time"

	"rote/routine"
)

// opReturnHTML is the operation return_html. Its fields are described in
// schemas/operations/return_html.json.
type opReturnHTML struct {
	Scope     string          `json:"scope"`
	Selector  string          `json:"selector" fill:"selector"`
	TimeoutMS routine.Integer `json:"timeout_ms"`
}

func (o *opReturnHTML) subject() string { return o.Selector }
func (o *opReturnHTML) limit() (time.Duration, string) {
	return o.TimeoutMS.Milliseconds(), "timeout_ms"
}

func (o *opReturnHTML) check() []routine.Problem {
	if o.Scope == "element" && o.Selector == "" {
		return []routine.Problem{{Pointer: "/selector", Code: "required", Message: "selector is required when scope is element",
			Hint: `name the element, as in "selector": "#result"`}}
	}
	return nil
}

func (o *opReturnHTML) resultName() string { return o.element() }

// element returns the selector of the element to read, or an empty string for the
// page.
func (o *opReturnHTML) element() string {
	if o.Scope == "element" {
		return o.Selector
	}
	return ""
}

func (o *opReturnHTML) Do(ctx context.Context, r *Run) error {
	html, matches, err := r.Page.OuterHTML(ctx, o.element())
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	if o.element() != "" {
		r.SetDetail("matches", matches)
		r.warnOfMatches(o.element(), matches, 0)
	}
	return r.setData(routine.RawJSON(html), len(html))
}

func (o *opReturnHTML) warnings() []routine.Problem {
	if o.Selector != "" && o.Scope == "page" {
		return []routine.Problem{{Pointer: "/selector", Code: "ignored_field", Message: "selector is ignored while scope is page", Hint: `write "scope": "element"`}}
	}
	return nil
}
