package browser

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"time"

	"rote/routine"
)

var (
	//go:embed evidence.js
	evidenceSource string
	//go:embed evidence_text.js
	evidenceTextSource string
	// evidenceScript defines functions that compare the elements of a page with a
	// selector. It is sent after a failure only, so that other runs do not pay for it.
	evidenceScript = withSecrets("(pageText => (" + evidenceSource + "))(" + evidenceTextSource + ")")
)

// outlineTime is how long a page has to answer before its scripts count as hung. For a
// quarter of it, a selector that matched nothing is searched again, to find elements
// that came too late. Each step of the comparison may take a sixth of it.
const outlineTime = time.Second

// maxElements and maxText bound the elements and the characters of text that evidence
// contains.
const (
	maxElements = 15
	maxText     = 300
)

// candidate is an element that the selector may have meant. Points rank them.
type candidate struct {
	routine.Element
	Points float64 `json:"points"`
}

// pageOutline is what the script returns about a view.
type pageOutline struct {
	Title    string      `json:"title"`
	Text     string      `json:"text"`
	Elements []candidate `json:"elements"`
}

// Evidence describes the page after a failure. If the page hangs, its scripts are
// stopped and it is asked once more.
func (p *page) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	found, err := p.outline(ctx, p.frames.top, i, p.b.outlineTime/4)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.terminateScript()
		found, err = p.outline(ctx, p.frames.top, i, 0)
	}
	s := p.now()
	e := &routine.Evidence{URL: cmp.Or(s.unreachable, s.url), Title: found.Title, Text: found.Text}
	e.Console, e.FailedRequests = p.trace.read(p.lastScript())
	for n := range e.FailedRequests {
		p.explainFailure(&e.FailedRequests[n])
	}
	if err == nil {
		e.Elements, e.Text = p.withFrames(ctx, i, found)
		e.Screenshot = p.screenshot(ctx, i.Secrets)
	}
	return e
}

// explainFailure replaces the browser's error for a request without an answer by what the
// proxy knows about it.
func (p *page) explainFailure(f *routine.FailedRequest) {
	if f.Error == "" {
		return
	}
	if denied, ok := p.proxy.Denied(f.URL); ok {
		f.Error = denied.Message
	} else if why, ok := p.proxy.Failure(f.URL); ok {
		f.Error = why
	}
}

func (p *page) outline(ctx context.Context, v *frameView, i routine.Inspection, grace time.Duration) (pageOutline, error) {
	bounded, cancel := context.WithTimeout(ctx, p.b.outlineTime)
	defer cancel()
	return inHelper[pageOutline](bounded, v, evidenceScript+".outline", map[string]any{
		"selector": i.Selector, "use": string(i.Use), "secrets": i.Secrets, "text": maxText,
		"grace": grace.Milliseconds(), "budget": (p.b.outlineTime / 6).Milliseconds()})
}

// withFrames adds the elements and texts of frames of other origins, as far as they
// answer. It leaves out elements whose selectors would find an earlier element instead.
func (p *page) withFrames(ctx context.Context, i routine.Inspection, page pageOutline) ([]routine.Element, string) {
	found, texts := page.Elements, []string{page.Text}
	bounded, cancel := context.WithTimeout(ctx, p.b.outlineTime/3)
	defer cancel()
	before := []*frameView{p.frames.top} // in the order in which they are searched
	for _, v := range p.currentFrames() {
		inside, err := p.outline(bounded, v, i, 0)
		if err == nil {
			found = append(found, p.unmatched(bounded, before, inside.Elements)...)
			if !strings.Contains(strings.Join(texts, " | "), inside.Text) { // not seen from the page itself already
				texts = append(texts, inside.Text)
			}
		}
		before = append(before, v)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.Points, a.Points) })
	elements := make([]routine.Element, min(len(found), maxElements))
	for n := range elements {
		elements[n] = found[n].Element
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return elements, strings.Join(texts, " | ")
}

// unmatched are the candidates whose selectors match nothing in the views.
func (p *page) unmatched(ctx context.Context, views []*frameView, found []candidate) []candidate {
	for _, v := range views {
		selectors := make([]string, len(found))
		for n, c := range found {
			selectors[n] = c.Selector
		}
		counts, err := inHelper[[]int](ctx, v, evidenceScript+".count", selectors)
		if err != nil {
			continue
		}
		found = slices.DeleteFunc(found, func(c candidate) bool { return counts[slices.Index(selectors, c.Selector)] > 0 })
	}
	return found
}
