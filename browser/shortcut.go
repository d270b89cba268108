package browser

import (
	"context"
	"errors"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine/keyboard"
)

// shortcut is the effect of a key or chord in a browser with windows. Full Chromium does
// it too, some time later; the headless shell does not.
type shortcut struct {
	steps       int // in the history; negative to go back
	reload      bool
	ignoreCache bool
}

// shortcutOf returns the shortcut of a chord. It reports false if the chord has none.
func shortcutOf(c keyboard.Chord) (shortcut, bool) {
	name := c.Key.Name
	var held keyboard.Modifier
	for _, m := range c.Modifiers {
		held |= m.Modifier()
	}
	if len(name) == 1 {
		name = strings.ToUpper(name)
	}
	const reloading = keyboard.Control | keyboard.Shift
	switch {
	case name == "ArrowLeft" && held == keyboard.Alt, name == "BrowserBack" && held == 0:
		return shortcut{steps: -1}, true
	case name == "ArrowRight" && held == keyboard.Alt, name == "BrowserForward" && held == 0:
		return shortcut{steps: 1}, true
	case name == "F5" && held&^reloading == 0, name == "BrowserRefresh" && held == 0, name == "R" && (held == keyboard.Control || held == reloading):
		return shortcut{reload: true, ignoreCache: held&keyboard.Shift != 0 || name == "F5" && held != 0}, true
	}
	return shortcut{}, false
}

// watchKey makes the helpers watch the next key, which is a shortcut. They prevent the
// browser from acting on it, so that it takes effect once.
func (p *page) watchKey(ctx context.Context) error {
	if _, err := help[any](ctx, p, "watchKey"); err != nil && !errors.Is(err, cdp.ErrGone) {
		return err
	}
	for _, v := range p.currentFrames() {
		_, _ = helpInFrame[any](ctx, v, "watchKey") // a frame that does not answer does not handle keys
	}
	return nil
}

// take performs the shortcut, unless the page has handled the key itself.
func (p *page) take(ctx context.Context, s shortcut, before navState) error {
	if now := p.now(); now.requests > before.requests || now.loader != before.loader {
		return nil // the page has navigated
	}
	for _, v := range append([]*frameView{p.frames.top}, p.currentFrames()...) {
		if used, err := helpInFrame[bool](ctx, v, "keyUsed"); err == nil && used {
			return nil
		}
	}
	if now := p.now(); now.requests > before.requests || now.loader != before.loader {
		return nil
	}
	if s.reload {
		return cdp.CallAll(ctx, p, proto.PageReload{IgnoreCache: s.ignoreCache})
	}
	history, err := cdp.Call[proto.PageGetNavigationHistoryResult](ctx, p, proto.PageGetNavigationHistory{})
	if err != nil {
		return err
	}
	to := history.CurrentIndex + s.steps
	if to < 0 || to >= len(history.Entries) {
		return nil // the history has no such entry
	}
	return cdp.CallAll(ctx, p, proto.PageNavigateToHistoryEntry{EntryID: history.Entries[to].ID})
}
