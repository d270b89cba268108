package keyboard

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"Enter": "Enter/Enter/13", "ENTER": "Enter/Enter/13", "return": "Enter/Enter/13", "NumpadEnter": "Enter/NumpadEnter/13",
		"a": "a/KeyA/65", "A": "^A/KeyA/65", "KeyA": "a/KeyA/65", "é": "", "F13": "F13/F13/124", "f24": "F24/F24/135",
		" ": " /Space/32", "Space": " /Space/32", "+": "^+/Equal/187", "Plus": "^+/Equal/187", "*": "^*/Digit8/56", "NumpadAdd": "+/NumpadAdd/107",
		"Control+A": "Control a/KeyA/65", "ctrl + shift + k": "Control Shift ^K/KeyK/75", "Shift+1": "Shift ^!/Digit1/49", "Shift+Tab": "Shift Tab/Tab/9",
		"Control++": "Control ^+/Equal/187", "Control+-": "Control -/Minus/189", "Alt+ArrowLeft": "Alt ArrowLeft/ArrowLeft/37",
		"MediaPlayPause": "MediaPlayPause/MediaPlayPause/179", "Soft1": "Soft1//0", "Shift": "Shift/ShiftLeft/16", "ShiftRight": "Shift/ShiftRight/16",
		"Entr": "", "": "", "Control+": "", "A+B": "", "Enter+a": "", "Control+Nope": "", "++": "",
	} {
		c, err := Parse(text)
		got := ""
		if err == nil {
			for _, m := range c.Modifiers {
				got += m.Name + " "
			}
			if c.Key.Shifted {
				got += "^"
			}
			got += c.Key.Name + "/" + c.Key.Code + "/" + strconv.Itoa(c.Key.KeyCode)
		}
		if got != want {
			t.Errorf("%q: %q (%v), want %q", text, got, err, want)
		}
	}
	var unknown *UnknownError
	if _, err := Parse("Control+Nope"); !errors.As(err, &unknown) || unknown.Name != "Nope" {
		t.Fatal(err)
	}
}

// Every printable character of US-ASCII has the key that types it.
func TestOf(t *testing.T) {
	for r := ' '; r <= '~'; r++ {
		k, ok := Of(r)
		if !ok || k.Text != string(r) || k.Name != string(r) || k.Location == 3 || k.Code == "" {
			t.Errorf("%q: %+v %v", r, k, ok)
		}
		if upper := strings.ContainsRune(`ABCDEFGHIJKLMNOPQRSTUVWXYZ~!@#$%^&*()_+{}|:"<>?`, r); upper != k.Shifted {
			t.Errorf("%q: shifted %v", r, k.Shifted)
		}
	}
	if _, ok := Of('é'); ok {
		t.Error("é is no key of this board")
	}
}

// Every name leads to a key in any case.
func TestNames(t *testing.T) {
	names := Names()
	if len(names) < 250 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		for _, spelt := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if k, ok := Named(spelt); !ok || !strings.EqualFold(k.Name, name) && !strings.EqualFold(k.Code, name) {
				t.Errorf("%s: %+v", spelt, k)
			}
		}
	}
}
