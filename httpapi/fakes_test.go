package httpapi_test

import (
	"context"
	"errors"
	"net/url"
	"path"
	"sync/atomic"

	"rote/routine"
	"rote/routine/routinetest"
)

// watchedStore reports executions that were accepted and that have ended.
type watchedStore struct {
	routine.Store
	created   chan string // execution ids
	finished  chan *routine.Execution
	pingPanic bool
	locked    atomic.Bool // no execution can be finished
	// sessionChanged makes each change of a session come after one of somebody else.
	sessionChanged bool
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

func (s *watchedStore) SaveSession(ctx context.Context, session *routine.Session, state []byte, generation int) error {
	if s.sessionChanged {
		return routine.ErrChanged
	}
	return s.Store.SaveSession(ctx, session, state, generation)
}

func (s *watchedStore) Ping(ctx context.Context) error {
	if s.pingPanic {
		panic("a secret of the store")
	}
	return s.Store.Ping(ctx)
}

// fakeBrowser is a browser whose pages do what the URL they are sent to says.
type fakeBrowser struct {
	routinetest.Browser
	blocked chan struct{} // has one value for each page that blocks
	release chan struct{} // when it is closed, pages no longer block
}

func newFakeBrowser() *fakeBrowser {
	b := &fakeBrowser{blocked: make(chan struct{}, 100), release: make(chan struct{})}
	b.Page = routinetest.Page{HTML: `<b>5 > "4" & so on</b>`, Evidence: soldOut}
	b.OnOpen = func(_ context.Context, p *routinetest.Page) error {
		p.Navigate = func(ctx context.Context, to string) (routine.Navigation, error) { return b.navigate(ctx, p, to) }
		return nil
	}
	return b
}

// navigate fails at /fail/<code>, blocks at /block, is denied three requests at
// /denied and arrives elsewhere.
func (b *fakeBrowser) navigate(ctx context.Context, p *routinetest.Page, to string) (routine.Navigation, error) {
	u, err := url.Parse(to)
	if err != nil {
		return routine.Navigation{}, err
	}
	switch dir, code := path.Split(u.Path); {
	case dir == "/fail/":
		return routine.Navigation{}, routine.Errorf(routine.Code(code), "the page failed, as it was told to")
	case u.Path == "/denied":
		p.Denials = []routine.Denial{{Host: "a.example:443", Reason: "not allowed", Count: 2}, {Host: "b.example:443", Reason: "not allowed", Count: 1}}
	case u.Path == "/block":
		b.blocked <- struct{}{}
		select {
		case <-ctx.Done():
			return routine.Navigation{}, context.Cause(ctx)
		case <-b.release:
		}
	}
	return routine.Navigation{URL: to, Status: 200}, nil
}

func soldOut(context.Context, routine.Inspection) *routine.Evidence {
	return &routine.Evidence{URL: "https://shop.example/cart", Title: "Your cart", Text: "Sold out",
		Elements: []routine.Element{
			{Selector: "button.buy-now", Role: "button", Text: "Buy now"},
			{Selector: "#buy", Role: "button", Text: "Buy", Where: "in the frame iframe#box", Problem: "is disabled", Matched: true}},
		Console: []string{"error: no stock"},
		FailedRequests: []routine.FailedRequest{
			{Method: "GET", URL: "https://shop.example/stock", Status: 503},
			{Method: "POST", URL: "https://ads.example/", Error: "ERR_CONNECTION_REFUSED"}},
		Screenshot: &routine.Screenshot{ContentType: "image/jpeg", Width: 1280, Height: 800, Size: 3, Data: []byte("jpg")}}
}
