package playwright

import (
	"regexp"
	"slices"

	"rote/routine/importer/chain"
	"rote/routine/importer/draft"
)

// modifier matches the keys that are held while another one is pressed.
var modifier = regexp.MustCompile(`^(?:Control|Shift|Alt|Meta)`)

// device uses the keyboard or the mouse.
func (r *reader) device(name string, m chain.Member) {
	if !r.begin(m) {
		return
	}
	switch name + "." + m.Name {
	case "keyboard.type", "keyboard.insertText", "keyboard.sendCharacter":
		if r.focus.Empty() {
			r.d.Drop("no_selector", "the script does not say in which field is typed")
			return
		}
		r.perform(r.focus, draft.Operation{Type: "input_text", Text: r.typed(r.focus, argument(m, 0))}, nil)
	case "keyboard.press":
		r.press(argument(m, 0))
	case "keyboard.down":
		if key, _ := r.text(argument(m, 0)); modifier.MatchString(key) {
			r.held = append(r.held, modifier.FindString(key))
		} else {
			r.press(argument(m, 0))
		}
	case "keyboard.up":
		key, _ := r.text(argument(m, 0))
		r.held = slices.DeleteFunc(r.held, func(held string) bool { return held == modifier.FindString(key) })
	case "mouse.up":
	case "mouse.wheel":
		x, _ := r.integer(argument(m, 0))
		y, _ := r.integer(argument(m, 1))
		if v := option(m, "deltaY"); v != nil {
			x, _ = r.integer(option(m, "deltaX"))
			y, _ = r.integer(v)
		}
		o := draft.Operation{Type: "scroll", DeltaY: &y}
		if x != 0 {
			o.DeltaX = &x
		}
		r.d.Add(o)
	default:
		r.d.Drop("drag", "rote acts on elements, and not on points of the window")
	}
}
