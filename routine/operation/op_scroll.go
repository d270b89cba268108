package operation

import (
	"context"
	"time"

	"rote/routine"
)

// opScroll is the operation scroll. Its fields are described in
// schemas/operations/scroll.json.
type opScroll struct {
	Selector  string          `json:"selector" fill:"selector"`
	X         *float64        `json:"x"`
	Y         *float64        `json:"y"`
	DeltaX    *float64        `json:"delta_x"`
	DeltaY    *float64        `json:"delta_y"`
	Behavior  string          `json:"behavior"`
	TimeoutMS routine.Integer `json:"timeout_ms"`
}

func (o *opScroll) subject() string                { return o.Selector }
func (o *opScroll) element() string                { return o.Selector }
func (o *opScroll) limit() (time.Duration, string) { return o.TimeoutMS.Milliseconds(), "timeout_ms" }

func (o *opScroll) Do(ctx context.Context, r *Run) error {
	if o.Selector != "" && (o.X != nil || o.Y != nil) {
		r.Warn("x and y scroll the window and were ignored beside a selector: use delta_x and delta_y")
		o.X, o.Y = nil, nil
	}
	err := r.Page.Scroll(ctx, routine.Scroll{Selector: o.Selector, X: o.X, Y: o.Y,
		DeltaX: o.DeltaX, DeltaY: o.DeltaY, Smooth: o.Behavior == "smooth"})
	return withLimit(err, o.TimeoutMS)
}

func (o *opScroll) warnings() []routine.Problem {
	switch {
	case o.Selector != "" && (o.X != nil || o.Y != nil):
		at := "/y"
		if o.X != nil {
			at = "/x"
		}
		return []routine.Problem{{Pointer: at, Code: "ignored_field", Message: "x and y scroll the window and are ignored beside a selector",
			Hint: "use delta_x and delta_y"}}
	case o.X == nil && o.Y == nil && o.DeltaX == nil && o.DeltaY == nil:
		return []routine.Problem{{Code: "no_effect", Message: "scrolls nowhere: give x, y, delta_x or delta_y"}}
	}
	return nil
}
