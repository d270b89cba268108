package recording

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxOperations is how many operations are recorded at most.
const MaxOperations = 300

// ErrFull is the error for the operation after the last one.
var ErrFull = fmt.Errorf("a recording has at most %d operations: this one is not in it", MaxOperations)

// ErrNothing is the error for a step back, or a parameter, where there is nothing for it.
var ErrNothing = errors.New("nothing was recorded for that")

// step is an event that becomes operations, with what followed from it.
type step struct {
	Event
	// accepted is the kind of dialog that the person accepted; empty if there was none.
	accepted string
	// prompted reports whether the person typed into a dialog.
	prompted bool
	// popup is what becomes of windows: see the operations' x-popup.
	popup string
	// movedTo is the URL to which the page has moved; empty if it has not.
	movedTo string
	// followed reports whether the operation itself waits for that.
	followed bool
	// download reports whether the site sent a file.
	download bool
	// sent are requests that may have changed something on the site.
	sent []string
	// secret is the parameter for the value of a secret field.
	secret string
}

// sameField reports whether both are about one field of one document.
func (e *Event) sameField(other *Event) bool {
	return e.Number == other.Number && e.Document == other.Document
}

// given is a text that becomes a parameter.
type given struct{ text, name string }

// window is a page that a page has opened.
type window struct {
	opener string
	// openedBy is the step; nil if no click did it.
	openedBy *step
	closed   bool
}

// Recording is what a person has done so far. The zero value is an empty one. It must not be used
// concurrently.
type Recording struct {
	steps      []*step
	parameters []given
	session    string
	hidden     *strings.Replacer // nil: nothing is hidden
	windows    map[string]*window
	page       string // where the last step was; empty: there was none
}

// maxSent is how many requests are noted with one step.
const maxSent = 5

// byPage is how soon after an operation a page loads itself again.
const byPage = time.Second

// maxEffect is how long after an operation something counts as its effect.
const maxEffect = 5 * time.Second

// Add adds an event. It reports whether that began a new operation; otherwise the event changed
// the last one, or means nothing for a routine. ErrFull if there are too many.
func (r *Recording) Add(e Event) (bool, error) {
	r.conceal(&e)
	switch e.Kind {
	case Moved, Dialog, Download, Sent:
		r.effect(e)
		return false, nil
	case Opened:
		r.opened(e)
		return false, nil
	case Closed:
		if w := r.windows[e.Page]; w != nil {
			w.closed = true
		}
		return false, nil
	case Click, Type, Choose, Press, Upload, Drag, Scroll, Result, Navigate:
	default:
		return false, nil
	}
	if e.Kind != Press {
		r.dropTabs()
	}
	if r.merge(e) {
		return false, nil
	}
	if len(r.steps) >= MaxOperations {
		return false, ErrFull
	}
	r.changePage(e)
	r.steps = append(r.steps, &step{Event: e})
	return true, nil
}

func (r *Recording) last() *step {
	if len(r.steps) == 0 {
		return nil
	}
	return r.steps[len(r.steps)-1]
}

// dropTabs drops the keys at the end that only moved the focus: no other key came after them.
func (r *Recording) dropTabs() {
	for last := r.last(); last != nil && last.Kind == Press && (last.Key == "Tab" || last.Key == "Shift+Tab"); last = r.last() {
		r.steps = r.steps[:len(r.steps)-1]
	}
}

// merge adds an event to the last step, if it goes on with it.
func (r *Recording) merge(e Event) bool {
	last := r.last()
	if last == nil || last.Page != e.Page {
		return false
	}
	field := last.sameField(&e) || last.Document == e.Document && last.About.is(e.About) // pages make fields anew while one types
	switch {
	case (e.Kind == Type || e.Kind == Choose) && last.Kind == e.Kind && field:
		last.Event = e
	case e.Kind == Type && last.Kind == Click && last.Focus && last.About.is(e.About):
		last.Event = e // the click only gave the field the focus
	case e.Kind == Click && e.Focus && last.Kind == Type && last.About.is(e.About):
	case e.Kind == Click && last.Kind == Click && e.Count == last.Count+1 && e.Button == last.Button && last.About.is(e.About):
		last.Count = e.Count
	case e.Kind == Navigate && last.URL == e.URL && (last.Kind == Navigate || last.movedTo == "" && e.At.Sub(last.At) < byPage): // the page loads itself again
	default:
		return false
	}
	return true
}

// effect adds to the last step what followed from it.
func (r *Recording) effect(e Event) {
	last := r.last()
	if last == nil || e.At.Sub(last.At) > maxEffect {
		return
	}
	switch e.Kind {
	case Moved:
		if last.Page == e.Page && (last.Kind == Click || last.Kind == Press || last.Kind == Choose) {
			last.movedTo, last.followed = e.URL, e.Followed
		}
	case Dialog:
		if e.Accepted && e.Asked != "alert" && e.Asked != "beforeunload" {
			last.accepted, last.prompted = e.Asked, last.prompted || e.Text != ""
		}
	case Download:
		last.download = true
	case Sent:
		if len(last.sent) < maxSent {
			last.sent = append(last.sent, e.Text)
		}
	}
}

// opened notes which page opened a window.
func (r *Recording) opened(e Event) {
	if r.windows == nil {
		r.windows = map[string]*window{}
	}
	w := &window{opener: e.Opener}
	if last := r.last(); last != nil && last.Kind == Click && last.Page == e.Opener && e.At.Sub(last.At) <= maxEffect {
		w.openedBy = last
	}
	r.windows[e.Page] = w
}

// changePage makes the page of the next step that of the routine: a window is followed, or closed,
// or its URL is opened.
func (r *Recording) changePage(e Event) {
	before := r.page
	r.page = e.Page
	if before == "" || before == e.Page || e.Kind == Navigate {
		return
	}
	w, left := r.window(e.Page), r.window(before)
	switch {
	case w.opener == before && r.has(w.openedBy):
		w.openedBy.popup = "follow"
	case left.opener == e.Page && r.has(left.openedBy) && left.openedBy.popup == "follow" && (r.closeWindow() || left.closed):
	default:
		r.steps = append(r.steps, &step{Event: Event{Kind: Navigate, Page: e.Page, URL: e.URL, At: e.At}})
	}
}

// window returns what is known of a page that a page has opened; the zero value for others.
func (r *Recording) window(page string) window {
	if w := r.windows[page]; w != nil {
		return *w
	}
	return window{}
}

// has reports whether a step was not undone.
func (r *Recording) has(s *step) bool { return s != nil && slices.Contains(r.steps, s) }

// closeWindow makes the last step close the window that is followed, unless it closes by itself.
// It reports whether it can.
func (r *Recording) closeWindow() bool {
	last := r.last()
	if last.popup != "" || last.Kind != Click && last.Kind != Type && last.Kind != Press && last.Kind != Choose {
		return false
	}
	last.popup = "close"
	return true
}

// Undo drops the last operation, but not the first page. ErrNothing if there is none.
func (r *Recording) Undo() error {
	r.dropTabs()
	if len(r.steps) < 2 {
		return ErrNothing
	}
	r.steps = r.steps[:len(r.steps)-1]
	r.page = r.last().Page
	return nil
}

// Parameter makes the last text that was typed or chosen a parameter with a name; without one it
// gets the name of its field. It returns the text. ErrNothing if there is none.
func (r *Recording) Parameter(name string) (string, error) {
	for _, s := range slices.Backward(r.steps) {
		if (s.Kind == Type || s.Kind == Choose) && !s.Secret && s.Text != "" {
			r.Give(s.Text, name)
			return s.Text, nil
		}
	}
	return "", ErrNothing
}

// Give makes a text a parameter, wherever it stands in the operations.
func (r *Recording) Give(text, name string) {
	r.parameters = slices.DeleteFunc(r.parameters, func(g given) bool { return g.text == text })
	r.parameters = append(r.parameters, given{text, name})
}
