package routinetest

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"rote/routine"
)

// Page is what a page of a [Browser] answers. A field has the name of the method
// of [routine.Page] that it answers; fields that a test does not set give an
// answer without a failure.
type Page struct {
	// URL is the page's URL. Empty: the URL of the last navigation.
	URL string
	// Navigate nil: every navigation arrives with this status; 0: 200.
	Status   int
	Navigate func(ctx context.Context, url string) (routine.Navigation, error)
	// Present nil: nothing matches.
	Present func(ctx context.Context, selector string) (bool, error)
	// WaitURL nil: it waits until ctx ends if the URL does not match.
	WaitURL func(ctx context.Context, match func(url string) (bool, error)) (string, error)
	// Click nil: one element matched.
	Click func(context.Context, routine.Click) (routine.Match, error)
	// Type nil: one element matched.
	Type func(context.Context, routine.Typing) (routine.Match, error)
	// OuterHTML nil: HTML, of one element.
	OuterHTML func(ctx context.Context, selector string) (string, int, error)
	HTML      string
	// Fetch nil: Response. Its URL is the request's and its status 200, unless it
	// has others.
	Fetch    func(ctx context.Context, f routine.Fetch, max int64) (routine.Response, error)
	Response routine.Response
	// Evaluate nil: undefined.
	Evaluate    func(context.Context, routine.Script) (routine.Evaluation, error)
	Cookies     []routine.Cookie
	SentCookies []routine.Cookie
	// SessionStorage is what the storage holds at first. Each page has a copy.
	SessionStorage map[string]string
	LocalStorage   map[string]string
	// Evidence nil: none.
	Evidence func(context.Context, routine.Inspection) *routine.Evidence
	// Files nil: none.
	Files    func(ctx context.Context, last bool) ([]routine.File, error)
	Warnings []string
	// Denials are those since the last call.
	Denials []routine.Denial
	// Blocked are those since the last call.
	Blocked map[string]int
	// Unverified is whether the browser may not confine the page.
	Unverified bool
	State      []byte

	// What the methods of [routine.Teachable] answer. Look nil: the URL and no lines.
	// Describe nil: one element matched. FindElements, Nearest, Requests and PageValues
	// nil: nothing. Capture nil: an empty picture. WaitQuiet nil: the page is quiet.
	Look     func(context.Context, routine.Look) (routine.Seen, error)
	Describe func(ctx context.Context, selector string, use routine.ElementUse) (routine.ElementDescription, error)
	// ElementAt nil: there is no element.
	ElementAt    func(ctx context.Context, x, y float64) (routine.ElementDescription, error)
	FindElements func(context.Context, routine.ElementQuery) ([]routine.FoundElement, error)
	Nearest      func(context.Context, routine.Inspection) ([]routine.Element, error)
	Capture      func(ctx context.Context, secrets []string) (*routine.Screenshot, error)
	WaitQuiet    func(context.Context) (time.Duration, error)
	Requests     func(ctx context.Context, after int) (routine.RequestLog, error)
	PageValues   func(context.Context) (routine.PageValues, error)
	// ConsoleErrors are what ConsoleErrors returns, whatever the time.
	ConsoleErrors []string
	// Unusable, if set, is what Usable returns.
	Unusable error

	// Picture nil: an empty picture.
	Picture func(context.Context) ([]byte, error)

	// Releases, if set, records the permissions to type or send secrets.
	Releases *[]routine.Release

	// Actions, if set, records in order what the page was asked to do, as in
	// "navigate https://shop.example/". Reading the page is no action. A test may
	// look at it when no page is in use.
	Actions *[]string
}

// Answer returns a Page.Response with this body.
func Answer(contentType, body string) routine.Response {
	return routine.Response{Headers: map[string]string{"content-type": contentType}, Body: []byte(body)}
}

// FailClick returns a Page.Click that fails with err.
func FailClick(err error) func(context.Context, routine.Click) (routine.Match, error) {
	return func(context.Context, routine.Click) (routine.Match, error) { return routine.Match{}, err }
}

// ShowEvidence returns a Page.Evidence that gives e, or none if e is nil.
func ShowEvidence(e *routine.Evidence) func(context.Context, routine.Inspection) *routine.Evidence {
	return func(context.Context, routine.Inspection) *routine.Evidence { return e }
}

// page is an open page.
type page struct {
	browser *Browser
	answers *Page
	url     string
	session map[string]string
}

var _ routine.Page = (*page)(nil)

func newPage(b *Browser, answers *Page) *page {
	p := &page{browser: b, answers: answers, url: "about:blank", session: maps.Clone(answers.SessionStorage)}
	if answers.URL != "" {
		p.url = answers.URL
	}
	if p.session == nil {
		p.session = map[string]string{}
	}
	return p
}

func (p *page) record(format string, args ...any) {
	p.browser.record(p.answers.Actions, format, args...)
}

func (p *page) Navigate(ctx context.Context, url string) (routine.Navigation, error) {
	p.record("navigate %s", url)
	n := routine.Navigation{URL: url, Status: cmp.Or(p.answers.Status, 200)}
	if p.answers.Navigate != nil {
		var err error
		if n, err = p.answers.Navigate(ctx, url); err != nil {
			return n, err
		}
	}
	if p.answers.URL == "" {
		p.url = n.URL
	}
	return n, nil
}

func (p *page) URL(context.Context) (string, error) { return p.url, nil }

func (p *page) Present(ctx context.Context, selector string) (bool, error) {
	if p.answers.Present != nil {
		return p.answers.Present(ctx, selector)
	}
	return false, nil
}

func (p *page) WaitURL(ctx context.Context, match func(string) (bool, error)) (string, error) {
	if p.answers.WaitURL != nil {
		return p.answers.WaitURL(ctx, match)
	}
	if ok, err := match(p.url); ok || err != nil {
		return p.url, err
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func (p *page) Click(ctx context.Context, c routine.Click) (routine.Match, error) {
	p.record("click %s %s×%d", c.Selector, c.Button, c.Count)
	if len(c.Hover) > 0 || c.FollowPopup {
		p.record("over %v, following %v", c.Hover, c.FollowPopup)
	}
	if p.answers.Click != nil {
		return p.answers.Click(ctx, c)
	}
	return routine.Match{Matches: 1}, nil
}

func (p *page) Type(ctx context.Context, t routine.Typing) (routine.Match, error) {
	if err := p.release(t.Release, p.url); err != nil {
		return routine.Match{Final: true}, err
	}
	p.record("type %s=%s", t.Selector, t.Text)
	for _, f := range t.Files {
		p.record("hand in %s: %s", f, f.Data)
	}
	if p.answers.Type != nil {
		return p.answers.Type(ctx, t)
	}
	return routine.Match{Matches: 1}, nil
}

// release records the permission to give a text to a URL, which may be relative to the page,
// and returns CodeSecretDenied if its rules forbid that. release may be nil.
func (p *page) release(release *routine.Release, to string) error {
	if release == nil {
		return nil
	}
	if p.answers.Releases != nil {
		*p.answers.Releases = append(*p.answers.Releases, *release)
	}
	base, err := url.Parse(p.url)
	if err != nil {
		return err
	}
	address, err := base.Parse(to)
	if err != nil {
		return err
	}
	if release.Rules != nil && !release.Rules.Allows(address.String()) {
		return routine.Errorf(routine.CodeSecretDenied, "secret %s is not for %s", release.Secret, address.Host)
	}
	return nil
}

func (p *page) Press(_ context.Context, key string) error {
	p.record("press %s", key)
	return nil
}

func (p *page) AcceptDialogs(accept bool) { p.record("accept dialogs %v", accept) }

func (p *page) Scroll(_ context.Context, s routine.Scroll) error {
	if s.Y == nil {
		p.record("scroll %s", s.Selector)
	} else {
		p.record("scroll %s %v", s.Selector, *s.Y)
	}
	return nil
}

func (p *page) OuterHTML(ctx context.Context, selector string) (string, int, error) {
	if p.answers.OuterHTML != nil {
		return p.answers.OuterHTML(ctx, selector)
	}
	return p.answers.HTML, 1, nil
}

func (p *page) Cookies(context.Context) ([]routine.Cookie, error) { return p.answers.Cookies, nil }

func (p *page) SentCookies(context.Context) ([]routine.Cookie, error) {
	return p.answers.SentCookies, nil
}

func (p *page) Fetch(ctx context.Context, f routine.Fetch, max int64) (routine.Response, error) {
	if err := p.release(f.Release, f.URL); err != nil {
		return routine.Response{}, err
	}
	body := "no body"
	if f.Body != nil {
		body = *f.Body
	}
	p.record("fetch %s %s %v %s", f.Method, f.URL, f.Headers, body)
	if p.answers.Fetch != nil {
		return p.answers.Fetch(ctx, f, max)
	}
	r := p.answers.Response
	r.URL, r.Status = cmp.Or(r.URL, f.URL), cmp.Or(r.Status, 200)
	return r, nil
}

func (p *page) Evaluate(ctx context.Context, s routine.Script) (routine.Evaluation, error) {
	p.record("evaluate %s", s.Text)
	if p.answers.Evaluate != nil {
		return p.answers.Evaluate(ctx, s)
	}
	return routine.Evaluation{}, nil
}

func (p *page) ClosePopup(context.Context) error {
	p.record("close popup")
	return nil
}

// Lookup finds only what is in the two storages: there are no meta elements and
// no properties of window.
func (p *page) Lookup(_ context.Context, from routine.Source, name string) (string, bool, error) {
	var storage map[string]string
	switch from {
	case routine.FromSessionStorage:
		storage = p.session
	case routine.FromLocalStorage:
		storage = p.answers.LocalStorage
	}
	text, ok := storage[name]
	return text, ok, nil
}

func (p *page) StorageKeys(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(p.session)), nil
}

func (p *page) Mirror(_ context.Context, key, text string) error {
	p.session[key] = text
	return nil
}

func (p *page) Evidence(ctx context.Context, i routine.Inspection) *routine.Evidence {
	if p.answers.Evidence == nil {
		return nil
	}
	return p.answers.Evidence(ctx, i)
}

func (p *page) Files(ctx context.Context, last bool) ([]routine.File, error) {
	if p.answers.Files == nil {
		return nil, nil
	}
	return p.answers.Files(ctx, last)
}

func (p *page) Warnings() []string { return p.answers.Warnings }

func (p *page) Denials() []routine.Denial {
	denials := p.answers.Denials
	p.answers.Denials = nil
	return denials
}

func (p *page) BlockedRequests() map[string]int {
	blocked := p.answers.Blocked
	p.answers.Blocked = nil
	return blocked
}

func (p *page) Unverified() bool { return p.answers.Unverified }

func (p *page) State(context.Context) ([]byte, error) { return p.answers.State, nil }

func (p *page) Picture(ctx context.Context) ([]byte, error) {
	if p.answers.Picture == nil {
		return nil, nil
	}
	return p.answers.Picture(ctx)
}

func (p *page) Close() { p.browser.pageClosed() }
