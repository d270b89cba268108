// Package keyboard knows the keys of a US keyboard by their names in the UI
// Events standard, and parses key combinations of routines.
package keyboard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Modifier is a set of modifier keys, as the bits of the DevTools Protocol.
type Modifier int

const (
	Alt Modifier = 1 << iota
	Control
	Meta
	Shift
)

// Key is one key of the keyboard. If Code is empty and KeyCode is 0, no
// physical key has this name: pages see only Name.
type Key struct {
	Name     string // the key value, as in "Enter" or "a"
	Code     string // the physical key, as in "KeyA"
	KeyCode  int
	Location int    // 1 left, 2 right, 3 keypad
	Text     string // the text that it types, if any
	// Shifted is true if Name and Text are those with Shift pressed.
	Shifted     bool
	shiftedText string // the text that it types with Shift
}

// Modifier returns the bit of a modifier key, or 0 for other keys.
func (k Key) Modifier() Modifier {
	switch k.Name {
	case "Alt":
		return Alt
	case "Control":
		return Control
	case "Meta":
		return Meta
	case "Shift":
		return Shift
	}
	return 0
}

// WithShift returns the key as it is with Shift pressed.
func (k Key) WithShift() Key {
	if k.shiftedText == "" {
		return k
	}
	k.Name, k.Text, k.shiftedText, k.Shifted = k.shiftedText, k.shiftedText, "", true
	return k
}

// Chord is a key that is pressed while modifier keys are down.
type Chord struct {
	Modifiers []Key
	Key       Key
}

// Parse parses a key name (in any case), the character that a key types, or a
// combination of these, as in "Control+Shift+A". The error names the part that
// is not a key or not a modifier.
func Parse(text string) (Chord, error) {
	var c Chord
	rest, last := text, Key{}
	for {
		name, more, joined := splitChord(rest)
		k, ok := Named(name)
		switch {
		case !ok:
			return c, &UnknownError{name}
		case joined && k.Modifier() == 0:
			return c, fmt.Errorf("%s is no modifier: only Control, Shift, Alt and Meta stand before another key", name)
		}
		if !joined {
			if len(c.Modifiers) > 0 && len(name) == 1 { // after modifiers a letter is the key itself; Shift must be named
				k, _ = Of(rune(strings.ToLower(name)[0]))
			}
			last = k
			break
		}
		c.Modifiers = append(c.Modifiers, k)
		rest = more
	}
	if slices.ContainsFunc(c.Modifiers, func(m Key) bool { return m.Modifier() == Shift }) {
		last = last.WithShift()
	}
	c.Key = last
	return c, nil
}

// splitChord splits off the first part of a combination. A plus at the start is
// a key.
func splitChord(text string) (name, more string, joined bool) {
	if strings.HasPrefix(text, "+") {
		return text, "", false
	}
	name, more, joined = strings.Cut(text, "+")
	if trimmed := strings.TrimSpace(name); trimmed != "" {
		name = trimmed
	}
	return name, more, joined
}

// UnknownError means that no key has this name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	name := e.Name[:min(len(e.Name), maxShown)]
	if name != e.Name {
		name = strings.ToValidUTF8(name, "") + "…"
	}
	return fmt.Sprintf("%q is no key", name)
}

// maxShown limits the bytes of the name in the error message.
const maxShown = 60

// Named returns the key with a name (in any case), with the code of a physical
// key, or that types a single character.
func Named(name string) (Key, bool) {
	if r := []rune(name); len(r) == 1 && name != " " {
		return Of(r[0])
	}
	if alias, ok := aliases[strings.ToLower(name)]; ok {
		name = alias
		if len(name) == 1 {
			return Of(rune(name[0]))
		}
	}
	k, ok := byName[strings.ToLower(name)]
	return k, ok
}

// Of returns the key that types an ASCII character, with Shift if it needs it.
func Of(r rune) (Key, bool) {
	k, ok := byRune[r]
	return k, ok
}

// Names returns the sorted names of all keys that do not type a character.
func Names() []string { return slices.Sorted(maps.Keys(displayNames)) }

var byName, byRune, displayNames = parseTable(table)

// parseTable builds the lookup tables.
func parseTable(text string) (map[string]Key, map[rune]Key, map[string]bool) {
	named, typing, names := map[string]Key{}, map[rune]Key{}, map[string]bool{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		f = append(f, make([]string, 6-len(f))...)
		for i := range f {
			switch {
			case f[i] == "Space" && i != 1:
				f[i] = " "
			case f[i] == `\r`:
				f[i] = "\r"
			}
		}
		k := Key{Name: f[0], Code: f[1], Text: f[4], shiftedText: f[5]}
		k.KeyCode, _ = strconv.Atoi(f[2])
		k.Location, _ = strconv.Atoi(f[3])
		if k.Code == "-" {
			k.Code = ""
		}
		for _, name := range []string{k.Name, k.Code} {
			if len(name) < 2 {
				continue
			}
			if lower := strings.ToLower(name); named[lower].Name == "" {
				named[lower] = k
				names[name] = true
			}
		}
		for _, v := range []Key{k, k.WithShift()} {
			if len(v.Text) == 1 && v.Text != "\r" && typing[rune(v.Text[0])].Name == "" {
				typing[rune(v.Text[0])] = v
			}
		}
	}
	return named, typing, names
}
