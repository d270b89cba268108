package browser

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"

	"rote/routine"
)

var (
	//go:embed describe.js
	describeSource string
	// describeScript defines functions that describe one element. It is sent when an author
	// works on a routine, so that runs do not pay for it.
	describeScript = withElements(describeSource)
)

// describedElement is what the script returns about the matches of a selector in a view.
type describedElement struct {
	routine.ElementDescription
	// Usable reports whether an operation could act on the described match.
	Usable    bool             `json:"usable"`
	Text      string           `json:"value"`
	Proposals []gradedSelector `json:"proposals"`
	// DocumentAt is that of the description, which is not a part of its JSON.
	DocumentAt float64 `json:"document_at"`
	// Named is the target, with the number of elements in this view that it names.
	Named struct {
		routine.Target
		Matches int `json:"matches"`
	} `json:"target"`
	view *frameView
}

func (t *tabs) Describe(ctx context.Context, selector string, use routine.ElementUse, secrets []string) (routine.ElementDescription, error) {
	return onCurrent(ctx, t, func(p *page) (routine.ElementDescription, error) { return p.Describe(ctx, selector, use, secrets) })
}

// Describe describes the match of the selector that an operation would act on.
func (p *page) Describe(ctx context.Context, selector string, use routine.ElementUse, secrets []string) (routine.ElementDescription, error) {
	secrets = p.withReleased(secrets)
	asked := map[string]any{"selector": selector, "use": string(use), "secrets": secrets, "budget": (p.b.lookTime / 3).Milliseconds()}
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime)
	defer cancel()
	first, err := p.describeIn(bounded, p.frames.top, asked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.interruptScript(ctx)
		bounded, cancel = context.WithTimeout(ctx, p.b.lookTime)
		defer cancel()
		first, err = p.describeIn(bounded, p.frames.top, asked)
	}
	if err != nil {
		return routine.ElementDescription{}, selectorError(selector, p.describeFailure(ctx, err))
	}
	chosen, matches := first, first.Matches
	frames := p.currentFrames()
	for _, v := range frames {
		found, err := helpInFrame[bool](bounded, v, "present", selector, 0)
		if err != nil || !found {
			continue
		}
		inside, err := p.describeIn(bounded, v, asked)
		if err != nil {
			continue
		}
		matches += inside.Matches
		if chosen.Matches == 0 || !chosen.Usable && inside.Usable {
			chosen = inside
		}
	}
	if matches == 0 {
		return routine.ElementDescription{}, nil
	}
	d := chosen.ElementDescription
	d.Matches, d.Target, d.Value, d.DocumentAt = matches, chosen.Named.Target, chosen.Text, chosen.DocumentAt
	d.Target.Matches = chosen.Named.Matches
	p.countInOtherViews(bounded, chosen.view, &d.Target, secrets)
	propose(bounded, &d, chosen, append([]*frameView{p.frames.top}, frames...))
	return d, nil
}

func (p *page) describeIn(ctx context.Context, v *frameView, asked map[string]any) (describedElement, error) {
	d, err := inHelper[describedElement](ctx, v, describeScript+".describe", asked)
	d.view = v
	return d, err
}

// countInOtherViews adds the elements of the other views that have the target's name.
func (p *page) countInOtherViews(ctx context.Context, own *frameView, t *routine.Target, secrets []string) {
	if t.Name == "" {
		return
	}
	for _, v := range append([]*frameView{p.frames.top}, p.currentFrames()...) {
		if v == own {
			continue
		}
		n, err := inHelper[int](ctx, v, describeScript+".countTarget", map[string]any{"target": t, "secrets": secrets, "budget": frameTime.Milliseconds()})
		if err == nil {
			t.Matches += n
		}
	}
}

// propose sets the selectors of a description to those of the script's proposals that find
// no element in a view that is searched before that of the element.
func propose(ctx context.Context, d *routine.ElementDescription, from describedElement, views []*frameView) {
	before := views[:max(0, slices.Index(views, from.view))]
	all := make([]string, len(from.Proposals))
	for n, x := range from.Proposals {
		all[n] = x.Selector
	}
	taken := takenIn(ctx, before, all)
	for _, x := range from.Proposals {
		switch {
		case taken[x.Selector]:
		case d.Selector == "":
			d.Selector, d.Grade = x.Selector, x.Grade
		case len(d.Alternatives) < maxAlternatives:
			d.Alternatives = append(d.Alternatives, x.Selector)
		}
	}
	d.Grade = cmp.Or(d.Grade, d.GivenGrade)
}

// maxAlternatives is how many other selectors a description has at most.
const maxAlternatives = 3
