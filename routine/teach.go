package routine

import "time"

// ElementDescription describes the element that a selector matches, for an author.
type ElementDescription struct {
	// Matches is how many elements the given selector matches now. The other fields
	// describe the first one that an operation would act on; they are empty if Matches
	// is 0.
	Matches int `json:"matches"`
	// Selector is the best selector of the element, with its grade; GivenGrade is the
	// grade of the selector that was asked for. Alternatives are up to three others that
	// match only this element, each of another kind.
	Selector     string   `json:"selector,omitempty"`
	Grade        string   `json:"grade,omitempty"`
	GivenGrade   string   `json:"given_grade,omitempty"`
	Alternatives []string `json:"alternatives,omitempty"`
	Target       Target   `json:"target"`
	// FrameURL is the URL of the document that contains the element.
	FrameURL string `json:"frame_url,omitempty"`
	// DocumentAt is when that document was opened, in milliseconds since 1970.
	DocumentAt float64 `json:"-"`
	// InLoginForm reports whether the element is in a form that has one password field, and
	// not one for a new password.
	InLoginForm bool `json:"in_login_form,omitempty"`
	// FormMethod is the method of the form that a click on the element would submit: get,
	// post or dialog; empty if it submits none.
	FormMethod string `json:"form_method,omitempty"`
	// SubmitsOnChange reports whether the element sends its form when its value changes.
	SubmitsOnChange bool `json:"submits_on_change,omitempty"`
	// SubmitName is the name of the button that Enter in the element, a field, presses.
	SubmitName string `json:"submit_name,omitempty"`
	// Hint is what the attributes of the element say, if its name has no word.
	Hint string `json:"hint,omitempty"`
	// InDialog reports whether the element is in a dialog, or in a layer over most of the
	// page, as banners for consent are.
	InDialog bool `json:"in_dialog,omitempty"`
	// Field is what the element accepts if it is a form field; else nil.
	Field *Field `json:"field,omitempty"`
	// Value is the text that a field for text holds, at most 1000 characters of it, and
	// Masked if it may be a secret.
	Value string `json:"-"`
}

// Target names an element by what a person sees: its role, its accessible name and, if
// several have both, a text near it, such as that of its table row. It is kept with an
// operation as "x-target", for mending.
type Target struct {
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
	Near string `json:"near,omitempty"`
	// Matches is how many elements of the page have the role, the name and the text.
	Matches int `json:"-"`
}

// Field is what a form field accepts.
type Field struct {
	Label string `json:"label,omitempty"`
	// Type is the type of an input, or select, textarea, contenteditable, listbox.
	Type      string `json:"type"`
	Min       string `json:"min,omitempty"`
	Max       string `json:"max,omitempty"`
	Step      string `json:"step,omitempty"`
	Pattern   string `json:"pattern,omitempty"`
	MaxLength int    `json:"max_length,omitempty"` // in characters; 0 if there is no bound
	Required  bool   `json:"required,omitempty"`
	// Options are the labels to choose from, at most 50, without those that only ask to
	// choose; of a radio button those of its group. OptionsVary reports whether there may be
	// others when other fields have other values: the field suggests what fits to what is
	// typed, or the options did not come with the document.
	Options     []string `json:"options,omitempty"`
	OptionsVary bool     `json:"options_vary,omitempty"`
	// Values are the value attributes of the radio buttons of a group.
	Values []string `json:"values,omitempty"`
	// Secret reports whether the field takes a password, a one-time code or the number of
	// a card, by its type, autocomplete or name.
	Secret bool `json:"secret,omitempty"`
}

// ElementQuery asks for the elements of a page that could be the one that an operation
// meant. Each field that is set finds its own candidates.
type ElementQuery struct {
	Target       Target
	Alternatives []string
	// Lost is a selector that matches nothing any more. Elements whose id, name, class or
	// text resembles its parts are candidates.
	Lost string
	// Use is what the element is needed for; others are no candidates.
	Use     ElementUse
	Secrets []string
}

// FoundElement is one candidate of an ElementQuery.
type FoundElement struct {
	Selector string `json:"selector"`
	Grade    string `json:"grade"`
	Role     string `json:"role"`
	Name     string `json:"name,omitempty"`
	// Alternative is the place in ElementQuery.Alternatives of one that matches this
	// element and nothing else; -1 if none does.
	Alternative int `json:"-"`
	// SameTarget reports whether role, name and near text are those of the target, and no
	// other element has them.
	SameTarget bool `json:"same_target,omitempty"`
	// Resemblance is how much of Lost the element has, in points as evidence ranks
	// elements; Why says which part.
	Resemblance int    `json:"resemblance,omitempty"`
	Why         string `json:"why,omitempty"`
	// Form is the selector of the nearest form, list or dialog around the element.
	Form string `json:"form,omitempty"`
}

// Request is a request for data that a page made: by XHR or fetch, as an event stream,
// by a form, or a document that was the answer to a POST. Its texts are as they were
// sent, with secrets: mask them before they are shown.
type Request struct {
	// Number counts the page's requests for data from 1.
	Number int
	// ByOperation reports whether an operation made the request, such as fetch, and not
	// the page.
	ByOperation bool
	// Kind is xhr, fetch, eventsource, form or document.
	Kind   string
	Method string
	URL    string
	// PageURL is the URL of the document that made the request.
	PageURL string
	SentAt  time.Time
	Headers map[string]string
	// Body is the text that was sent, at most 256 KiB; BodyTruncated reports whether
	// there was more: a longer body, a file, or bytes that are no text.
	Body          string
	BodyTruncated bool
	// Status is 0 while there is no answer; Error is why there is none, or no complete one.
	Status      int
	Error       string
	ContentType string
	// Answer is the decoded body of the answer, at most 256 KiB, only of a textual type.
	// AnswerSize is its whole size in bytes. AnswerLost reports whether it is no longer
	// kept, was too large, or was not read by the page.
	Answer     []byte
	AnswerSize int64
	AnswerLost bool
}

// RequestLog are the requests of a page, oldest first.
type RequestLog struct {
	Requests []Request
	// Others counts the requests that are not in the log: images, scripts, styles,
	// beacons, preflights and those to hosts that only collect.
	Others int
	// Pending counts those in Requests that have no answer yet.
	Pending int
	// Dropped counts the oldest requests, which are no longer kept.
	Dropped int
}

// PageValues are the values that a page holds and that a request could have been made of,
// in at most 256 KiB together. What does not fit is left out, as are values of more than
// 16 KiB.
type PageValues struct {
	URL string
	// Metas are the contents of meta elements by name or property, HiddenFields the values
	// of hidden inputs by a selector whose first match in the document, which is that of the
	// page and not of a frame, is the input.
	Metas, HiddenFields map[string]string
	Cookies             []Cookie
	LocalStorage        map[string]string
	SessionStorage      map[string]string
	// Window are texts and numbers in data properties of window, by a path of at most four
	// names. Getters are not read.
	Window map[string]string
}
