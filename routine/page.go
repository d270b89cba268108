package routine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"rote/routine/javascript/facts"
)

// Browser opens pages. Errors of a Browser and its Pages are [Error]s with the code of
// a failed run or CodeBrowserUnavailable, or the cause of the context.
type Browser interface {
	// Open returns a page in a browser context of its own, which shares neither
	// cookies nor storage nor cache with other pages. The caller closes it.
	Open(ctx context.Context, o PageOptions) (Page, error)
}

// Page is one tab of a browser, with what the operations of a run need. One goroutine
// uses it. Every method returns when ctx ends, even if the page hangs; its error is
// then context.Cause(ctx) or wraps it. Comments name the codes of other errors.
//
// While a document has a secret that was typed with a [Release] with rules, the methods that
// could read it back fail with CodeSecretExposed: Evaluate, OuterHTML, Fetch, Lookup,
// StorageKeys, Cookies, SentCookies, Type with files, and Press of keys that copy.
type Page interface {
	// Navigate goes to an http or https URL and waits for the load event.
	// CodeNavigationFailed, CodeEgressDenied.
	Navigate(ctx context.Context, url string) (Navigation, error)
	// URL returns the current URL, about:blank before the first navigation.
	URL(ctx context.Context) (string, error)
	// Present reports whether an element, visible or not, matches the selector now.
	Present(ctx context.Context, selector string) (bool, error)
	// WaitURL waits until match accepts the current URL and returns that URL. An error
	// of match ends the wait.
	WaitURL(ctx context.Context, match func(url string) (bool, error)) (string, error)

	// Click waits until the element is actionable and clicks it with real mouse
	// events. CodeElementNotFound or CodeElementNotActionable if ctx ends first.
	Click(ctx context.Context, c Click) (Match, error)
	// Type waits for the element like Click and types into it.
	Type(ctx context.Context, t Typing) (Match, error)
	// Press presses a key or chord, as in "Enter" or "Control+A".
	Press(ctx context.Context, key string) error
	// AcceptDialogs sets whether the JavaScript dialogs (alert, confirm, prompt) that the
	// run's pages open from now on are accepted, a prompt with its default text. At first
	// they are dismissed.
	AcceptDialogs(accept bool)
	// Scroll scrolls the window, or the element when it names one.
	Scroll(ctx context.Context, s Scroll) error
	// OuterHTML returns the HTML of the first element that the selector matches, for
	// which it waits, and the number of matches. Without a selector it returns the
	// HTML of the document and 0.
	OuterHTML(ctx context.Context, selector string) (html string, matches int, err error)

	// Cookies returns all cookies of the page's browser context, including HttpOnly
	// ones.
	Cookies(ctx context.Context) ([]Cookie, error)
	// SentCookies returns the cookies that the browser would send to the current page.
	SentCookies(ctx context.Context) ([]Cookie, error)
	// Fetch makes a request from inside the page, with its cookies and origin. From a
	// blank page it first goes to the URL's origin. max bounds the body in bytes.
	// CodeResultTooLarge, CodeNetworkError, CodeEgressDenied.
	Fetch(ctx context.Context, f Fetch, max int64) (Response, error)
	// Evaluate runs an author's script in the page's main world and awaits its value.
	// Its limit also ends a script that never yields; afterwards the page is either
	// usable or closed. CodeScriptError, CodeTimeout; CodeScriptBlocked if the script
	// tries what js_evaluate blocks. If a script tries that after its own call has
	// returned, a later call of any method fails with that code, and the page is
	// closed.
	Evaluate(ctx context.Context, s Script) (Evaluation, error)

	// ClosePopup closes the current page if it is a window that a click opened, and
	// makes its opener the current page again. Otherwise it does nothing.
	// CodeNavigationFailed.
	ClosePopup(ctx context.Context) error

	// Lookup reads a text from the page; false if there is none.
	Lookup(ctx context.Context, from Source, name string) (string, bool, error)
	// StorageKeys returns names of entries in the page's sessionStorage for an error
	// message: only as many as it has room for, long ones shortened with "…".
	StorageKeys(ctx context.Context) ([]string, error)
	// Mirror writes an entry to the page's sessionStorage. It silently ignores an
	// entry that exceeds the page's quota.
	Mirror(ctx context.Context, key, text string) error

	// Evidence describes the page after an operation on it has failed. It returns what
	// it finds until ctx ends, or nil. Texts are not shortened. It stops the page's
	// scripts, so that only Close may follow.
	Evidence(ctx context.Context, i Inspection) *Evidence

	// Files waits for the downloads that the run's pages have started and returns the
	// files that it has not returned before. If last, it also waits briefly for
	// downloads that the click before may still start. CodeResultTooLarge;
	// CodeNetworkError if a download was interrupted.
	Files(ctx context.Context, last bool) ([]File, error)

	// Warnings returns the page events since the last call that an author should know
	// of, such as dialogs and popups.
	Warnings() []string
	// Denials returns the requests that were refused since the last call, by host.
	Denials() []Denial
	// BlockedRequests returns how many requests of each type in PageOptions.Block have
	// failed since the last call; nil if there were none.
	BlockedRequests() map[string]int
	// Unverified reports whether the browser of the page may not confine it to its own network
	// and process, which the operator has allowed.
	Unverified() bool
	// State returns what the next run may start from: cookies, and the local storage
	// of the sites that the page visited. Only Close may follow.
	State(ctx context.Context) ([]byte, error)
	// Close ends the page's browser context with everything in it. It does not wait
	// for that; closing the Browser does.
	Close()
}

// Picturable is a [Page] of which there are pictures while a run uses it.
type Picturable interface {
	// Picture returns the visible part of the current page as a JPEG image. Unlike the methods
	// of Page, any goroutine may call it. Nothing is hidden in the picture.
	Picture(ctx context.Context) ([]byte, error)
}

// PageOptions are the options of a new page.
type PageOptions struct {
	// AllowedHosts narrows what the page may reach within the operator's own rules, in
	// their notation: "host", "*.host", "host:port", CIDR. Empty: all that the
	// operator allows.
	AllowedHosts []string
	// MaxFiles bounds the size in bytes of all files that the pages receive; 0: no
	// bound.
	MaxFiles int64
	// KeepState reports whether State will be called at the end.
	KeepState bool
	// State is the state that an earlier page left and this one starts from; nil:
	// none. It is used with KeepState only.
	State []byte
	// UserAgent is that of all requests and scripts of the pages; empty: that of the browser.
	UserAgent string
	// Turn waits until the run may move the next piece of large data out of its page.
	// If ctx ends first, it returns the context's cause. The page calls release once
	// it has the piece; further calls of release do nothing. If Turn is nil, a page
	// never waits.
	Turn func(ctx context.Context) (release func(), err error)
	// Watch records the requests that the pages make, for [Teachable.Requests].
	Watch bool
	// RequestsOnly reports whether the run makes requests to one origin and does nothing else
	// with the page than read cookies. From a blank page, Fetch then opens an empty document
	// of that origin instead of the site's page. If the site answers a GET or HEAD request that
	// sends cookies with an error status, or not at all, Fetch opens the site's page and makes
	// the request again, because the site may expect the cookies that its page sets.
	RequestsOnly bool
	// RequestsTo is the origin of those requests; empty if there are none.
	RequestsTo string
	// Block names the types of resources that the pages do not load: "image", "font" and
	// "media".
	Block []string
	// Lesson reports whether the page is for a lesson, which may stay open for long and holds no
	// place of a run.
	Lesson bool
	// Connecting, if not nil, is called with each host and port to which the run's pages want to
	// connect, also if that is refused: several times, and from several goroutines at once. What
	// it returns, which is not nil, is called with the error, or nil, when that is known.
	Connecting func(host string) (ended func(error))
	// Lifetime is how long the page may use the network, from its first connection; 0: a
	// little longer than the longest run.
	Lifetime time.Duration
}

// Denial counts the requests to one host that the egress policy refused.
type Denial struct {
	// Host is the requested host and port.
	Host string `json:"host"`
	// Address is what the host resolved to; empty if its name was enough to refuse it.
	Address string `json:"address,omitempty"`
	Reason  string `json:"reason"`
	Count   int    `json:"count"`
}

// Source is where a storage placeholder reads its value.
type Source string

const (
	FromSessionStorage Source = "sessionStorage"
	FromLocalStorage   Source = "localStorage"
	FromMeta           Source = "meta"
	// FromWindow reads a property path of window as text. It follows plain data
	// properties only and calls no function.
	FromWindow Source = "windowProperty"
)

// Navigation is the outcome of a navigation.
type Navigation struct {
	URL string
	// Status is the HTTP status; 0 if there was no response, as for about:blank.
	Status int
	// Unfinished reports whether the load event did not arrive in time. The page's DOM
	// is ready then.
	Unfinished bool
}

// Click says what to click and how.
type Click struct {
	Selector      string
	Button        string // left, right, middle
	Count         int
	EnsureVisible bool
	// Hover are the selectors of elements over which the mouse moves, in order, before
	// it clicks.
	Hover []string
	// FollowPopup waits for the window that the click opens. That window is then the
	// page of all further calls until it closes. CodeTimeout if the click opens none.
	FollowPopup bool
}

// Typing says what to type and where.
type Typing struct {
	Selector string
	Text     string
	// Clear replaces the existing text. Otherwise the text is added at its end.
	Clear bool
	// Release, if not nil, means that Text has secrets. It is then inserted in one step that
	// no script of the page can divert, after the checks of the release's rules, and never
	// with key events. CodeSecretDenied.
	Release *Release
	// Files, if there are any, are handed in instead of a text: to a file input, which
	// may be hidden, to an element that opens a file chooser when clicked, or to one
	// on which files can be dropped.
	Files []InputFile
}

// Match describes the element that the selector of an operation matched.
type Match struct {
	// Matches is how many elements the selector matched.
	Matches int
	// Skipped is how many of them precede the chosen one but were not actionable.
	Skipped int
	// Final reports, with an error of Type, that a longer wait would not have helped
	// and was not made.
	Final bool
	// Options are, with an error of Type, the choices of a list that does not have the
	// wanted one, at most 50; nil if that is not the reason.
	Options []string
	// Differs reports, for Type, that the control's text afterwards is not the typed
	// one. Arrived says how it differs.
	Differs bool
	Arrived Arrival
	// Value is the control's text afterwards if it differs. Secret reports whether the
	// control hides it, as a password field does.
	Value  string
	Secret bool
	// Left reports whether the page navigated away first: for Click before the element
	// was pressed, for Type before the text was typed.
	Left bool
}

// Arrival says how the text of a control differs from what was typed into it.
type Arrival string

const (
	// ArrivedNothing means that none of the text arrived.
	ArrivedNothing Arrival = "nothing"
	// ArrivedAdded means that the text arrived and the page added characters.
	ArrivedAdded Arrival = "added"
	// ArrivedChanged means that the control has another text.
	ArrivedChanged Arrival = "changed"
)

// Scroll says what to scroll and by how much. X and Y are absolute and for the
// window only; the deltas are relative.
type Scroll struct {
	Selector             string // empty for the window
	X, Y, DeltaX, DeltaY *float64
	Smooth               bool
}

// Cookie is one cookie of a run's browser context.
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

// Fetch is a request that a page makes.
type Fetch struct {
	URL         string
	Method      string
	Headers     map[string]string
	Body        *string // may be nil
	Credentials string
	// Release, if not nil, means that the request has secrets. Each hop of it is checked
	// before it is sent: with rules, it may go to their hosts only; without, to the origin
	// of URL only. CodeSecretDenied.
	Release *Release
}

// Response is the response to a Fetch. Body has the raw bytes.
type Response struct {
	URL     string
	Status  int
	Headers map[string]string
	Body    []byte
}

// Script is an author's script that is ready to run.
type Script struct {
	Text  string
	Limit time.Duration
	// Facts are what was proved about Text. With the zero value the script is guarded
	// while it runs.
	Facts facts.Facts
}

// Evaluation is the outcome of a script.
type Evaluation struct {
	// JSON is the value as JSON.stringify encodes it; nil for undefined and other
	// values without JSON.
	JSON json.RawMessage
	// Lost describes a value that JSON cannot represent, as in "of type Map, whose
	// JSON is {}: …"; empty if it can.
	Lost string
	// Console is what the script wrote to the console, one entry a line.
	Console []string
	// Failed is the position at which the script threw an error; zero if it threw none
	// or the position is not known.
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
