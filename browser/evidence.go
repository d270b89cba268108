package browser

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"time"

	"rote/routine"
)

// outlineScript gives a function that compares the elements of a page with a
// selector. It is sent only after a failure, so that no other run carries it.
//
//go:embed evidence.js
var outlineScript string

// answerTime is how long a page has to answer before its scripts count as
// stuck. For a quarter of it a selector that matches nothing is looked for
// again, which finds what came too late; each step of comparing elements may take
// a sixth.
const answerTime = time.Second

// outlined is what the script tells of a page.
type outlined struct {
	Title    string            `json:"title"`
	Elements []routine.Element `json:"elements"`
}

// Evidence tells what the page is like after a failure. A page that hangs is
// given one chance more, without what it hangs in.
func (p *page) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	outline, err := p.outline(ctx, i, p.b.answerTime/4)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.stop()
		outline, err = p.outline(ctx, i, 0)
	}
	s := p.now()
	e := &routine.Evidence{URL: cmp.Or(s.unreachable, s.url), Title: outline.Title, Elements: outline.Elements}
	e.Console, e.FailedRequests = p.trace.read()
	if err == nil {
		e.Screenshot = p.screenshot(ctx, i.Secrets)
	}
	return e
}

func (p *page) outline(ctx context.Context, i routine.Inspection, grace time.Duration) (outlined, error) {
	bounded, cancel := context.WithTimeout(ctx, p.b.answerTime)
	defer cancel()
	return inHelper[outlined](bounded, p, outlineScript, map[string]any{"selector": i.Selector, "operation": i.Operation, "secrets": i.Secrets,
		"grace": grace.Milliseconds(), "budget": (p.b.answerTime / 6).Milliseconds()})
}
