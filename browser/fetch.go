package browser

import (
	"context"
	"encoding/base64"
	"net/url"

	"rote/routine"
)

// request and response of the helper's fetch.
type request struct {
	URL         string            `json:"url"`
	Method      string            `json:"method"`
	Headers     map[string]string `json:"headers"`
	Body        *string           `json:"body"`
	Credentials string            `json:"credentials"`
}

type response struct {
	Error    string            `json:"error"`
	TooLarge bool              `json:"tooLarge"`
	Status   int               `json:"status"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
}

// Fetch makes the request from inside the page.
func (p *page) Fetch(ctx context.Context, f routine.Fetch, max int64) (routine.Response, error) {
	if p.now().url == "about:blank" {
		if err := p.goToOrigin(ctx, f.URL); err != nil {
			return routine.Response{}, err
		}
	}
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
	last := p.watchHops()
	r, err := help[response](ctx, p, "request", q, max)
	asked := last(r.URL)
	if err != nil {
		return routine.Response{}, p.failure(ctx, err)
	}
	if r.TooLarge {
		return routine.Response{}, routine.Errorf(routine.CodeResultTooLarge, "the answer of %s has more than the limit of %d bytes: ask for less, or raise --max-result", shortURL(f.URL), max)
	}
	if r.Error != "" {
		if denied, ok := p.proxy.Denied(asked); ok {
			return routine.Response{}, denied
		}
		return routine.Response{}, routine.Errorf(routine.CodeNetworkError, "%s %s failed: %s (no connection, or forbidden by CORS)", f.Method, shortURL(f.URL), r.Error)
	}
	body, err := base64.StdEncoding.DecodeString(r.Body)
	return routine.Response{URL: r.URL, Status: r.Status, Headers: r.Headers, Body: body}, err
}

// goToOrigin opens the site that a request is for, so that it is made with the
// site's cookies and origin.
func (p *page) goToOrigin(ctx context.Context, to string) error {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return routine.Errorf(routine.CodeNavigationFailed, "%q is no absolute http or https URL, and no page is open that it could be relative to: navigate first", shortURL(to))
	}
	_, err = p.Navigate(ctx, u.Scheme+"://"+u.Host+"/")
	return err
}
