package browser

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// Elements that a script has added load nothing after the call either: not when they
// are scrolled into view or hovered, and not after a delay.
func TestScriptsLoadNothingLater(t *testing.T) {
	t.Parallel()
	press := func(selector string) func(context.Context, *page) error {
		return func(ctx context.Context, p *page) error { _, err := p.Click(ctx, click(selector)); return err }
	}
	linger := func(ctx context.Context, p *page) error {
		ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
		defer cancel()
		_, err := p.WaitURL(ctx, func(string) (bool, error) { return false, nil })
		if errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}
	scroll := func(ctx context.Context, p *page) error {
		if _, err := p.Evaluate(ctx, script(`(() => document.querySelector('#end').scrollIntoView())()`, testTime)); err != nil {
			return err
		}
		return linger(ctx, p)
	}
	for i, c := range []struct {
		name, body string
		then       func(context.Context, *page) error
		blocked    bool
	}{
		{"a style of what is pointed at", `document.querySelector('#css').textContent = '#b:hover { background: url(SINK/) }'`, press("#b"), false},
		{"a style of what has the focus", `document.querySelector('#css').textContent = '#q:focus { background: url(SINK/) }'`, press("#q"), false},
		{"an animation that begins later", `document.querySelector('#css').textContent = '@keyframes k { to { background-image: url(SINK/) } } body { animation: k 1ms 300ms forwards }'`, linger, false},
		{"an image to be scrolled to", `document.querySelector('#out').innerHTML = '<div style="height: 20000px"></div><img loading=lazy src="SINK/"><p id=end>end'`, scroll, false},
		{"a frame to be scrolled to", `document.querySelector('#out').innerHTML = '<div style="height: 20000px"></div><iframe loading=lazy src="SINK/"></iframe><p id=end>end'`, scroll, true},
		{"a refresh that comes later", `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '1;url=SINK/'; document.head.append(m)`, linger, true},
		{"an icon of the page", `const l = document.createElement('link'); l.setAttribute('rel', 'icon'); l.href = 'SINK/'; document.head.append(l)`, linger, false},
		{"a manifest", `const l = document.createElement('link'); l.setAttribute('rel', 'manifest'); l.href = 'SINK/'; document.head.append(l)`, linger, false},
		{"a ping of a link", `document.querySelector('#a').setAttribute('ping', 'SINK/')`, press("#a"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, b *Browser) {
				if sampled(b, i) {
					return
				}
				s := newSink(t)
				p := guardedPage(t, b, guardSite(t, s)+"/")
				_, err := p.Evaluate(testContext(t), watchedScript("(() => { "+strings.ReplaceAll(c.body, "SINK", s.url)+" })()"))
				if err == nil {
					err = c.then(testContext(t), p)
				}
				if c.blocked && routine.CodeOf(err) != routine.CodeScriptBlocked || !c.blocked && err != nil {
					t.Error(err)
				}
				p.Close()
				if n := s.hits.Load(); n != 0 {
					t.Errorf("%d connections and requests at the sink", n)
				}
			})
		})
	}
}
