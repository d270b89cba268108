package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// tab is a page in a separate browser context.
//
// The floor is the task with as few protocol messages as possible and without
// any checks: no driver of this browser can be much faster.
type tab struct {
	w                *wire
	context, session string
	events           chan envelope
}

// open creates a context with a page and enables the domains that the task
// needs.
func (w *wire) open(ctx context.Context) (*tab, error) {
	t := &tab{w: w, events: make(chan envelope, 1000)}
	var made struct{ BrowserContextID, TargetID, SessionID string }
	if err := w.call(ctx, "", "Target.createBrowserContext", object{}, &made); err != nil {
		return nil, err
	}
	t.context = made.BrowserContextID
	if err := w.call(ctx, "", "Target.createTarget", object{"url": "about:blank", "browserContextId": t.context}, &made); err != nil {
		return nil, err
	}
	if err := w.call(ctx, "", "Target.attachToTarget", object{"targetId": made.TargetID, "flatten": true}, &made); err != nil {
		return nil, err
	}
	t.session = made.SessionID
	w.mu.Lock()
	w.events[t.session] = t.events
	w.mu.Unlock()
	return t, t.sendAll(ctx, step{"Page.enable", object{}}, step{"Page.setLifecycleEventsEnabled", object{"enabled": true}}, step{"Runtime.enable", object{}})
}

func (t *tab) close(ctx context.Context) error {
	t.w.mu.Lock()
	delete(t.w.events, t.session)
	t.w.mu.Unlock()
	return t.w.call(ctx, "", "Target.disposeBrowserContext", object{"browserContextId": t.context}, nil)
}

type step struct {
	method string
	params object
}

// sendAll sends all steps without waiting in between, and then waits for the
// responses.
func (t *tab) sendAll(ctx context.Context, steps ...step) error {
	answers := make([]chan envelope, len(steps))
	for i, s := range steps {
		var err error
		if answers[i], err = t.w.send(t.session, s.method, s.params); err != nil {
			return err
		}
	}
	for i, answer := range answers {
		select {
		case e := <-answer:
			if e.Error != nil {
				return fmt.Errorf("%s: %s", steps[i].method, e.Error.Message)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// event waits for an event whose parameters contain the words.
func (t *tab) event(ctx context.Context, method string, words ...string) error {
	for {
		select {
		case e := <-t.events:
			found := e.Method == method
			for _, word := range words {
				found = found && strings.Contains(string(e.Params), word)
			}
			if found {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *tab) evaluate(ctx context.Context, expression string, into any) error {
	var answer struct {
		Result struct{ Value json.RawMessage }
	}
	if err := t.w.call(ctx, t.session, "Runtime.evaluate", object{"expression": expression, "returnByValue": true}, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.Result.Value, into)
}

// task does the five steps of the task.
func (t *tab) task(ctx context.Context, url string) (text string, err error) {
	var gone struct{ LoaderID, ErrorText string }
	if err := t.w.call(ctx, t.session, "Page.navigate", object{"url": url}, &gone); err != nil {
		return "", err
	}
	if gone.ErrorText != "" {
		return "", fmt.Errorf("navigate: %s", gone.ErrorText)
	}
	if err := t.event(ctx, "Page.lifecycleEvent", gone.LoaderID, `"DOMContentLoaded"`); err != nil {
		return "", err
	}
	var at [2]float64
	err = t.evaluate(ctx, `(() => { document.querySelector('#q').focus(); 
		const r = document.querySelector('#go').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`, &at)
	if err != nil {
		return "", err
	}
	mouse := func(kind, button string, count int) step {
		return step{"Input.dispatchMouseEvent", object{"type": kind, "x": at[0], "y": at[1], "button": button, "clickCount": count}}
	}
	err = t.sendAll(ctx, step{"Input.insertText", object{"text": visitor}}, mouse("mouseMoved", "none", 0), mouse("mousePressed", "left", 1),
		mouse("mouseReleased", "left", 1))
	if err != nil {
		return "", err
	}
	if err := t.event(ctx, "Page.navigatedWithinDocument", "done=1"); err != nil {
		return "", err
	}
	return text, t.evaluate(ctx, `document.querySelector('#result').outerHTML`, &text)
}

// addFloors adds the bare protocol, in a context that was created in advance,
// as rote does, and in a new one.
func (b *bench) addFloors(ctx context.Context, e engine) error {
	profile, err := os.MkdirTemp("", "rote-bench-profile-")
	if err != nil {
		return err
	}
	w, err := startWire(exec.Command(e.path, leanFlags(profile)...), profile)
	if err != nil {
		return err
	}
	b.addCleanup(w.close)
	ready, err := w.open(ctx)
	if err != nil {
		return err
	}
	b.add(&contender{name: floorReady, engine: e.name, calls: 1, run: func(ctx context.Context) (string, error) {
		return ready.task(ctx, b.site.url())
	}, reset: func(ctx context.Context) (err error) {
		if err = ready.close(ctx); err == nil {
			ready, err = w.open(ctx)
		}
		return err
	}})
	b.add(&contender{name: floorFresh, engine: e.name, calls: 1, run: func(ctx context.Context) (string, error) {
		return w.freshTask(ctx, b.site.url())
	}})
	return nil
}

// freshTask does the task in a new context.
func (w *wire) freshTask(ctx context.Context, url string) (string, error) {
	t, err := w.open(ctx)
	if err != nil {
		return "", err
	}
	text, err := t.task(ctx, url)
	return text, errors.Join(err, t.close(ctx))
}
