package browser

import "testing"

// Frames may go while the page that they are in is dismissed.
func TestDismissWhileFramesGo(t *testing.T) {
	p := openPage(t, "")
	c := p.i.client
	p.mu.Lock()
	p.frames = []*view{{p: p, session: "one"}, {p: p, session: "two"}}
	p.mu.Unlock()
	c.mu.Lock() // holds up dismiss at the first frame
	done := make(chan struct{})
	go func() { defer close(done); p.i.dismiss(p) }()
	eventually(t, testTime, "the page's dismissal", func() bool {
		p.i.process.mu.Lock()
		defer p.i.process.mu.Unlock()
		return p.i.pages[p.context] == nil
	})
	p.mu.Lock()
	p.abandon(func(*view) bool { return true })
	p.mu.Unlock()
	c.mu.Unlock()
	<-done
}
