package engine

import (
	"context"

	"rote/routine"
)

// maxOutline bounds the outline of a page, in bytes.
const maxOutline = 3000

// addOutline adds what is on the page to the result. If that cannot be told, a warning says
// why: the routine has done its work.
func (r *runner) addOutline(ctx context.Context) {
	page, ok := r.Page.(routine.Teachable)
	switch {
	case !ok:
		r.Warn("there is no outline: the browser cannot describe its pages")
		return
	case r.hidden.size() > maxInspected:
		r.Warn("there is no outline: the secrets of this call are too long to be found in it")
		return
	}
	seen, err := page.Look(ctx, routine.Look{MaxBytes: maxOutline, Secrets: r.hidden.texts})
	if err != nil {
		r.Warn("there is no outline: " + routine.AsError(err).Message)
		return
	}
	r.Result.Outline = hideCredentials(seen.Text)
}
