package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

// loadBound is how long a document that is there may go on loading before it is
// taken as it is.
const loadBound = 10 * time.Second

// errLoadBound ends the wait for a load event.
var errLoadBound = errors.New("load bound")

// Navigate goes to a URL and waits for its load event.
func (p *page) Navigate(ctx context.Context, url string) (routine.Navigation, error) {
	n, err := p.navigate(ctx, url)
	return n, p.failure(ctx, err)
}

func (p *page) navigate(ctx context.Context, url string) (routine.Navigation, error) {
	before := p.now().loader
	gone, err := call[proto.PageNavigateResult](ctx, p, proto.PageNavigate{URL: url})
	var refused *cdp.Error
	if errors.As(err, &refused) {
		return routine.Navigation{}, routine.Errorf(routine.CodeNavigationFailed, "%s could not be opened: %s", shortURL(url), refused.Message)
	}
	if err != nil {
		if ctx.Err() != nil {
			// A server that never answers leaves the session deaf until this.
			p.send(proto.PageStopLoading{})
		}
		return routine.Navigation{}, err
	}
	if gone.ErrorText != "" {
		return p.notReached(url, gone.ErrorText)
	}
	if gone.LoaderID == "" { // same document: only the fragment changed, and its event may be yet to come
		_, err := evaluate(ctx, p, proto.RuntimeEvaluate{Expression: "0"})
		s := p.now()
		return routine.Navigation{URL: s.url, Status: s.status}, err
	}
	loader := string(gone.LoaderID)
	finished, err := p.loaded(ctx, func(s state) bool { return s.loader == loader || s.loader != before })
	s := p.now()
	n := routine.Navigation{URL: s.url, Unfinished: !finished}
	if s.statusOf == s.loader || s.statusOf == loader {
		n.Status = s.status
	}
	return n, err
}

// loaded waits until a document that there accepts has fired its load event and
// is not on its way elsewhere; false when that took too long, or will never be.
func (p *page) loaded(ctx context.Context, there func(state) bool) (bool, error) {
	if err := p.waitFor(ctx, func(s state) (bool, error) { return there(s), nil }); err != nil {
		return false, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, p.b.loadBound, errLoadBound)
	defer cancel()
	err := p.waitFor(bounded, func(s state) (bool, error) { return (s.life["load"] || s.broke) && s.going == "", nil })
	if errors.Is(err, errLoadBound) {
		return false, nil
	}
	return err == nil && p.now().life["load"], err
}

// notReached explains why a navigation brought no document.
func (p *page) notReached(url, errorText string) (routine.Navigation, error) {
	if denied, ok := p.refused(); ok {
		return routine.Navigation{}, denied
	}
	s := p.now()
	why := explain(errorText)
	switch errorText {
	case "net::ERR_HTTP_RESPONSE_CODE_FAILURE":
		// An HTTP error without a body: Chromium shows a page of its own. The
		// status is all there is to know.
		return routine.Navigation{URL: url, Status: s.status}, nil
	case "net::ERR_ABORTED":
		if s.nothing() {
			why = fmt.Sprintf("the server sent nothing to show (status %d)", s.status)
		}
	case "net::ERR_EMPTY_RESPONSE", "net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_FAILED", "net::ERR_CONNECTION_CLOSED", "net::ERR_CONNECTION_RESET":
		// What Chromium makes of a proxy that could not reach the host.
		p.mu.Lock()
		document := p.document
		p.mu.Unlock()
		if known, ok := p.proxy.Failure(document); ok {
			why = known
		}
	}
	return routine.Navigation{}, routine.Errorf(routine.CodeNavigationFailed, "%s could not be opened: %s", shortURL(url), why)
}

// explain puts Chromium's commoner network errors into words.
func explain(errorText string) string {
	name := strings.TrimPrefix(errorText, "net::")
	words := map[string]string{
		"ERR_NAME_NOT_RESOLVED": "its name does not resolve", "ERR_CONNECTION_REFUSED": "the connection was refused",
		"ERR_EMPTY_RESPONSE":           "the connection was closed without an answer",
		"ERR_TUNNEL_CONNECTION_FAILED": "no connection to its host could be made", "ERR_CONNECTION_RESET": "the connection was reset",
		"ERR_CONNECTION_CLOSED":              "the connection was closed without an answer",
		"ERR_UNSAFE_PORT":                    "browsers open no pages on this port",
		"ERR_SSL_VERSION_OR_CIPHER_MISMATCH": "it speaks no version of TLS that browsers do",
		"ERR_ABORTED":                        "the server sent a download instead of a page: get it with the download operation",
		"ERR_CERT_AUTHORITY_INVALID":         "its TLS certificate is not from a known authority",
		"ERR_CERT_COMMON_NAME_INVALID":       "its TLS certificate is for another name",
		"ERR_CERT_DATE_INVALID":              "its TLS certificate is out of date",
		"ERR_TOO_MANY_REDIRECTS":             "it redirects in circles",
		"ERR_PROXY_CONNECTION_FAILED":        "the run's own proxy is gone",
		"ERR_INVALID_AUTH_CREDENTIALS":       "it asks for credentials",
		"ERR_SSL_PROTOCOL_ERROR":             "it does not speak TLS properly",
		"ERR_BLOCKED_BY_RESPONSE":            "its own headers forbid it",
		"ERR_INVALID_HTTP_RESPONSE":          "it does not speak HTTP",
		"ERR_CONTENT_LENGTH_MISMATCH":        "the answer broke off",
		"ERR_INCOMPLETE_CHUNKED_ENCODING":    "the answer broke off",
	}
	if w, ok := words[name]; ok {
		return fmt.Sprintf("%s (%s)", w, name)
	}
	return name
}

// URL is the current URL.
func (p *page) URL(context.Context) (string, error) { return p.now().url, nil }

// WaitURL waits until match accepts the current URL.
func (p *page) WaitURL(ctx context.Context, match func(string) (bool, error)) (string, error) {
	tried, found := "", ""
	err := p.waitFor(ctx, func(s state) (bool, error) {
		if s.url == tried {
			return false, nil
		}
		tried = s.url
		ok, err := match(s.url)
		found = s.url
		return ok, err
	})
	return found, err
}

// answerBound is how long a page that an action leads to may take to answer.
const answerBound = 20 * time.Second

// beginBound is how long a navigation that was asked for may take to begin.
const beginBound = time.Second

// follow waits for the document that an action has asked for, when it has. The
// action's events have been handled by the page before follow asks: an
// evaluation that answers after them tells so.
//
// A page that could not be reached or does not answer is the action's failure.
func (p *page) follow(ctx context.Context, before state) error {
	// The page has asked by the time that an evaluation answers; a step in the
	// history is the browser's to begin, which answers in its own name.
	for _, settled := range []*future{p.send(proto.RuntimeEvaluate{Expression: "0"}), p.send(proto.PageGetNavigationHistory{})} {
		defer settled.forget()
		asked, err := p.askedFor(ctx, before, settled)
		if err != nil {
			return err
		}
		if asked {
			return p.followed(ctx, before)
		}
	}
	return nil
}

// followed waits for what a navigation that was asked for leads to.
func (p *page) followed(ctx context.Context, before state) error {
	if err := p.arrive(ctx); err != nil {
		return err
	}
	if s := p.now(); s.loader == before.loader {
		if s.statusOf == s.went && s.went != before.went && !s.nothing() {
			p.warn(shortURL(s.goingTo) + " is a download, not a page, and was refused: get it with the download operation")
		}
		return nil
	}
	return p.arrived(ctx, func(s state) bool { return s.loader != before.loader })
}

// arrived waits until a document that there accepts has loaded, and warns of what
// is wrong with it. An error says that it could not be reached.
func (p *page) arrived(ctx context.Context, there func(state) bool) error {
	finished, err := p.loaded(ctx, there)
	if err != nil {
		return err
	}
	s := p.now()
	switch {
	case s.unreachable != "":
		_, err = p.notReached(s.unreachable, "net::ERR_FAILED")
		return err
	case !finished:
		p.warn(shortURL(s.url) + " did not finish loading; went on with what was there")
	case s.statusOf == s.loader && s.status >= 400:
		p.warn(fmt.Sprintf("%s answered with HTTP status %d", shortURL(s.url), s.status))
	}
	return nil
}

// arrive waits for the end of the navigation under way: a new document, or none.
func (p *page) arrive(ctx context.Context) error {
	beginning, cancel := context.WithTimeoutCause(ctx, beginBound, errLoadBound)
	defer cancel()
	if err := p.waitFor(beginning, func(s state) (bool, error) { return s.going != requested, nil }); errors.Is(err, errLoadBound) {
		return nil // the page changed its mind
	}
	bounded, cancel := context.WithTimeoutCause(ctx, p.b.answerBound, errLoadBound)
	defer cancel()
	err := p.waitFor(bounded, func(s state) (bool, error) { return s.going == "", nil })
	if err == nil || bounded.Err() == nil {
		return err
	}
	// Until this, a server that never answers leaves the session deaf.
	p.send(proto.PageStopLoading{})
	return routine.Errorf(routine.CodeTimeout, "it led to %s, which did not answer", shortURL(p.now().goingTo))
}

// askedFor tells whether the page has asked for a navigation by the time that
// settled is answered.
func (p *page) askedFor(ctx context.Context, before state, settled *future) (bool, error) {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if s := p.now(); s.asked > before.asked || s.loader != before.loader {
			return true, nil
		}
		select {
		case <-settled.ch:
			s := p.now()
			return s.asked > before.asked || s.loader != before.loader, nil
		case <-changed:
		case <-p.dead:
			return false, errCrashed
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
