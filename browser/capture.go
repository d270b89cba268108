package browser

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"rote/browser/cdp"
	"rote/routine"
)

var (
	//go:embed unmask.js
	unmaskSource string
	unmaskScript = "(" + unmaskSource + ")"
)

// captureTime bounds a screenshot of a page that is used afterwards. unmaskTime is how long
// each of its frames has to show again what was hidden.
const (
	captureTime = 5 * time.Second
	unmaskTime  = time.Second
)

// maxCaptures is how often a screenshot is taken again because the page has shown something
// that must be hidden while it was taken.
const maxCaptures = 3

func (t *tabs) Capture(ctx context.Context, secrets []string) (*routine.Screenshot, error) {
	return onCurrent(ctx, t, func(p *page) (*routine.Screenshot, error) { return p.Capture(ctx, secrets) })
}

// Capture returns a screenshot of the viewport, with secrets hidden while it is taken. The
// page's scripts are not stopped, because what they miss meanwhile would be lost. So the page
// is checked again afterwards.
func (p *page) Capture(ctx context.Context, secrets []string) (*routine.Screenshot, error) {
	secrets = p.withReleased(secrets)
	if err := p.awaitRest(ctx); err != nil {
		return nil, err
	}
	views := append(p.currentFrames(), p.frames.top) // the page last, because its viewport is the one that counts
	if len(views) > maxFrames {
		return nil, routine.Errorf(routine.CodeForbidden, "no screenshot can be taken: the page has more frames than can be searched for secrets")
	}
	bounded, cancel := context.WithTimeout(ctx, captureTime)
	defer cancel()
	defer p.unmask(ctx, views)
	if len(secrets) > 0 {
		if err := markClosedRoots(bounded, views); err != nil {
			return nil, p.captureFailure(ctx, err)
		}
	}
	seen, _, err := mask(bounded, views, secrets)
	for range maxCaptures {
		if err != nil {
			return nil, p.captureFailure(ctx, err)
		}
		picture, err := p.takePicture(bounded, seen)
		if err != nil {
			return nil, p.captureFailure(ctx, err)
		}
		again, hidden, err := mask(bounded, views, secrets)
		if err != nil {
			return nil, p.captureFailure(ctx, err)
		}
		switch {
		case hidden > 0 || again != seen:
			seen = again
		case picture == nil:
			return nil, routine.Errorf(routine.CodeResultTooLarge, "the screenshot has more than %d KiB", maxScreenshot>>10)
		default:
			return picture, nil
		}
	}
	return nil, routine.Errorf(routine.CodeTimeout, "no screenshot can be taken: the page does not stop showing what must be hidden; try again later")
}

// mask hides what a screenshot of the views must not show, and returns the viewport of the
// last view and how many elements were hidden now.
func mask(ctx context.Context, views []*frameView, secrets []string) (viewport, int, error) {
	type masked struct {
		viewport
		Hidden int `json:"hidden"`
	}
	var seen viewport
	hidden := 0
	for _, v := range views {
		m, err := inHelper[masked](ctx, v, redactScript, secrets, true)
		if err != nil {
			return seen, hidden, err
		}
		seen = m.viewport
		hidden += m.Hidden
	}
	return seen, hidden, nil
}

// unmask shows again what mask has hidden, also after ctx has ended.
func (p *page) unmask(ctx context.Context, views []*frameView) {
	for _, v := range views {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmaskTime)
		_, _ = inHelper[struct{}](bounded, v, unmaskScript) // a view that does not answer is not shown any more, or hangs
		cancel()
	}
}

// captureFailure is the error for a page of which no screenshot could be taken.
func (p *page) captureFailure(ctx context.Context, err error) error {
	var thrown *cdp.ExceptionError
	if errors.As(err, &thrown) {
		return routine.Errorf(routine.CodeForbidden, "no screenshot can be taken: the page may show a secret that cannot be hidden (%s)",
			exceptionText(thrown.ExceptionDetails))
	}
	return p.describeFailure(ctx, err)
}
