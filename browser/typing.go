package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// fieldState says how the text will get into the field.
type fieldState struct {
	// How is "keys" if the caret is at the right place, and "done" if the value was set.
	// Otherwise it says why nothing can be typed: "gone", "lost", "none" or "changed".
	How       string `json:"how"`
	Editable  bool   `json:"editable"`  // an element with contenteditable
	Hidden    bool   `json:"hidden"`    // an editor receives its text through it and shows it elsewhere
	Context   bool   `json:"context"`   // an element with an EditContext
	Multiline bool   `json:"multiline"` // a line end does not submit
	// Chord reports whether a chord of keys moves the caret to the end or selects all.
	Chord bool `json:"chord"`
	Mac   bool `json:"mac"` // chords use Meta
	Empty bool `json:"empty"`
	// inserted is the outcome if the text has secrets, which are not typed key by key.
	inserted insertion
}

// typingResult is the result of typing.
type typingResult struct {
	As     string `json:"as"` // empty if the text is as typed, or nothing, added, changed, gone
	Value  string `json:"value"`
	Secret bool   `json:"secret"`
	Before string `json:"before"`
	Excess bool   `json:"excess"` // the page has added something after the text
}

// maxFocusLosses is how often a field may lose the focus when it gets it before the operation
// fails.
const maxFocusLosses = 3

// reopenTime bounds the search for the field on a page that was opened by the click on it.
const reopenTime = 2 * time.Second

// lineEnds converts all line ends to \n.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// typist types one text into one field, in several attempts if necessary.
type typist struct {
	*page
	t           routine.Typing
	o           options
	why         string // why the last attempt failed
	when        string // the moment at which it failed
	focusLosses int    // how often the field has lost the focus when it got it
	opened      int    // how often the click on the field has opened another page
	retyped     bool   // whether the text was typed again after the field was replaced
}

// Moments at which an element may be removed.
const (
	beforePress = "before the button went down"
	atFocus     = "when it got the focus"
)

// Type types like a person: it clicks the field and types at the end of its text, or
// replaces it. If the element is not a field, it is clicked too, and the element that then
// has the focus gets the text. A field that is replaced when it gets the focus is searched
// again.
func (p *page) Type(ctx context.Context, t routine.Typing) (routine.Match, error) {
	if err := p.awaitRest(ctx); err != nil {
		return routine.Match{}, err
	}
	if len(t.Files) > 0 {
		return p.handIn(ctx, t)
	}
	if err := checkRelease(t); err != nil {
		return routine.Match{Final: true}, err
	}
	t.Text = lineEnds.Replace(t.Text)
	y := &typist{page: p, t: t, o: options{Typing: true, Text: &t.Text, Scroll: true, Press: true}}
	if t.Release != nil && t.Release.Rules != nil {
		y.o.Text = nil // frames of other sites are searched too
	}
	for {
		s, err := y.find(ctx)
		switch {
		case err == nil:
		case y.opened > 0 && ctx.Err() == nil:
			found := s.asFound()
			found.Left = true
			return found, nil
		case y.why != "" && s.Gone:
			return s.asFound(), removed(t.Selector, y.when)
		case y.why != "" && s.Why == "":
			return s.asFound(), y.failed()
		default:
			return s.asFound(), err
		}
		p.input.acting.Store(true)
		found, done, err := y.attempt(ctx, s)
		p.input.acting.Store(false)
		if done || err != nil {
			return found, err
		}
	}
}

// find waits for the field; only briefly on a page that was opened by the click on it.
func (y *typist) find(ctx context.Context) (actionPoint, error) {
	if y.opened > 0 {
		bounded, cancel := context.WithTimeout(ctx, reopenTime)
		defer cancel()
		ctx = bounded
	}
	return y.actionable(ctx, y.t.Selector, y.o)
}

func (y *typist) failed() error {
	return routine.Errorf(routine.CodeElementNotActionable, "%q %s", y.t.Selector, y.why)
}

// unfocused is the error of a field that did not get the focus in time.
func (y *typist) unfocused(s actionPoint) error {
	switch {
	case y.why != "":
		return y.failed()
	case s.Why != "":
		return notActionable(y.t.Selector, s)
	}
	return routine.Errorf(routine.CodeElementNotActionable, "%q was found, but the time was over before it had the focus", y.t.Selector)
}

// attempt clicks the field and types; done is false when the field is to be found
// again.
func (y *typist) attempt(ctx context.Context, s actionPoint) (found routine.Match, done bool, err error) {
	found = s.asFound()
	before := y.now()
	how, missed, err := y.focusField(ctx, s, y.t, before)
	if how.How != "done" && y.requestsDocument(before) {
		if err := y.follow(ctx, before); err != nil {
			return found, true, y.failure(ctx, err)
		}
		if how.How != "keys" || y.now().loader != before.loader {
			y.opened++
			found.Left = y.opened == maxHovers
			return found, found.Left, nil
		}
	}
	switch {
	case errors.Is(err, cdp.ErrGone), how.How == "gone":
		y.why, y.when = "was replaced when it got the focus", atFocus
	case err != nil && ctx.Err() != nil && !errors.Is(err, errCrashed):
		return found, true, y.orRemoved(ctx, y.t.Selector, cmp.Or(y.when, atFocus), y.unfocused(s))
	case err != nil:
		found.Final = routine.CodeOf(err) == routine.CodeSecretDenied
		return found, true, y.failure(ctx, err)
	case missed != "":
		y.why, y.when, y.o.Unsteady = "was not under the mouse any more when the button went down: it reached "+missed, beforePress, true
	case how.How == "none":
		y.why = "" // the next search finds the reason
	case how.How == "changed":
		y.why = fmt.Sprintf("lost the option %q while it was chosen", y.t.Text)
		found.Final = true
		return found, true, y.failed()
	case how.How == "lost":
		y.why, y.when = "gives the focus away when it gets it, so typing would land elsewhere", atFocus
		if y.focusLosses++; y.focusLosses == maxFocusLosses {
			found.Final = true
			return found, true, y.failed()
		}
	default:
		return y.typeText(ctx, s, how, before)
	}
	return found, false, nil
}

// requestsDocument reports whether the page has requested another document since then.
func (p *page) requestsDocument(before navState) bool {
	now := p.now()
	return now.requests > before.requests || now.loader != before.loader
}

// focusField clicks the field and moves the caret to where the text is to go. missed describes
// what the click reached instead.
func (p *page) focusField(ctx context.Context, s actionPoint, t routine.Typing, before navState) (how fieldState, missed string, err error) {
	if s.Clicked {
		if missed, err = p.pressMouse(ctx, s, routine.Click{Button: "left", Count: 1}, before); err != nil || missed != "" {
			return how, missed, err
		}
	}
	if t.Release != nil {
		how.inserted, err = p.insertSecret(ctx, s, t)
		how.How = how.inserted.How
		return how, "", err
	}
	how, err = help[fieldState](ctx, s.view, "prepare", t.Text, t.Clear)
	return how, "", err
}

// typeText types the text and checks the result. done is false if the field was replaced
// meanwhile.
func (y *typist) typeText(ctx context.Context, s actionPoint, how fieldState, before navState) (found routine.Match, done bool, err error) {
	found = s.asFound()
	if how.How == "keys" {
		if err := y.insert(ctx, s.view, y.t, how); err != nil && !errors.Is(err, cdp.ErrGone) {
			return found, true, y.failure(ctx, err)
		}
	}
	if err := y.follow(ctx, before); err != nil {
		return found, true, y.failure(ctx, err)
	}
	if y.now().loader != before.loader {
		return found, true, nil // typing has opened another page
	}
	now, err := y.result(ctx, s.view, how.inserted)
	if err == nil && (how.Chord || how.Multiline) {
		now, err = y.repair(ctx, s.view, y.t, how, now)
	}
	switch {
	case errors.Is(err, cdp.ErrGone): // the frame of the field was removed
		return found, true, nil
	case err != nil:
		return found, true, y.failure(ctx, err)
	case now.As == "gone" && !y.retyped:
		y.t.Clear, y.t.Text, y.retyped = true, now.Value, true
		y.why, y.when = "was replaced while the text was typed", "while the text was typed"
		return found, false, nil
	}
	found.Differs, found.Arrived, found.Value, found.Secret = now.As != "", routine.Arrival(now.As), now.Value, now.Secret || y.t.Release != nil
	return found, true, nil
}

// result is what the field has after the typing.
func (y *typist) result(ctx context.Context, v *frameView, done insertion) (typingResult, error) {
	switch {
	case done.Boxes && done.Whole:
		return typingResult{}, nil
	case done.Boxes:
		return typingResult{As: string(routine.ArrivedChanged)}, nil
	}
	return help[typingResult](ctx, v, "typed")
}

// insert types the text at the caret. An editor gets several lines as a paste, because it
// may continue a list or indent at a typed line end.
func (p *page) insert(ctx context.Context, v *frameView, t routine.Typing, how fieldState) error {
	if how.Chord && !how.Empty {
		if err := cdp.CallAll(ctx, p, how.move(t.Clear)...); err != nil {
			return err
		}
	}
	if t.Text == "" {
		if !t.Clear || how.Empty {
			return nil
		}
		return cdp.CallAll(ctx, p, keyPress("Backspace")...) // over the selection
	}
	if how.Hidden || how.Editable && strings.Contains(t.Text, "\n") {
		if taken, err := help[bool](ctx, v, "paste", t.Text); err != nil || taken {
			return err
		}
	}
	return cdp.CallAll(ctx, p, keystrokes(t.Text, how)...)
}

// move are the keys that select all of an editor, or move the caret to its end.
func (how *fieldState) move(all bool) []proto.Request {
	switch {
	case how.Mac && all:
		return chord("Meta+a")
	case how.Mac:
		return chord("Meta+ArrowDown")
	case all:
		return chord("Control+a")
	}
	return chord("Control+End")
}

// repair removes what an editor has added to the text: closing brackets, list markers,
// indentation.
func (p *page) repair(ctx context.Context, v *frameView, t routine.Typing, how fieldState, now typingResult) (typingResult, error) {
	var err error
	switch {
	case now.As != "added" && now.As != "changed" || how.Hidden:
		return now, nil
	case how.Editable && how.Chord && (t.Clear || strings.TrimSpace(now.Before) == ""):
		err = p.replace(ctx, v, t, how, now)
	case how.Editable && how.Chord && now.As == "added" && now.Excess:
		err = cdp.CallAll(ctx, p, append(chord("Control+Shift+End"), keyPress("Delete")...)...)
	case !how.Editable && now.As == "added":
		if _, err = help[any](ctx, v, "reselect"); err == nil {
			err = cdp.CallAll(ctx, p, proto.InputInsertText{Text: t.Text})
		}
	default:
		return now, nil
	}
	if err != nil {
		return now, err
	}
	return help[typingResult](ctx, v, "typed")
}

// replace pastes the text over the whole content of an editor. If the page does not handle
// a paste, the text is only inserted if the editor has added something to it.
func (p *page) replace(ctx context.Context, v *frameView, t routine.Typing, how fieldState, now typingResult) error {
	if err := cdp.CallAll(ctx, p, how.move(true)...); err != nil {
		return err
	}
	taken, err := help[bool](ctx, v, "paste", t.Text)
	switch {
	case err != nil || taken:
		return err
	case now.As == "added":
		return cdp.CallAll(ctx, p, proto.InputInsertText{Text: t.Text})
	}
	return cdp.CallAll(ctx, p, how.move(false)...)
}
