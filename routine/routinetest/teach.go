package routinetest

import (
	"cmp"
	"context"
	"time"

	"rote/routine"
)

var _ routine.Teachable = (*page)(nil)

func (p *page) Look(ctx context.Context, l routine.Look) (routine.Seen, error) {
	if p.answers.Look == nil {
		return routine.Seen{URL: p.url, Text: routine.PageTextNotice + "\npage " + p.url}, nil
	}
	seen, err := p.answers.Look(ctx, l)
	seen.URL = cmp.Or(seen.URL, p.url)
	return seen, err
}

func (p *page) Describe(ctx context.Context, selector string, use routine.ElementUse, _ []string) (routine.ElementDescription, error) {
	if p.answers.Describe == nil {
		return routine.ElementDescription{Matches: 1, Selector: selector, Grade: "A", GivenGrade: "A"}, nil
	}
	return p.answers.Describe(ctx, selector, use)
}

func (p *page) ElementAt(ctx context.Context, x, y float64, _ []string) (routine.ElementDescription, error) {
	if p.answers.ElementAt == nil {
		return routine.ElementDescription{}, routine.Errorf(routine.CodeElementNotFound, "there is nothing")
	}
	return p.answers.ElementAt(ctx, x, y)
}

func (p *page) FindElements(ctx context.Context, q routine.ElementQuery) ([]routine.FoundElement, error) {
	if p.answers.FindElements == nil {
		return nil, nil
	}
	return p.answers.FindElements(ctx, q)
}

func (p *page) Nearest(ctx context.Context, i routine.Inspection) ([]routine.Element, error) {
	if p.answers.Nearest == nil {
		return nil, nil
	}
	return p.answers.Nearest(ctx, i)
}

func (p *page) Capture(ctx context.Context, secrets []string) (*routine.Screenshot, error) {
	if p.answers.Capture == nil {
		return &routine.Screenshot{ContentType: "image/jpeg"}, nil
	}
	return p.answers.Capture(ctx, secrets)
}

func (p *page) WaitQuiet(ctx context.Context) (time.Duration, error) {
	if p.answers.WaitQuiet == nil {
		return 0, nil
	}
	return p.answers.WaitQuiet(ctx)
}

func (p *page) ConsoleErrors(time.Time) []string { return p.answers.ConsoleErrors }

func (p *page) Requests(ctx context.Context, after int) (routine.RequestLog, error) {
	if p.answers.Requests == nil {
		return routine.RequestLog{}, nil
	}
	return p.answers.Requests(ctx, after)
}

func (p *page) PageValues(ctx context.Context) (routine.PageValues, error) {
	if p.answers.PageValues == nil {
		return routine.PageValues{URL: p.url}, nil
	}
	return p.answers.PageValues(ctx)
}

func (p *page) Usable(context.Context) error { return p.answers.Unusable }
