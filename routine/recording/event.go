// Package recording makes a routine of what a person does in a browser. It knows no browser: it
// takes [Event]s in the order in which they happen.
package recording

import (
	"time"

	"rote/routine"
)

// Kind is the kind of an event.
type Kind string

// What a person does in a page; the script in the page reports these.
const (
	Click  Kind = "click"
	Type   Kind = "type"   // the text of a field, again after each change
	Choose Kind = "choose" // an option, a date or the like
	Press  Kind = "press"  // a key that does something else than type
	Upload Kind = "upload"
	Drag   Kind = "drag"
	Scroll Kind = "scroll" // that brought more items
	Result Kind = "result" // the person wants this as the result
)

// What the browser does for the person.
const (
	// Navigate is a page that the person opened by the address bar, the history or a reload.
	Navigate Kind = "navigate"
	// Moved is another URL of a page that an operation has led to.
	Moved    Kind = "moved"
	Opened   Kind = "opened" // a window, by a page
	Closed   Kind = "closed" // a window
	Dialog   Kind = "dialog" // that the person has answered
	Download Kind = "download"
	// Sent is a request that may have changed something on the site; Text names it.
	Sent Kind = "sent"
)

// Event is something that happened in a page.
type Event struct {
	Kind Kind `json:"kind"`
	// About is the element that the person acted on, or marked.
	About *Element `json:"about"`
	// Button is the mouse button, Count how often it was clicked in quick succession, or how
	// many options are chosen, or how many items a list has. Focus reports whether the click
	// gives a text field the focus.
	Button string `json:"button"`
	Count  int    `json:"count"`
	Focus  bool   `json:"focus"`
	// Held are the keys that were held during a click, as in Control+Shift.
	Held string `json:"held"`
	// Number is that of the field in its document. Text is its value; it is empty if Secret.
	Number int    `json:"number"`
	Text   string `json:"text"`
	Secret bool   `json:"secret"`
	Empty  bool   `json:"empty"`
	Key    string `json:"key"`
	// List is the selector of the items that are the result, and Script reads them.
	List   string `json:"list"`
	Script string `json:"script"`
	Way    int    `json:"way"` // that was scrolled down, in CSS pixels

	// Page is the window in which it happened, with URL as its URL. Document is the document.
	Page     string    `json:"-"`
	Document string    `json:"-"`
	URL      string    `json:"-"`
	At       time.Time `json:"-"`
	// Followed reports whether the page moved by a navigation that it began when it handled the
	// operation: operations wait for these themselves.
	Followed bool `json:"-"`
	// Opener is the page that opened a window.
	Opener string `json:"-"`
	// Accepted reports whether a dialog was accepted, Asked the kind of the dialog, and Text
	// is what was typed into it.
	Accepted bool   `json:"-"`
	Asked    string `json:"-"`
}

// Element is an element of a page.
type Element struct {
	// Proposals are selectors that match only this element, the most lasting one first.
	Proposals []Selector     `json:"proposals"`
	Target    routine.Target `json:"target"`
	Field     *routine.Field `json:"field"`
}

// Selector is a selector with its grade.
type Selector struct {
	Selector string `json:"selector"`
	Grade    string `json:"grade"`
}

// is reports whether both are the same element.
func (e *Element) is(other *Element) bool {
	return e != nil && other != nil && len(e.Proposals) > 0 && len(other.Proposals) > 0 && e.Proposals[0] == other.Proposals[0] && e.Target == other.Target
}
