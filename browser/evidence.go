package browser

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rote/routine"
)

var (
	//go:embed evidence.js
	evidenceSource string
	//go:embed evidence_text.js
	evidenceTextSource string
	//go:embed elements.js
	elementsSource string
	//go:embed selectors.js
	selectorsSource string
	// evidenceScript defines functions that compare the elements of a page with a
	// selector. It is sent after a failure only, so that other runs do not pay for it.
	evidenceScript     = withElements(evidenceExpression)
	evidenceExpression = "(pageText => (" + evidenceSource + "))(" + evidenceTextSource + ")"
)

// withElements is an expression in which elements and selectors are the objects of
// elements.js and selectors.js, and findSecrets is the function of secrets.js.
func withElements(expression string) string {
	return withSecrets("(elements => (selectors => (" + expression + "))((" + selectorsSource + ")(elements)))(" + elementsSource + ")")
}

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
	Around   string      `json:"around"` // texts of headers and the like, which come last
	Elements []candidate `json:"elements"`
}

// Evidence describes the page after a failure.
func (p *page) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	i.Secrets = p.withReleased(i.Secrets)
	found, err := p.outlineOrStop(ctx, i)
	s := p.now()
	e := &routine.Evidence{URL: cmp.Or(s.unreachable, s.url), Title: found.Title, Text: quotedTexts(found, nil)}
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

func (t *tabs) Nearest(ctx context.Context, i routine.Inspection) ([]routine.Element, error) {
	return onCurrent(ctx, t, func(p *page) ([]routine.Element, error) { return p.Nearest(ctx, i) })
}

// Nearest returns the elements that the evidence of a failed operation would name.
func (p *page) Nearest(ctx context.Context, i routine.Inspection) ([]routine.Element, error) {
	i.Secrets = p.withReleased(i.Secrets)
	found, err := p.outlineOrStop(ctx, i)
	if err != nil {
		return nil, p.describeFailure(ctx, err)
	}
	elements, _ := p.withFrames(ctx, i, found)
	return elements, nil
}

// outlineOrStop is the outline of the page's own view. If the page hangs, its scripts are
// stopped and it is asked once more.
func (p *page) outlineOrStop(ctx context.Context, i routine.Inspection) (pageOutline, error) {
	found, err := p.outline(ctx, p.frames.top, i, p.b.outlineTime/4)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.interruptScript(ctx)
		found, err = p.outline(ctx, p.frames.top, i, 0)
	}
	return found, err
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
	found, frames := page.Elements, []pageOutline(nil)
	bounded, cancel := context.WithTimeout(ctx, p.b.outlineTime/3)
	defer cancel()
	before := []*frameView{p.frames.top} // in the order in which they are searched
	for _, v := range p.currentFrames() {
		inside, err := p.outline(bounded, v, i, 0)
		if err == nil {
			found = append(found, p.unmatched(bounded, before, inside.Elements)...)
			frames = append(frames, inside)
		}
		before = append(before, v)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.Points, a.Points) })
	elements := make([]routine.Element, min(len(found), maxElements))
	for n := range elements {
		elements[n] = found[n].Element
	}
	return elements, quotedTexts(page, frames)
}

// maxFrameText is how much of the text of a frame is quoted in any case, in characters, of
// at most two frames.
const maxFrameText = 100

// quotedTexts is the text of the page, in at most maxText characters: its own, then that of
// its frames of other origins, and last what stands around.
func quotedTexts(page pageOutline, frames []pageOutline) string {
	var own, inside, around []string
	add := func(list *[]string, text string) {
		if text != "" && !slices.ContainsFunc(slices.Concat(own, inside), func(other string) bool { return strings.Contains(other, text) }) {
			*list = append(*list, text)
		}
	}
	add(&own, page.Text)
	for _, f := range frames {
		if len(inside) < 2 {
			add(&inside, routine.Truncate(f.Text, maxFrameText))
		}
	}
	if framed := strings.Join(inside, " | "); framed != "" && len(own) > 0 {
		own[0] = routine.Truncate(own[0], maxText-utf8.RuneCountInString(" | "+framed)-1)
	}
	for _, f := range append([]pageOutline{page}, frames...) {
		add(&around, f.Around)
	}
	return routine.Truncate(strings.Join(slices.Concat(own, inside, around), " | "), maxText)
}

// unmatched are the candidates whose selectors match nothing in the views.
func (p *page) unmatched(ctx context.Context, views []*frameView, found []candidate) []candidate {
	selectors := make([]string, len(found))
	for n, c := range found {
		selectors[n] = c.Selector
	}
	taken := takenIn(ctx, views, selectors)
	return slices.DeleteFunc(found, func(c candidate) bool { return taken[c.Selector] })
}
