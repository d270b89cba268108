package recorder

import (
	"strings"
	"unicode/utf8"

	"rote/routine"
	"rote/routine/importer/draft"
	"rote/routine/importer/jsontree"
	"rote/routine/keyboard"
)

// pressedKey is a key that is down: the operation that presses it, or -1.
type pressedKey struct{ operation int }

// modifiers are the keys that are held while another one is pressed, in the order of chords.
var modifiers = []string{"Control", "Alt", "Shift", "Meta"}

func isModifier(key string) bool {
	for _, m := range modifiers {
		if m == key {
			return true
		}
	}
	return false
}

func (r *reader) keyDown(s *jsontree.Value) {
	key := s.Get("key").String()
	r.pressed[key] = pressedKey{-1}
	if isModifier(key) {
		return // it is a part of the key that follows
	}
	held := r.held()
	if utf8.RuneCountInString(key) == 1 && (held == "" || held == "Shift+") && r.inValue() {
		r.d.Item().Code, r.d.Item().Message = "in_value", "the key is in the text that the field gets"
		return
	}
	if held == "Shift+" && utf8.RuneCountInString(key) == 1 {
		held = "" // the character has it already
	}
	if key == " " {
		key = "Space"
	}
	if _, err := keyboard.Parse(held + key); err != nil {
		r.d.Drop("key", "there is no key %s", routine.Quote(draft.Shown(key)))
		return
	}
	r.pressed[s.Get("key").String()] = pressedKey{r.d.Add(draft.Operation{Type: "press", Key: held + key})}
}

// held returns the modifiers that are down, as the beginning of a chord.
func (r *reader) held() string {
	chord := ""
	for _, m := range modifiers {
		if _, down := r.pressed[m]; down {
			chord += m + "+"
		}
	}
	return chord
}

func (r *reader) keyUp(s *jsontree.Value) {
	key := s.Get("key").String()
	p, down := r.pressed[key]
	if !down {
		r.d.Drop("key", "the key goes up that was not pressed")
		return
	}
	delete(r.pressed, key)
	if p.operation >= 0 {
		r.d.Item().Operations = []int{p.operation}
	}
}

// inValue reports whether the keys around the present step type what a change next to them says.
func (r *reader) inValue() bool {
	isChange := func(steps []*jsontree.Value, next int) bool {
		for i := range steps {
			if next < 0 {
				i = len(steps) - 1 - i
			}
			if kind := steps[i].Get("type").String(); !strings.HasPrefix(kind, "key") {
				return kind == "change"
			}
		}
		return false
	}
	return isChange(r.steps[:r.at], -1) || isChange(r.steps[r.at+1:], 1)
}
