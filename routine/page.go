package routine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"rote/routine/javascript/facts"
)

// Browser opens pages. Errors of a Browser and its Pages are [Error]s with a
// run-failed code, CodeBrowserUnavailable, or the context's cause.
type Browser interface {
	// Open gives a page in a context of its own, which shares nothing with any
	// other page: cookies, storage, cache. The caller closes it.
	Open(ctx context.Context, o Opening) (Page, error)
}

// Page is one tab of a browser: what the operations of a run need. It is used
// by one goroutine. Every method ends when ctx ends, also when the page hangs,
// and then returns context.Cause(ctx) or an error that wraps it.
type Page interface {
	// Navigate goes to an http or https URL and waits for the load event.
	// CodeNavigationFailed, CodeEgressDenied.
	Navigate(ctx context.Context, url string) (Navigation, error)
	// URL is the current URL, about:blank before the first navigation.
	URL(ctx context.Context) (string, error)
	// WaitURL waits until match accepts the current URL, which it then returns.
	// An error of match ends the waiting.
	WaitURL(ctx context.Context, match func(url string) (bool, error)) (string, error)

	// Click waits for the element to be actionable and clicks it with real
	// mouse events. CodeElementNotFound, CodeElementNotActionable when ctx ends
	// before it is.
	Click(ctx context.Context, c Click) (Found, error)
	// Type waits for the element as Click does and types into it.
	Type(ctx context.Context, t Typing) (Found, error)
	// Press presses a key or chord, as in "Enter" or "Control+A".
	Press(ctx context.Context, key string) error
	// Scroll scrolls the window, or the element when it names one.
	Scroll(ctx context.Context, s Scroll) error
	// OuterHTML is that of the document, or of the first element that matches
	// the selector, for which it waits, and how many match; none for the
	// document.
	OuterHTML(ctx context.Context, selector string) (html string, matches int, err error)

	// Cookies are all cookies of the page's context, HttpOnly ones included.
	Cookies(ctx context.Context) ([]Cookie, error)
	// SentCookies are those that the browser would send to the current page.
	SentCookies(ctx context.Context) ([]Cookie, error)
	// Fetch makes a request from inside the page, with its cookies and origin.
	// On a blank page it first goes to the URL's origin. At most max body bytes;
	// CodeResultTooLarge beyond. CodeNetworkError, CodeEgressDenied.
	Fetch(ctx context.Context, f Fetch, max int64) (Response, error)
	// Evaluate runs an author's script in the page's own world and awaits its
	// value. Its limit also ends a script that never yields; the page is usable
	// afterwards or gone. CodeScriptError, CodeTimeout; CodeScriptBlocked when
	// it tries what js_evaluate blocks. What a script tries after its own call is
	// the error of a later one, of whatever method. The page is gone then.
	Evaluate(ctx context.Context, s Script) (Evaluation, error)

	// ClosePopup closes the window that a click has opened and that is the page now;
	// the one that opened it is the page again. Without such a window nothing
	// happens. CodeNavigationFailed.
	ClosePopup(ctx context.Context) error

	// Lookup reads a text from the page; false when there is none.
	Lookup(ctx context.Context, from Source, name string) (string, bool, error)
	// StorageKeys are names of entries in the page's sessionStorage: as many as a
	// message can name, long ones shortened with "…".
	StorageKeys(ctx context.Context) ([]string, error)
	// Mirror puts an entry into the page's sessionStorage. What the page's
	// quota refuses is left out silently.
	Mirror(ctx context.Context, key, text string) error

	// Evidence tells what the page is like after an operation on it has failed:
	// all that can be found out until ctx ends, nil for none. Texts come whole.
	// It stops the page's scripts, so nothing but Close comes after.
	Evidence(ctx context.Context, i Inspection) *Evidence

	// Files waits for the downloads that the run's pages have begun and gives the
	// files that were not given before. When last, it also waits a little for what
	// the click before it may still bring. CodeResultTooLarge, CodeNetworkError for
	// a download that broke off.
	Files(ctx context.Context, last bool) ([]File, error)

	// Warnings are the page events since the last call that an author should
	// know of: dialogs, popups.
	Warnings() []string
	// Denials are the requests of the page that were refused since the last
	// call, by host.
	Denials() []Denial
	// State is what a context keeps for the next one: cookies, and the local
	// storage of the sites that its page was on. Only Close comes after.
	State(ctx context.Context) ([]byte, error)
	// Close ends the page's context and everything in it. It does not wait for
	// that; the Browser's own end does.
	Close()
}

// Opening says what a page is opened with.
type Opening struct {
	// AllowedHosts limit what the page may reach, in the notation of the
	// operator's own rules and within them: "host", "*.host", "host:port", CIDR.
	// None: whatever the operator allows.
	AllowedHosts []string
	// MaxFiles is how many bytes the files may have that the pages are sent; 0: any
	// number.
	MaxFiles int64
	// Keep tells that the page's State is wanted at the end.
	Keep bool
	// State is what a page of before left, which this one starts from; nil: from
	// nothing. It is used with Keep only.
	State []byte
	// Turn waits until the run may move the next piece of large data out of its
	// page, or until ctx ends, whose cause it then returns. The page calls release
	// when it has the piece; further calls do nothing. nil: a page never waits.
	Turn func(ctx context.Context) (release func(), err error)
}

// Denial is a request that the egress policy refused.
type Denial struct {
	// Host is the host and port that was asked for.
	Host string `json:"host"`
	// Address is what the host resolved to; empty when its name was enough.
	Address string `json:"address,omitempty"`
	Reason  string `json:"reason"`
	// Count is how many times.
	Count int `json:"count"`
}

// Source is a place that storage placeholders read from.
type Source string

const (
	FromSessionStorage Source = "sessionStorage"
	FromLocalStorage   Source = "localStorage"
	FromMeta           Source = "meta"
	// FromWindow gives the property path's value as text, following plain data
	// properties only and calling nothing.
	FromWindow Source = "windowProperty"
)

// Navigation says where a navigation ended.
type Navigation struct {
	URL string
	// Status is the HTTP status; 0 when there was no response (about:blank).
	Status int
	// Unfinished tells that the load event did not come within the bound and
	// the page was taken at its DOM-ready state.
	Unfinished bool
}

// Click says what to click and how.
type Click struct {
	Selector      string
	Button        string // left, right, middle
	Count         int
	EnsureVisible bool
	// Hover are the selectors of elements that the mouse passes over, in order,
	// before it clicks.
	Hover []string
	// FollowPopup waits for the window that the click opens, which is then the page
	// of all further calls, until it closes. CodeTimeout when it opens none.
	FollowPopup bool
}

// Typing says what to type and where.
type Typing struct {
	Selector string
	Text     string
	// Clear replaces the existing text instead of adding at the end.
	Clear bool
	// Files, where there are any, are handed in instead of a text: to a file input,
	// which may be hidden, to what opens a file chooser when it is clicked, or to
	// where files can be dropped.
	Files []InputFile
}

// Found says what the selector of an operation matched.
type Found struct {
	// Matches is how many elements the selector matched.
	Matches int
	// Skipped is how many of them came first but were not actionable.
	Skipped int
	// AtOnce tells, with an error of Type, that waiting longer would not have
	// helped, and so was not done.
	AtOnce bool
	// Differs tells, for Type, that the control's text afterwards is not what
	// was typed. Arrived says how it differs.
	Differs bool
	Arrived Arrival
	// Value is the control's text afterwards, where it differs; Secret tells that
	// the control hides it, as one for passwords does.
	Value  string
	Secret bool
	// Left tells that the page left for another one first: for Click before the
	// element was pressed, for Type before the text was typed.
	Left bool
}

// Arrival says what has become of a text that was typed.
type Arrival string

const (
	// ArrivedNothing: none of the text is there.
	ArrivedNothing Arrival = "nothing"
	// ArrivedAdded: the text is there, with characters that the page added.
	ArrivedAdded Arrival = "added"
	// ArrivedChanged: another text is there.
	ArrivedChanged Arrival = "changed"
)

// Scroll says what to scroll and by how much. X and Y are absolute and for the
// window only; the deltas are relative.
type Scroll struct {
	Selector             string // empty: the window
	X, Y, DeltaX, DeltaY *float64
	Smooth               bool
}

// Cookie is one cookie of a run's context.
type Cookie struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Domain string `json:"domain"`
	Path   string `json:"path"`
	// Expires is in Unix seconds; -1 for a session cookie.
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite,omitempty"`
}

// Fetch is a request as a page makes it.
type Fetch struct {
	URL         string
	Method      string
	Headers     map[string]string
	Body        *string // nil: none
	Credentials string
}

// Response is what a Fetch brought. Body holds the raw bytes.
type Response struct {
	URL     string
	Status  int
	Headers map[string]string
	Body    []byte
}

// Script is an author's code, ready to run.
type Script struct {
	Text  string
	Limit time.Duration
	// Facts are what is proved about Text; their zero value has it watched.
	Facts facts.Facts
}

// Evaluation is the value of a script.
type Evaluation struct {
	// JSON is what JSON.stringify gives for the value; nil for undefined and
	// for what has no JSON.
	JSON json.RawMessage
	// Lost says what the value is that JSON cannot keep, as in "of type Map, whose JSON
	// is {}: …"; empty: it can.
	Lost string
	// Console is what the script wrote to the console, a line an entry.
	Console []string
	// Failed is where the script was when it threw an error; zero: not known, or
	// it threw none.
	Failed Place
	// LeftoversStopped reports whether functions that earlier scripts had left
	// in the document were stopped. A promise that waits for them never settles.
	LeftoversStopped bool
}

// Place is a position in the text of a script. Line and Column count from 1.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func (p Place) String() string {
	return fmt.Sprintf("line %d, column %d of the script", p.Line, p.Column)
}
