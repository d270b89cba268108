package guard

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// fakePage is a page without a browser: each request to it has an empty answer. It fails
// the test if the guard calls a method under a lock under which Page does not allow it.
//
// It is used inside of a synctest bubble, where the guard's own goroutine is idle while
// the test calls the guard. So a lock that is held is held by the caller.
type fakePage struct {
	t      *testing.T
	g      *Guard
	client *cdp.Client
	frames []proto.TargetSessionID

	mu   sync.Mutex // that of the page
	sent []sentMessage

	blocked  error
	warnings []string
	closed   []proto.TargetSessionID
	called   map[string]bool
}

// sentMessage is a request that the guard has sent.
type sentMessage struct {
	session proto.TargetSessionID
	method  string
}

// pageSession is the session of a fakePage.
const pageSession = "page"

// newFakePage returns a page and its guard. They end with the test.
func newFakePage(t *testing.T) (*fakePage, *Guard) {
	answers := &answers{ch: make(chan []byte, 1000), end: make(chan struct{})}
	p := &fakePage{t: t, client: cdp.NewClient(answers), called: map[string]bool{}}
	p.g = New(p)
	t.Cleanup(func() {
		p.g.Stop()
		p.client.Close()
		<-p.client.Done()
	})
	return p, p.g
}

// underNoLock fails the test if the page or the guard is locked.
func (p *fakePage) underNoLock(method string) {
	p.called[method] = true
	if !p.mu.TryLock() {
		p.t.Errorf("%s was called with the lock of the page held", method)
		return
	}
	p.mu.Unlock()
	if !p.g.mu.TryLock() {
		p.t.Errorf("%s was called with the lock of the guard held", method)
		return
	}
	p.g.mu.Unlock()
}

func (p *fakePage) Send(m proto.Request) *cdp.Future { return p.sendTo(pageSession, m) }

func (p *fakePage) SendAll(ms ...proto.Request) []*cdp.Future {
	var sent []*cdp.Future
	for _, m := range ms {
		sent = append(sent, p.Send(m))
	}
	return sent
}

func (p *fakePage) SendTo(session proto.TargetSessionID, m proto.Request) { p.sendTo(session, m) }

func (p *fakePage) sendTo(session proto.TargetSessionID, m proto.Request) *cdp.Future {
	p.sent = append(p.sent, sentMessage{session, m.ProtoReq()})
	return p.client.Send(session, m.ProtoReq(), m)
}

func (p *fakePage) Await(ctx context.Context, f *cdp.Future) ([]byte, error) {
	p.underNoLock("Await")
	return f.Wait(ctx)
}

func (p *fakePage) MainFrame() proto.PageFrameID { return "main" }
func (p *fakePage) Acting() bool                 { return false }
func (p *fakePage) FetchAhead(bool)              {}

func (p *fakePage) BypassWorker(on bool) { p.Send(proto.NetworkSetBypassServiceWorker{Bypass: on}) }

func (p *fakePage) PausePatterns(proto.TargetSessionID) []*proto.FetchRequestPattern { return nil }

func (p *fakePage) Block(err error) {
	p.underNoLock("Block")
	p.blocked = err
}

func (p *fakePage) Blocked() error {
	p.underNoLock("Blocked")
	return p.blocked
}

func (p *fakePage) Warn(text string) {
	p.underNoLock("Warn")
	p.warnings = append(p.warnings, text)
}

func (p *fakePage) Realms() []proto.RuntimeExecutionContextID {
	p.underNoLock("Realms")
	return []proto.RuntimeExecutionContextID{1}
}

func (p *fakePage) HelperWorld(context.Context) (proto.RuntimeExecutionContextID, error) {
	p.underNoLock("HelperWorld")
	return 2, nil
}

func (p *fakePage) FrameSessions() []proto.TargetSessionID {
	p.underNoLock("FrameSessions")
	return p.frames
}

func (p *fakePage) IsOutermost(proto.TargetSessionID, proto.PageFrameID) bool {
	p.underNoLock("IsOutermost")
	return true
}

func (p *fakePage) CheckFrames() error {
	p.underNoLock("CheckFrames")
	return nil
}

func (p *fakePage) ClosePopups(context.Context) error {
	p.underNoLock("ClosePopups")
	return nil
}

func (p *fakePage) ClosePopup(session proto.TargetSessionID) {
	p.underNoLock("ClosePopup")
	p.closed = append(p.closed, session)
}

// post sends an event to the guard and waits until it has handled it.
func (p *fakePage) post(method, params string) {
	p.g.Post(method, json.RawMessage(params))
	synctest.Wait()
}

// answers is a transport that answers each request with an empty result.
type answers struct {
	ch   chan []byte
	end  chan struct{}
	once sync.Once
}

func (a *answers) Write(messages ...[]byte) error {
	for _, m := range messages {
		var request struct{ ID int }
		if err := json.Unmarshal(m, &request); err != nil {
			return err
		}
		answer, err := json.Marshal(map[string]any{"id": request.ID, "result": struct{}{}})
		if err != nil {
			return err
		}
		a.ch <- answer
	}
	return nil
}

func (a *answers) Read() ([]byte, error) {
	select {
	case b := <-a.ch:
		return b, nil
	case <-a.end:
		return nil, io.EOF
	}
}

func (a *answers) Close() error {
	a.once.Do(func() { close(a.end) })
	return nil
}
