package browser

import (
	"context"
	"errors"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine/keyboard"
)

// shortcut is what a key or chord does to the page in a browser with windows.
// Full Chromium does it too, at a time of its own; the headless shell does not.
type shortcut struct {
	steps       int // in the history
	reload      bool
	ignoreCache bool
}

// shortcutOf is the shortcut that a chord is; false when it is none.
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

// watchKey has the helpers watch the next key, which is a shortcut: the browser
// is kept from acting on it, so that it is done once.
func (p *page) watchKey(ctx context.Context) error {
	if _, err := help[any](ctx, p, "watchKey"); err != nil && !errors.Is(err, errGone) {
		return err
	}
	for _, v := range p.framesNow() {
		_, _ = inFrame[any](ctx, v, "watchKey") // one that does not answer has no use for keys
	}
	return nil
}

// take does what the shortcut says, unless the page has a use of its own for the
// key.
func (p *page) take(ctx context.Context, s shortcut, before state) error {
	if now := p.now(); now.asked > before.asked || now.loader != before.loader {
		return nil // the page has gone elsewhere
	}
	for _, v := range append([]*view{p.top}, p.framesNow()...) {
		if used, err := inFrame[bool](ctx, v, "keyUsed"); err == nil && used {
			return nil
		}
	}
	if now := p.now(); now.asked > before.asked || now.loader != before.loader {
		return nil
	}
	if s.reload {
		return p.all(ctx, proto.PageReload{IgnoreCache: s.ignoreCache})
	}
	history, err := call[proto.PageGetNavigationHistoryResult](ctx, p, proto.PageGetNavigationHistory{})
	if err != nil {
		return err
	}
	to := history.CurrentIndex + s.steps
	if to < 0 || to >= len(history.Entries) {
		return nil // a browser does nothing then
	}
	return p.all(ctx, proto.PageNavigateToHistoryEntry{EntryID: history.Entries[to].ID})
}
