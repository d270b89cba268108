package browser

import (
	"context"
	"strings"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// namedKeys are the keys by their UI Events names, and the names that older
// routines use, in lower case. Letters, digits and signs stand for themselves.
var namedKeys = map[string]input.Key{
	"enter": input.Enter, "return": input.Enter, "tab": input.Tab, "escape": input.Escape, "esc": input.Escape,
	"backspace": input.Backspace, "delete": input.Delete, "del": input.Delete, "insert": input.Insert,
	"space": input.Space, "spacebar": input.Space, " ": input.Space,
	"arrowup": input.ArrowUp, "up": input.ArrowUp, "arrowdown": input.ArrowDown, "down": input.ArrowDown,
	"arrowleft": input.ArrowLeft, "left": input.ArrowLeft, "arrowright": input.ArrowRight, "right": input.ArrowRight,
	"home": input.Home, "end": input.End, "pageup": input.PageUp, "pagedown": input.PageDown,
	"control": input.ControlLeft, "ctrl": input.ControlLeft, "shift": input.ShiftLeft, "alt": input.AltLeft, "option": input.AltLeft,
	"meta": input.MetaLeft, "cmd": input.MetaLeft, "command": input.MetaLeft, "win": input.MetaLeft, "altgraph": input.AltGraph,
	"capslock": input.CapsLock, "numlock": input.NumLock, "scrolllock": input.ScrollLock, "pause": input.Pause,
	"printscreen": input.PrintScreen, "contextmenu": input.ContextMenu,
	"f1": input.F1, "f2": input.F2, "f3": input.F3, "f4": input.F4, "f5": input.F5, "f6": input.F6,
	"f7": input.F7, "f8": input.F8, "f9": input.F9, "f10": input.F10, "f11": input.F11, "f12": input.F12,
	"plus": '+',
}

// key is one key, and the Shift that its character needs.
type key struct {
	input.Key
	shifted bool
}

// keyOf is the key of a US keyboard that gives the character.
func keyOf(r rune) (key, bool) {
	if r < ' ' || r > '~' {
		return key{}, false
	}
	k := key{Key: input.Key(r)}
	// A shifted character is not a key of its own.
	if r >= 'A' && r <= 'Z' || strings.ContainsRune(`~!@#$%^&*()_+{}|:"<>?`, r) {
		k.shifted = true
	}
	return k, true
}

// keyNamed is the key of a name, or of a single character.
func keyNamed(name string) (key, bool) {
	if k, ok := namedKeys[strings.ToLower(name)]; ok {
		if k == '+' {
			return keyOf('+')
		}
		return key{Key: k}, true
	}
	if r := []rune(name); len(r) == 1 {
		return keyOf(r[0])
	}
	return key{}, false
}

// mainBlock are the characters that rod's table has only on the keypad.
var mainBlock = map[input.Key]struct {
	code    string
	keyCode int
}{'+': {"Equal", 187}, '*': {"Digit8", 56}}

// events are the key going down and up.
func (k key) events(modifiers int) []proto.Request {
	if k.shifted {
		modifiers |= input.ModifierShift
	}
	down := *k.Encode(proto.InputDispatchKeyEventTypeKeyDown, modifiers)
	up := *k.Encode(proto.InputDispatchKeyEventTypeKeyUp, modifiers)
	if main, ok := mainBlock[k.Key]; ok {
		for _, e := range []*proto.InputDispatchKeyEvent{&down, &up} {
			e.Code, e.WindowsVirtualKeyCode, e.IsKeypad = main.code, main.keyCode, false
		}
	}
	if k.Key == input.Enter {
		down.Key, up.Key = "Enter", "Enter" // rod's table says "\r"
	}
	if k.Key == input.Tab {
		down.Type, down.Text, down.UnmodifiedText = proto.InputDispatchKeyEventTypeRawKeyDown, "", ""
		down.Key, up.Key = "Tab", "Tab" // rod's table says "\t", which would be typed
	}
	if modifiers&^input.ModifierShift != 0 {
		// A chord types nothing.
		down.Type, down.Text, down.UnmodifiedText = proto.InputDispatchKeyEventTypeRawKeyDown, "", ""
		down.Commands = editing(down.Key, modifiers)
	}
	up.Text, up.UnmodifiedText = "", ""
	return []proto.Request{down, up}
}

// editing are the editor commands of the commoner chords: a headless browser
// has no window system that would add them.
func editing(name string, modifiers int) []string {
	if modifiers != input.ModifierControl && modifiers != input.ModifierMeta {
		return nil
	}
	switch strings.ToLower(name) {
	case "a":
		return []string{"selectAll"}
	case "z":
		return []string{"undo"}
	case "y":
		return []string{"redo"}
	case "x":
		return []string{"cut"}
	case "c":
		return []string{"copy"}
	case "v":
		return []string{"paste"}
	}
	return nil
}

// press is the named key going down and up; the name is one of ours.
func press(name string, modifiers int) []proto.Request {
	k, _ := keyNamed(name)
	return k.events(modifiers)
}

// Press presses a key or a chord, as in "Control+A": the modifiers go down in
// order, the last key down and up, the modifiers up again.
func (p *page) Press(ctx context.Context, chord string) error {
	parts := strings.Split(chord, "+")
	if strings.HasSuffix(chord, "+") { // the plus key itself
		parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(chord, "+"), "+"), "+"), "+")
		if chord == "+" {
			parts = []string{"+"}
		}
	}
	var down, up []proto.Request
	modifiers := 0
	for i, name := range parts {
		if i > 0 && len(name) == 1 {
			name = strings.ToLower(name) // in a chord a letter is a key, and Shift is named
		}
		k, ok := keyNamed(name)
		if !ok || i < len(parts)-1 && k.Modifier() == 0 {
			return routine.Errorf(routine.CodeInvalid, "%q is no key: use a name of the UI Events standard (Enter, Tab, ArrowDown, a) or a chord (Control+A)", chord)
		}
		if shifted, ok := k.Shift(); ok && modifiers&input.ModifierShift != 0 {
			k = key{shifted, true} // Shift+a types A, Shift+1 types !
		}
		if i == len(parts)-1 {
			down = append(down, k.events(modifiers)...)
			break
		}
		modifiers |= k.Modifier()
		down = append(down, *k.Encode(proto.InputDispatchKeyEventTypeKeyDown, modifiers))
		up = append([]proto.Request{*k.Encode(proto.InputDispatchKeyEventTypeKeyUp, modifiers&^k.Modifier())}, up...)
	}
	before := p.now()
	if err := p.all(ctx, append(down, up...)...); err != nil {
		return p.failure(ctx, err)
	}
	return p.failure(ctx, p.follow(ctx, before))
}
