package operation

import (
	"context"
	"fmt"
	"time"

	"rote/routine"
)

// opClick is the operation click. Its fields are described in
// schemas/operations/click.json.
type opClick struct {
	Selector      string          `json:"selector" fill:"selector"`
	Button        string          `json:"button"`
	ClickCount    routine.Integer `json:"click_count"`
	TimeoutMS     routine.Integer `json:"timeout_ms"`
	EnsureVisible bool            `json:"ensure_visible"`
	Hover         []string        `json:"x-hover" fill:"selector"`
	Popup         string          `json:"x-popup"`
	Optional      bool            `json:"x-optional"`
	Dialog        string          `json:"x-dialog"`
}

func (o *opClick) subject() string                { return o.Selector }
func (o *opClick) limit() (time.Duration, string) { return o.TimeoutMS.Milliseconds(), "timeout_ms" }
func (o *opClick) isOptional() bool               { return o.Optional }
func (o *opClick) setTimeout(ms routine.Integer)  { o.TimeoutMS = ms }

func (o *opClick) check() []routine.Problem {
	if !o.Optional || o.Popup != FollowPopup {
		return nil
	}
	return []routine.Problem{{Pointer: "/x-optional", Code: "conflict",
		Message: "a click that follows a window cannot be optional: if it were skipped, the operations after it would act on the wrong page",
		Hint:    "leave out x-optional or x-popup"}}
}

func (o *opClick) Do(ctx context.Context, r *Run) error {
	defer r.answerDialogs(o.Dialog)()
	found, err := r.Page.Click(ctx, routine.Click{Selector: o.Selector, Button: o.Button, Count: int(o.ClickCount), EnsureVisible: o.EnsureVisible, Hover: o.Hover,
		FollowPopup: o.Popup == FollowPopup})
	if err != nil {
		return withLimit(err, o.TimeoutMS)
	}
	r.noteFound(o.Selector, found)
	if found.Left {
		r.Warn(fmt.Sprintf("the page left when the mouse came over %q, before it was pressed", o.Selector))
	}
	return nil
}

// withLimit adds to the error of a failed search for an element how long it lasted.
func withLimit(err error, ms routine.Integer) error {
	if !aboutElement(err) {
		return err
	}
	e := routine.AsError(err)
	return &routine.Error{Code: e.Code, Message: fmt.Sprintf("%s after %d ms", e.Message, ms), Cause: err}
}

// noteFound records what a selector matched, and warns if it matched several elements.
func (r *Run) noteFound(selector string, f routine.Match) {
	r.SetDetail("matches", f.Matches)
	if f.Skipped > 0 {
		r.SetDetail("skipped", f.Skipped)
	}
	r.warnOfMatches(selector, f.Matches, f.Skipped)
}

// warnOfMatches warns of a selector that matches more than one element. The first
// actionable one was used, after skipped ones that were not.
func (r *Run) warnOfMatches(selector string, matches, skipped int) {
	if matches < 2 {
		return
	}
	used := "the first one was used"
	if skipped > 0 {
		used = fmt.Sprintf("number %d was used, because the ones before it are not actionable", skipped+1)
	}
	r.Warn(fmt.Sprintf("%s matches %d elements: %s; use a selector that matches only the one you mean",
		routine.Quote(routine.Truncate(selector, 80)), matches, used))
}
