package browser

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine/keyboard"
)

// A browser has one clipboard, and many runs use it at once. So each run has one of
// its own, which is empty at first and ends with the run: the code in pages takes
// the place of the browser's copying and pasting.

var (
	//go:embed clipboard.js
	clipboardSource string
	//go:embed clipboardapi.js
	clipboardAPISource string
)

// tellRun is the name of the function with which our code in pages reports what was
// copied. It is random and not visible to pages.
var tellRun = "rote" + rand.Text()

// clipboardScript lets pages write to the run's clipboard.
var clipboardScript = withoutComments(strings.ReplaceAll(clipboardAPISource, "TELL", tellRun))

// maxClipboard is the size limit of our code in pages, as a warning names it.
const maxClipboard = "1 MiB"

// copied stores what a page has copied, as JSON: a list of items with a type and either
// text or base64. It is null if the copy was too large to be stored.
func (p *page) copied(params json.RawMessage) {
	e, ok := cdp.Decode[proto.RuntimeBindingCalled](params)
	if !ok || e.Name != tellRun || !json.Valid([]byte(e.Payload)) {
		return
	}
	first := p.first()
	first.mu.Lock()
	first.clipboard = e.Payload
	first.mu.Unlock()
	if e.Payload == "null" {
		first.warn(fmt.Sprintf("the page copied more than %s, which the clipboard of a run does not hold", maxClipboard))
	}
}

// pastes reports whether a chord pastes, and whether only as text.
func pastes(c keyboard.Chord) (pastes, textOnly bool) {
	var held keyboard.Modifier
	for _, m := range c.Modifiers {
		held |= m.Modifier()
	}
	name := strings.ToLower(c.Key.Name)
	command := held &^ keyboard.Shift
	return name == "v" && (command == keyboard.Control || command == keyboard.Meta) || name == "insert" && held == keyboard.Shift,
		name == "v" && held&keyboard.Shift != 0
}

// handClipboard passes the clipboard of the run to the helpers for the next paste.
func (p *page) handClipboard(ctx context.Context, textOnly bool) error {
	first := p.first()
	first.mu.Lock()
	held := first.clipboard
	first.mu.Unlock()
	if held == "" {
		held = "[]"
	}
	if _, err := help[any](ctx, p, "hand", held, textOnly); err != nil && !errors.Is(err, cdp.ErrGone) {
		return err
	}
	for _, v := range p.currentFrames() { // a frame that does not answer gets nothing to paste
		if focus, err := helpInFrame[bool](ctx, v, "hasFocus"); err == nil && focus {
			_, _ = helpInFrame[any](ctx, v, "hand", held, textOnly)
		}
	}
	return nil
}
