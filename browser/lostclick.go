package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rote/browser/cdp"
)

// maxLostClicks is how many times an element may move away between press and release before the
// operation fails. The page receives each of these presses.
const maxLostClicks = 3

// lostClick is the error of a click whose element moved away, or was replaced,
// while the button was down: the page got the press and no click.
type lostClick struct{ how string }

func (l *lostClick) Error() string {
	return fmt.Sprintf("%s between the press of the mouse button and its release, so the click did not reach it", l.how)
}

// checkClick returns a *lostClick if the last click did not reach its element. A click
// after which the page navigates has reached it.
func (p *page) checkClick(ctx context.Context, s actionPoint, before navState) error {
	if !s.Watched || p.now().loader != before.loader {
		return nil
	}
	answer, err := s.view.ask(ctx, "lost")
	if err != nil {
		return ignoreGone(err)
	}
	defer answer.Forget()
	for {
		p.mu.Lock()
		changed := p.nav.changed
		p.mu.Unlock()
		if now := p.now(); now.requests > before.requests || now.loader != before.loader {
			return nil
		}
		select {
		case a := <-answer.Answer():
			return lostClickIn(a)
		case <-changed:
		case <-p.end.dead:
			return errCrashed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lostClickIn decodes the helper's answer. If the document was replaced, no click was lost.
func lostClickIn(a cdp.Answer) error {
	if a.Err != nil {
		return ignoreGone(a.Err)
	}
	var r struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		return fmt.Errorf("decode what became of a click: %w", err)
	}
	if r.Result.Value != "" {
		return &lostClick{r.Result.Value}
	}
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(cdp.AsGone(err), cdp.ErrGone) {
		return nil
	}
	return err
}
