package browser

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
	"rote/routine/keyboard"
)

// inputState is what the run sends to the page as a person would. It needs no lock.
type inputState struct {
	// sent counts the events of mouse and keys that were sent to the page.
	sent atomic.Int64
	// acting reports whether the run sends such events: a form that is submitted then is
	// submitted by the run, also after a script. All pages of a run share it.
	acting *atomic.Bool
}

// strokes are the events of a key that goes down and up while modifiers are held.
func strokes(k keyboard.Key, held keyboard.Modifier) []proto.Request {
	if k.Shifted {
		held |= keyboard.Shift
	}
	down, up := keyEvent(k, held|k.Modifier(), true), keyEvent(k, held, false)
	if held&^keyboard.Shift != 0 { // a chord types no text
		down.Type, down.Text, down.UnmodifiedText = proto.InputDispatchKeyEventTypeRawKeyDown, "", ""
		down.Commands = editing(k.Name, held)
	}
	return []proto.Request{down, up}
}

func keyEvent(k keyboard.Key, held keyboard.Modifier, down bool) proto.InputDispatchKeyEvent {
	e := proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeKeyUp, Modifiers: int(held), Key: k.Name, Code: k.Code,
		WindowsVirtualKeyCode: k.KeyCode, NativeVirtualKeyCode: k.KeyCode, IsKeypad: k.Location == 3}
	if k.Location != 0 {
		e.Location = &k.Location
	}
	if down {
		e.Type = proto.InputDispatchKeyEventTypeRawKeyDown
		if k.Text != "" {
			e.Type, e.Text, e.UnmodifiedText = proto.InputDispatchKeyEventTypeKeyDown, k.Text, k.Text
		}
	}
	return e
}

// editing are the editor commands of common chords, which the window system adds in a
// browser that is not headless.
func editing(name string, held keyboard.Modifier) []string {
	if held != keyboard.Control && held != keyboard.Meta {
		return nil
	}
	commands := map[string]string{"a": "selectAll", "z": "undo", "y": "redo", "x": "cut", "c": "copy", "v": "paste"}
	if c, ok := commands[strings.ToLower(name)]; ok {
		return []string{c}
	}
	return nil
}

// keyPress are the events of the named key going down and up. The name must be a known one.
func keyPress(name string) []proto.Request {
	k, _ := keyboard.Named(name)
	return strokes(k, 0)
}

// chord are the events of the named chord. The name must be a known one.
func chord(name string) []proto.Request {
	c, _ := keyboard.Parse(name)
	return combination(c)
}

// combination are the events of a key and its modifiers, which go down in order before
// it and up in the opposite order after it.
func combination(c keyboard.Chord) []proto.Request {
	var events, release []proto.Request
	var held keyboard.Modifier
	for _, m := range c.Modifiers {
		release = append(release, keyEvent(m, held, false))
		held |= m.Modifier()
		events = append(events, keyEvent(m, held, true))
	}
	slices.Reverse(release)
	return append(append(events, strokes(c.Key, held)...), release...)
}

// maxKeys is how many characters are typed key by key, which takes about a millisecond
// each. The beginning of a longer text is inserted at once and its end is typed, so that
// the handlers of key events see the whole text.
const (
	maxKeys  = 2000
	lastKeys = 200
)

// keystrokes are the events that type the text where the caret is. A line end is
// Shift+Enter, which makes a new line also where Enter sends a message.
func keystrokes(text string, how fieldState) []proto.Request {
	var events []proto.Request
	if runes := []rune(text); len(runes) > maxKeys {
		at := len(runes) - lastKeys
		events = append(events, proto.InputInsertText{Text: string(runes[:at])})
		text = string(runes[at:])
	}
	enter, _ := keyboard.Named("Enter")
	for _, r := range text {
		switch k, ok := keyboard.Of(r); {
		case r == '\n' && how.Context:
			events = append(events, strokes(enter, 0)...)
		case r == '\n' && how.Multiline:
			events = append(events, strokes(enter, keyboard.Shift)...)
		case ok:
			events = append(events, strokes(k, 0)...)
		default:
			events = append(events, proto.InputInsertText{Text: string(r)})
		}
	}
	return events
}

// Press presses a key or a chord, as in "Control+A": the modifiers go down in
// order, the last key down and up, the modifiers up again. Keys that go back,
// forward or load the page again do so, unless the page uses them itself.
func (p *page) Press(ctx context.Context, text string) error {
	keys, err := keyboard.Parse(text)
	if err != nil {
		return routine.Errorf(routine.CodeInvalid, "%w: use a name of the UI Events standard (Enter, Tab, ArrowDown, a) or a chord (Control+A)", err)
	}
	events := combination(keys)
	p.input.acting.Store(true)
	defer p.input.acting.Store(false)
	if err := p.awaitRest(ctx); err != nil {
		return err
	}
	if copies(keys) {
		if err := p.checkExposed(ctx, "nothing may be copied"); err != nil {
			return err
		}
	}
	before := p.now()
	if _, err := help[any](ctx, p, "readyForKeys"); err != nil && !errors.Is(err, cdp.ErrGone) {
		return p.failure(ctx, err)
	}
	short, isShortcut := shortcutOf(keys)
	if isShortcut {
		if err := p.watchKey(ctx); err != nil {
			return p.failure(ctx, err)
		}
	}
	if pastes, textOnly := pastes(keys); pastes {
		if err := p.checkClipboard(); err != nil {
			return err
		}
		if err := p.handClipboard(ctx, textOnly); err != nil {
			return p.failure(ctx, err)
		}
	}
	if err := cdp.CallAll(ctx, p, events...); err != nil {
		return p.failure(ctx, err)
	}
	if isShortcut {
		if err := p.take(ctx, short, before); err != nil {
			return p.failure(ctx, err)
		}
	}
	return p.failure(ctx, p.follow(ctx, before))
}
