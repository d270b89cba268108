package browser

import (
	"context"

	"rote/routine"
)

func (t *tabs) ElementAt(ctx context.Context, x, y float64, secrets []string) (routine.ElementDescription, error) {
	return onCurrent(ctx, t, func(p *page) (routine.ElementDescription, error) { return p.ElementAt(ctx, x, y, secrets) })
}

// ElementAt describes the element that a person sees at a point of the viewport.
func (p *page) ElementAt(ctx context.Context, x, y float64, secrets []string) (routine.ElementDescription, error) {
	type pointed struct {
		Selector string `json:"selector"`
		Typed    bool   `json:"typed"`
		Outside  bool   `json:"outside"`
	}
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime)
	defer cancel()
	at, err := inHelper[pointed](bounded, p.frames.top, describeScript+".at",
		map[string]any{"x": x, "y": y, "secrets": p.withReleased(secrets), "budget": (p.b.lookTime / 3).Milliseconds()})
	switch {
	case err != nil:
		return routine.ElementDescription{}, p.describeFailure(ctx, err)
	case at.Outside:
		return routine.ElementDescription{}, routine.Errorf(routine.CodeElementNotFound,
			"a frame of another site is there, into which a point does not lead: choose the element by its name")
	case at.Selector == "":
		return routine.ElementDescription{}, routine.Errorf(routine.CodeElementNotFound, "there is no element that a selector can name")
	}
	use := routine.UseClick
	if at.Typed {
		use = routine.UseText
	}
	return p.Describe(ctx, at.Selector, use, secrets)
}
