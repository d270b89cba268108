package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// fetchWithoutSite makes the request from an empty document of the site's origin, which it
// opens first if the page is blank. If the site may have refused the request for lack of the
// cookies that its page sets, the run goes to that page and makes the request again. From
// then on it is like any other run.
func (p *page) fetchWithoutSite(ctx context.Context, f routine.Fetch, max int64, blank bool) (routine.Response, error) {
	if blank {
		origin, err := originOf(f.URL)
		if err != nil {
			return routine.Response{}, err
		}
		if err := p.failure(ctx, p.startEmpty(ctx, origin)); err != nil {
			return routine.Response{}, err
		}
		if p.preparable {
			p.requestsTo = origin
		}
	}
	p.mu.Lock()
	warnings := p.warnings
	p.mu.Unlock()
	r, _, err := p.fetch(ctx, f, max)
	if !mayNeedSite(f, r, err) {
		return r, err
	}
	p.withoutSite = false
	p.Send(proto.PageResetNavigationHistory{}).Forget()
	p.mu.Lock()
	p.warnings = warnings // those of the request come again with the next one
	p.mu.Unlock()
	p.trace.forget()
	site := f.URL
	if strings.HasPrefix(site, "/") {
		site = p.now().url
	}
	return p.fetchFromSite(ctx, f, max, site)
}

// startEmpty opens an empty document of an origin in a page that was blank. Unlike openEmpty it
// waits neither for the document to load nor for the answers to what surrounds the
// navigation: there is no code of a site yet, and no service worker.
func (p *page) startEmpty(ctx context.Context, origin string) error {
	p.setBlank(true)
	defer p.setBlank(false)
	p.Send(cdp.RawRequest("Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*", "resourceType": "Document"}}})).Forget()
	gone, err := cdp.Call[proto.PageNavigateResult](ctx, p, proto.PageNavigate{URL: origin + "/"})
	p.Send(p.pauseOwn()).Forget()
	var refused *cdp.Error
	if errors.As(err, &refused) {
		return routine.Errorf(routine.CodeNavigationFailed, "%s could not be opened: %s", routine.ShownURL(origin), refused.Message)
	}
	if err != nil {
		return err
	}
	loader := string(gone.LoaderID)
	if gone.ErrorText != "" {
		return fmt.Errorf("open an empty document: %s", gone.ErrorText)
	}
	if err := p.waitFor(ctx, func(s navState) (bool, error) { return s.loader == loader && s.url != "about:blank", nil }); err != nil {
		return err
	}
	p.nav.settled = loader
	p.mu.Lock()
	defer p.mu.Unlock()
	p.storage.blank = false
	p.recordVisit(origin + "/")
	return nil
}

// setBlank sets whether documents are empty ones of ours.
func (p *page) setBlank(blank bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.storage.blank = blank
}

// mayNeedSite reports whether a request may have failed because the cookies were missing that
// the site's page sets, and may be made again. A caller who sets the credentials needs no
// cookies of the page, and a second attempt with wrong ones could lock an account.
func mayNeedSite(f routine.Fetch, r routine.Response, err error) bool {
	if f.Credentials == "omit" || f.Method != "GET" && f.Method != "HEAD" {
		return false
	}
	for name := range f.Headers {
		if strings.EqualFold(name, "Authorization") {
			return false
		}
	}
	return err == nil && slices.Contains(refusals, r.Status) || routine.CodeOf(err) == routine.CodeNetworkError
}

// refusals are the statuses with which sites answer requests that lack a session: bad request,
// unauthorized, forbidden, page expired (of Laravel) and precondition required.
var refusals = []int{400, 401, 403, 419, 428}
