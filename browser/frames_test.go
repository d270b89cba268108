package browser

import (
	"sync"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Frames may go while the page that they are in is unregistered.
func TestUnregisterWhileFramesGo(t *testing.T) {
	p := openPage(t, "")
	p.mu.Lock()
	p.frames.isolated = []*frameView{{p: p, session: "one"}, {p: p, session: "two"}}
	p.mu.Unlock()
	release := holdUp(t, p.i.client) // unregister waits at the first frame
	done := make(chan struct{})
	go func() { defer close(done); p.i.targets.unregister(p) }()
	eventually(t, testTime, "the page is unregistered", func() bool {
		p.i.targets.mu.Lock()
		defer p.i.targets.mu.Unlock()
		return p.i.targets.pages[p.context] == nil
	})
	p.mu.Lock()
	p.dropFrames(func(*frameView) bool { return true })
	p.mu.Unlock()
	release()
	<-done
}

// holdUp makes all use of the client wait until release is called.
func holdUp(t *testing.T, c *cdp.Client) (release func()) {
	t.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(held); <-released })
	c.Observe(func(proto.TargetSessionID, string, string) { hold() })
	go c.Send("", "Browser.getVersion", nil)
	<-held
	return func() { close(released); c.Observe(nil) }
}

// A page that makes frames without end does not fill our memory.
func TestFramesThatAreGoneAreForgotten(t *testing.T) {
	url := site(t, map[string]any{"/in": `in`, "/": `<script>
		const frame = () => new Promise(done => { const f = document.createElement('iframe'); f.src = '/in'; f.onload = () => { f.remove(); done() }; document.body.append(f) });
		onload = async () => { for (let i = 0; i < 5; i++) await frame(); location.hash = 'done' }</script>`})
	p := openPage(t, url+"/")
	if _, err := p.WaitURL(testContext(t), func(u string) (bool, error) { return u == url+"/#done", nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := cdp.Evaluate(testContext(t), p, proto.RuntimeEvaluate{Expression: "0"}); err != nil { // all events so far have arrived
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames.reach) > 0 || len(p.frames.isolated) > 0 {
		t.Fatal(p.frames.reach, p.frames.isolated)
	}
}
