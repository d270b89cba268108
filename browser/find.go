package browser

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"

	"rote/routine"
)

var (
	//go:embed find.js
	findSource string
	// findScript defines a function that finds the elements that could take the place of a
	// lost one. It is sent when a routine is mended, so that runs do not pay for it.
	findScript = withElements("(described => (evidence => (" + findSource + "))(" + evidenceExpression + "))(" + describeSource + ")")
)

// maxFound is how many candidates FindElements returns at most.
const maxFound = 20

// foundElement is a candidate as the script returns it.
type foundElement struct {
	routine.FoundElement
	Alternative int              `json:"alternative"`
	Proposals   []gradedSelector `json:"proposals"`
}

// foundElements is what the script returns about a view.
type foundElements struct {
	Candidates []foundElement `json:"candidates"`
	// Counts are how many elements the alternatives match, Named is how many have the name
	// of the target.
	Counts []int `json:"counts"`
	Named  int   `json:"named"`
}

func (t *tabs) FindElements(ctx context.Context, q routine.ElementQuery) ([]routine.FoundElement, error) {
	return onCurrent(ctx, t, func(p *page) ([]routine.FoundElement, error) { return p.FindElements(ctx, q) })
}

// FindElements finds the elements that could be the one that an operation meant, the
// likeliest first.
func (p *page) FindElements(ctx context.Context, q routine.ElementQuery) ([]routine.FoundElement, error) {
	q.Secrets = p.withReleased(q.Secrets)
	if err := p.awaitRest(ctx); err != nil {
		return nil, err
	}
	if err := p.checkSelector(ctx, strings.Join(q.Alternatives, ",")); err != nil {
		return nil, err
	}
	asked := map[string]any{"target": q.Target, "alternatives": append([]string{}, q.Alternatives...), "lost": q.Lost, "use": string(q.Use), "secrets": q.Secrets,
		"budget": (p.b.lookTime / 4).Milliseconds()}
	bounded, cancel := context.WithTimeout(ctx, p.b.lookTime)
	defer cancel()
	var before []*frameView // in the order in which they are searched
	var found []routine.FoundElement
	counts, named := make([]int, len(q.Alternatives)), 0
	for _, v := range append([]*frameView{p.frames.top}, p.currentFrames()...) {
		in, err := inHelper[foundElements](bounded, v, findScript+".find", asked)
		if err != nil && v == p.frames.top {
			return nil, p.describeFailure(ctx, err)
		}
		if err == nil {
			found = append(found, withSelectors(bounded, before, in.Candidates)...)
			named += in.Named
			for n, count := range in.Counts {
				counts[n] += count
			}
		}
		before = append(before, v)
	}
	return rankFound(found, counts, named), nil
}

// withSelectors are the candidates with the first of their proposed selectors that matches
// nothing in the views; those without one are left out.
func withSelectors(ctx context.Context, views []*frameView, candidates []foundElement) []routine.FoundElement {
	var all []string
	for _, c := range candidates {
		for _, s := range c.Proposals {
			all = append(all, s.Selector)
		}
	}
	taken := takenIn(ctx, views, all)
	var found []routine.FoundElement
	for _, c := range candidates {
		at := slices.IndexFunc(c.Proposals, func(s gradedSelector) bool { return !taken[s.Selector] })
		if at < 0 {
			continue
		}
		x := c.FoundElement
		x.Selector, x.Grade, x.Alternative = c.Proposals[at].Selector, c.Proposals[at].Grade, c.Alternative
		found = append(found, x)
	}
	return found
}

// rankFound sorts the candidates of all views: first those that an alternative matches, then
// the one with the name of the target, then by resemblance. What other views match as well
// proves nothing.
func rankFound(found []routine.FoundElement, counts []int, named int) []routine.FoundElement {
	for n := range found {
		x := &found[n]
		if x.Alternative >= 0 && counts[x.Alternative] != 1 {
			x.Alternative = -1
		}
		x.SameTarget = x.SameTarget && named == 1
	}
	found = slices.DeleteFunc(found, func(x routine.FoundElement) bool { return x.Alternative < 0 && !x.SameTarget && x.Why == "" })
	rank := func(x routine.FoundElement) int {
		switch {
		case x.Alternative >= 0:
			return x.Alternative
		case x.SameTarget:
			return len(counts)
		}
		return len(counts) + 1
	}
	slices.SortStableFunc(found, func(a, b routine.FoundElement) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Resemblance, a.Resemblance))
	})
	return found[:min(len(found), maxFound)]
}
