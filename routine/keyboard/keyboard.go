// Package keyboard knows the keys of a US keyboard by the names of the UI Events
// standard, and the chords that routines write.
package keyboard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Modifier are the keys that change what others do, as bits of the DevTools
// Protocol.
type Modifier int

const (
	Alt Modifier = 1 << iota
	Control
	Meta
	Shift
)

// Key is one key of the board. The zero Code and KeyCode mean that no board has
// it: pages hear of its Name alone.
type Key struct {
	Name     string // the key value, as in "Enter" or "a"
	Code     string // the physical key, as in "KeyA"
	KeyCode  int
	Location int    // 1 left, 2 right, 3 keypad
	Text     string // what it types; empty: nothing
	// Shifted: Name and Text are what the key gives with Shift.
	Shifted bool
	above   string // what it types with Shift
}

// Modifier is the bit of a modifier key; 0 for others.
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

// WithShift is the key as Shift makes it, where that is another.
func (k Key) WithShift() Key {
	if k.above == "" {
		return k
	}
	k.Name, k.Text, k.above, k.Shifted = k.above, k.above, "", true
	return k
}

// Chord is a key pressed while modifiers are down.
type Chord struct {
	Modifiers []Key
	Key       Key
}

// Parse reads a key by name, in any case, or by the character it types, and
// chords of these as in "Control+Shift+A". The error names the part that is no
// key, or no modifier.
func Parse(text string) (Chord, error) {
	var c Chord
	rest, last := text, Key{}
	for {
		name, more, joined := cut(rest)
		k, ok := Named(name)
		switch {
		case !ok:
			return c, &UnknownError{name}
		case joined && k.Modifier() == 0:
			return c, fmt.Errorf("%s is no modifier: only Control, Shift, Alt and Meta stand before another key", name)
		}
		if !joined {
			if len(c.Modifiers) > 0 && len(name) == 1 { // there a letter is a key, and Shift is named
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

// cut gives the first part of a chord. A plus at its beginning is the key.
func cut(text string) (name, more string, joined bool) {
	if strings.HasPrefix(text, "+") {
		return text, "", false
	}
	name, more, joined = strings.Cut(text, "+")
	if trimmed := strings.TrimSpace(name); trimmed != "" {
		name = trimmed
	}
	return name, more, joined
}

// UnknownError: no key has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	name := e.Name[:min(len(e.Name), maxShown)]
	if name != e.Name {
		name = strings.ToValidUTF8(name, "") + "…"
	}
	return fmt.Sprintf("%q is no key", name)
}

// maxShown is how much of a name an error shows, in bytes.
const maxShown = 60

// Named is the key of a name in any case, of the code of a physical key, or of a
// single character.
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
	k, ok := named[strings.ToLower(name)]
	return k, ok
}

// Of is the key that types a character of US-ASCII, with Shift where it needs
// it.
func Of(r rune) (Key, bool) {
	k, ok := typing[r]
	return k, ok
}

// Names are those of all keys but the characters, sorted: what a hint may name.
func Names() []string { return slices.Sorted(maps.Keys(names)) }

var named, typing, names = read(table)

// read makes the look-up tables.
func read(text string) (map[string]Key, map[rune]Key, map[string]bool) {
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
		k := Key{Name: f[0], Code: f[1], Text: f[4], above: f[5]}
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
