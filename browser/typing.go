package browser

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// maxKeys is how many characters are typed key by key, which pages that listen
// for keys need; longer text is inserted at once.
const maxKeys = 200

// prepared is how the text gets into the field.
type prepared struct {
	How       string `json:"how"` // keys, done, none, lost
	Before    string `json:"before"`
	Multiline bool   `json:"multiline"`
	Differs   bool   `json:"differs"`
	Empty     bool   `json:"empty"`
	// NoCaret: a script cannot put the caret at the end; the End key can.
	NoCaret bool     `json:"noCaret"`
	Options []string `json:"options"`
}

// Type types as a person would: into the focused field, at its end or over what
// is there.
func (p *page) Type(ctx context.Context, t routine.Typing) (routine.Found, error) {
	s, err := p.actionable(ctx, t.Selector, options{Typing: true, Scroll: true})
	found := s.found()
	if err != nil {
		return found, err
	}
	before := p.now()
	how, err := help[prepared](ctx, s.view, "prepare", t.Text, t.Clear)
	if err != nil {
		return found, p.failure(ctx, err)
	}
	switch how.How {
	case "done":
		found.Differs = how.Differs
		return found, nil
	case "lost":
		return found, routine.Errorf(routine.CodeElementNotActionable, "%q gives the focus away when it gets it, so typing would land elsewhere", t.Selector)
	case "none":
		return found, routine.Errorf(routine.CodeElementNotActionable, "%q has no option %q; it has %s", t.Selector, t.Text, strings.Join(how.Options, ", "))
	}
	if err := p.all(ctx, keystrokes(t, how)...); err != nil {
		return found, p.failure(ctx, err)
	}
	if err := p.follow(ctx, before); err != nil {
		return found, p.failure(ctx, err)
	}
	if p.now().loader != before.loader {
		return found, nil // typing has led to another page
	}
	now, err := help[string](ctx, s.view, "typed")
	if err != nil {
		return found, p.failure(ctx, err)
	}
	found.Differs = plain(now) != plain(how.Before+t.Text)
	return found, nil
}

// plain levels what editing hosts add: line ends, and the break that an empty
// editable element holds.
func plain(s string) string {
	return strings.TrimRight(strings.NewReplacer("\r\n", "\n", "\u00a0", " ").Replace(s), "\n")
}

// keystrokes are the events that type the text.
func keystrokes(t routine.Typing, how prepared) []proto.Request {
	if t.Text == "" {
		if !t.Clear || how.Empty {
			return nil
		}
		return press("Backspace", 0) // over the selection
	}
	var events []proto.Request
	if how.NoCaret {
		events = press("End", 0)
	}
	if utf8.RuneCountInString(t.Text) > maxKeys {
		return append(events, proto.InputInsertText{Text: t.Text})
	}
	for _, r := range t.Text {
		switch k, ok := keyOf(r); {
		case r == '\n' && how.Multiline:
			events = append(events, press("Enter", 0)...)
		case ok:
			events = append(events, k.events(0)...)
		default:
			events = append(events, proto.InputInsertText{Text: string(r)})
		}
	}
	return events
}
