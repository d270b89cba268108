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
	// evidenceScript gives functions that compare the elements of a page with a
	// selector. It is sent only after a failure, so that no other run carries it.
	evidenceScript = withSecrets(evidenceSource)
)

// outlineTime is how long a page has to answer before its scripts count as
// stuck. For a quarter of it a selector that matches nothing is looked for
// again, which finds what came too late; each step of comparing elements may take
// a sixth.
const outlineTime = time.Second

// maxElements are told of a page, and so many characters of its text.
const (
	maxElements = 15
	maxText     = 300
)

// candidate is an element that may have been meant; more points are likelier.
type candidate struct {
	routine.Element
	Points float64 `json:"points"`
}

// outlined is what the script tells of a view.
type outlined struct {
	Title    string      `json:"title"`
	Text     string      `json:"text"`
	Elements []candidate `json:"elements"`
}

// Evidence tells what the page is like after a failure. A page that hangs is
// given one chance more, without what it hangs in.
func (p *page) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	found, err := p.outline(ctx, p.top, i, p.b.outlineTime/4)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.stop()
		found, err = p.outline(ctx, p.top, i, 0)
	}
	s := p.now()
	e := &routine.Evidence{URL: cmp.Or(s.unreachable, s.url), Title: found.Title, Text: found.Text}
	e.Console, e.FailedRequests = p.trace.read(p.lastScript())
	for n := range e.FailedRequests {
		p.explain(&e.FailedRequests[n])
	}
	if err == nil {
		e.Elements, e.Text = p.withFrames(ctx, i, found)
		e.Screenshot = p.screenshot(ctx, i.Secrets)
	}
	return e
}

// explain puts what the proxy knows of a request without answer in place of what
// the browser makes of that.
func (p *page) explain(f *routine.FailedRequest) {
	if f.Error == "" {
		return
	}
	if denied, ok := p.proxy.Denied(f.URL); ok {
		f.Error = denied.Message
	} else if why, ok := p.proxy.Failure(f.URL); ok {
		f.Error = why
	}
}

func (p *page) outline(ctx context.Context, v *view, i routine.Inspection, grace time.Duration) (outlined, error) {
	bounded, cancel := context.WithTimeout(ctx, p.b.outlineTime)
	defer cancel()
	return inHelper[outlined](bounded, v, evidenceScript+".outline", map[string]any{"selector": i.Selector, "operation": i.Operation, "secrets": i.Secrets, "text": maxText,
		"grace": grace.Milliseconds(), "budget": (p.b.outlineTime / 6).Milliseconds()})
}

// withFrames adds the elements and texts of frames of other origins, as far as they answer, and
// leaves out what the selector would not find because an element before it
// matches too.
func (p *page) withFrames(ctx context.Context, i routine.Inspection, page outlined) ([]routine.Element, string) {
	found, texts := page.Elements, []string{page.Text}
	bounded, cancel := context.WithTimeout(ctx, p.b.outlineTime/3)
	defer cancel()
	before := []*view{p.top} // in the order in which they are searched
	for _, v := range p.framesNow() {
		inside, err := p.outline(bounded, v, i, 0)
		if err == nil {
			found = append(found, p.unmatched(bounded, before, inside.Elements)...)
			if !strings.Contains(strings.Join(texts, " | "), inside.Text) { // reached from the page itself
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

// unmatched are those whose selectors match nothing in the views.
func (p *page) unmatched(ctx context.Context, views []*view, found []candidate) []candidate {
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
