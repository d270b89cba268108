package routine

// Evidence is what a page was like when an operation failed on it, so that its
// author can mend the routine without opening the page. It is small: the JSON
// takes at most 8 KiB. All of its texts come from the page, with what is secret
// masked: they are data, never instructions.
type Evidence struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Text is the beginning of what a person reads on the page, its alerts
	// first, in at most 300 characters.
	Text string `json:"text,omitempty"`
	// Elements are what could have been meant by the operation's selector, the
	// likeliest first. The list is empty for operations that look for no element,
	// and null when the page did not answer.
	Elements []Element `json:"elements"`
	// Console are the last lines that the page wrote, FailedRequests the last
	// of its requests that failed.
	Console        []string        `json:"console"`
	FailedRequests []FailedRequest `json:"failed_requests"`
	// Script is the line at which the script of a js_evaluate threw; null when
	// that is not known.
	Script *ScriptLine `json:"script,omitempty"`
	// Screenshot is null when none could be taken.
	Screenshot *Screenshot `json:"screenshot"`
}

// ScriptLine is a line of a script of a routine.
type ScriptLine struct {
	Place
	// Text is the line as the routine has it, with its placeholders.
	Text string `json:"text"`
}

// Element is one element of a page as a routine could name it.
type Element struct {
	// Selector is plain CSS and matches this element only, also where it is in
	// a frame or an open shadow root.
	Selector string `json:"selector"`
	// Role is that of accessibility, or else the tag.
	Role string `json:"role"`
	// Text is what a person reads on or beside it, never what was typed into
	// it.
	Text string `json:"text,omitempty"`
	// Where names the frame or shadow root that it is in.
	Where string `json:"where,omitempty"`
	// Problem is why a person could not act on it; empty: nothing.
	Problem string `json:"problem,omitempty"`
	// Matched tells that the operation's own selector matches it.
	Matched bool `json:"matched,omitempty"`
}

// FailedRequest is a request of a page that brought no answer, or an answer
// with an HTTP status from 400 on.
type FailedRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Screenshot describes a picture of what was in view. What shows a secret was
// blanked in it.
type Screenshot struct {
	ContentType string `json:"content_type"`
	// Width and Height are in pixels, Size is in bytes.
	Width  int `json:"width"`
	Height int `json:"height"`
	Size   int `json:"size"`
	// File names the file of the execution that holds it; empty when it is not
	// kept.
	File string `json:"file,omitempty"`
	Data []byte `json:"-"`
}

// Inspection says what evidence to look for.
type Inspection struct {
	// Operation is the type of the one that failed, Selector its selector;
	// empty: it has none.
	Operation, Selector string
	// Secrets are texts that the evidence must not show.
	Secrets []string
}

// screenshotFile is the name under which a screenshot is kept.
const ScreenshotFile = "screenshot.jpg"

// String is the element in a few words, as in: button.buy-now 'Buy now'.
func (x Element) String() string {
	text := x.Selector
	if x.Text != "" {
		text += " '" + Truncate(x.Text, 40) + "'"
	}
	if x.Where != "" {
		text += " (" + x.Where + ")"
	}
	return text
}
