package httpapi_test

import (
	"context"
	"errors"
	"net/url"
	"path"
	"sync/atomic"

	"rote/routine"
)

// watchedStore reports executions that were accepted and that have ended.
type watchedStore struct {
	routine.Store
	created   chan string // execution ids
	finished  chan *routine.Execution
	pingPanic bool
	locked    atomic.Bool // no execution can be finished
}

func (s *watchedStore) CreateExecution(ctx context.Context, e *routine.Execution) error {
	err := s.Store.CreateExecution(ctx, e)
	s.created <- e.ID
	return err
}

func (s *watchedStore) FinishExecution(ctx context.Context, e *routine.Execution) error {
	if s.locked.Load() {
		return errors.New("database is locked")
	}
	err := s.Store.FinishExecution(ctx, e)
	s.finished <- e
	return err
}

func (s *watchedStore) Ping(ctx context.Context) error {
	if s.pingPanic {
		panic("a secret of the store")
	}
	return s.Store.Ping(ctx)
}

// fakeBrowser opens pages that do what the URL they are sent to says.
type fakeBrowser struct {
	open    atomic.Int64
	blocked chan struct{} // told of each page that blocks
	release chan struct{} // closed: pages go on
}

func (b *fakeBrowser) Open(context.Context, routine.Opening) (routine.Page, error) {
	b.open.Add(1)
	return &fakePage{browser: b}, nil
}

// fakePage has what the routines of these tests use; the rest is not there.
type fakePage struct {
	routine.Page
	browser *fakeBrowser
	denied  []routine.Denial
}

// Evidence is the same each time.
func (p *fakePage) Evidence(context.Context, routine.Inspection) *routine.Evidence {
	return &routine.Evidence{URL: "https://shop.example/cart", Title: "Your cart", Text: "Sold out",
		Elements: []routine.Element{
			{Selector: "button.buy-now", Role: "button", Text: "Buy now"},
			{Selector: "#buy", Role: "button", Text: "Buy", Where: "in the frame iframe#box", Problem: "is disabled", Matched: true}},
		Console:        []string{"error: no stock"},
		FailedRequests: []routine.FailedRequest{{Method: "GET", URL: "https://shop.example/stock", Status: 503}, {Method: "POST", URL: "https://ads.example/", Error: "ERR_CONNECTION_REFUSED"}},
		Screenshot:     &routine.Screenshot{ContentType: "image/jpeg", Width: 1280, Height: 800, Size: 3, Data: []byte("jpg")}}
}

// Navigate fails on /fail/<code>, blocks on /block, is denied three requests on
// /denied and arrives elsewhere.
func (p *fakePage) Navigate(ctx context.Context, to string) (routine.Navigation, error) {
	u, err := url.Parse(to)
	if err != nil {
		return routine.Navigation{}, err
	}
	switch dir, code := path.Split(u.Path); {
	case dir == "/fail/":
		return routine.Navigation{}, routine.Errorf(routine.Code(code), "the page failed, as it was told to")
	case u.Path == "/denied":
		p.denied = []routine.Denial{{Host: "a.example:443", Reason: "not allowed", Count: 2}, {Host: "b.example:443", Reason: "not allowed", Count: 1}}
	case u.Path == "/block":
		p.browser.blocked <- struct{}{}
		select {
		case <-ctx.Done():
			return routine.Navigation{}, context.Cause(ctx)
		case <-p.browser.release:
		}
	}
	return routine.Navigation{URL: to, Status: 200}, nil
}

func (p *fakePage) OuterHTML(context.Context, string) (string, int, error) {
	return `<b>5 > "4" & so on</b>`, 1, nil
}

func (p *fakePage) Warnings() []string                    { return nil }
func (p *fakePage) State(context.Context) ([]byte, error) { return nil, nil }

// Denials returns the denials only once.
func (*fakePage) Files(context.Context, bool) ([]routine.File, error) { return nil, nil }
func (p *fakePage) Denials() []routine.Denial {
	denied := p.denied
	p.denied = nil
	return denied
}

func (p *fakePage) Close() { p.browser.open.Add(-1) }
