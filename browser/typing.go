package browser

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
	"rote/routine/keyboard"
)

// maxKeys is how many characters are typed key by key, which pages that listen
// for keys need; longer text is inserted at once.
const maxKeys = 200

// prepared is how the text gets into the field.
type prepared struct {
	How       string `json:"how"` // keys, done, lost, changed
	Before    string `json:"before"`
	Multiline bool   `json:"multiline"`
	Editable  bool   `json:"editable"` // an element with contenteditable
	Differs   bool   `json:"differs"`
	Empty     bool   `json:"empty"`
	// NoCaret: a script cannot put the caret at the end; the End key can.
	NoCaret bool `json:"noCaret"`
}

// Type types as a person would: into the focused field, at its end or over what
// is there.
func (p *page) Type(ctx context.Context, t routine.Typing) (routine.Found, error) {
	if err := p.ready(ctx); err != nil {
		return routine.Found{}, err
	}
	s, err := p.actionable(ctx, t.Selector, options{Typing: true, Text: t.Text, Scroll: true})
	found := s.found()
	if err != nil {
		return found, err
	}
	p.acting.Store(true)
	defer p.acting.Store(false)
	before := p.now()
	how, err := help[prepared](ctx, s.view, "prepare", t.Text, t.Clear)
	replaced := errors.Is(err, errGone)
	if err != nil && !replaced {
		return found, p.failure(ctx, err)
	}
	if replaced || how.How == "done" || p.now().asked > before.asked { // the focus or the choice may have led elsewhere
		if err := p.follow(ctx, before); err != nil {
			return found, p.failure(ctx, err)
		}
		if replaced || how.How != "done" && p.now().loader != before.loader {
			found.Left = true
			return found, nil
		}
	}
	switch how.How {
	case "done":
		found.Differs = how.Differs
		return found, nil
	case "changed":
		return found, routine.Errorf(routine.CodeElementNotActionable, "%q lost the option %q while it was chosen", t.Selector, t.Text)
	case "lost":
		return found, routine.Errorf(routine.CodeElementNotActionable, "%q gives the focus away when it gets it, so typing would land elsewhere", t.Selector)
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
	found.Differs = how.plain(now) != how.plain(how.Before+t.Text)
	return found, nil
}

var lineEnds = regexp.MustCompile(`[ \n]*\n`)

// plain levels what editing adds: line ends of other kinds and, in an editable
// element, the paragraphs that lines become and the break that keeps an empty
// one open.
func (how *prepared) plain(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\u00a0", " ").Replace(s)
	if how.Editable {
		s = lineEnds.ReplaceAllString(s, "\n")
	}
	return strings.TrimRight(s, "\n")
}

// keystrokes are the events that type the text.
func keystrokes(t routine.Typing, how prepared) []proto.Request {
	if t.Text == "" {
		if !t.Clear || how.Empty {
			return nil
		}
		return press("Backspace") // over the selection
	}
	var events []proto.Request
	if how.NoCaret {
		events = press("End")
	}
	if utf8.RuneCountInString(t.Text) > maxKeys {
		return append(events, proto.InputInsertText{Text: t.Text})
	}
	for _, r := range t.Text {
		switch k, ok := keyboard.Of(r); {
		case r == '\n' && how.Multiline:
			events = append(events, press("Enter")...)
		case ok:
			events = append(events, strokes(k, 0)...)
		default:
			events = append(events, proto.InputInsertText{Text: string(r)})
		}
	}
	return events
}
