package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// releasedRequest is the request of an operation that has secrets, while it is under way. The
// page's session pauses its requests meanwhile, so that each hop of it is judged before it is
// sent.
//
// The helper makes the request in a world of its own, so code of the page, also one that has
// replaced fetch, Request or JSON, sees nothing of it, and no service worker gets it. But the
// page sees the URL in its list of resources, which is why its origin must be one to which the
// secret may go, too.
type releasedRequest struct {
	search *secretSearch
	// method and url are those of the first hop, as the browser has them in events.
	method, url string
	origin      *url.URL // of url
	// headers are the names of the headers that have secrets; inBody reports whether the body
	// has any. They matter without rules only.
	headers []string
	inBody  bool

	mu sync.Mutex
	// ids are those of the request in events; none until it was made. The page can make a
	// request that looks the same, which is judged like it.
	ids    []string
	denied *routine.Error
}

// requestPlace is where a request would be made.
type requestPlace struct {
	URL    string `json:"url"` // absolute; empty if it is not valid
	Origin string `json:"origin"`
}

// findRequestPlace is the function that returns a requestPlace. The request is made with its
// absolute URL, because the page can change the base of relative ones at any time.
const findRequestPlace = `(to => {
	let url = '';
	try { url = new URL(to, document.baseURI).href } catch {}
	return { url, origin: self.origin };
})`

// releaseRequest prepares the release of the secrets of a request: it checks the rules, changes the
// request so that it is only made in a document of the checked origin, and pauses the requests
// of the page. The caller calls end when the request has ended.
func (p *page) releaseRequest(ctx context.Context, q *request, r *routine.Release) (_ *releasedRequest, end func(), _ error) {
	at, err := inHelper[requestPlace](ctx, p, findRequestPlace, q.URL)
	if err != nil {
		return nil, nil, err
	}
	to, err := url.Parse(at.URL)
	if err != nil || at.URL == "" {
		return nil, nil, routine.Errorf(routine.CodeNetworkError, "%s %s failed: it is no valid URL", q.Method, routine.ShownURL(q.URL))
	}
	if err := checkRequest(r, at.URL); err != nil {
		return nil, nil, err
	}
	if r.Rules != nil && !r.Rules.Allows(at.Origin) {
		return nil, nil, routine.Errorf(routine.CodeSecretDenied, "the request to %s was not sent, because the page is of %s, and %s: "+
			"navigate to a page of one of these hosts first, or make the request on a blank page", shownHost(at.URL), originName(at.Origin), mayGoTo(r))
	}
	if err := p.confine(r); err != nil {
		return nil, nil, err
	}
	q.URL, q.Origin = at.URL, at.Origin
	made := newReleasedRequest(r, q, to)
	p.sending.Store(made)
	if err := cdp.CallAll(ctx, p, proto.FetchEnable{Patterns: p.ownPausePatterns()}); err != nil {
		p.endRelease()
		return nil, nil, err
	}
	return made, p.endRelease, nil
}

// endRelease ends the pauses that the request of an operation needed.
func (p *page) endRelease() {
	p.sending.Store(nil)
	if g := p.currentGuard(); g == nil || !g.IsArmed() { // an armed guard pauses all
		p.Send(p.pauseOwn()).Forget()
	}
}

// checkRequest fails if a secret must not be sent in a request to the URL.
func checkRequest(r *routine.Release, to string) error {
	switch {
	case r.Rules == nil:
		return nil
	case !r.Rules.Requests && !r.Code:
		return routine.Errorf(routine.CodeSecretDenied, "the request to %s was not sent: secret %s may only be typed. "+
			"Type it, or let somebody who knows its value allow requests", shownHost(to), r.Secret)
	case !r.Rules.Allows(to):
		return routine.Errorf(routine.CodeSecretDenied, "the request to %s was not sent: %s. "+
			"Change the URL, or let somebody who knows the value add the host", shownHost(to), mayGoTo(r))
	}
	return nil
}

// newReleasedRequest returns the request. If a secret is found in no part of it, all parts count
// as having it: it may be written in a way that is not searched for.
func newReleasedRequest(r *routine.Release, q *request, to *url.URL) *releasedRequest {
	first, _, _ := strings.Cut(q.URL, "#")
	made := &releasedRequest{search: newSecretSearch(r), method: q.Method, url: first, origin: to}
	for name, value := range q.Headers {
		if made.search.finds(value) {
			made.headers = append(made.headers, name)
		}
	}
	made.inBody = q.Body != nil && made.search.finds(*q.Body)
	if len(made.headers) == 0 && !made.inBody && !made.search.finds(q.URL) {
		for name := range q.Headers {
			made.headers = append(made.headers, name)
		}
		made.inBody = q.Body != nil
	}
	return made
}

// judge reports whether a paused request is a hop of this one that must not be sent. It runs on
// the reading goroutine.
func (r *releasedRequest) judge(e *pausedHop) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Redirected == "" && strings.EqualFold(e.Request.Method, r.method) && e.Request.URL == r.url && (r.isCarriedBy(e) || r.search.finds(r.url)):
		r.ids = append(r.ids, e.Network)
	case !slices.Contains(r.ids, e.Network) && (len(r.ids) == 0 || !r.isPreflight(e)):
		return false
	}
	if r.allows(e) {
		return false
	}
	if r.denied == nil {
		r.denied = r.denial(e)
	}
	return true
}

// isPreflight reports whether the browser asks a host whether it may follow a redirect there. The
// event does not say of which request that is, so only those count whose URL has a secret.
func (r *releasedRequest) isPreflight(e *pausedHop) bool {
	return e.Request.Headers["Access-Control-Request-Method"] != "" && r.search.finds(e.Request.URL)
}

// allows reports whether the hop may be sent.
func (r *releasedRequest) allows(e *pausedHop) bool {
	if r.search.release.Rules != nil {
		return r.search.release.Rules.Allows(e.Request.URL)
	}
	to, err := url.Parse(e.Request.URL)
	return err == nil && sameOwner(r.origin, to) || !r.isCarriedBy(e)
}

// sameOwner reports whether a redirect leads to the same origin, or from http to https on the
// usual ports of the same host.
func sameOwner(from, to *url.URL) bool {
	return from.Scheme == to.Scheme && from.Host == to.Host ||
		from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == "" && from.Host == to.Host
}

// isCarriedBy reports whether a hop repeats a part of the request that contains a secret: the body
// or a header. The browser does not repeat the query of the first URL: the URL of a redirect comes
// from the server.
func (r *releasedRequest) isCarriedBy(e *pausedHop) bool {
	if r.inBody && e.Request.HasPostData {
		return true
	}
	for name := range e.Request.Headers {
		if slices.ContainsFunc(r.headers, func(h string) bool { return strings.EqualFold(h, name) }) {
			return true
		}
	}
	return false
}

// denial is the error of the operation whose hop was refused.
func (r *releasedRequest) denial(e *pausedHop) *routine.Error {
	if r.search.release.Rules == nil {
		return routine.Errorf(routine.CodeSecretDenied, "%s redirects the request to %s, which would get the value of a secret parameter, so it was "+
			"not sent there: use the URL to which the site redirects", r.origin.Host, shownHost(e.Request.URL))
	}
	return routine.Errorf(routine.CodeSecretDenied, "%s redirects the request to %s, so it was not sent there: %s. "+
		"Use another URL, or let somebody who knows the value add the host", r.origin.Host, shownHost(e.Request.URL), mayGoTo(r.search.release))
}

// refusal returns why a hop of the request was refused; nil if none was.
func (r *releasedRequest) refusal() *routine.Error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.denied
}

// mayGoTo says where a secret with rules may go.
func mayGoTo(r *routine.Release) string {
	return fmt.Sprintf("secret %s is for %s", r.Secret, hostsOf(r))
}

// hostsOf are the hosts of a secret with rules, for messages.
func hostsOf(r *routine.Release) string {
	return routine.Truncate(strings.Join(r.Rules.Hosts, ", "), routine.MaxShownURL)
}

// shownHost is the scheme and the host of a URL, for messages.
func shownHost(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		return routine.ShownURL(to)
	}
	return routine.Truncate(u.Scheme+"://"+u.Host, routine.MaxShownURL)
}

// originName is an origin as messages show it.
func originName(origin string) string {
	if origin == "null" {
		return "no site (a sandboxed page)"
	}
	return origin
}
