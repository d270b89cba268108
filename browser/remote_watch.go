package browser

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// errShared is the error of a browser that another program drives. Each program would get the
// pages of the other and could read its contexts.
var errShared = errors.New("another program is connected to it: give each rote a browser of its own")

// takeOver makes sure that no other program drives the browser that was just connected to. It
// disposes of the contexts that the connection before has left, if the browser has not noticed
// yet that this was lost.
func (b *Browser) takeOver(ctx context.Context, i *instance) error {
	b.mu.Lock()
	before := b.leftBy
	b.mu.Unlock()
	browser := i.client.Browser(ctx)
	if before != nil {
		for _, c := range before.leftContexts() {
			_ = proto.TargetDisposeBrowserContext{BrowserContextID: c}.Call(browser) // it may be gone
		}
	}
	deadline := time.After(b.lifetime.forget)
	for {
		// First the contexts: later ones are foreign to checkAlone and checkRemote.
		if err := noteOthers(browser, i); err != nil {
			return err
		}
		shared, err := hasOtherClient(browser)
		if !shared || err != nil {
			return err
		}
		select {
		case <-time.After(b.lifetime.forget / 20):
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline:
			if !b.config.Unverified {
				return errShared
			}
			b.markShared(i)
			return nil
		}
	}
}

// noteOthers notes the contexts that other programs have left.
func noteOthers(browser proto.Client, i *instance) error {
	left, err := proto.TargetGetBrowserContexts{}.Call(browser)
	if err != nil {
		return err
	}
	i.others = map[proto.BrowserBrowserContextID]bool{}
	for _, c := range left.BrowserContextIDs {
		i.others[c] = true
	}
	return nil
}

// hasOtherClient reports whether a program is attached to a target of the browser: another one,
// before we have attached to any.
func hasOtherClient(browser proto.Client) (bool, error) {
	all, err := proto.TargetGetTargets{}.Call(browser)
	if err != nil {
		return false, fmt.Errorf("list its targets: %w", err)
	}
	return slices.ContainsFunc(all.TargetInfos, func(t *proto.TargetTargetInfo) bool { return t.Attached }), nil
}

// checkRemote checks a browser elsewhere. While it does not answer it gets no runs. If it does
// not answer for long, or another program drives it too, the connection is closed, and the runs
// on it fail.
func (b *Browser) checkRemote(i *instance) {
	if !i.answers(b.lifetime.answer) {
		b.setSilent(i, true)
		b.config.Log.Warn("the browser does not answer and gets no runs until it does", "after", b.lifetime.answer)
		if !i.answers(b.lifetime.patience) {
			b.config.Log.Error("the browser still does not answer: the connection to it is closed, and the runs on it fail", "after", b.lifetime.patience)
			i.process.Close()
			return
		}
		b.setSilent(i, false)
	}
	switch shared := b.seesOther(i); {
	case shared && b.config.Unverified:
		b.markShared(i)
	case shared:
		b.config.Log.Error("the connection is closed, and the runs on it fail", "error", errShared)
		i.process.Close()
	}
}

// seesOther reports whether another program has a context now that it also had at the last call.
func (b *Browser) seesOther(i *instance) bool {
	foreign := b.foreignContexts(i)
	shared := slices.ContainsFunc(foreign, func(c proto.BrowserBrowserContextID) bool { return slices.Contains(i.suspects, c) })
	i.suspects = foreign
	return shared
}

// checkAlone makes sure that no other program has connected to the browser since takeOver, after
// markUse and before any run. Of several rotes that connect at once, each sees the others. They wait
// for different times before they leave, so that the last one has the browser for itself.
func (b *Browser) checkAlone(ctx context.Context, i *instance) error {
	if b.seesOther(i); len(i.suspects) == 0 {
		return nil
	}
	select {
	case <-time.After(b.lifetime.forget/10 + rand.N(b.lifetime.forget)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch shared := b.seesOther(i); {
	case shared && b.config.Unverified:
		b.markShared(i)
	case shared:
		return errShared
	}
	return nil
}

// markShared marks a browser that another program is connected to as unverified.
func (b *Browser) markShared(i *instance) {
	if !i.unverified.Swap(true) {
		b.config.Log.Warn("another program is connected to the browser and may read the pages of runs (--browser-unverified)")
	}
}

// markUse makes other rotes see that the browser is in use, also while no run is on it: by a context
// with an empty page that we are attached to. Pages that are there already may be another's.
func (i *instance) markUse(ctx context.Context) error {
	browser := i.client.Browser(ctx)
	made, err := proto.TargetCreateBrowserContext{DisposeOnDetach: true}.Call(browser)
	if err != nil {
		return err
	}
	i.targets.created(made.BrowserContextID)
	_, err = proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: made.BrowserContextID}.Call(browser)
	return err
}

// setSilent notes whether the browser answers.
func (b *Browser) setSilent(i *instance, silent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.silent = silent
	b.notify()
}

// foreignContexts are the contexts of the browser that other programs have created since we
// connected. One of ours may be among them when it was created or disposed of just now.
func (b *Browser) foreignContexts(i *instance) []proto.BrowserBrowserContextID {
	ctx, cancel := context.WithTimeout(context.Background(), b.lifetime.answer)
	defer cancel()
	all, err := proto.TargetGetBrowserContexts{}.Call(i.client.Browser(ctx))
	if err != nil {
		return nil
	}
	ours := i.targets.leftContexts()
	return slices.DeleteFunc(all.BrowserContextIDs, func(c proto.BrowserBrowserContextID) bool {
		return i.others[c] || slices.Contains(ours, c)
	})
}
