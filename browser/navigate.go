package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Navigate goes to a URL and waits for its load event.
func (p *page) Navigate(ctx context.Context, url string) (routine.Navigation, error) {
	n, err := p.navigate(ctx, url)
	return n, p.failure(ctx, err)
}

// navigate does the work of Navigate, without turning its error into that of a run.
func (p *page) navigate(ctx context.Context, url string) (routine.Navigation, error) {
	before := p.now().loader
	defer p.throughWorker()()
	gone, err := cdp.Call[proto.PageNavigateResult](ctx, p, proto.PageNavigate{URL: url})
	var refused *cdp.Error
	if errors.As(err, &refused) {
		return routine.Navigation{}, routine.Errorf(routine.CodeNavigationFailed, "%s could not be opened: %s", routine.ShownURL(url), refused.Message)
	}
	if err != nil {
		if ctx.Err() != nil {
			// Without this, the session stays blocked while a server does not answer.
			p.Send(proto.PageStopLoading{})
		}
		return routine.Navigation{}, err
	}
	if gone.ErrorText != "" {
		return p.unreachableError(url, gone.ErrorText)
	}
	if gone.LoaderID == "" { // same document: only the fragment has changed, and its event may still come
		_, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: "0"})
		s := p.now()
		return routine.Navigation{URL: s.url, Status: s.status}, err
	}
	loader := string(gone.LoaderID)
	if err := p.waitFor(ctx, func(s navState) (bool, error) { return s.loader == loader || s.loader != before, nil }); err != nil {
		return routine.Navigation{}, err
	}
	finished, err := p.settle(ctx)
	s := p.now()
	if err == nil && s.unreachable != "" {
		return p.unreachableError(s.unreachable, cmp.Or(s.failure, "net::ERR_FAILED"))
	}
	n := routine.Navigation{URL: s.url, Unfinished: !finished}
	if s.statusOf == s.loader || s.statusOf == loader {
		n.Status = s.status
	}
	return n, err
}

// unreachableError is the error for a navigation that brought no document.
func (p *page) unreachableError(url, errorText string) (routine.Navigation, error) {
	if denied, ok := p.refusedDocument(); ok {
		return routine.Navigation{}, denied
	}
	s := p.now()
	why := explainNetError(errorText)
	switch errorText {
	case "net::ERR_HTTP_RESPONSE_CODE_FAILURE":
		// An HTTP error without a body, for which Chromium shows its own page. Only the
		// status is known.
		return routine.Navigation{URL: url, Status: s.status}, nil
	case "net::ERR_ABORTED":
		if s.withoutDocument() {
			why = fmt.Sprintf("the server sent nothing to show (status %d)", s.status)
		}
	case "net::ERR_EMPTY_RESPONSE", "net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_FAILED", "net::ERR_CONNECTION_CLOSED", "net::ERR_CONNECTION_RESET":
		// Chromium's error if the proxy could not reach the host.
		p.mu.Lock()
		document := p.denials.document
		p.mu.Unlock()
		if known, ok := p.proxy.Failure(document); ok {
			why = known
		}
	}
	return routine.Navigation{}, routine.Errorf(routine.CodeNavigationFailed, "%s could not be opened: %s", routine.ShownURL(url), why)
}

// explainNetError describes Chromium's common network errors.
func explainNetError(errorText string) string {
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

// URL returns the current URL.
func (p *page) URL(context.Context) (string, error) { return p.now().url, nil }

// WaitURL waits until match accepts the current URL.
func (p *page) WaitURL(ctx context.Context, match func(string) (bool, error)) (string, error) {
	tried, found := "", ""
	err := p.waitFor(ctx, func(s navState) (bool, error) {
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
