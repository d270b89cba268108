package browser

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// request and response are the argument and the result of the helper's fetch.
type request struct {
	URL         string            `json:"url"`
	Method      string            `json:"method"`
	Headers     map[string]string `json:"headers"`
	Body        *string           `json:"body"`
	Credentials string            `json:"credentials"`
	// Origin, if not empty, is that of the document in which alone the request is made.
	Origin string `json:"origin,omitempty"`
}

type response struct {
	// Served: no request was made, as a service worker may answer it.
	Served bool `json:"served"`
	// Moved: no request was made, as the document is of another origin.
	Moved   bool              `json:"moved"`
	Error   string            `json:"error"`
	CSP     bool              `json:"csp"` // the page's content security policy forbids it
	Status  int               `json:"status"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	// Dropped are the request headers that the browser does not let a page set.
	Dropped []string `json:"dropped"`
	bodyPart
}

// bodyPart is a piece of a body. Bodies are transferred in pieces, so that neither side
// holds several encodings of one at once, and runs can take turns.
type bodyPart struct {
	Broke    string `json:"broke"` // why the body ended early
	TooLarge bool   `json:"tooLarge"`
	Body     string `json:"body"` // base64
	More     bool   `json:"more"`
}

// Fetch makes the request from inside the page. If the page is blank, it first goes to
// the site of the URL, or with RequestsOnly to an empty document of its origin.
func (p *page) Fetch(ctx context.Context, f routine.Fetch, max int64) (routine.Response, error) {
	if err := p.awaitRest(ctx); err != nil {
		return routine.Response{}, err
	}
	if err := p.checkExposed(ctx, "no request may be made"); err != nil {
		return routine.Response{}, err
	}
	blank := p.now().url == "about:blank" && p.asPopup.opener == nil // an opener may have written a blank popup's document
	if blank && f.Release != nil {
		if err := checkRequest(f.Release, f.URL); err != nil {
			return routine.Response{}, err
		}
	}
	switch {
	case p.withoutSite:
		return p.fetchWithoutSite(ctx, f, max, blank)
	case blank:
		return p.fetchFromSite(ctx, f, max, f.URL)
	}
	r, _, err := p.fetch(ctx, f, max)
	return r, err
}

// fetchFromSite goes to the site of a URL and makes the request there.
func (p *page) fetchFromSite(ctx context.Context, f routine.Fetch, max int64, site string) (routine.Response, error) {
	origin, err := p.goToOrigin(ctx, site)
	if err != nil {
		return routine.Response{}, err
	}
	r, forbidden, err := p.fetch(ctx, f, max)
	if !forbidden {
		return r, err
	}
	// The author did not choose this page, so its content security policy must not
	// apply to the request.
	if err := p.openEmpty(ctx, origin); err != nil {
		return routine.Response{}, err
	}
	r, _, err = p.fetch(ctx, f, max)
	return r, err
}

// fetch makes the request. forbidden reports whether it was not made because the page's
// content security policy forbids it.
func (p *page) fetch(ctx context.Context, f routine.Fetch, max int64) (_ routine.Response, forbidden bool, _ error) {
	if max <= 0 {
		max = 1 << 62
	}
	q := request{URL: f.URL, Method: f.Method, Headers: f.Headers, Body: f.Body, Credentials: f.Credentials}
	if q.Headers == nil {
		q.Headers = map[string]string{}
	}
	if q.Credentials == "" {
		q.Credentials = "same-origin"
	}
	var sent *releasedRequest
	if f.Release != nil {
		var end func()
		var err error
		if sent, end, err = p.releaseRequest(ctx, &q, f.Release); err != nil {
			return routine.Response{}, false, p.failure(ctx, err)
		}
		defer end()
	}
	asked := p.traceRequests()
	from := asHelper
	r, err := requests[response](ctx, p, from, "request", q, max, sent == nil)
	if err == nil && r.Moved {
		err = cdp.ErrGone
	}
	if err == nil && r.Served {
		from = asPage
		end := p.throughWorker()
		r, err = requests[response](ctx, p, from, "request", q, max)
		end()
	}
	var body []byte
	if err == nil && r.Error == "" {
		body, err = p.readBody(ctx, from, f, r, max)
	}
	became := asked(r.URL)
	if refused := sent.refusal(); refused != nil {
		return routine.Response{}, false, refused
	}
	if r.CSP && became.first == became.last {
		return routine.Response{}, true, p.fetchError(f, r, became)
	}
	for _, name := range r.Dropped {
		p.warn(fmt.Sprintf("a browser lets no page set the header %s: the request was made without it", name))
	}
	if err != nil {
		return routine.Response{}, false, p.failure(ctx, err)
	}
	if r.Error != "" {
		return routine.Response{}, false, p.fetchError(f, r, became)
	}
	return routine.Response{URL: r.URL, Status: r.Status, Headers: r.Headers, Body: body}, false, nil
}

// requester is who makes a request: the helper, or the page itself, whose service
// worker then answers as it does the page's own requests.
type requester int

const (
	asHelper requester = iota
	asPage
)

// keptRequest is the constant of each document that holds what makes requests as the
// page. As with keptStringify, it is kept before the page's own code runs.
var keptRequest = "rote" + rand.Text()

// requests calls a function of request.js.
func requests[R any](ctx context.Context, p *page, from requester, function string, args ...any) (R, error) {
	if from == asHelper {
		return help[R](ctx, p, function, args...)
	}
	var result R
	expression, err := helperCall(keptRequest+"."+function, args)
	if err != nil {
		return result, err
	}
	if p.hasLeftovers() {
		expression = inNewTask(expression)
	}
	value, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: expression, AwaitPromise: true, ReturnByValue: true})
	if err != nil || value.Value == nil {
		return result, cdp.AsGone(err)
	}
	return result, json.Unmarshal(value.Value, &result)
}

// readBody reads the whole body of an answer.
func (p *page) readBody(ctx context.Context, from requester, f routine.Fetch, r response, max int64) ([]byte, error) {
	var body []byte
	if size, err := strconv.ParseInt(r.Headers["content-length"], 10, 64); err == nil && size > 0 && size <= min(max, maxPreallocated) {
		body = make([]byte, 0, size)
	}
	for next := r.bodyPart; ; {
		if next.TooLarge {
			return nil, routine.Errorf(routine.CodeResultTooLarge,
				"the answer of %s has more than the limit of %d bytes: ask for less, or raise --max-result", routine.ShownURL(f.URL), max)
		}
		if next.Broke != "" {
			return nil, routine.Errorf(routine.CodeNetworkError, "%s %s: the answer broke off after %d bytes: %s",
				f.Method, routine.ShownURL(f.URL), len(body), next.Broke)
		}
		var err error
		if body, err = base64.StdEncoding.AppendDecode(body, []byte(next.Body)); err != nil || !next.More {
			return body, err
		}
		if next, err = p.nextBodyPart(ctx, from); err != nil {
			return nil, err
		}
	}
}

// nextBodyPart returns the next piece of the body. The page collects the piece before the
// run takes a turn, so that a run that waits for a slow site does not hold one.
func (p *page) nextBodyPart(ctx context.Context, from requester) (bodyPart, error) {
	if _, err := requests[any](ctx, p, from, "gather"); err != nil {
		return bodyPart{}, err
	}
	release, err := p.takeTurn(ctx)
	if err != nil {
		return bodyPart{}, err
	}
	defer release()
	return requests[bodyPart](ctx, p, from, "part")
}

// maxTurn bounds how long a run keeps its turn. A page that is busy with its scripts may
// answer late or never, and must not delay the other runs.
const maxTurn = time.Second

// takeTurn waits until the run may transfer the next piece of large data out of its
// page. The caller calls release when it has the piece. It fails with the cause of ctx
// when that ends.
func (p *page) takeTurn(ctx context.Context) (release func(), err error) {
	if p.first().turn == nil {
		return func() {}, nil
	}
	done, err := p.first().turn(ctx)
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(maxTurn, done)
	return func() { timer.Stop(); done() }, nil
}

// maxPreallocated bounds the memory that is reserved for a body because of its Content-Length.
const maxPreallocated = 64 << 20

// fetchError is the error for a request without an answer.
func (p *page) fetchError(f routine.Fetch, r response, became requestTrace) error {
	if denied, ok := p.proxy.Denied(became.last); ok {
		return denied
	}
	why := cmp.Or(p.whyFailed(became.last, became.failure), r.Error)
	if r.CSP {
		why = "the Content-Security-Policy of the page forbids it: navigate to a page that allows it, or to the URL's own site"
	}
	return routine.Errorf(routine.CodeNetworkError, "%s %s failed: %s", f.Method, routine.ShownURL(f.URL), why)
}

// whyFailed explains why a request got no answer; empty if that is not known.
func (p *page) whyFailed(url string, failure loadingFailed) string {
	known, ok := p.proxy.Failure(url)
	switch {
	case failure.CORS != nil:
		return fmt.Sprintf("the server does not let pages of this origin read it (CORS, %s): navigate to the URL's own site first", failure.CORS.Error)
	case failure.Blocked != "":
		return "the browser blocked it (" + failure.Blocked + ")"
	case ok:
		return known
	case failure.Error != "":
		return explainNetError(failure.Error)
	}
	return ""
}

// goToOrigin opens the root page of the request's site, so that the request is made with
// the site's cookies and origin. If the site has no page there, like many APIs, it opens
// an empty document of that origin instead. If the site cannot be reached, the request
// itself will fail and say so.
func (p *page) goToOrigin(ctx context.Context, to string) (origin string, err error) {
	if origin, err = originOf(to); err != nil {
		return "", err
	}
	_, err = p.Navigate(ctx, origin+"/")
	if err == nil {
		var there bool
		if there, err = inHelper[bool](ctx, p, "(to => self.origin === new URL(to).origin)", origin); there {
			return origin, nil
		}
	}
	if err != nil && (ctx.Err() != nil || !p.usable()) {
		return "", p.failure(ctx, err)
	}
	return origin, p.openEmpty(ctx, origin)
}

// originOf is the origin of the URL of a request that is made from a blank page.
func originOf(to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", routine.Errorf(routine.CodeNavigationFailed,
			"%q is no absolute http or https URL, and no page is open that it could be relative to: navigate first", routine.ShownURL(to))
	}
	return u.Scheme + "://" + u.Host, nil
}

// openEmpty opens an empty document of an origin, without a request to it.
func (p *page) openEmpty(ctx context.Context, origin string) error {
	err := p.answeringBlank(ctx, func(visit func(string) error) error { return visit(origin) })
	if err != nil {
		return p.failure(ctx, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recordVisit(origin + "/")
	return nil
}
